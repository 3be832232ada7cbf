use super::answer;
use super::cx::Cx;

/// An open code fence: what it is made of, how long, and what language it says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Fence {
    tick: u8,
    length: usize,
    /// The first word after the fence, in lower case.
    pub(super) language: String,
}

/// Languages that a fence around calls says.
const CALL_LANGUAGES: &[&str] = &[
    "",
    "json",
    "jsonc",
    "json5",
    "tool_call",
    "tool_calls",
    "tool_use",
    "tool",
    "function",
    "function_call",
    "action",
];

impl Fence {
    /// What its closing line begins with, at the least.
    pub(super) fn closer(&self) -> &'static str {
        if self.tick == b'~' { "~~~" } else { "```" }
    }

    /// Whether JSON in it may be meant as calls.
    pub(super) fn may_hold_calls(&self) -> bool {
        CALL_LANGUAGES.contains(&self.language.as_str())
    }
}

/// Moves over the opening line of a fence; None, and nothing moved, when there is none at the cursor.
pub(super) async fn open(cx: &mut Cx) -> Option<Fence> {
    let begun = cx.at();
    let fence = opening(cx).await;
    if fence.is_none() {
        cx.rewind(begun);
    }
    fence
}

/// Moves over the line that opens a fence, or closes the one that is open, and keeps that in mind; false, and nothing moved,
/// when there is none at the cursor.
pub(super) async fn pass(cx: &mut Cx, fence: &mut Option<Fence>) -> bool {
    match fence {
        Some(open) => {
            let closed = close(cx, open).await;
            if closed {
                *fence = None;
            }
            closed
        }
        None => {
            *fence = open(cx).await;
            fence.is_some()
        }
    }
}

async fn opening(cx: &mut Cx) -> Option<Fence> {
    let tick = cx.peek().await.filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = run(cx, tick).await;
    if length < 3 {
        return None;
    }
    let from = cx.at();
    loop {
        match cx.peek().await {
            None | Some(b'\n') => break,
            // The info string of a fence of backticks has none; it is code within a line.
            Some(byte) if byte == b'`' && tick == b'`' => return None,
            // No language has this in its name; a tag was written right behind a fence.
            Some(b'<') => return None,
            Some(_) => cx.step(),
        }
    }
    let language = cx.slice(from, cx.at()).split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    cx.take("\n").await;
    Some(Fence { tick, length, language })
}

/// Moves over the closing line of a fence, but not over its line end; false, and nothing moved, when it is not there.
pub(super) async fn close(cx: &mut Cx, fence: &Fence) -> bool {
    let begun = cx.at();
    cx.spaces().await;
    if run(cx, fence.tick).await >= fence.length {
        cx.spaces().await;
        if matches!(cx.peek().await, None | Some(b'\n' | b'\r')) || answer::ends_turn(cx).await {
            return true;
        }
    }
    cx.rewind(begun);
    false
}

async fn run(cx: &mut Cx, tick: u8) -> usize {
    let from = cx.at();
    while cx.peek().await == Some(tick) {
        cx.advance(1);
    }
    cx.at() - from
}

/// Moves over an opening fence within an envelope, where it is only decoration.
pub(super) async fn take_open(cx: &mut Cx) -> bool {
    matches!(cx.peek().await, Some(b'`' | b'~')) && open(cx).await.is_some()
}

/// Moves over a closing fence within an envelope, whatever follows it on its line.
pub(super) async fn take_close(cx: &mut Cx) -> bool {
    let begun = cx.at();
    for tick in [b'`', b'~'] {
        if run(cx, tick).await >= 3 {
            return true;
        }
        cx.rewind(begun);
    }
    false
}
