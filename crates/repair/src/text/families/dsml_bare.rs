//! `<｜DSML｜invoke name="f">` without anything around it: DeepSeek V3.2 and V4 late in a long conversation.

use super::dsml::DIALECT;
use super::{Evidence, Family};
use crate::text::block;

pub(super) const FAMILY: Family = Family {
    name: "dsml-tag",
    openers: &["<｜DSML｜invoke"],
    evidence: Evidence::Tag,
    read: |cx| Box::pin(block::bare(cx, &DIALECT)),
};
