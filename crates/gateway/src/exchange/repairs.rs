//! The calls of an answer that were mended, as they are recorded.

use rail_model::{Delta, Event, Json, PartKind};
use rail_repair::{Note, What};
use rail_upstream::Mended;
use serde_json::{Value, json};

/// The most of a call's arguments that is kept, as it came and as it left.
const MOST_ARGUMENTS: usize = 64 << 10;
/// The most of a name that is kept.
const MOST_NAME: usize = 100;
/// The most calls of one answer that are recorded.
const MOST_CALLS: usize = 100;

/// Follows the calls of an answer, and keeps those that something is to be said of.
///
/// What is in a call may be whatever a model writes, secrets of its user included, and is kept only with the bodies.
pub(super) struct Repairs {
    contents: Contents,
    calls: Vec<Call>,
}

/// What is kept of a call besides its name and what was done to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Contents {
    /// The call as the model wrote it and as it left.
    Kept,
    /// Nothing.
    Left,
}

struct Call {
    /// Its part's number, until it is complete.
    open: Option<usize>,
    id: String,
    tool: Option<String>,
    before: Option<What>,
    arguments: String,
    done: Vec<Value>,
}

impl Call {
    fn new(open: Option<usize>, id: &str, tool: Option<&str>) -> Self {
        let (id, tool) = (id.to_owned(), tool.map(str::to_owned));
        Self { open, id, tool, before: None, arguments: String::new(), done: Vec::new() }
    }
}

impl Repairs {
    /// Nothing was mended yet.
    pub(super) fn new(contents: Contents) -> Self {
        Self { contents, calls: Vec::new() }
    }

    /// Follows an event.
    pub(super) fn event(&mut self, event: &Event) {
        match event {
            Event::Opened { at, kind: PartKind::ToolCall { id, name, .. }, .. } => {
                // Notes may run ahead of events.
                match self.calls.iter_mut().find(|call| call.id == id.as_str() && call.tool.is_none()) {
                    Some(call) => (call.open, call.tool) = (Some(*at), Some(name.clone())),
                    None => self.add(Call::new(Some(*at), id.as_str(), Some(name))),
                }
            }
            Event::Delta { at, delta: Delta::Arguments(text), .. } if self.contents == Contents::Kept => {
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
    pub(super) fn noted(&mut self, mended: Mended) {
        for note in mended.notes {
            let said = said(&note, self.contents);
            match self.calls.iter_mut().find(|call| call.id == note.call()) {
                Some(call) => call.done.push(said),
                None => self.add(Call { done: vec![said], ..Call::new(None, note.call(), None) }),
            }
        }
        for written in mended.written {
            let call = self.calls.iter_mut().find(|call| call.id == written.call);
            if let Some(call) = call.filter(|_| self.contents == Contents::Kept) {
                call.before.get_or_insert(written.what);
            }
        }
        self.calls.retain(|call| call.open.is_some() || !call.done.is_empty());
    }

    /// The record: for each mended call what was done, and where that is kept the call as it came and as it left, with its
    /// secrets covered.
    pub(super) fn take(&mut self, cover: impl Fn(&str) -> String) -> Vec<Json> {
        let contents = self.contents;
        let mended = std::mem::take(&mut self.calls).into_iter().filter(|call| !call.done.is_empty());
        let record = |Call { id, tool, before, arguments, done, .. }: Call| match contents {
            Contents::Left => json!({"call": id, "tool": tool, "done": done}),
            Contents::Kept => {
                let before = before.map(|what| match what {
                    What::Call { name, arguments } => json!({"name": name, "arguments": cover(&arguments)}),
                    What::Text(text) => json!({"text": cover(&text)}),
                });
                let after = json!({"name": tool, "arguments": cover(&arguments)});
                json!({"call": id, "tool": tool, "done": done, "before": before, "after": after})
            }
        };
        mended.map(|call| Json::from(record(call))).collect()
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

/// As much of a name as is worth showing: what no tool is called may be anything.
fn beginning(name: &str) -> &str {
    name.get(..name.floor_char_boundary(MOST_NAME)).unwrap_or_default()
}

fn said(note: &Note, contents: Contents) -> Value {
    match note {
        Note::Repaired { repair, .. } => json!({"step": repair.step.to_string(), "path": repair.path}),
        Note::Unknown { name, closest, .. } => {
            json!({"step": "unknown", "name": beginning(name), "closest": closest})
        }
        Note::Incomplete { name, .. } => json!({"step": "incomplete", "name": beginning(name)}),
        Note::Invalid { problems, .. } => {
            let problems: Vec<Value> = problems
                .iter()
                .map(|problem| match contents {
                    Contents::Kept => json!({"path": problem.path, "what": problem.what}),
                    // What is wrong with a value is said with the value.
                    Contents::Left => json!({"path": problem.path}),
                })
                .collect();
            json!({"step": "invalid", "problems": problems})
        }
    }
}

#[cfg(test)]
mod tests {
    use rail_model::{CallId, CallKind, Extras};
    use rail_repair::{Problem, Repair, Step, Written};

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

    fn mended(notes: Vec<Note>, written: Vec<Written>) -> Mended {
        Mended { notes, written }
    }

    fn note(call: &str, step: Step) -> Note {
        Note::Repaired { call: call.to_owned(), repair: Repair::new(step, "arguments") }
    }

    fn covered(text: &str) -> String {
        text.replace("secret", "***")
    }

    fn texts(repairs: &mut Repairs) -> String {
        let texts: Vec<String> = repairs.take(covered).iter().map(|json| json.text().to_owned()).collect();
        texts.join("\n")
    }

    #[test]
    fn mended_calls_are_kept_as_they_came_and_with_what_they_became() {
        let mut repairs = Repairs::new(Contents::Kept);
        let closed = |at| Event::Closed { at, extras: Extras::NONE };
        for event in [opened(0, "a"), arguments(0, "{\"p\":"), arguments(0, "\"secret\"}"), closed(0)] {
            repairs.event(&event);
        }
        let text = |text: &str| Written { call: "a".to_owned(), what: What::Text(text.into()) };
        let written = vec![text("<call>secret</call>"), text("later ones do not count")];
        repairs.noted(mended(vec![note("a", Step::Found("qwen")), note("a", Step::Closed)], written));
        for event in [opened(1, "b"), arguments(1, "{}"), closed(1)] {
            repairs.event(&event);
        }
        repairs.noted(Mended::default());
        assert_eq!(repairs.calls.len(), 1, "nothing is to be said of `b`");
        repairs.event(&opened(2, "c"));
        repairs.event(&arguments(2, &"é".repeat(MOST_ARGUMENTS)));
        assert_eq!(repairs.calls[1].arguments.len(), MOST_ARGUMENTS);
        repairs.calls[1].arguments.clear();
        let (call, closest) = ("c".to_owned(), vec!["read".to_owned()]);
        let what = What::Call { name: "raed".to_owned(), arguments: "{secret".to_owned() };
        let written = vec![Written { call: call.clone(), what }];
        repairs.noted(mended(vec![Note::Unknown { call, name: "raed".to_owned(), closest }], written));
        repairs.noted(mended(vec![note("early", Step::Split)], Vec::new()));
        for event in [opened(3, "early"), arguments(3, "{}"), closed(3)] {
            repairs.event(&event);
        }
        repairs.noted(Mended::default());
        insta::assert_snapshot!(texts(&mut repairs), @r#"
        {"call":"a","tool":"read","done":[{"step":"found:qwen","path":"arguments"},{"step":"closed","path":"arguments"}],"before":{"text":"<call>***</call>"},"after":{"name":"read","arguments":"{\"p\":\"***\"}"}}
        {"call":"c","tool":"read","done":[{"step":"unknown","name":"raed","closest":["read"]}],"before":{"name":"raed","arguments":"{***"},"after":{"name":"read","arguments":""}}
        {"call":"early","tool":"read","done":[{"step":"split","path":"arguments"}],"before":null,"after":{"name":"read","arguments":"{}"}}
        "#);
        assert!(texts(&mut repairs).is_empty());
    }

    #[test]
    fn without_bodies_only_what_was_done_is_kept() {
        let mut repairs = Repairs::new(Contents::Left);
        repairs.event(&opened(0, "a"));
        repairs.event(&arguments(0, "{\"p\": \"secret\"}"));
        assert_eq!(repairs.calls[0].arguments, "");
        let problem = Problem { path: "arguments.p".to_owned(), what: "is \"secret\"".to_owned() };
        let notes =
            vec![note("a", Step::Closed), Note::Invalid { call: "a".to_owned(), problems: vec![problem] }];
        let what = What::Text("secret".into());
        repairs.noted(mended(notes, vec![Written { call: "a".to_owned(), what }]));
        insta::assert_snapshot!(texts(&mut repairs), @r#"{"call":"a","tool":"read","done":[{"step":"closed","path":"arguments"},{"step":"invalid","problems":[{"path":"arguments.p"}]}]}"#);
    }
}
