//! `<invoke name="f">` or `<invoke><tool_name>f</tool_name>` without anything around it.

use super::{Evidence, Family, Found, invoke, invoke_legacy};
use crate::text::block;
use crate::text::cx::Cx;

pub(super) const FAMILY: Family = Family {
    name: "invoke-tag",
    openers: &["<invoke ", "<invoke>"],
    evidence: Evidence::Tag,
    read: |cx| Box::pin(read(cx)),
};

async fn read(cx: &mut Cx) -> Option<Found> {
    let named = cx.before(cx.at()) != Some(b'>');
    block::bare(cx, if named { &invoke::DIALECT } else { &invoke_legacy::DIALECT }).await
}
