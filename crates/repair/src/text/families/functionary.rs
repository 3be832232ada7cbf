//! Functionary v2, `<|from|>assistant\n<|recipient|>NAME\n<|content|>BODY`, and v3.2, `>>>NAME\nBODY`. What is said is addressed to
//! `all`. The prompt of either ends within the header, so an answer may begin with the recipient.

use super::{Evidence, Family, Found};
use crate::text::answer;
use crate::text::cx::Cx;
use crate::text::header::{self, Header, LONGEST_NAME, Read};

pub(super) const FAMILY: Family = Family {
    name: "functionary",
    openers: &[FROM, RECIPIENT],
    evidence: Evidence::Channel,
    read: |cx| Box::pin(read(cx)),
};

const FROM: &str = "<|from|>";
const RECIPIENT: &str = "<|recipient|>";
const CONTENT: &str = "<|content|>";
const STOP: &str = "<|stop|>";
const ENDS: &[&str] = &[FROM, RECIPIENT, STOP];
const NEXT: &str = ">>>";

/// An answer that begins with the recipient.
pub(in crate::text) async fn begin(cx: &mut Cx) {
    let from = cx.at();
    (cx.markup, cx.may_stream) = (from, true);
    if cx.profile.family.as_deref() == Some("functionary_v3.2") {
        read_v3(cx).await;
        return;
    }
    cx.blanks().await;
    let begun = cx.at();
    let word = header::word(cx).await;
    // What is here already may show that it is none; and an answer that begins with an ordinary word need not wait for what
    // follows it.
    let rest = cx.rest().trim_ascii_start();
    let may_be = rest.starts_with(CONTENT) || CONTENT.starts_with(rest);
    if may_be && (word == "all" || cx.tool(&word).is_some()) {
        cx.rewind(begun);
        if message(cx).await.is_some() {
            cx.skip_said();
            return;
        }
    }
    cx.rewind(from);
}

async fn read(cx: &mut Cx) -> Option<Found> {
    if cx.follows(FROM) {
        if !cx.take("assistant").await {
            return None;
        }
        cx.blanks().await;
        if !cx.take(RECIPIENT).await {
            return None;
        }
    }
    message(cx).await
}

/// The recipient and the body of a message.
async fn message(cx: &mut Cx) -> Option<Found> {
    cx.spaces().await;
    let recipient = header::word(cx).await;
    cx.blanks().await;
    if !cx.take(CONTENT).await {
        return None;
    }
    let found = body(cx, &recipient, ENDS).await;
    cx.take(STOP).await;
    found
}

async fn body(cx: &mut Cx, recipient: &str, ends: &[&str]) -> Option<Found> {
    let mut found = Found::default();
    if recipient == "all" || !cx.has_tools() {
        // Within code and in a draft it is quoted.
        if !cx.may_stream {
            return None;
        }
        cx.cut_out_markup();
        answer::message(cx, ends).await;
        let at = cx.at();
        cx.cut_out(at);
        return Some(found);
    }
    let header = Header::new(cx, recipient, FAMILY.name)?;
    cx.blanks().await;
    let read = if matches!(cx.peek().await, Some(b'{') | None) || cx.sees_any(ends).await {
        header::arguments(cx, &header, ends).await
    } else {
        header::text(cx, &header, ends).await
    };
    let Read::Call(call) = read else { return None };
    match call {
        Some(call) => found.add(cx, [call], FAMILY.name),
        None => found.given = true,
    }
    cx.blanks().await;
    Some(found)
}

/// All messages of v3.2, from the first recipient on.
async fn read_v3(cx: &mut Cx) {
    cx.take(NEXT).await;
    loop {
        let from = cx.at();
        if let Some(recipient) = recipient(cx).await {
            cx.skip_said();
            (cx.markup, cx.may_stream) = (cx.at(), true);
            if body(cx, &recipient, &[NEXT]).await.is_none() {
                cx.rewind(from);
            }
        } else {
            cx.rewind(from);
        }
        // Whatever stands where no recipient does is said; prompts of Python look like the start of a message.
        answer::message(cx, &[NEXT]).await;
        if cx.is_over().await {
            return;
        }
        let next = cx.at();
        cx.advance(NEXT.len());
        let after = cx.at();
        if recipient(cx).await.is_some() {
            cx.rewind(next);
            cx.cut_out(next);
            cx.rewind(next);
            cx.advance(NEXT.len());
        } else {
            cx.rewind(after);
            cx.settle_text(next, after);
        }
    }
}

/// The recipient of a message of v3.2 and the end of its line.
async fn recipient(cx: &mut Cx) -> Option<String> {
    let name = header::word(cx).await;
    let known = name == "all" || cx.tool(&name).is_some();
    (name.len() <= LONGEST_NAME && known && cx.take("\n").await).then_some(name)
}
