//! Tokens around plain answers: they say where an answer begins and ends, and are none of it.

use super::{Evidence, Family, Found};
use crate::text::cx::Cx;

pub(super) const FAMILY: Family =
    Family { name: "wrapper", openers: OPENERS, evidence: Evidence::Channel, read: |cx| Box::pin(read(cx)) };

/// What stands around an answer, and the family of models that must be known for it to count.
struct Wrapper {
    open: &'static str,
    close: &'static str,
    family: Option<&'static str>,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper { open: "<|START_RESPONSE|>", close: "<|END_RESPONSE|>", family: None },
    Wrapper { open: "<|START_TEXT|>", close: "<|END_TEXT|>", family: None },
    Wrapper { open: "[BEGIN FINAL RESPONSE]", close: "[END FINAL RESPONSE]", family: None },
    Wrapper { open: "<answer>", close: "</answer>", family: Some("hunyuan") },
    Wrapper { open: "<response>", close: "</response>", family: Some("ernie") },
];

const OPENERS: &[&str] = &[
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
    "<|START_TEXT|>",
    "<|END_TEXT|>",
    "[BEGIN FINAL RESPONSE]",
    "[END FINAL RESPONSE]",
    "<answer>",
    "</answer>",
    "<response>",
    "</response>",
];

async fn read(cx: &mut Cx) -> Option<Found> {
    // Within code and in a draft it is quoted.
    if !cx.may_stream {
        return None;
    }
    let at = cx.at();
    let wrapper = WRAPPERS.iter().find(|wrapper| cx.follows(wrapper.open) || cx.follows(wrapper.close))?;
    let opens = cx.follows(wrapper.open);
    let counts = match wrapper.family {
        Some(family) => cx.profile.family.as_deref() == Some(family),
        // Text that only names the token goes on after it, or came before it.
        None if opens => begins_line(cx, at - wrapper.open.len()),
        None => ends_answer(cx).await,
    };
    if !counts {
        return None;
    }
    cx.cut_out_markup();
    Some(Found::default())
}

/// Whether nothing stands before this place on its line but markup.
fn begins_line(cx: &Cx, place: usize) -> bool {
    let before = cx.slice(cx.unsaid().min(place), place).trim_end_matches([' ', '\t']);
    before.ends_with('\n') || (before.is_empty() && (!cx.spoke || cx.before(place) == Some(b'\n')))
}

/// Whether nothing but blanks and more markup follows.
async fn ends_answer(cx: &mut Cx) -> bool {
    let from = cx.at();
    cx.blanks().await;
    let ends = matches!(cx.peek().await, None | Some(b'<'));
    cx.rewind(from);
    ends
}

/// Moves over a closer of an answer that follows calls.
pub(in crate::text) async fn take_close(cx: &mut Cx) -> bool {
    for wrapper in WRAPPERS {
        let known = wrapper.family.is_none_or(|family| cx.profile.family.as_deref() == Some(family));
        if known && cx.take(wrapper.close).await {
            return true;
        }
    }
    false
}
