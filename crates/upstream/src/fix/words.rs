//! What providers say when they refuse a request, and what it means.

use rail_model::{ApiError, ErrorKind, ProtocolId};
use rail_route::Thinks;
use serde_json::{Value, json};

use super::{Fix, Remedy, fields, limits, schema};

/// What to change in the request so that it is not refused for this again; None when nothing can be.
pub(crate) fn diagnose(protocol: ProtocolId, error: &ApiError, sent: &Value) -> Option<Remedy> {
    if !may_be_fixable(error.kind) {
        return None;
    }
    let lower = error.message.to_lowercase();
    let said = Said { text: &error.message, lower: &lower, sent };
    let lasting = |fix| Remedy { fix, lasting: true };
    let too_high = limits::too_high(&lower, sent);
    if error.kind == ErrorKind::ContextLength {
        return too_high;
    }
    let anthropic = protocol.name() == "anthropic";
    too_high
        .or_else(|| said.renamed().map(lasting))
        .or_else(|| said.role().map(lasting))
        .or_else(|| said.images().map(lasting))
        .or_else(|| said.thinking())
        .or_else(|| said.layout().map(lasting))
        .or_else(|| said.beta().map(lasting))
        .or_else(|| said.schema().map(lasting))
        .or_else(|| {
            fields::refused(&error.message, &lower, error.param.as_deref(), sent, anthropic).map(lasting)
        })
}

/// Whether errors of this kind are ever about something in the request that could be changed.
pub(crate) fn may_be_fixable(kind: ErrorKind) -> bool {
    match kind {
        // Some servers answer 500 to what they can't parse, and some gateways 404 to what no model of theirs takes.
        ErrorKind::InvalidRequest | ErrorKind::Server | ErrorKind::ContextLength | ErrorKind::NotFound => {
            true
        }
        ErrorKind::Authentication
        | ErrorKind::Permission
        | ErrorKind::Conflict
        | ErrorKind::TooLarge
        | ErrorKind::Refused
        | ErrorKind::RateLimited
        | ErrorKind::Quota
        | ErrorKind::Overloaded
        | ErrorKind::Timeout => false,
    }
}

struct Said<'a> {
    text: &'a str,
    lower: &'a str,
    sent: &'a Value,
}

impl Said<'_> {
    fn says(&self, all: &[&str]) -> bool {
        all.iter().all(|words| self.lower.contains(words))
    }

    fn says_any(&self, any: &[&str]) -> bool {
        any.iter().any(|words| self.lower.contains(words))
    }

    fn has(&self, field: &str) -> bool {
        self.sent.get(field).is_some()
    }

    /// `max_tokens` where `max_completion_tokens` is wanted, or the other way round.
    fn renamed(&self) -> Option<Fix> {
        if self.says(&["max_completion_tokens", "instead"]) && self.has("max_tokens") {
            return Some(Fix::MaxCompletionTokens);
        }
        let wanted = self.says(&["did you mean 'max_tokens'"]) || self.says(&["use 'max_tokens'"]);
        (wanted && self.has("max_completion_tokens")).then_some(Fix::MaxTokens)
    }

    fn role(&self) -> Option<Fix> {
        let named =
            self.says(&["developer"]) && self.says_any(&["role", "variant", "not one of", "input should be"]);
        let unnamed =
            self.says_any(&["unexpected message role", "incorrect role information", "invalid role"]);
        let messages =
            ["messages", "input"].iter().filter_map(|list| self.sent.get(list)?.as_array()).flatten();
        let mut roles = messages.filter_map(|message| message.get("role")?.as_str());
        ((named || unnamed) && roles.any(|role| role == "developer")).then_some(Fix::SystemRole)
    }

    fn images(&self) -> Option<Fix> {
        let in_results =
            self.says_any(&["role 'tool'", "role \"tool\"", "tool message", "toolmessage", "tool_result"]);
        if in_results
            && self.says_any(&["image", "text content", "should be", "text'"])
            && images_in_results(self.sent)
        {
            return Some(Fix::ImagesToUser);
        }
        let blind = self.says_any(&[
            "does not support image",
            "not support images",
            "image input is not supported",
            "support image input",
            "not a multimodal model",
            "unknown variant `image_url`",
            "image_url is only supported by certain models",
            "does not support vision",
        ]);
        // A model that can't see what it was just asked about should not answer; another one may.
        (blind && images_only_before(self.sent)).then_some(Fix::NoImages)
    }

    fn thinking(&self) -> Option<Remedy> {
        let lasting = |fix| Some(Remedy { fix, lasting: true });
        let once = |fix| Some(Remedy { fix, lasting: false });
        let refused = self.says_any(&["not supported", "does not match any of the expected tags"]);
        if self.says(&["reasoning_content"]) && self.says_any(&["must be passed back", "missing"]) {
            lasting(Fix::ReasoningBack)
        } else if self.says(&["thinking.type.enabled", "not supported"]) {
            lasting(Fix::Think { how: Thinks::Adaptive })
        } else if self.says(&["adaptive"]) && refused {
            lasting(Fix::Think { how: Thinks::Budget })
        } else if self.says(&["thinking may not be enabled when tool_choice"]) {
            once(Fix::Drop { path: "thinking".to_owned() })
        } else if self.says(&["enable_thinking must be set to false for non-streaming"]) {
            once(Fix::Set { path: "enable_thinking".to_owned(), value: json!(false) })
        } else if self.says(&["tool_choice", "thinking mode"]) && self.has("tool_choice") {
            once(Fix::Drop { path: "tool_choice".to_owned() })
        } else if self.says_any(&[
            "does not support thinking",
            "thinking is not supported",
            "thinking is not enabled",
            "thinking budget is not supported",
            "thinking level is not supported",
            "reasoning is not supported",
        ]) {
            lasting(Fix::Think { how: Thinks::Never })
        } else {
            None
        }
    }

    /// Whole answers or streams, where only the other is offered.
    fn layout(&self) -> Option<Fix> {
        let whole = self.says_any(&[
            "verified to stream",
            "does not support streaming",
            "streaming is not supported",
            "stream is not supported",
            "'stream' does not support",
        ]);
        let streamed = self.says_any(&["only support stream", "only supports stream"]);
        if whole { Some(Fix::Whole) } else { streamed.then_some(Fix::Streamed) }
    }

    fn beta(&self) -> Option<Fix> {
        if self.says(&["invalid beta flag"]) {
            return Some(Fix::Beta { value: None });
        }
        let value = self.says(&["anthropic-beta", "header"]).then(|| fields::quoted(self.text))?;
        let value = value.into_iter().find(|word| word != "anthropic-beta");
        value.map(|value| Fix::Beta { value: Some(value) })
    }

    fn schema(&self) -> Option<Fix> {
        if self.says(&["at the top level"]) {
            let combined = ["oneOf", "anyOf", "allOf", "enum", "not"];
            let path = combined.iter().find_map(|key| schema::at_top(self.sent, key));
            return path.map(|path| Fix::Drop { path });
        }
        if self.says(&["invalid schema", "is required to be supplied"]) {
            let strict = [
                &["tools", "function", "strict"][..],
                &["tools", "strict"],
                &["response_format", "json_schema", "strict"],
            ];
            let path = strict.iter().find_map(|path| super::path::locate(self.sent, path));
            return path.map(|path| Fix::Drop { path });
        }
        let mut keys: Vec<String> = self.schema_words();
        keys.retain(|key| schema::uses(self.sent, key));
        keys.dedup();
        (!keys.is_empty()).then_some(Fix::SchemaKeys { keys })
    }

    /// Keywords that are refused in schemas, as far as they can be told from other words.
    fn schema_words(&self) -> Vec<String> {
        if self.says_any(&["pattern must start with", "failed to parse grammar"]) {
            return vec!["pattern".to_owned()];
        }
        if self.says_any(&["are supported for string type", "is not a valid format"]) {
            return vec!["format".to_owned()];
        }
        // Gemini says each place in full; only those inside schemas count here.
        let mut named: Vec<String> = Vec::new();
        for part in self.text.split("Unknown name \"").skip(1) {
            let Some((name, rest)) = part.split_once('"') else { continue };
            let place = rest.lines().next().unwrap_or_default();
            let inside = ["parameters", "response_schema", "responseSchema", "response_json_schema"];
            if inside.iter().any(|word| place.contains(word)) && !named.iter().any(|known| known == name) {
                named.push(name.to_owned());
            }
        }
        if named.is_empty() && self.says(&["schema"]) {
            let refused = ["is not permitted", "not supported", "unsupported", "not allowed"];
            if self.says_any(&refused) {
                named = fields::quoted(self.text);
                named.extend(
                    self.text.split([' ', ',']).map(|word| word.trim_matches(['.', ':', ';']).to_owned()),
                );
                // A type is no keyword, and a schema without types says nothing.
                named.retain(|word| {
                    !matches!(
                        word.as_str(),
                        "type" | "properties" | "items" | "required" | "description" | "not"
                    )
                });
            }
        }
        named
    }
}

/// Whether a tool result of the request holds an image.
fn images_in_results(sent: &Value) -> bool {
    messages(sent).any(|message| {
        let result = message.get("role").and_then(Value::as_str) == Some("tool");
        let blocks = || message.get("content").and_then(Value::as_array).into_iter().flatten();
        let nested =
            || blocks().filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_result"));
        result && blocks().any(is_image)
            || nested().any(|block| block.get("content").is_some_and(holds_image))
    })
}

/// Whether the request holds images, but none in its last message.
fn images_only_before(sent: &Value) -> bool {
    let last = messages(sent).last();
    last.is_some_and(|last| !holds_image(last)) && messages(sent).any(holds_image)
}

fn messages(sent: &Value) -> impl Iterator<Item = &Value> {
    ["messages", "input", "contents"].iter().filter_map(|list| sent.get(list)?.as_array()).flatten()
}

fn holds_image(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(holds_image),
        Value::Object(fields) => is_image(value) || fields.values().any(holds_image),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn is_image(block: &Value) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    matches!(kind, Some("image" | "image_url" | "input_image"))
        || block.get("inlineData").or(block.get("fileData")).is_some()
}
