//! `<start_function_call>call:NAME{k:<escape>v<escape>}<end_function_call>`: FunctionGemma.

use super::gemma::{Dialect, read};
use super::{Evidence, Family};
use crate::text::args::Said;

pub(super) const FAMILY: Family = Family {
    name: "function_gemma",
    openers: &["<start_function_call>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx, DIALECT)),
};

// Every value is between the same tokens, so only the schema knows what it is.
const DIALECT: Dialect =
    Dialect { name: "function_gemma", closer: "<end_function_call>", quote: "<escape>", said: Said::Nothing };
