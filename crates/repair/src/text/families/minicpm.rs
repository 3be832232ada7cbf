//! `<function name="f"><param name="k">v</param></function>`: MiniCPM 5.

use super::{Evidence, Family};
use crate::text::block;
use crate::text::marks::{Dialect, Newlines, Syntax};

pub(super) const FAMILY: Family = Family {
    name: DIALECT.format,
    openers: &["<function name", "<functionname", "<functionĠname"],
    evidence: Evidence::Tag,
    read: |cx| Box::pin(block::bare(cx, &DIALECT)),
};

pub(super) static DIALECT: Dialect = Dialect {
    format: "minicpm",
    syntax: Syntax::Residue,
    wrappers: &["tool_call", "tool_calls", "function_calls"],
    call: "function",
    param: "param",
    newlines: Newlines::Both,
    closers: &["</function>"],
};
