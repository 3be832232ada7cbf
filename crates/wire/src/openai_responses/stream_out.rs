//! A streamed answer, as clients of the API expect it.

use rail_model::{ApiError, Event, Extras, Map, Part, Stop, Usage};
use serde_json::Value;

use super::families::frames;
use super::frames::{AnswerBody, Frame, Spot};
use super::{ID, error, head, usage};
use crate::answer::{SerialAnswer, sse};
use crate::protocol::ReplyTo;
use crate::told::Told;

/// Writes events as SSE.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) reply_to: ReplyTo,
    pub(super) told: Told,
    pub(super) sequence: u64,
    pub(super) ended: bool,
    pub(super) id: String,
    /// The response object as it was at the beginning.
    pub(super) head: Map,
    /// The response object at the end, if the answer came whole.
    pub(super) whole: Option<Map>,
    /// Frames that follow the first one before anything else does.
    pub(super) owed: Vec<&'static str>,
    /// Items that are complete.
    pub(super) output: Vec<Value>,
    /// The parts of the open item; none when no item is open.
    pub(super) group: Vec<Part>,
    pub(super) item_id: String,
    /// Where the newest part stands.
    pub(super) spot: Spot,
    /// A part of another protocol waits for its first piece: an empty one must not appear, and a call's seal belongs
    /// into its id.
    pub(super) waiting: Option<Part>,
    /// Whether the open part came from another protocol, so that its end is its item's end unless it is a message's.
    pub(super) foreign: bool,
    /// Whether the open item is a message of another protocol whose parts are complete; a text that follows joins it.
    pub(super) resting: bool,
    /// A piece that waits for its log probabilities.
    pub(super) held: Option<(String, Extras)>,
    pub(super) usage: Option<Usage>,
    pub(super) refused: bool,
}

impl SerialAnswer for Writer {
    fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        if self.ended {
            return;
        }
        match event {
            Event::Started { id, model, extras } => {
                self.started(id.as_deref(), model.as_deref(), extras, out)
            }
            Event::Ping if self.owed.is_empty() => {
                self.flush(out);
                self.frame("keepalive", (), None, out);
            }
            Event::Ping => {
                let kind = self.owed.remove(0);
                self.owed_frame(kind, out);
            }
            Event::Opaque(opaque) if opaque.origin == ID => self.opaque(&opaque.value, out),
            Event::Opaque(opaque) => {
                self.told.once(format!("event.{}", opaque.origin), "an event of another protocol; left out");
            }
            Event::Opened { at: _, kind, extras } => {
                self.pay(out);
                self.opened(kind, extras, out);
            }
            Event::Delta { at: _, delta, extras } => self.delta(delta, extras, out),
            Event::Closed { at: _, extras } => self.closed(extras, out),
            Event::Usage(usage) => {
                self.told.extras(ID, "usage", &usage.extras);
                self.usage.get_or_insert_default().update(usage.clone());
            }
            Event::Finished { stop, extras } => self.finished(stop, extras, out),
            Event::Failed(error) => self.failed(error, out),
        }
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn told(&mut self) -> &mut Told {
        &mut self.told
    }
}

impl Writer {
    pub(super) fn new(reply_to: &ReplyTo) -> Self {
        Self { reply_to: reply_to.clone(), ..Self::default() }
    }

    pub(super) fn frame(
        &mut self,
        kind: &str,
        body: impl serde::Serialize,
        rest: Option<&Map>,
        out: &mut Vec<u8>,
    ) {
        let frame = Frame { r#type: kind, sequence_number: self.sequence, body, rest };
        self.sequence += 1;
        sse(kind, &frame, out);
    }

    fn started(&mut self, id: Option<&str>, model: Option<&str>, extras: &Extras, out: &mut Vec<u8>) {
        self.id = head::answer_id(id, extras, &self.reply_to);
        self.head = Map::from_iter([("id".to_owned(), Value::from(self.id.as_str()))]);
        let said = head::said(extras);
        let begins =
            |said: &Map| matches!(said.get("status").and_then(Value::as_str), Some("queued" | "in_progress"));
        self.whole = said.clone().filter(|said| !begins(said));
        self.head.extend(said.unwrap_or_else(|| head::adapted(extras, &self.reply_to, &mut self.told)));
        let model = self.reply_to.model.as_deref().or(model).unwrap_or_default();
        self.head.insert("model".to_owned(), Value::from(model));
        self.head.insert("output".to_owned(), Value::Array(Vec::new()));
        let queued = self.head.get("status").and_then(Value::as_str) == Some("queued");
        if !queued {
            // An answer that came whole is told from its beginning.
            self.head.insert("status".to_owned(), Value::from("in_progress"));
            for key in ["completed_at", "incomplete_details"] {
                self.head.get_mut(key).map(Value::take);
            }
        }
        let rest = frames(extras, "created").cloned();
        let head = std::mem::take(&mut self.head);
        self.frame("response.created", AnswerBody { response: &head }, rest.as_ref(), out);
        self.head = head;
        self.owed = if queued { vec!["response.queued"] } else { Vec::new() };
        self.owed.push("response.in_progress");
    }

    fn owed_frame(&mut self, kind: &str, out: &mut Vec<u8>) {
        let status = if kind == "response.queued" { "queued" } else { "in_progress" };
        let mut head = std::mem::take(&mut self.head);
        head.insert("status".to_owned(), Value::from(status));
        self.frame(kind, AnswerBody { response: &head }, None, out);
        self.head = head;
    }

    fn pay(&mut self, out: &mut Vec<u8>) {
        for kind in std::mem::take(&mut self.owed) {
            self.owed_frame(kind, out);
        }
    }

    /// An event of this protocol that we have no word for; its number is its place in this stream.
    fn opaque(&mut self, value: &Value, out: &mut Vec<u8>) {
        let kind = value.get("type").and_then(Value::as_str).unwrap_or("message");
        if self.owed.contains(&kind) {
            self.owed.retain(|owed| *owed != kind);
        } else {
            self.pay(out);
        }
        self.flush(out);
        let mut value = value.clone();
        if let Some(number) = value.get_mut("sequence_number") {
            *number = Value::from(self.sequence);
        }
        self.sequence += 1;
        sse(kind, &value, out);
    }

    fn finished(&mut self, stop: &Stop, extras: &Extras, out: &mut Vec<u8>) {
        self.pay(out);
        self.flush(out);
        self.item_done(out);
        self.told.extras(ID, "", extras);
        let mut response = match head::said(extras).or_else(|| self.whole.take()) {
            Some(said) => {
                let shown = |key: &str| self.head.get(key).map(|value| (key.to_owned(), value.clone()));
                let mut map: Map = ["id", "model"].into_iter().filter_map(shown).collect();
                map.extend(said);
                map
            }
            None => {
                let mut map = self.head.clone();
                head::end(&mut map, stop, self.refused, &self.reply_to, &mut self.told);
                map
            }
        };
        response.insert("output".to_owned(), Value::Array(std::mem::take(&mut self.output)));
        if let Some(usage) = &self.usage {
            response.insert("usage".to_owned(), usage::write(usage));
        }
        let incomplete = response.get("status").and_then(Value::as_str) == Some("incomplete");
        let kind = if incomplete { "response.incomplete" } else { "response.completed" };
        self.frame(kind, AnswerBody { response: &response }, frames(extras, "completed"), out);
        self.ended = true;
    }

    fn failed(&mut self, error: &ApiError, out: &mut Vec<u8>) {
        self.flush(out);
        if self.resting {
            self.item_done(out);
        }
        self.ended = true;
        let said = error.said.as_ref().filter(|(origin, _)| *origin == ID).map(|(_, said)| said);
        if let Some(kind) = said.and_then(|said| said.get("type")).and_then(Value::as_str) {
            let mut value = said.cloned().unwrap_or_default();
            if let Some(number) = value.get_mut("sequence_number") {
                *number = Value::from(self.sequence);
            }
            if let (Some(model), Some(shown)) = (&self.reply_to.model, value.pointer_mut("/response/model")) {
                *shown = Value::from(model.as_str());
            }
            return sse(kind, &value, out);
        }
        let mut response = match said.filter(|said| said.get("object").is_some()).and_then(Value::as_object) {
            Some(said) => said.clone(),
            None => {
                if self.head.is_empty() {
                    // Client libraries can't take a failure of what never began.
                    self.started(None, None, &Extras::NONE, out);
                }
                std::mem::take(&mut self.head)
            }
        };
        response.insert("status".to_owned(), Value::from("failed"));
        response.insert("error".to_owned(), error::failed(error));
        self.frame("response.failed", AnswerBody { response: &response }, None, out);
    }
}
