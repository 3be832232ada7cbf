//! Openers that are spelled in a way nobody can list: a namespace, a suffix, doubled bars, blanks within.

use super::{Evidence, Family, Found, dsml, glm, invoke, invoke_legacy, kimi_xtml, qwen_xml, tool_calls};
use crate::text::block;
use crate::text::cx::Cx;
use crate::text::marks::{self, Dialect};

pub(super) const FAMILY: Family =
    Family { name: "tags", openers: &["<"], evidence: Evidence::Strong, read: |cx| Box::pin(read(cx)) };

const DIALECTS: &[&Dialect] =
    &[&qwen_xml::DIALECT, &invoke::DIALECT, &invoke_legacy::DIALECT, &dsml::DIALECT];

/// Words that such an opener has, behind a namespace or before a suffix.
const WORDS: &[&str] = &[
    "tool_call",
    "tool_calls",
    "longcat_tool_call",
    "function_calls",
    "dots_function_call",
    "invoke",
    "invokename",
    "function",
    "functionname",
];
/// The first bytes of `|`, `｜`, and of `‖` and `∥`.
const BARS: &[u8] = b"|\xEF\xE2";

/// Whether what follows `<` may be markup of calls at all; most is not, and is told apart by a word.
pub(super) async fn may_be_markup(cx: &mut Cx) -> bool {
    let from = cx.at();
    let markup = match cx.peek().await {
        Some(b' ') => {
            cx.spaces().await;
            cx.peek().await.is_some_and(|byte| BARS.contains(&byte))
        }
        Some(byte) if byte.is_ascii_alphabetic() => marks::word(cx).await.is_some_and(|word| {
            [word.split(':').next(), word.rsplit(':').next()]
                .iter()
                .flatten()
                .any(|part| WORDS.contains(part))
        }),
        Some(byte) => BARS.contains(&byte),
        None => false,
    };
    cx.rewind(from);
    markup
}

async fn read(cx: &mut Cx) -> Option<Found> {
    if !may_be_markup(cx).await {
        return None;
    }
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
