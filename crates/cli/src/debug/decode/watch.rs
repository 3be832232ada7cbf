//! Events and notes as lines of JSON, to see an answer come.

use rail_model::{Delta, Event, PartKind, Stop};
use rail_repair::Note;
use serde_json::{Value, json};

/// An event as one object.
pub(super) fn event(event: &Event) -> Value {
    match event {
        Event::Started { id, model, .. } => json!({"event": "started", "id": id, "model": model}),
        Event::Opened { at, kind, .. } => opened(*at, kind),
        Event::Delta { at, delta, .. } => {
            let (key, value) = said(delta);
            json!({"event": "delta", "at": at, key: value})
        }
        Event::Closed { at, .. } => json!({"event": "closed", "at": at}),
        Event::Usage(usage) => json!({"event": "usage", "input": usage.input, "output": usage.output}),
        Event::Finished { stop, .. } => json!({"event": "finished", "stop": word(stop)}),
        Event::Failed(error) => json!({"event": "failed", "message": error.message}),
        Event::Ping => json!({"event": "ping"}),
        Event::Opaque(opaque) => json!({"event": "opaque", "value": opaque.value}),
    }
}

fn opened(at: usize, kind: &PartKind) -> Value {
    let kind = match kind {
        PartKind::Text => "text",
        PartKind::Refusal => "refusal",
        PartKind::Thinking => "reasoning",
        PartKind::Redacted(_) => "redacted",
        PartKind::ToolCall { id, name, .. } => {
            return json!({"event": "opened", "at": at, "part": "call", "id": id.as_str(), "name": name});
        }
        PartKind::Media(_) => "media",
        PartKind::Opaque(_) => "opaque",
    };
    json!({"event": "opened", "at": at, "part": kind})
}

fn said(delta: &Delta) -> (&'static str, Value) {
    match delta {
        Delta::Text(text) => ("text", json!(text)),
        Delta::Thinking(text) => ("reasoning", json!(text)),
        Delta::Arguments(text) => ("arguments", json!(text)),
        Delta::Seal(_) => ("seal", json!(true)),
        Delta::Logprobs(list) => ("logprobs", json!(list.len())),
        Delta::Extra { key, value, .. } => ("extra", json!({*key: value})),
    }
}

fn word(stop: &Stop) -> &str {
    match stop {
        Stop::EndTurn => "end_turn",
        Stop::MaxTokens => "max_tokens",
        Stop::StopSequence(_) => "stop_sequence",
        Stop::ToolUse => "tool_use",
        Stop::Refusal => "refusal",
        Stop::Pause => "pause",
        Stop::ContextFull => "context_full",
        Stop::MalformedCall => "malformed_call",
        Stop::Other(word) => word,
    }
}

/// A note as one object.
pub(super) fn note(note: &Note) -> Value {
    match note {
        Note::Repaired { call, repair } => {
            json!({"note": "repaired", "call": call, "step": repair.step.to_string(), "path": repair.path})
        }
        Note::Unknown { call, name, closest } => {
            json!({"note": "unknown", "call": call, "name": name, "closest": closest})
        }
        Note::Incomplete { call, name } => json!({"note": "incomplete", "call": call, "name": name}),
        Note::Invalid { call, problems } => {
            let problems: Vec<Value> =
                problems.iter().map(|problem| json!({"path": problem.path, "what": problem.what})).collect();
            json!({"note": "invalid", "call": call, "problems": problems})
        }
    }
}
