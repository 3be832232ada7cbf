//! `<function_calls><invoke><tool_name>f</tool_name><parameters><k>v</k></parameters></invoke></function_calls>`: the oldest
//! format of Anthropic's models.

use super::{Evidence, Family};
use crate::text::block;
use crate::text::marks::{Dialect, Newlines, Syntax};

pub(super) const FAMILY: Family = Family {
    name: DIALECT.format,
    openers: &["<function_calls>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(block::wrapped(cx, &DIALECT)),
};

pub(super) static DIALECT: Dialect = Dialect {
    format: "invoke-legacy",
    syntax: Syntax::Legacy,
    wrappers: &[],
    call: "invoke",
    param: "",
    newlines: Newlines::Both,
    closers: &["</parameters>", "</invoke>", "</function_calls>"],
};
