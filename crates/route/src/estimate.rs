mod text;

use rail_model::{
    Format, Media, MediaKind, MediaSource, Message, Opaque, Part, PartBody, Request, ToolDecl, ToolKind,
};
use serde_json::Value;

pub use text::tokens;

/// Around every message: who speaks, and where it ends.
const MESSAGE: u64 = 4;
/// Around every call, result and declared tool.
const BLOCK: u64 = 8;
/// What tools cost besides their own: the words that teach a model to call.
const TOOLS: u64 = 30;
/// A picture of the usual size; models scale what is larger.
const IMAGE: u64 = 1500;
/// A document that only its provider can open.
const DOCUMENT: u64 = 3000;
/// Bytes of a PDF that come to one token.
const DOCUMENT_BYTES: u64 = 30;
/// Bytes of sound or film that come to one token.
const SOUND_BYTES: u64 = 500;
/// Bytes of sealed reasoning that come to one token.
const SEALED_BYTES: u64 = 5;

/// About how many tokens of input a request is, told apart by what they are for.
///
/// The text is counted by [`tokens`], which says how exact that is. A target's own tokenizer may see a fifth more or less, and
/// models differ in what images cost: [`Calibration`](crate::Calibration) learns the difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Estimate {
    /// Instructions at the head.
    pub system: u64,
    /// Declared tools, and the form that the answer must have.
    pub tools: u64,
    /// The conversation without its media.
    pub messages: u64,
    /// Images, documents, sounds and films, wherever they stand.
    pub media: u64,
}

impl Estimate {
    /// All of it.
    pub fn total(&self) -> u64 {
        [self.system, self.tools, self.messages, self.media].into_iter().fold(0, u64::saturating_add)
    }
}

/// About how many tokens of input this request is. Each text is read once; 1 MB takes about a millisecond.
pub fn estimate(request: &Request) -> Estimate {
    let mut counted = Counted::default();
    parts(&request.system, &mut counted);
    let system = if request.system.is_empty() { 0 } else { counted.text + MESSAGE };
    counted.text = 0;
    for message in &request.messages {
        counted.text += MESSAGE;
        parts(&message.parts, &mut counted);
    }
    let declared: u64 = request.tools.iter().map(tool_tokens).sum();
    let teaching = if request.tools.is_empty() { 0 } else { TOOLS };
    let tools = declared + teaching + request.format.as_ref().map_or(0, format);
    Estimate { system, tools, messages: counted.text, media: counted.media }
}

/// About how many tokens one message adds to a request that has it.
pub fn estimate_message(message: &Message) -> u64 {
    MESSAGE + estimate_parts(&message.parts)
}

/// About how many tokens these parts are, wherever they stand.
pub fn estimate_parts(parts: &[Part]) -> u64 {
    let mut counted = Counted::default();
    self::parts(parts, &mut counted);
    counted.text.saturating_add(counted.media)
}

#[derive(Default)]
struct Counted {
    text: u64,
    media: u64,
}

fn parts(parts: &[Part], counted: &mut Counted) {
    for part in parts {
        match &part.body {
            PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => {
                counted.text += tokens(text);
            }
            PartBody::Redacted(seal) => counted.text += seal.data.len() as u64 / SEALED_BYTES,
            PartBody::ToolCall(call) => {
                counted.text += BLOCK + tokens(&call.name) + tokens(&call.arguments);
            }
            PartBody::ToolResult(result) => {
                counted.text += BLOCK;
                self::parts(&result.content, counted);
            }
            PartBody::Media(media) => match &media.source {
                MediaSource::Text(text) => counted.text += tokens(text),
                MediaSource::Base64(_) | MediaSource::Url(_) | MediaSource::FileId(_) => {
                    counted.media += medium(media);
                }
            },
            PartBody::Opaque(opaque) => counted.text += block(opaque),
        }
    }
}

fn medium(media: &Media) -> u64 {
    let bytes = match &media.source {
        MediaSource::Base64(data) => data.len() as u64 / 4 * 3,
        MediaSource::Text(_) | MediaSource::Url(_) | MediaSource::FileId(_) => 0,
    };
    match media.kind {
        MediaKind::Image => IMAGE,
        MediaKind::Document => DOCUMENT.max(bytes / DOCUMENT_BYTES),
        MediaKind::Audio | MediaKind::Video => IMAGE.max(bytes / SOUND_BYTES),
    }
}

/// About how many tokens the declaration of one tool is.
pub fn tool_tokens(tool: &ToolDecl) -> u64 {
    let said = match &tool.kind {
        ToolKind::Function { parameters: Some(json) } | ToolKind::Custom { format: Some(json) } => {
            tokens(json.text())
        }
        ToolKind::Function { parameters: None } | ToolKind::Custom { format: None } => 0,
        ToolKind::Server(opaque) => block(opaque),
    };
    BLOCK + tokens(&tool.name) + tool.description.as_deref().map_or(0, tokens) + said
}

fn format(format: &Format) -> u64 {
    match format {
        Format::JsonSchema { schema: Some(schema), .. } => BLOCK + tokens(schema.text()),
        Format::Text | Format::JsonObject | Format::JsonSchema { schema: None, .. } | Format::Opaque(_) => 0,
    }
}

fn block(opaque: &Opaque) -> u64 {
    BLOCK + value(&opaque.value)
}

/// JSON, without writing it out: a key or a number is about three tokens with its punctuation.
fn value(json: &Value) -> u64 {
    match json {
        Value::Null | Value::Bool(_) | Value::Number(_) => 3,
        Value::String(text) => 2 + tokens(text),
        Value::Array(list) => 2 + list.iter().map(value).sum::<u64>(),
        Value::Object(map) => 2 + map.values().map(|member| 3 + value(member)).sum::<u64>(),
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{CallId, CallKind, Extras, Json, Message, ProtocolId, Role, Seal, ToolCall, ToolResult};
    use serde_json::json;

    use super::*;

    fn of(parts: Vec<Part>) -> Estimate {
        estimate(&Request { messages: vec![Message::new(Role::User, parts)], ..Request::default() })
    }

    fn media(kind: MediaKind, source: MediaSource) -> Part {
        PartBody::Media(Media { kind, mime: None, source, name: None }).into()
    }

    fn counts(estimate: Estimate) -> (u64, u64, u64, u64) {
        (estimate.system, estimate.tools, estimate.messages, estimate.media)
    }

    #[test]
    fn every_kind_of_part_counts() {
        let call = ToolCall {
            id: CallId::Given("c".into()),
            name: "read_file".into(),
            arguments: r#"{"file_path": "src/main.rs"}"#.into(),
            kind: CallKind::Function,
        };
        let result = |content| ToolResult {
            id: CallId::Given("c".into()),
            name: None,
            content,
            is_error: None,
            kind: CallKind::Function,
        };
        let image = || media(MediaKind::Image, MediaSource::Url("https://example.com/a.png".into()));
        let opaque = Opaque {
            origin: ProtocolId::new("x"),
            value: json!({"type": "thing", "list": [1, "two words"]}),
        };
        let seal = Seal { issuer: "x".into(), data: "0123456789".repeat(10) };
        for (parts, messages, media) in [
            (vec![], 4, 0),
            (vec![Part::text("two words")], 6, 0),
            (vec![PartBody::Thinking("two words".into()).into()], 6, 0),
            (vec![PartBody::Redacted(seal).into()], 24, 0),
            (vec![PartBody::ToolCall(call).into()], 23, 0),
            (vec![PartBody::ToolResult(result(vec![Part::text("two words"), image()])).into()], 14, 1500),
            (vec![image(), image()], 4, 3000),
            (vec![PartBody::Opaque(opaque).into()], 32, 0),
        ] {
            assert_eq!(counts(of(parts.clone())), (0, 0, messages, media), "{parts:?}");
            let message = Message::new(Role::User, parts);
            assert_eq!(estimate_message(&message), messages + media, "{message:?}");
        }
    }

    #[test]
    fn documents_count_by_their_size() {
        let inline = |bytes: usize| MediaSource::Base64("A".repeat(bytes / 3 * 4));
        for (kind, source, expected) in [
            (MediaKind::Image, inline(3_000_000), (4, 1500)),
            (MediaKind::Document, MediaSource::FileId("f".into()), (4, 3000)),
            (MediaKind::Document, inline(300_000), (4, 10_000)),
            (MediaKind::Document, MediaSource::Text("two words".into()), (6, 0)),
            (MediaKind::Audio, inline(3_000_000), (4, 6000)),
            (MediaKind::Video, MediaSource::Url("u".into()), (4, 1500)),
        ] {
            let found = of(vec![media(kind, source)]);
            assert_eq!((found.messages, found.media), expected, "{kind:?}");
        }
    }

    #[test]
    fn tools_and_instructions_count() {
        let schema =
            json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        let function = ToolDecl {
            name: "read".into(),
            description: Some("Reads a file.".into()),
            kind: ToolKind::Function { parameters: Some(Json::from(&schema)) },
            strict: None,
            cache: None,
            extras: Extras::NONE,
        };
        let format = Format::JsonSchema {
            name: None,
            description: None,
            schema: Some(Json::from(&schema)),
            strict: None,
        };
        let request = Request {
            system: vec![Part::text("You are a helpful assistant.")],
            tools: vec![function],
            ..Request::default()
        };
        assert_eq!(counts(estimate(&request)), (11, 62, 0, 0));
        let formatted = Request { format: Some(format), tools: Vec::new(), ..request.clone() };
        assert_eq!(counts(estimate(&formatted)), (11, 27, 0, 0));
        assert_eq!(estimate(&request).total(), 73);
        assert_eq!(estimate(&Request::default()).total(), 0);
    }
}
