//! What a client writes, line by line.

use rail_model::{Media, MediaKind, MediaSource, Part, PartBody};
use rail_proto::{Mode, Prompt};
use serde_json::{Map, Value};

/// A line that a client wrote.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Incoming {
    /// The user says something.
    User(Prompt),
    /// The client wants something.
    Request {
        /// Its id, which the answer has as well.
        id: String,
        /// What it wants.
        wants: Wants,
    },
    /// The answer to something that we wanted.
    Response {
        /// The id of what we wanted.
        id: String,
        /// The answer, or why there is none.
        answer: Result<Value, String>,
    },
    /// Nothing that is to be done.
    Nothing,
}

/// What a client wants.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Wants {
    /// To begin, with what it has for us.
    Initialize(Map<String, Value>),
    /// Whatever runs to end.
    Interrupt,
    /// The agent that this call set to work to end.
    StopTask(String),
    /// Another permission mode.
    SetMode(Result<Mode, String>),
    /// Another model, or the one of the beginning.
    SetModel(Option<String>),
    /// To know which MCP servers there are.
    McpStatus,
    /// To tell us something for an MCP server of its own.
    McpMessage(Value),
    /// Something that we do not know.
    Unknown(String),
}

/// Reads a line.
///
/// # Errors
/// What is wrong with it, in a few words.
pub(crate) fn read(line: &str) -> Result<Incoming, String> {
    if line.trim().is_empty() {
        return Ok(Incoming::Nothing);
    }
    let message: Map<String, Value> =
        serde_json::from_str(line).map_err(|error| format!("no JSON object: {error}"))?;
    let text = |key: &str| message.get(key).and_then(Value::as_str).map(str::to_owned);
    let object = |key: &str| message.get(key).and_then(Value::as_object).cloned();
    match text("type").as_deref() {
        Some("user") => {
            let said = object("message").and_then(|said| said.get("content").cloned());
            let content = said.ok_or("a `user` message without `message.content`")?;
            Ok(Incoming::User(Prompt { id: text("uuid"), parts: parts(&content)? }))
        }
        Some("control_request") => {
            let id = text("request_id").ok_or("a `control_request` without a `request_id`")?;
            let request = object("request").ok_or("a `control_request` without a `request`")?;
            Ok(Incoming::Request { id, wants: wants(request) })
        }
        Some("control_response") => {
            let response = object("response").ok_or("a `control_response` without a `response`")?;
            let id = response.get("request_id").and_then(Value::as_str);
            let id = id.ok_or("a `control_response` without a `request_id`")?.to_owned();
            Ok(Incoming::Response { id, answer: answer(&response) })
        }
        // The rest says nothing to us: what a client keeps the line alive with, and what newer ones may say.
        Some(_) => Ok(Incoming::Nothing),
        None => Err("a message without a `type`".to_owned()),
    }
}

fn answer(response: &Map<String, Value>) -> Result<Value, String> {
    match response.get("subtype").and_then(Value::as_str) {
        Some("error") => Err(response
            .get("error")
            .and_then(Value::as_str)
            .unwrap_or("the client gave no reason")
            .to_owned()),
        Some(_) | None => Ok(response.get("response").cloned().unwrap_or_default()),
    }
}

fn wants(mut request: Map<String, Value>) -> Wants {
    let subtype = request.get("subtype").and_then(Value::as_str).unwrap_or_default().to_owned();
    let text = |key: &str| request.get(key).and_then(Value::as_str).map(str::to_owned);
    match subtype.as_str() {
        "interrupt" => Wants::Interrupt,
        "stop_task" => Wants::StopTask(text("task_id").or_else(|| text("tool_use_id")).unwrap_or_default()),
        "set_permission_mode" => Wants::SetMode(mode(&text("mode").unwrap_or_default())),
        "set_model" => Wants::SetModel(text("model").filter(|model| model != "default" && !model.is_empty())),
        "mcp_status" => Wants::McpStatus,
        "mcp_message" => Wants::McpMessage(request.remove("message").unwrap_or_default()),
        "initialize" => Wants::Initialize(request),
        _ => Wants::Unknown(subtype),
    }
}

/// A permission mode by its name in Claude Code, or ours.
pub(crate) fn mode(word: &str) -> Result<Mode, String> {
    match word {
        "default" | "dontAsk" => Ok(Mode::Default),
        "acceptEdits" | "accept-edits" => Ok(Mode::AcceptEdits),
        "plan" => Ok(Mode::Plan),
        "bypassPermissions" | "bypass" => Ok(Mode::Bypass),
        other => Err(format!(
            "there is no permission mode `{other}`; there are `default`, `acceptEdits`, `plan` and `bypassPermissions`"
        )),
    }
}

/// What the user says: a text, or blocks of text and media.
fn parts(content: &Value) -> Result<Vec<Part>, String> {
    match content {
        Value::String(text) => Ok(vec![Part::text(text.as_str())]),
        Value::Array(blocks) => blocks.iter().map(part).collect(),
        _ => Err("the `content` of a `user` message is neither a text nor a list of blocks".to_owned()),
    }
}

/// A block of text or of a medium, as users and MCP servers have them.
///
/// # Errors
/// It is another kind of block, or not whole.
pub(crate) fn part(block: &Value) -> Result<Part, String> {
    let text = |at: &Value, key: &str| at.get(key).and_then(Value::as_str).map(str::to_owned);
    let kind = text(block, "type").unwrap_or_default();
    let media = match kind.as_str() {
        "text" => {
            return text(block, "text")
                .map(Part::text)
                .ok_or_else(|| "a `text` block without `text`".to_owned());
        }
        "image" => MediaKind::Image,
        "document" => MediaKind::Document,
        "audio" => MediaKind::Audio,
        other => {
            return Err(format!(
                "a block of the type `{other}`; there can be `text`, `image` and `document`"
            ));
        }
    };
    // MCP has the data in the block itself.
    let source = block.get("source").unwrap_or(block);
    let base64 = || text(source, "data").map(MediaSource::Base64);
    let from = match text(source, "type").as_deref() {
        Some("url") => text(source, "url").map(MediaSource::Url),
        Some("text") => text(source, "data").map(MediaSource::Text),
        Some("file") => text(source, "file_id").map(MediaSource::FileId),
        Some(_) | None => base64(),
    };
    let from = from.ok_or_else(|| format!("a block of the type `{kind}` without its data"))?;
    let mime = text(source, "media_type").or_else(|| text(source, "mimeType"));
    let name = text(block, "title");
    Ok(Part::new(PartBody::Media(Media { kind: media, mime, source: from, name })))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_read() {
        let image =
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}});
        let png = Part::new(PartBody::Media(Media {
            kind: MediaKind::Image,
            mime: Some("image/png".to_owned()),
            source: MediaSource::Base64("AA==".to_owned()),
            name: None,
        }));
        let request = |id: &str, wants| Incoming::Request { id: id.to_owned(), wants };
        let cases = [
            (
                json!({"type": "user", "message": {"role": "user", "content": "hi"}, "uuid": "u"}),
                Incoming::User(Prompt { id: Some("u".to_owned()), parts: vec![Part::text("hi")] }),
            ),
            (
                json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "see"}, image]}}),
                Incoming::User(Prompt { id: None, parts: vec![Part::text("see"), png] }),
            ),
            (
                json!({"type": "control_request", "request_id": "1", "request": {"subtype": "interrupt"}}),
                request("1", Wants::Interrupt),
            ),
            (
                json!({"type": "control_request", "request_id": "2", "request": {"subtype": "set_permission_mode", "mode": "acceptEdits"}}),
                request("2", Wants::SetMode(Ok(Mode::AcceptEdits))),
            ),
            (
                json!({"type": "control_request", "request_id": "3", "request": {"subtype": "set_model"}}),
                request("3", Wants::SetModel(None)),
            ),
            (
                json!({"type": "control_request", "request_id": "4", "request": {"subtype": "dance"}}),
                request("4", Wants::Unknown("dance".to_owned())),
            ),
            (
                json!({"type": "control_response", "response": {"subtype": "success", "request_id": "5", "response": {"a": 1}}}),
                Incoming::Response { id: "5".to_owned(), answer: Ok(json!({"a": 1})) },
            ),
            (
                json!({"type": "control_response", "response": {"subtype": "error", "request_id": "6", "error": "no"}}),
                Incoming::Response { id: "6".to_owned(), answer: Err("no".to_owned()) },
            ),
            (json!({"type": "keep_alive"}), Incoming::Nothing),
        ];
        for (line, expected) in cases {
            assert_eq!(read(&line.to_string()), Ok(expected), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (line, expected) in [
            ("[1]", "no JSON object: invalid type: sequence, expected a map at line 1 column 0"),
            ("{}", "a message without a `type`"),
            (r#"{"type":"user","message":{}}"#, "a `user` message without `message.content`"),
            (
                r#"{"type":"user","message":{"content":[{"type":"tool_result"}]}}"#,
                "a block of the type `tool_result`; there can be `text`, `image` and `document`",
            ),
            (r#"{"type":"control_request","request":{}}"#, "a `control_request` without a `request_id`"),
        ] {
            assert_eq!(read(line), Err(expected.to_owned()));
        }
    }

    proptest! {
        #[test]
        fn no_line_breaks_it(line in ".{0,200}") {
            let _ = read(&line);
        }

        #[test]
        fn texts_come_through(text in any::<String>()) {
            let line = json!({"type": "user", "message": {"content": text}}).to_string();
            prop_assert_eq!(read(&line), Ok(Incoming::User(Prompt::text(text))));
        }
    }
}
