//! `<tool_call><function=NAME><parameter=KEY>…`: Qwen3-Coder and 3.5, Nemotron 3, Step-3.5, MiMo, Seed-OSS.

use super::{Evidence, Family};
use crate::text::block;
use crate::text::marks::{Dialect, Newlines, Syntax};

pub(super) const FAMILY: Family = Family {
    name: DIALECT.format,
    openers: &["<tool_call>", "<seed:tool_call>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(block::wrapped(cx, &DIALECT)),
};

pub(super) static DIALECT: Dialect = Dialect {
    format: "qwen-xml",
    syntax: Syntax::Tags,
    wrappers: &["tool_call", "tool_calls", "function_calls"],
    call: "function",
    param: "parameter",
    newlines: Newlines::One,
    closers: &["</function>", "</tool_call>", "</seed:tool_call>"],
};
