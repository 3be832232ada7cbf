//! What an answer became.

use std::sync::Arc;

use rail_model::{ApiError, Assembler, Event, Part, PartBody, ToolCall, ToolDecl};
use rail_repair::{CallFault, Catalog, End, Mapping, Note, Pipeline, Profile, Repair, Stage, settle, stages};
use serde_json::{Value, json};

/// Runs the events of an answer through the stages and keeps what they become.
pub(super) struct Outcome {
    catalog: Arc<Catalog>,
    pipeline: Pipeline,
    assembler: Assembler,
    notes: Vec<Note>,
    failed: Option<ApiError>,
}

/// What the stages gave for some events: the events that came out, and what there is to say of them.
pub(super) struct Passed {
    pub(super) events: Vec<Event>,
    pub(super) notes: Vec<Note>,
}

impl Outcome {
    pub(super) fn new(tools: &[ToolDecl], profile: &Profile, mappings: &[Mapping]) -> Self {
        let catalog = Arc::new(mappings.iter().fold(Catalog::new(tools), Catalog::with));
        Self {
            pipeline: stages(profile, &catalog),
            catalog,
            assembler: Assembler::default(),
            notes: Vec::new(),
            failed: None,
        }
    }

    pub(super) fn pass(&mut self, events: impl IntoIterator<Item = Event>) -> Passed {
        let mut out = Vec::new();
        events.into_iter().for_each(|event| self.pipeline.event(event, &mut out));
        self.keep(out)
    }

    /// No more events will come.
    pub(super) fn end(&mut self) -> Passed {
        let mut out = Vec::new();
        self.pipeline.finish(&mut out);
        self.keep(out)
    }

    fn keep(&mut self, events: Vec<Event>) -> Passed {
        for event in &events {
            if let Event::Failed(error) = event {
                self.failed = Some(error.clone());
            }
            self.assembler.push(event.clone());
        }
        let notes = self.pipeline.notes();
        self.notes.extend_from_slice(&notes);
        Passed { events, notes }
    }

    /// The error that the upstream reported in the answer.
    pub(super) fn failed(&self) -> Option<&ApiError> {
        self.failed.as_ref()
    }

    /// The answer as one object, with every call settled.
    pub(super) fn into_object(self, id: &str) -> Value {
        let mut object = Object::default();
        for part in self.assembler.parts() {
            if let PartBody::ToolCall(call) = &part.body {
                object.call(call, &self.catalog, &self.notes);
            }
        }
        let parts = self.assembler.parts();
        json!({
            "id": id,
            "content": words(parts, Kind::Content),
            "reasoning": words(parts, Kind::Reasoning),
            "calls": object.calls,
            "incomplete": object.incomplete,
            "repairs": object.repairs,
        })
    }
}

#[derive(Default)]
struct Object {
    calls: Vec<Value>,
    incomplete: Vec<String>,
    repairs: Vec<Value>,
}

impl Object {
    fn call(&mut self, call: &ToolCall, catalog: &Catalog, notes: &[Note]) {
        let notes: Vec<&Note> = notes.iter().filter(|note| note.call() == call.id.as_str()).collect();
        let mut repairs: Vec<Repair> = notes
            .iter()
            .filter_map(|note| match note {
                Note::Repaired { repair, .. } => Some(repair.clone()),
                Note::Unknown { .. } | Note::Incomplete { .. } | Note::Invalid { .. } => None,
            })
            .collect();
        let cut = notes.iter().find_map(|note| match note {
            Note::Incomplete { name, .. } => Some(name.clone()),
            Note::Repaired { .. } | Note::Unknown { .. } | Note::Invalid { .. } => None,
        });
        // The stages have named what was cut, so what is left was closed.
        let settled = match cut {
            Some(name) => Err(CallFault::Incomplete { name }),
            None => settle(call, catalog, End::Closed),
        };
        let (name, arguments, is_known) = match settled {
            Ok(settled) => {
                add(&mut repairs, settled.repairs);
                (settled.call.name, settled.arguments, true)
            }
            Err(CallFault::Invalid { settled, .. }) => {
                add(&mut repairs, settled.repairs);
                (settled.call.name, settled.arguments, true)
            }
            Err(CallFault::Unknown { name, .. }) => (name, as_said(&call.arguments), false),
            Err(CallFault::Incomplete { name } | CallFault::Malformed { name, .. }) => {
                self.incomplete.push(name);
                return;
            }
        };
        let place = format!("calls[{}]", self.calls.len());
        self.repairs.extend(repairs.into_iter().map(|repair| {
            let path =
                if repair.path.is_empty() { place.clone() } else { format!("{place}.{}", repair.path) };
            json!({"step": repair.step.to_string(), "path": path})
        }));
        let mut shown = json!({"id": call.id.as_str(), "name": name, "arguments": arguments});
        if let Value::Object(fields) = &mut shown
            && !is_known
        {
            fields.insert("unknown".to_owned(), json!(true));
        }
        self.calls.push(shown);
    }
}

/// A stage may have named already what settling the call finds again.
fn add(repairs: &mut Vec<Repair>, more: Vec<Repair>) {
    for repair in more {
        if !repairs.contains(&repair) {
            repairs.push(repair);
        }
    }
}

/// The arguments of a call that has no schema.
fn as_said(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return json!({});
    }
    serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Content,
    Reasoning,
}

/// The words of this kind, one part to a line.
fn words(parts: &[Part], kind: Kind) -> String {
    let text = |part: &'_ Part| match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) => (kind == Kind::Content).then_some(text.clone()),
        PartBody::Thinking(text) => (kind == Kind::Reasoning).then_some(text.clone()),
        PartBody::Redacted(_)
        | PartBody::ToolCall(_)
        | PartBody::ToolResult(_)
        | PartBody::Media(_)
        | PartBody::Opaque(_) => None,
    };
    let words: Vec<String> = parts.iter().filter_map(text).filter(|text| !text.is_empty()).collect();
    words.join("\n")
}
