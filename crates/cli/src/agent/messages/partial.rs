//! An answer while it is being written, as Anthropic's stream events.

use rail_model::{Message, PartBody};
use serde_json::{Value, json};

use super::blocks::{self, Naming};

/// The stream events of one answer. Calls are told whole when the answer is: until then nobody knows whether they have to be mended.
#[derive(Default)]
pub(crate) struct Partial {
    open: Option<Open>,
    begun: bool,
    index: u64,
    /// Whether text or thoughts were told already.
    told: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Text,
    Thinking,
}

impl Partial {
    pub(crate) fn text(&mut self, text: &str, id: &str, model: &str, out: &mut Vec<Value>) {
        self.piece(Open::Text, json!({"type": "text_delta", "text": text}), (id, model), out);
    }

    pub(crate) fn thinking(&mut self, text: &str, id: &str, model: &str, out: &mut Vec<Value>) {
        self.piece(Open::Thinking, json!({"type": "thinking_delta", "thinking": text}), (id, model), out);
    }

    fn piece(&mut self, kind: Open, delta: Value, of: (&str, &str), out: &mut Vec<Value>) {
        self.begin(of, out);
        if self.open != Some(kind) {
            self.close(out);
            let block = match kind {
                Open::Text => json!({"type": "text", "text": ""}),
                Open::Thinking => json!({"type": "thinking", "thinking": "", "signature": ""}),
            };
            out.push(json!({"type": "content_block_start", "index": self.index, "content_block": block}));
            self.open = Some(kind);
        }
        self.told = true;
        out.push(json!({"type": "content_block_delta", "index": self.index, "delta": delta}));
    }

    fn begin(&mut self, (id, model): (&str, &str), out: &mut Vec<Value>) {
        if self.begun {
            return;
        }
        self.begun = true;
        let message = json!({
            "id": id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "usage": {"input_tokens": 0, "output_tokens": 0},
        });
        out.push(json!({"type": "message_start", "message": message}));
    }

    fn close(&mut self, out: &mut Vec<Value>) {
        if self.open.take().is_some() {
            out.push(json!({"type": "content_block_stop", "index": self.index}));
            self.index += 1;
        }
    }

    /// The answer is whole: what was not told yet is, and the message ends.
    pub(crate) fn end(&mut self, whole: &Whole<'_>, out: &mut Vec<Value>) {
        self.begin((whole.id, whole.model), out);
        self.close(out);
        for part in &whole.message.parts {
            match &part.body {
                PartBody::Text(text) | PartBody::Refusal(text) if !self.told => {
                    self.piece(
                        Open::Text,
                        json!({"type": "text_delta", "text": text}),
                        (whole.id, whole.model),
                        out,
                    );
                    self.close(out);
                }
                PartBody::ToolCall(call) => {
                    let name = (whole.naming)(&call.name);
                    let block =
                        json!({"type": "tool_use", "id": call.id.as_str(), "name": name, "input": {}});
                    let input = blocks::input(&call.arguments).to_string();
                    let delta = json!({"type": "input_json_delta", "partial_json": input});
                    out.push(
                        json!({"type": "content_block_start", "index": self.index, "content_block": block}),
                    );
                    out.push(json!({"type": "content_block_delta", "index": self.index, "delta": delta}));
                    out.push(json!({"type": "content_block_stop", "index": self.index}));
                    self.index += 1;
                }
                PartBody::Text(_)
                | PartBody::Refusal(_)
                | PartBody::Thinking(_)
                | PartBody::Redacted(_)
                | PartBody::ToolResult(_)
                | PartBody::Media(_)
                | PartBody::Opaque(_) => {}
            }
        }
        let delta = json!({"stop_reason": whole.stop, "stop_sequence": null});
        out.push(json!({"type": "message_delta", "delta": delta, "usage": whole.usage}));
        out.push(json!({"type": "message_stop"}));
        *self = Self::default();
    }

    /// What was told is void. An open message ends, so that a reader is not left waiting for more of it.
    pub(crate) fn void(&mut self, out: &mut Vec<Value>) {
        if self.begun {
            self.close(out);
            out.push(json!({"type": "message_stop"}));
        }
        *self = Self::default();
    }
}

/// A whole answer.
pub(crate) struct Whole<'a> {
    pub(crate) message: &'a Message,
    pub(crate) id: &'a str,
    pub(crate) model: &'a str,
    pub(crate) stop: &'a str,
    pub(crate) usage: Value,
    pub(crate) naming: &'a Naming,
}
