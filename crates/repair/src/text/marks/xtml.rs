use super::{Head, LONGEST_WORD, Mark};
use crate::text::args::Said;
use crate::text::cx::Cx;

/// A mark of Kimi K3; the cursor may be anywhere when there is none.
pub(super) async fn mark(cx: &mut Cx) -> Option<Mark> {
    let (opens, word, attributes) = channel(cx).await?;
    let attribute =
        |key: &str| attributes.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone());
    match (opens, word.as_str()) {
        (true, "tools") => Some(Mark::Wrap),
        (false, "tools") => Some(Mark::Unwrap),
        // What stands between the two words can get lost on the way.
        (true, "call" | "toolscall") => {
            Some(Mark::Call(Head { name: Some(attribute("tool")?), whole: false, residue: false }))
        }
        (false, "call") => Some(Mark::Uncall),
        (true, "argument") => {
            let said = match attribute("type").as_deref() {
                Some("string") => Said::String,
                Some(_) => Said::Json,
                None => Said::Nothing,
            };
            Some(Mark::Param { key: attribute("key")?, said, space: String::new(), whole: false })
        }
        (false, "argument") => Some(Mark::Unparam { space: String::new() }),
        _ => None,
    }
}

type Attributes = Vec<(String, String)>;

/// `<|open|>word key="value"<|sep|>` or `<|close|>word<|sep|>`: whether it opens, its word, its attributes.
pub(in crate::text) async fn channel(cx: &mut Cx) -> Option<(bool, String, Attributes)> {
    let opens = token(cx, "open").await;
    if !opens && !token(cx, "close").await {
        return None;
    }
    cx.spaces().await;
    let word = super::word(cx).await?;
    let mut attributes = Vec::new();
    loop {
        cx.spaces().await;
        if token(cx, "sep").await {
            return Some((opens, word, attributes));
        }
        let key = super::word(cx).await?;
        cx.spaces().await;
        if !cx.take("=").await {
            return None;
        }
        cx.spaces().await;
        if !cx.take("\"").await {
            return None;
        }
        let value = cx.until(&["\"", "\n"], LONGEST_WORD).await?;
        if !cx.take("\"").await {
            return None;
        }
        attributes.push((key, value.replace("&quot;", "\"").replace("&amp;", "&")));
    }
}

/// Moves over `<|word|>`, in which blanks may have crept; nothing moved when it is not there.
pub(in crate::text) async fn token(cx: &mut Cx, word: &str) -> bool {
    let from = cx.at();
    let mut there = true;
    for part in ["<", "|", word, "|", ">"] {
        if part != "<" {
            one_space(cx).await;
        }
        there = there && cx.take(part).await;
    }
    if !there {
        cx.rewind(from);
    }
    there
}

async fn one_space(cx: &mut Cx) {
    cx.take(" ").await;
}
