use super::answer::{self, Place};
use super::cx::{Cx, Voice};
use super::fence::{self, Fence};
use super::openers::{self, Opener};
use super::{Ending, answer::prose};

/// What reasoning stands between.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Pair {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
}

const fn pair(open: &'static str, close: &'static str) -> Pair {
    Pair { open, close }
}

/// All pairs that models use.
pub(super) const PAIRS: &[Pair] = &[
    pair("<think>", "</think>"),
    pair("<thinking>", "</thinking>"),
    pair("<thought>", "</thought>"),
    pair("<seed:think>", "</seed:think>"),
    pair("<mm:think>", "</mm:think>"),
    pair("[THINK]", "[/THINK]"),
    pair("◁think▷", "◁/think▷"),
    pair("<|START_THINKING|>", "<|END_THINKING|>"),
    pair("<|channel>thought\n", "<channel|>"),
    pair("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
    pair("<|inner_prefix|>", "<|inner_suffix|>"),
    pair("<|content_thinking|>", "<|end_message|>"),
];

/// Reasoning that would begin in the middle of a line is searched this far for its end.
const MAX_INLINE: usize = 2 << 10;

/// Code within reasoning is searched this far for its end and that of the reasoning.
const MAX_CODE: usize = 64 << 10;

/// Reads reasoning that the server already told apart. A call in it is real only if nothing else was said.
pub(super) async fn read_channel(mut cx: Cx) {
    cx.voice = Voice::Thinking;
    block(&mut cx, None).await;
    prose(&mut cx, &[]).await;
    answer::finish(&mut cx);
}

/// Whether an opener at the cursor begins reasoning. In the middle of a sentence it may only be mentioned: then it must be
/// closed in the same paragraph, with words between.
pub(super) async fn begins(cx: &mut Cx, pair: &Pair, length: usize, place: &Place) -> bool {
    if !place.mid_line || ends_sentence(cx) {
        return true;
    }
    if cx.is_tired() {
        return false;
    }
    let from = cx.at();
    cx.advance(length);
    let inside = cx.until(&[pair.close, "\n\n"], MAX_INLINE).await;
    let closed = cx.sees(pair.close).await;
    cx.rewind(from);
    closed && inside.is_some_and(|inside| !is_filler(&inside))
}

/// Whether what stands before the cursor and the blanks there ends a sentence.
fn ends_sentence(cx: &Cx) -> bool {
    let mut at = cx.at();
    while cx.before(at).is_some_and(|byte| byte == b' ' || byte == b'\t') {
        at -= 1;
    }
    let wide = at.checked_sub("。".len()).map_or("", |from| cx.slice(from, at));
    matches!(cx.before(at), Some(b'.' | b'!' | b'?')) || ["。", "！", "？"].contains(&wide)
}

/// What stands between two tags that are only named: `<think>…</think>`, `<think> and </think>`.
fn is_filler(inside: &str) -> bool {
    let words = inside.trim();
    !words.is_empty() && (["and", "or", "to", "/"].contains(&words) || !words.contains(char::is_alphanumeric))
}

/// Whether a tag of this length at the cursor stands in quotes, so that it is only named.
pub(super) async fn is_quoted(cx: &mut Cx, length: usize) -> bool {
    let at = cx.at();
    match cx.before(at) {
        // Three are a fence.
        Some(b'`') => !(cx.before(at - 1) == Some(b'`') && cx.before(at - 2) == Some(b'`')),
        Some(quote @ (b'"' | b'\'')) => cx.peek_at(length).await == Some(quote),
        Some(_) | None => false,
    }
}

/// Whether a closer at the cursor, within a fence, is only shown there: the fence is closed behind it, and the reasoning
/// behind that.
async fn is_shown(cx: &mut Cx, fence: &Fence, length: usize, close: &str) -> bool {
    if cx.is_tired() {
        return false;
    }
    let from = cx.at();
    cx.advance(length);
    let mut fenced = true;
    while fenced && cx.at() - from < MAX_CODE && cx.until(&["\n"], MAX_CODE).await.is_some() {
        cx.advance(1);
        fenced = !fence::close(cx, fence).await;
    }
    let shown = !fenced && cx.until(&[close], MAX_CODE).await.is_some();
    cx.rewind(from);
    shown
}

/// Reads reasoning up to its end. A call in it is a draft if the reasoning is closed later and real if it never is, so from
/// the first call on everything is held.
pub(super) async fn block(cx: &mut Cx, pair: Option<&Pair>) {
    let mut held: Option<usize> = None;
    let mut place = Place::default();
    loop {
        let byte = cx.peek().await;
        if cx.is_choked() {
            // Too long to be held as a call that was only thought of.
            cx.give_up();
            held = None;
            continue;
        }
        let Some(byte) = byte else { break };
        let from = cx.at();
        match step(cx, &mut place, byte, pair).await {
            Step::Thought if held.is_none() => cx.settle_text(from, cx.at()),
            Step::Thought => {}
            Step::Call => {
                held.get_or_insert(from);
            }
            Step::Nothing => cx.skip_said(),
            Step::End => {
                cx.cut_out(from);
                cx.voice = Voice::Text;
                return;
            }
        }
    }
    match held {
        Some(from) if cx.ending() != Ending::Superseded => {
            cx.rewind(from);
            cx.cut_out(from);
        }
        Some(_) | None => answer::finish(cx),
    }
    cx.voice = Voice::Text;
}

/// What was passed in reasoning.
enum Step {
    /// Words.
    Thought,
    /// A call that may be real.
    Call,
    /// An opener that adds nothing.
    Nothing,
    /// The end.
    End,
}

async fn step(cx: &mut Cx, place: &mut Place, byte: u8, pair: Option<&Pair>) -> Step {
    let from = cx.at();
    if !place.mid_line && fence::pass(cx, &mut place.fence).await {
        // The line end behind a closing fence is still to come.
        place.mid_line = place.fence.is_none();
        return Step::Thought;
    }
    if openers::may_begin(byte)
        && let Some((opener, length)) = openers::here(cx).await
    {
        let step = marked(cx, place, opener, length, pair).await;
        cx.slice(from, cx.at()).bytes().for_each(|byte| place.pass(byte));
        return step;
    }
    cx.step();
    place.pass(byte);
    while place.mid_line && cx.known().is_some_and(answer::is_plain) {
        cx.step();
    }
    Step::Thought
}

/// Passes an opener or a closer in reasoning, and what belongs to it.
async fn marked(cx: &mut Cx, place: &Place, opener: Opener, length: usize, pair: Option<&Pair>) -> Step {
    let from = cx.at();
    let mut step = Step::Thought;
    if !is_quoted(cx, length).await {
        step = match opener {
            Opener::Unthink(closed) if pair.is_none_or(|pair| pair == closed || closed.open == "<think>") => {
                match &place.fence {
                    Some(fence) if is_shown(cx, fence, length, closed.close).await => Step::Thought,
                    Some(_) | None => Step::End,
                }
            }
            // A second opener right after the first adds nothing.
            Opener::Think(_) if !cx.spoke && cx.slice(cx.unsaid(), from).trim().is_empty() => Step::Nothing,
            // What is shown in code while thinking is not meant yet.
            Opener::Call(which) if cx.has_tools() && place.fence.is_none() => {
                cx.may_stream = false;
                if answer::read_opener(cx, which, length).await.is_some() {
                    return Step::Call;
                }
                Step::Thought
            }
            Opener::Think(_) | Opener::Unthink(_) | Opener::Call(_) => Step::Thought,
        };
    }
    cx.rewind(from);
    cx.advance(length);
    step
}
