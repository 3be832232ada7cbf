//! `<function_calls><invoke name="f"><parameter name="k">v</parameter></invoke></function_calls>`, with or without a
//! namespace: Anthropic's models, MiniMax M2, Dots, Muse Glimmer.

use super::{Evidence, Family};
use crate::text::block;
use crate::text::marks::{Dialect, Newlines, Syntax};

pub(super) const FAMILY: Family = Family {
    name: DIALECT.format,
    openers: &[
        "<function_calls>",
        "<tool_call>",
        "<tool_calls>",
        "<minimax:tool_call>",
        "<dots_function_call>",
        "<atem:function_calls>",
    ],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(block::wrapped(cx, &DIALECT)),
};

pub(super) static DIALECT: Dialect = Dialect {
    format: "invoke",
    syntax: Syntax::Tags,
    wrappers: &["function_calls", "tool_call", "tool_calls", "dots_function_call"],
    call: "invoke",
    param: "parameter",
    newlines: Newlines::Both,
    closers: &["</invoke>", "</function_calls>", "</minimax:tool_call>", "</dots_function_call>"],
};
