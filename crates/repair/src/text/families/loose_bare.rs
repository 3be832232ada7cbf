//! Calls without anything around them whose tags are spelled in a way nobody can list.

use super::{Evidence, Family, Found, dsml, invoke, loose, minicpm, qwen_xml};
use crate::text::block;
use crate::text::cx::Cx;
use crate::text::marks::Dialect;

pub(super) const FAMILY: Family =
    Family { name: "tags-bare", openers: &["<"], evidence: Evidence::Tag, read: |cx| Box::pin(read(cx)) };

const DIALECTS: &[&Dialect] = &[&invoke::DIALECT, &dsml::DIALECT, &minicpm::DIALECT, &qwen_xml::DIALECT];

async fn read(cx: &mut Cx) -> Option<Found> {
    if !loose::may_be_markup(cx).await {
        return None;
    }
    let from = cx.at();
    for dialect in DIALECTS {
        cx.rewind(from);
        if let Some(found) = block::bare(cx, dialect).await {
            return Some(found);
        }
    }
    None
}
