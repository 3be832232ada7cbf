//! Harmony after a server took its special tokens away: `analysis…assistantcommentary to=functions.f json{…}assistantfinal…`. Only for
//! models that are known to speak it.

use super::header::Channel;
use super::{call, say, think};
use crate::text::cx::Cx;
use crate::text::header;

const NEXT: &[&str] = &["assistantanalysis", "assistantcommentary", "assistantfinal", "assistant to="];

/// Reads all messages, if the text begins with one.
pub(super) async fn read(cx: &mut Cx) {
    let mut first = true;
    loop {
        let from = cx.at();
        cx.blanks().await;
        let marked = cx.take("assistant").await;
        if !(marked || first) || !message(cx, from).await {
            cx.rewind(from);
            return;
        }
        first = false;
    }
}

/// Reads one message from its channel on; false when there is none.
async fn message(cx: &mut Cx, from: usize) -> bool {
    let channel = channel(cx).await;
    let named = cx.at();
    cx.spaces().await;
    if cx.take("to=").await
        && let Some(recipient) = recipient(cx).await
        && cx.has_tools()
    {
        (cx.markup, cx.may_stream) = (from, true);
        if call(cx, &recipient, &[], NEXT).await.is_none() {
            return false;
        }
        cx.skip_said();
        return true;
    }
    cx.rewind(named);
    let Some(channel) = channel else { return false };
    // Words that only begin with a channel's name are words.
    if cx
        .peek()
        .await
        .is_none_or(|byte| byte.is_ascii_whitespace() && byte != b'\n' || byte.is_ascii_punctuation())
    {
        return false;
    }
    cx.cut_out(from);
    match channel {
        Channel::Analysis => think(cx, NEXT).await,
        Channel::Commentary | Channel::Final => say(cx, NEXT).await,
    }
    true
}

async fn channel(cx: &mut Cx) -> Option<Channel> {
    let words =
        [("analysis", Channel::Analysis), ("commentary", Channel::Commentary), ("final", Channel::Final)];
    for (word, channel) in words {
        if cx.take(word).await {
            return Some(channel);
        }
    }
    None
}

/// The name after `to=`, and the words that may stand between it and the body.
async fn recipient(cx: &mut Cx) -> Option<String> {
    let word = header::word(cx).await;
    let name = ["commentary", "analysis"].into_iter().find_map(|channel| {
        let name = word.strip_suffix(channel)?;
        cx.tool(name.strip_prefix("functions.").unwrap_or(name)).is_some().then(|| name.to_owned())
    });
    cx.spaces().await;
    cx.take_any(&["commentary", "analysis"]).await;
    cx.spaces().await;
    cx.take_any(&["json", "code"]).await;
    Some(name.unwrap_or(word))
        .filter(|name| !name.is_empty() && !matches!(name.as_str(), "assistant" | "user" | "all"))
}
