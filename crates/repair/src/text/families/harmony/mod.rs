//! gpt-oss: messages `<|start|>assistant<|channel|>CHANNEL to=RECIPIENT <|constrain|>json<|message|>BODY<|end|>`. Analysis is reasoning,
//! a function as recipient makes a call whatever the channel, and everything else is said. A header that makes no sense is text.

mod header;
mod stripped;

use header::Channel;

use super::{Evidence, Family, Found};
use crate::text::answer;
use crate::text::args::Call;
use crate::text::cx::{Cx, Voice};
use crate::text::header::{Header, Read, arguments, text};
use crate::text::json;

pub(super) const FAMILY: Family = Family {
    name: "harmony",
    openers: &[CHANNEL, START],
    evidence: Evidence::Channel,
    read: |cx| Box::pin(read(cx)),
};

const CHANNEL: &str = "<|channel|>";
const START: &str = "<|start|>";
const MESSAGE: &str = "<|message|>";
const CLOSERS: &[&str] = &["<|end|>", "<|call|>", "<|return|>"];
const ENDS: &[&str] = &["<|end|>", "<|call|>", "<|return|>", START, CHANNEL];

/// The prompt ends with `<|start|>assistant`, so an answer may begin within a header; and a server that strips special tokens leaves
/// only the words between them.
pub(in crate::text) async fn begin(cx: &mut Cx) {
    let from = cx.at();
    role(cx).await;
    cx.blanks().await;
    if cx.has_tools() && cx.sees("to=").await {
        (cx.markup, cx.may_stream) = (from, true);
        if let Some(heading) = header::read(cx).await
            && heading.marked
            // Other protocols address tools alike, but go on with markup of their own.
            && !cx.sees("<").await
            && let Some(recipient) = heading.recipient
            && call(cx, &recipient, CLOSERS, ENDS).await.is_some()
        {
            cx.skip_said();
            return;
        }
    }
    cx.rewind(from);
    if role(cx).await {
        cx.skip_said();
    }
    if cx.profile.family.as_deref() == Some("harmony") {
        stripped::read(cx).await;
    }
}

async fn read(cx: &mut Cx) -> Option<Found> {
    let started = cx.follows(START);
    if started && !cx.sees("assistant").await {
        return None;
    }
    let heading = header::read(cx).await?;
    if let Some(recipient) = heading.recipient.filter(|_| cx.has_tools()) {
        return call(cx, &recipient, CLOSERS, ENDS).await;
    }
    // Within code and in a draft it is quoted.
    if !cx.may_stream {
        return None;
    }
    match heading.channel {
        Some(Channel::Analysis) => {
            cx.cut_out_markup();
            think(cx, ENDS).await;
        }
        Some(Channel::Commentary | Channel::Final) => {
            cx.cut_out_markup();
            say(cx, ENDS).await;
        }
        None if started => {
            cx.cut_out_markup();
            say(cx, ENDS).await;
        }
        None => return None,
    }
    close(cx, CLOSERS).await;
    Some(Found::default())
}

/// Moves over what closes a message.
async fn close(cx: &mut Cx, closers: &[&str]) -> bool {
    let closed = cx.take_any(closers).await;
    if closed {
        role(cx).await;
    }
    closed
}

/// Moves over the role of a message whose first token is missing.
async fn role(cx: &mut Cx) -> bool {
    let sees = cx.sees_any(&["assistant<|channel|>", "assistant to="]).await;
    if sees {
        cx.advance("assistant".len());
    }
    sees
}

/// Reads the body of a message to a function. `ends` may close it, `closers` are those of them that belong to it.
async fn call(cx: &mut Cx, recipient: &str, closers: &[&str], ends: &[&str]) -> Option<Found> {
    let mut found = Found::default();
    cx.blanks().await;
    if recipient.ends_with("multi_tool_use.parallel") {
        found = json::envelope(cx, FAMILY.name, closers).await?;
    } else {
        let header = Header::new(cx, recipient, FAMILY.name)?;
        match body(cx, &header, ends).await? {
            Some(call) => found.add(cx, [call], FAMILY.name),
            None => found.given = true,
        }
    }
    cx.blanks().await;
    found.closed |= close(cx, closers).await;
    if !found.closed {
        answer::cut_tag(cx).await;
    }
    if cx.may_stream && !found.closed && !cx.is_over().await && !cx.sees_any(ends).await {
        cx.skip_said();
        say(cx, ends).await;
        close(cx, closers).await;
    }
    Some(found)
}

async fn body(cx: &mut Cx, header: &Header, ends: &[&str]) -> Option<Option<Call>> {
    let read = if matches!(cx.peek().await, Some(b'{') | None) || cx.sees_any(ends).await {
        arguments(cx, header, ends).await
    } else {
        // Code for an interpreter, most likely; what it means is the schema's business.
        text(cx, header, ends).await
    };
    match read {
        Read::Call(call) => Some(call),
        Read::Nothing => None,
    }
}

/// Reads what is said to the reader, and calls in it.
async fn say(cx: &mut Cx, ends: &[&str]) {
    answer::message(cx, ends).await;
    let at = cx.at();
    cx.cut_out(at);
}

/// Reads reasoning, which is given out as it comes.
async fn think(cx: &mut Cx, ends: &[&str]) {
    cx.voice = Voice::Thinking;
    while !(cx.is_over().await || cx.sees_any(ends).await) {
        let from = cx.at();
        cx.step();
        cx.settle_text(from, cx.at());
    }
    let at = cx.at();
    cx.cut_out(at);
    cx.voice = Voice::Text;
}
