//! Calls as Python between tokens: Llama 4, LFM2, Olmo 3, and Llama 3's built-in tools.

use super::{Evidence, Family, Found};
use crate::text::cx::Cx;
use crate::text::json;
use crate::text::python::{self, Extent, Form, Read, Unnamed};

pub(super) const FAMILY: Family = Family {
    name: "pythonic",
    openers: &["<|python_start|>", "<|tool_call_start|>", "<function_calls>", "<|python_tag|>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

const CLOSERS: &[&str] = &["<|python_end|>", "<|tool_call_end|>", "</function_calls>"];

async fn read(cx: &mut Cx) -> Option<Found> {
    let begun = cx.at();
    let tagged = |word: &str| cx.slice(begun.saturating_sub(word.len()), begun) == word;
    let (built_in, llama) = (tagged("<|python_tag|>"), tagged("<|python_start|>"));
    if built_in {
        return methods(cx).await;
    }
    python::blanks(cx).await;
    let body = cx.at();
    if cx.take("[").await {
        python::blanks(cx).await;
    }
    if matches!(cx.peek().await, Some(b'{')) {
        cx.rewind(begun);
        return if llama { json::envelope(cx, FAMILY.name, CLOSERS).await } else { None };
    }
    cx.rewind(body);
    let form = Form { name: FAMILY.name, closers: CLOSERS, unnamed: Unnamed::Kept, extent: Extent::Block };
    let found = python::calls(cx, form).await?;
    if found.closed && !found.given {
        echo(cx, body).await;
    }
    Some(found)
}

/// LFM2 may say again, as plain text behind the closer, what it just called.
async fn echo(cx: &mut Cx, body: usize) {
    let block = cx.slice(body, cx.at());
    let said =
        CLOSERS.iter().find_map(|closer| block.strip_suffix(closer)).unwrap_or_default().trim().to_owned();
    let after = cx.at();
    cx.blanks().await;
    if said.is_empty() || !cx.take(&said).await {
        cx.rewind(after);
    }
}

/// `brave_search.call(query="…")`, one or more.
async fn methods(cx: &mut Cx) -> Option<Found> {
    let mut found = Found::default();
    loop {
        let begun = cx.at();
        cx.blanks().await;
        if cx.take(";").await {
            continue;
        }
        let name = python::name(cx).await.and_then(|name| name.strip_suffix(".call").map(str::to_owned));
        let Some(name) = name else {
            cx.rewind(begun);
            return (found.given || !found.calls.is_empty()).then_some(found);
        };
        cx.advance(1);
        match python::arguments(cx, &name, FAMILY.name, Unnamed::Mapped).await {
            Read::Whole(call) => {
                found.given |= call.is_none();
                found.calls.extend(call);
            }
            Read::Cut(call) => {
                found.given |= call.is_none();
                found.calls.extend(call);
                return Some(found);
            }
            Read::Broken => {
                cx.rewind(begun);
                return (found.given || !found.calls.is_empty()).then_some(found);
            }
        }
    }
}
