use super::answer::{self, Place};
use super::cx::{Cx, Voice};
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

/// Text within a line is searched this far for the end of reasoning that would begin there.
const MAX_MENTION: usize = 64 << 10;

/// Reads reasoning that the server already told apart. A call in it is real only if nothing else was said.
pub(super) async fn read_channel(mut cx: Cx) {
    cx.voice = Voice::Thinking;
    block(&mut cx, None).await;
    prose(&mut cx, &[]).await;
    answer::finish(&mut cx);
}

/// Whether an opener at the cursor begins reasoning. In the middle of a line it may only be mentioned: then its closer decides.
pub(super) async fn begins(cx: &mut Cx, pair: &Pair, length: usize, place: &Place) -> bool {
    if !place.mid_line {
        return true;
    }
    let from = cx.at();
    cx.advance(length);
    let closed = cx.until(&[pair.close], MAX_MENTION).await.is_some();
    cx.rewind(from);
    closed
}

/// Reads reasoning up to its end. A call in it is a draft if the reasoning is closed later and real if it never is, so from
/// the first call on everything is held.
pub(super) async fn block(cx: &mut Cx, pair: Option<&Pair>) {
    let mut held: Option<usize> = None;
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
        if openers::may_begin(byte)
            && cx.before(from) != Some(b'`')
            && let Some((opener, length)) = openers::here(cx).await
        {
            match opener {
                Opener::Unthink(closed)
                    if pair.is_none_or(|pair| pair == closed || closed.open == "<think>") =>
                {
                    cx.advance(length);
                    cx.cut_out(from);
                    cx.voice = Voice::Text;
                    return;
                }
                // A second opener right after the first adds nothing.
                Opener::Think(_) if !cx.spoke && cx.slice(cx.unsaid(), from).trim().is_empty() => {
                    cx.advance(length);
                    cx.skip_said();
                    continue;
                }
                Opener::Call(which) if cx.has_tools() => {
                    cx.may_stream = false;
                    if answer::read_opener(cx, which, length).await.is_some() {
                        held.get_or_insert(from);
                        continue;
                    }
                    cx.advance(length);
                }
                Opener::Think(_) | Opener::Unthink(_) | Opener::Call(_) => cx.advance(length),
            }
        } else {
            cx.step();
            while cx.known().is_some_and(|byte| !openers::may_begin(byte) && byte != b'`') {
                cx.step();
            }
        }
        if held.is_none() {
            let at = cx.at();
            let blank = cx.slice(from, at).trim_end().len();
            if blank > 0 {
                cx.settle_to(from + blank);
            }
        }
    }
    match held {
        Some(from) if cx.ending() != Ending::Superseded => {
            cx.rewind(from);
            cx.cut_out(from);
            cx.voice = Voice::Text;
        }
        Some(_) | None => {
            answer::finish(cx);
            cx.voice = Voice::Text;
        }
    }
}
