//! A fence of `tool_code`: what Gemma 2 and 3 are taught, and what Gemini falls back to.

use super::{Evidence, Family, Found};
use crate::text::cx::Cx;
use crate::text::python::{self, Extent, Form, Unnamed};

pub(super) const FAMILY: Family = Family {
    name: "tool_code",
    openers: &["```tool_code"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

const FORM: Form =
    Form { name: "tool_code", closers: &["```"], unnamed: Unnamed::Mapped, extent: Extent::Block };

async fn read(cx: &mut Cx) -> Option<Found> {
    if !cx.peek().await.is_some_and(|byte| byte.is_ascii_whitespace()) {
        return None;
    }
    let mut found = python::calls(cx, FORM).await?;
    if found.closed || found.given || cx.is_over().await {
        found.closed = true;
        return Some(found);
    }
    // Code that does more than call is code.
    None
}
