//! The calls of an answer that were mended, as they are recorded.

use rail_model::{Delta, Event, Json, PartKind};
use rail_repair::Note;
use serde_json::{Value, json};

/// The most of a call's arguments that is kept.
const MOST_ARGUMENTS: usize = 64 << 10;
/// The most calls of one answer that are recorded.
const MOST_CALLS: usize = 100;

/// Follows the calls of an answer, and keeps those that something is to be said of.
#[derive(Default)]
pub(super) struct Repairs {
    calls: Vec<Call>,
}

struct Call {
    /// Its part's number, until it is complete.
    open: Option<usize>,
    id: String,
    tool: Option<String>,
    arguments: String,
    done: Vec<Value>,
}

impl Repairs {
    /// Follows an event.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Opened { at, kind: PartKind::ToolCall { id, name, .. }, .. } => {
                let (id, tool) = (id.as_str().to_owned(), Some(name.clone()));
                self.add(Call { open: Some(*at), id, tool, arguments: String::new(), done: Vec::new() });
            }
            Event::Delta { at, delta: Delta::Arguments(text), .. } => {
                if let Some(call) = self.open(*at) {
                    let room = MOST_ARGUMENTS.saturating_sub(call.arguments.len());
                    let fits = text.floor_char_boundary(room);
                    call.arguments.push_str(text.get(..fits).unwrap_or_default());
                }
            }
            Event::Closed { at, .. } => {
                if let Some(call) = self.open(*at) {
                    call.open = None;
                }
            }
            Event::Started { .. }
            | Event::Opened { .. }
            | Event::Delta { .. }
            | Event::Usage(_)
            | Event::Finished { .. }
            | Event::Failed(_)
            | Event::Ping
            | Event::Opaque(_) => {}
        }
    }

    /// Takes what was said of calls since the last time; complete ones of which nothing was said are forgotten.
    pub(super) fn noted(&mut self, notes: Vec<Note>) {
        for note in notes {
            let said = said(&note);
            match self.calls.iter_mut().find(|call| call.id == note.call()) {
                Some(call) => call.done.push(said),
                None => {
                    let id = note.call().to_owned();
                    self.add(Call { open: None, id, tool: None, arguments: String::new(), done: vec![said] });
                }
            }
        }
        self.calls.retain(|call| call.open.is_some() || !call.done.is_empty());
    }

    /// The record: for each mended call what was done, and the call as it left.
    pub(super) fn take(&mut self) -> Vec<Json> {
        let mended = std::mem::take(&mut self.calls).into_iter().filter(|call| !call.done.is_empty());
        mended.map(|Call { id, tool, arguments, done, .. }| {
            Json::from(json!({"call": id, "tool": tool, "done": done, "after": {"name": tool, "arguments": arguments}}))
        })
        .collect()
    }

    fn add(&mut self, call: Call) {
        if self.calls.len() < MOST_CALLS {
            self.calls.push(call);
        }
    }

    fn open(&mut self, at: usize) -> Option<&mut Call> {
        self.calls.iter_mut().rev().find(|call| call.open == Some(at))
    }
}

fn said(note: &Note) -> Value {
    match note {
        Note::Repaired { repair, .. } => json!({"step": repair.step.to_string(), "path": repair.path}),
        Note::Unknown { name, closest, .. } => json!({"step": "unknown", "name": name, "closest": closest}),
        Note::Incomplete { name, .. } => json!({"step": "incomplete", "name": name}),
        Note::Invalid { problems, .. } => {
            let problems: Vec<Value> =
                problems.iter().map(|problem| json!({"path": problem.path, "what": problem.what})).collect();
            json!({"step": "invalid", "problems": problems})
        }
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{CallId, CallKind, Extras};
    use rail_repair::{Repair, Step};

    use super::*;

    fn opened(at: usize, id: &str) -> Event {
        let kind = PartKind::ToolCall {
            id: CallId::Given(id.to_owned()),
            name: "read".to_owned(),
            kind: CallKind::Function,
        };
        Event::Opened { at, kind, extras: Extras::NONE }
    }

    fn arguments(at: usize, text: &str) -> Event {
        Event::Delta { at, delta: Delta::Arguments(text.to_owned()), extras: Extras::NONE }
    }

    #[test]
    fn mended_calls_are_kept_with_what_they_became() {
        let mut repairs = Repairs::default();
        let closed = |at| Event::Closed { at, extras: Extras::NONE };
        for event in [opened(0, "a"), arguments(0, "{\"p\":"), arguments(0, "1}"), closed(0)] {
            repairs.event(&event);
        }
        let note = |call: &str, step| Note::Repaired {
            call: call.to_owned(),
            repair: Repair::new(step, "arguments"),
        };
        repairs.noted(vec![note("a", Step::Found("qwen")), note("a", Step::Closed)]);
        for event in [opened(1, "b"), arguments(1, "{}"), closed(1)] {
            repairs.event(&event);
        }
        repairs.noted(Vec::new());
        assert_eq!(repairs.calls.len(), 1, "nothing is to be said of `b`");
        repairs.event(&opened(2, "c"));
        repairs.event(&arguments(2, &"é".repeat(MOST_ARGUMENTS)));
        assert_eq!(repairs.calls[1].arguments.len(), MOST_ARGUMENTS);
        repairs.calls[1].arguments.clear();
        let (call, closest) = ("c".to_owned(), vec!["read".to_owned()]);
        repairs.noted(vec![Note::Unknown { call, name: "raed".to_owned(), closest }]);
        repairs.noted(vec![note("lost", Step::Split)]);
        let texts: Vec<String> = repairs.take().iter().map(|json| json.text().to_owned()).collect();
        insta::assert_snapshot!(texts.join("\n"), @r#"
        {"call":"a","tool":"read","done":[{"step":"found:qwen","path":"arguments"},{"step":"closed","path":"arguments"}],"after":{"name":"read","arguments":"{\"p\":1}"}}
        {"call":"c","tool":"read","done":[{"step":"unknown","name":"raed","closest":["read"]}],"after":{"name":"read","arguments":""}}
        {"call":"lost","tool":null,"done":[{"step":"split","path":"arguments"}],"after":{"name":null,"arguments":""}}
        "#);
        assert!(repairs.take().is_empty());
    }
}
