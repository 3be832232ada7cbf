//! `<|python_tag|>` and plain code, from Llama 3 and Functionary v3.1: a call of the one tool that runs Python.

use super::{Evidence, Family, Found};
use crate::Tool;
use crate::text::cx::Cx;
use crate::text::header::{self, Header, Read};

pub(super) const FAMILY: Family = Family {
    name: "python_tag",
    openers: &["<|python_tag|>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

const ENDS: &[&str] = &["<|eom_id|>", "<|eot_id|>", "<|end_of_text|>"];

async fn read(cx: &mut Cx) -> Option<Found> {
    // Code has no end of its own, so within other code or in a draft nothing tells where it would stop.
    if !cx.may_stream {
        return None;
    }
    // A sentence about the tag goes on with a blank or a full stop; code follows it at once.
    let begins = cx.peek().await.is_some_and(|byte| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'#' | b'"' | b'\'' | b'@' | b'(' | b'[' | b'\n')
    });
    if !begins {
        return None;
    }
    let mut tools = cx.catalog.tools().iter().filter(|tool| runs_python(tool));
    let name = tools.next().filter(|_| tools.next().is_none())?.name.clone();
    let header = Header { id: None, name, format: FAMILY.name };
    let mut found = Found::default();
    match header::text(cx, &header, ENDS).await {
        Read::Call(Some(call)) => found.add(cx, [call], FAMILY.name),
        Read::Call(None) => found.given = true,
        Read::Nothing => return None,
    }
    found.closed = cx.take_any(ENDS).await;
    Some(found)
}

fn runs_python(tool: &Tool) -> bool {
    let name = tool.name.to_ascii_lowercase();
    (name.contains("python")
        || name.contains("interpreter")
        || matches!(name.as_str(), "code" | "run_code" | "execute_code"))
        && header::only_text(tool).is_some()
}
