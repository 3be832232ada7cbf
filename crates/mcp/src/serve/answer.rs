//! What became of a call, in the words of MCP.

use rail_model::{Media, MediaKind, MediaSource, Part, PartBody};
use rail_tool::Outcome;
use rmcp::model::{CallToolResult, ContentBlock};

/// The result of a call. What is no fault of the protocol is a result, so that a model sees it.
pub(super) fn result(outcome: &Outcome) -> CallToolResult {
    let content = outcome.parts.iter().map(block).collect();
    if outcome.success() { CallToolResult::success(content) } else { CallToolResult::error(content) }
}

fn block(part: &Part) -> ContentBlock {
    match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => {
            ContentBlock::text(text.clone())
        }
        PartBody::Media(media) => medium(media),
        // No tool gives one of these; that there was something is said all the same.
        PartBody::Redacted(_) => ContentBlock::text("[something that nobody may see]"),
        PartBody::ToolCall(call) => ContentBlock::text(format!("[a call of `{}`]", call.name)),
        PartBody::ToolResult(result) => {
            let texts: Vec<&str> = result.content.iter().filter_map(Part::as_text).collect();
            ContentBlock::text(texts.join("\n"))
        }
        PartBody::Opaque(_) => ContentBlock::text("[something that has no form here]"),
    }
}

fn medium(media: &Media) -> ContentBlock {
    let mime = |default: &str| media.mime.clone().unwrap_or_else(|| default.to_owned());
    match (&media.source, media.kind) {
        (MediaSource::Base64(data), MediaKind::Image) => ContentBlock::image(data.clone(), mime("image/png")),
        (MediaSource::Base64(data), MediaKind::Audio) => ContentBlock::audio(data.clone(), mime("audio/wav")),
        (MediaSource::Base64(_), MediaKind::Document | MediaKind::Video) => {
            ContentBlock::text(format!("[{}]", mime("a file that has no form here")))
        }
        (MediaSource::Text(text), _) => ContentBlock::text(text.clone()),
        (MediaSource::Url(url), _) => ContentBlock::text(url.clone()),
        (MediaSource::FileId(id), _) => ContentBlock::text(format!("[the file {id}]")),
    }
}
