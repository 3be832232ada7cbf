//! Calls as Python with nothing around them: `[f(a=1), g()]`, or one a line.

use super::{Evidence, Family, First, Found};
use crate::text::Ending;
use crate::text::cx::Cx;
use crate::text::python::{self, Extent, Form, Unnamed};

pub(super) const FAMILY: Family = Family {
    name: "python",
    openers: &[],
    evidence: Evidence::Weak(First::Word(b"[")),
    read: |cx| Box::pin(read(cx)),
};

const LIST: Form = Form { name: "python", closers: &[], unnamed: Unnamed::Mapped, extent: Extent::List };
const LINE: Form = Form { name: "python", closers: &[], unnamed: Unnamed::Refused, extent: Extent::Line };

/// What a server may leave of the tokens around a list.
const LEFT: &[&str] = &["<|python_end|>", "<|tool_call_end|>"];

pub(super) async fn read(cx: &mut Cx) -> Option<Found> {
    let from = cx.at();
    let list = cx.take("[").await;
    if list {
        cx.blanks().await;
    }
    if !names_tool(cx, list).await {
        return None;
    }
    cx.rewind(from);
    let found = python::calls(cx, if list { LIST } else { LINE }).await?;
    // A bracket at the end of the text is too little to tell that a call was cut, and so is a quote in an answer that is over.
    let cut_short = cx.ending() == Ending::Cut;
    if found.calls.iter().any(|call| call.cut && (call.arguments == "{" || !list && !cut_short)) {
        return None;
    }
    if list {
        cx.take_any(LEFT).await;
    } else {
        comment(cx).await;
    }
    Some(found)
}

/// Moves over a comment behind a call.
async fn comment(cx: &mut Cx) {
    let from = cx.at();
    cx.spaces().await;
    if cx.sees("#").await {
        while !matches!(cx.peek().await, None | Some(b'\n')) {
            cx.step();
        }
    } else {
        cx.rewind(from);
    }
}

/// Whether a declared tool is called here; most text is let go after its first word.
async fn names_tool(cx: &mut Cx, list: bool) -> bool {
    let Some(name) = python::name(cx).await else { return false };
    if cx.tool(&name).is_some() {
        return true;
    }
    if name != "print" {
        return false;
    }
    cx.advance(1);
    // What code prints is code, unless it can only be meant as a call.
    let inner = python::name(cx).await;
    inner.is_some_and(|inner| (list || inner.starts_with("default_api.")) && cx.tool(&inner).is_some())
}
