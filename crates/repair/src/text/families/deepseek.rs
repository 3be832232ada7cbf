//! DeepSeek V3, R1 and V3.1: a header and JSON between tokens. V3 says `function`, then the name, then fenced JSON; V3.1 says the
//! name and then the JSON. Templates mix the two, and distilled models write the tokens in plain letters, so one reader takes
//! them all.

use super::{Evidence, Family, Found};
use crate::text::args::Call;
use crate::text::cx::Cx;
use crate::text::header::{self, Header, LONGEST_NAME, Read};
use crate::text::json;

pub(super) const FAMILY: Family = Family {
    name: "deepseek",
    openers: &[
        "<｜tool▁calls▁begin｜>",
        "<｜tool_calls_begin｜>",
        "<|tool▁calls▁begin|>",
        "<|tool_calls_begin|>",
        "<｜tool▁call▁begin｜>",
        "<｜tool_call_begin｜>",
        "<|tool▁call▁begin|>",
        "<|tool_call_begin|>",
    ],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

const BEGINS: &[&str] =
    &["<｜tool▁call▁begin｜>", "<｜tool_call_begin｜>", "<|tool▁call▁begin|>", "<|tool_call_begin|>"];
const SEPARATORS: &[&str] = &["<｜tool▁sep｜>", "<｜tool_sep｜>", "<|tool▁sep|>", "<|tool_sep|>"];
const ENDS: &[&str] = &[
    "<｜tool▁call▁end｜>",
    "<｜tool_call_end｜>",
    "<|tool▁call▁end|>",
    "<|tool_call_end|>",
    "<｜tool▁calls▁end｜>",
    "<｜tool_calls_end｜>",
    "<|tool▁calls▁end|>",
    "<|tool_calls_end|>",
    "<｜end▁of▁sentence｜>",
    "<|end▁of▁sentence|>",
    "<|end_of_sentence|>",
];

async fn read(cx: &mut Cx) -> Option<Found> {
    cx.blanks().await;
    if matches!(cx.peek().await, Some(b'{' | b'[')) {
        // Distilled models put the calls of another format between these tokens.
        return json::envelope(cx, FAMILY.name, ENDS).await;
    }
    let mut found = Found::default();
    loop {
        let before = cx.at();
        cx.blanks().await;
        let begins = cx.take_any(BEGINS).await;
        let call = if begins || !found.any() { one(cx).await } else { None };
        let Some(call) = call else {
            if !found.any() {
                return None;
            }
            // What was read so far stands; the rest is text.
            cx.rewind(before);
            return Some(found);
        };
        match call {
            Some(call) => found.add(cx, [call], FAMILY.name),
            None => found.given = true,
        }
        loop {
            let before = cx.at();
            cx.blanks().await;
            if !cx.take_any(ENDS).await {
                cx.rewind(before);
                break;
            }
            found.closed = true;
        }
    }
}

/// The name and the arguments of one call; within, None is a call that was given out.
async fn one(cx: &mut Cx) -> Option<Option<Call>> {
    let first = name(cx).await?;
    let separated = cx.take_any(SEPARATORS).await;
    cx.blanks().await;
    let bare = matches!(cx.peek().await, Some(b'{' | b'`') | None) || cx.sees_any(ENDS).await;
    // Of two words around the separator the first is only the type.
    let spelled = if separated && !bare { name(cx).await? } else { first };
    let header = Header::new(cx, &spelled, FAMILY.name)?;
    // Two tokens with words between them are a sentence about them.
    let closes = cx.sees_any(ENDS).await;
    // The type alone, of a text that ends before the name.
    if separated && header.name == "function" && cx.tool("function").is_none() && cx.is_over().await {
        return None;
    }
    if cx.tool(&header.name).is_none() && (header.name.contains(' ') || closes && !separated) {
        return None;
    }
    match header::arguments(cx, &header, ENDS).await {
        Read::Call(call) if separated || !cx.is_over().await => Some(call),
        Read::Call(Some(call)) if !call.cut => Some(Some(call)),
        Read::Call(None) => Some(None),
        Read::Call(Some(_)) | Read::Nothing => None,
    }
}

/// Text up to whatever can stand behind a name.
async fn name(cx: &mut Cx) -> Option<String> {
    cx.blanks().await;
    cx.until(&["<", "\n", "{", "```"], LONGEST_NAME).await
}
