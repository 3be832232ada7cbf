use super::{Head, LONGEST_WORD, Mark};
use crate::text::args::Said;
use crate::text::cx::Cx;

/// A mark of the oldest format of Anthropic's models, in which a parameter's tag is its name; the cursor may be anywhere when
/// there is none.
pub(super) async fn mark(cx: &mut Cx) -> Option<Mark> {
    let (closing, word) = tag(cx).await?;
    match (closing, word.as_str()) {
        (false, "function_calls") => Some(Mark::Wrap),
        (true, "function_calls") => Some(Mark::Unwrap),
        (false, "invoke") => head(cx).await.map(Mark::Call),
        (true, "invoke") => Some(Mark::Uncall),
        (true, "parameters") => {
            let after = cx.at();
            cx.blanks().await;
            if tag(cx).await != Some((true, "invoke".to_owned())) {
                cx.rewind(after);
            }
            Some(Mark::Uncall)
        }
        (false, "tool_name" | "parameters") | (true, "tool_name") => None,
        (false, _) => Some(Mark::Param { key: word.clone(), said: Said::Nothing, space: word, whole: false }),
        (true, _) => Some(Mark::Unparam { space: word }),
    }
}

/// The name of the tool and the tag before the parameters.
async fn head(cx: &mut Cx) -> Option<Head> {
    cx.blanks().await;
    if !cx.take("<tool_name>").await {
        return None;
    }
    let name = cx.until(&["<"], LONGEST_WORD).await?;
    if !cx.take("</tool_name>").await {
        return None;
    }
    let after = cx.at();
    cx.blanks().await;
    if !cx.take("<parameters>").await {
        cx.rewind(after);
    }
    Some(Head { name: Some(name.trim().to_owned()), whole: false, residue: false })
}

/// `<word>` or `</word>`: whether it closes, and its word.
async fn tag(cx: &mut Cx) -> Option<(bool, String)> {
    if !cx.take("<").await {
        return None;
    }
    let closing = cx.take("/").await;
    let word = super::word(cx).await?;
    cx.take(">").await.then_some((closing, word))
}
