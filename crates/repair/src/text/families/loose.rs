//! Openers that are spelled in a way nobody can list: a namespace, a suffix, doubled bars, blanks within.

use super::{Evidence, Family, Found, dsml, glm, invoke, invoke_legacy, kimi_xtml, qwen_xml, tool_calls};
use crate::text::block;
use crate::text::cx::Cx;
use crate::text::marks::{self, Dialect};

pub(super) const FAMILY: Family =
    Family { name: "tags", openers: &["<"], evidence: Evidence::Strong, read: |cx| Box::pin(read(cx)) };

const DIALECTS: &[&Dialect] =
    &[&qwen_xml::DIALECT, &invoke::DIALECT, &invoke_legacy::DIALECT, &dsml::DIALECT];

async fn read(cx: &mut Cx) -> Option<Found> {
    let from = cx.at();
    marks::back_to_opener(cx);
    if marks::suffixed(cx, "<tool_calls").await {
        return tool_calls::read(cx).await;
    }
    if marks::suffixed(cx, "<tool_call").await {
        return glm::read(cx).await;
    }
    if marks::token(cx, "open").await || marks::token(cx, "close").await {
        cx.rewind(from);
        return kimi_xtml::read(cx).await;
    }
    for dialect in DIALECTS {
        cx.rewind(from);
        if let Some(found) = block::wrapped(cx, dialect).await {
            return Some(found);
        }
    }
    None
}
