//! `<｜DSML｜function_calls><｜DSML｜invoke name="f">…`: DeepSeek V3.2 and V4.

use super::{Evidence, Family};
use crate::text::block;
use crate::text::marks::{Dialect, Newlines, Syntax};

pub(super) const FAMILY: Family = Family {
    name: DIALECT.format,
    openers: &["<｜DSML｜function_calls>", "<｜DSML｜tool_calls>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(block::wrapped(cx, &DIALECT)),
};

pub(super) static DIALECT: Dialect = Dialect {
    format: "dsml",
    syntax: Syntax::Bars,
    wrappers: &["function_calls", "tool_calls"],
    call: "invoke",
    param: "parameter",
    newlines: Newlines::Verbatim,
    closers: &["</｜DSML｜invoke>", "</｜DSML｜function_calls>", "</｜DSML｜tool_calls>"],
};
