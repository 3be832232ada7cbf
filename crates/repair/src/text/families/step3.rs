//! `<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="f">…`: Step3.

use super::{Evidence, Family, Found};
use crate::text::block;
use crate::text::cx::Cx;
use crate::text::marks::{self, Dialect, Mark, Newlines, Syntax};

pub(super) const FAMILY: Family = Family {
    name: DIALECT.format,
    openers: &[
        "<｜tool_calls_begin｜>",
        "<｜tool_call_begin｜>",
        "<|tool_calls_begin|>",
        "<|tool_call_begin|>",
    ],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

static DIALECT: Dialect = Dialect {
    format: "step3",
    syntax: Syntax::Tags,
    wrappers: &[],
    call: "invoke",
    param: "parameter",
    newlines: Newlines::Verbatim,
    closers: &["</steptml:invoke>"],
};

/// What stands between calls.
const BETWEEN: &[&str] = &[
    "<｜tool_call_begin｜>",
    "<|tool_call_begin|>",
    "function<｜tool_sep｜>",
    "function<|tool_sep|>",
    "<｜tool_sep｜>",
    "<|tool_sep|>",
    "<｜tool_call_end｜>",
    "<|tool_call_end|>",
];
const CLOSERS: &[&str] = &["<｜tool_calls_end｜>", "<|tool_calls_end|>"];

async fn read(cx: &mut Cx) -> Option<Found> {
    let mut found = Found::default();
    loop {
        let after = cx.at();
        cx.blanks().await;
        while cx.take_any(BETWEEN).await {
            cx.blanks().await;
        }
        if cx.take_any(CLOSERS).await {
            found.closed = true;
            break;
        }
        let read = match marks::mark(cx, &DIALECT).await {
            Some(Mark::Call(head)) => block::call(cx, &DIALECT, head).await,
            Some(Mark::Wrap | Mark::Unwrap | Mark::Uncall | Mark::Param { .. } | Mark::Unparam { .. })
            | None => None,
        };
        match read {
            Some(read) => read.add_to(&mut found),
            None if cx.is_over().await => break,
            None => {
                cx.rewind(after);
                break;
            }
        }
    }
    (found.given || !found.calls.is_empty()).then_some(found)
}
