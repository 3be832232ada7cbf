use super::{LONGEST_WORD, Mark};
use crate::text::args::Said;
use crate::text::cx::Cx;

/// A mark of GLM and its kin; the cursor may be anywhere when there is none.
pub(super) async fn mark(cx: &mut Cx) -> Option<Mark> {
    if !cx.sees("<").await {
        // The opener of a key can be missing.
        return key(cx, Opener::Missing).await;
    }
    if suffixed(cx, "</arg_value").await {
        return Some(Mark::Unparam { space: String::new() });
    }
    if suffixed(cx, "</tool_call").await {
        return Some(Mark::Uncall);
    }
    if suffixed(cx, "</tool_calls").await {
        return Some(Mark::Unwrap);
    }
    if suffixed(cx, "<arg_key").await {
        return key(cx, Opener::There).await;
    }
    if suffixed(cx, "<tool_call").await {
        let after = cx.at();
        // Another opener of a call can stand where the opener of a key belongs.
        if let Some(mark) = key(cx, Opener::Missing).await {
            return Some(mark);
        }
        cx.rewind(after);
        return Some(Mark::Wrap);
    }
    None
}

/// Moves over a tag of this family: its word may begin with the model's name and end with a suffix.
pub(in crate::text) async fn suffixed(cx: &mut Cx, word: &str) -> bool {
    let from = cx.at();
    let stem = word.trim_start_matches(['<', '/']);
    let edge = word.strip_suffix(stem).unwrap_or_default();
    let mut there = cx.take(edge).await;
    if there {
        cx.take("longcat_").await;
        there = cx.take(stem).await;
    }
    if there && cx.take(":").await {
        there = super::word(cx).await.is_some();
    }
    there = there && cx.take(">").await;
    if !there {
        cx.rewind(from);
    }
    there
}

/// Moves over `</arg_key>`, which may be doubled.
pub(in crate::text) async fn arg_key_closer(cx: &mut Cx) -> bool {
    let mut any = false;
    let mut after = cx.at();
    while suffixed(cx, "</arg_key").await {
        any = true;
        after = cx.at();
        cx.blanks().await;
    }
    cx.rewind(after);
    any
}

/// Whether a key has its opener.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opener {
    There,
    Missing,
}

/// A key, its closer, and the opener of its value; of the three tags one may be missing.
async fn key(cx: &mut Cx, opener: Opener) -> Option<Mark> {
    cx.blanks().await;
    let key = cx.until(&["<", "{"], LONGEST_WORD).await?;
    let key = key.trim();
    if key.is_empty() || key.contains('\n') {
        return None;
    }
    let closed = arg_key_closer(cx).await;
    if !closed && opener == Opener::Missing {
        return None;
    }
    let after = cx.at();
    cx.blanks().await;
    if !suffixed(cx, "<arg_value").await {
        if !closed {
            return None;
        }
        cx.rewind(after);
        cx.take("\n").await;
    }
    Some(Mark::Param { key: key.to_owned(), said: Said::Nothing, space: String::new(), whole: false })
}
