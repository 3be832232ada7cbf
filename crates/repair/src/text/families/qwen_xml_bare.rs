//! `<function=NAME>` without anything around it: Qwen3-Coder when it forgets the wrapper, Functionary 3.1, Llama 3.

use super::qwen_xml::DIALECT;
use super::{Evidence, Family};
use crate::text::block;

pub(super) const FAMILY: Family = Family {
    name: "function-tag",
    openers: &["<function=", "<function name"],
    evidence: Evidence::Tag,
    read: |cx| Box::pin(block::bare(cx, &DIALECT)),
};
