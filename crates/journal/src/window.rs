use rail_model::{Message, Part, PartBody, Role, ToolCall, ToolResult};

use crate::Record;

/// The conversation as the records have made it: the one function that says what they come to, for who writes them and for who
/// reads them again.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Window {
    messages: Vec<Message>,
    queued: Vec<Message>,
    open: Option<OpenStep>,
    partial: Option<(u64, String)>,
    last_step: u64,
}

/// A step whose calls are not all answered.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenStep {
    /// The step.
    pub step: u64,
    /// The calls, in order.
    pub calls: Vec<ToolCall>,
    /// Their results, in the order of the calls.
    pub results: Vec<Option<ToolResult>>,
    /// The ids of those that were about to run: whether they did is not known, so they must not run again.
    pub begun: Vec<String>,
}

impl OpenStep {
    /// The step of a message, if it has calls.
    fn of(step: u64, message: &Message) -> Option<Self> {
        let calls = calls(message);
        let results = vec![None; calls.len()];
        (!calls.is_empty()).then_some(Self { step, calls, results, begun: Vec::new() })
    }

    /// The calls that have no result.
    pub fn missing(&self) -> impl Iterator<Item = &ToolCall> {
        self.calls.iter().zip(&self.results).filter(|(_, result)| result.is_none()).map(|(call, _)| call)
    }

    /// Whether a call was about to run.
    pub fn has_begun(&self, call: &ToolCall) -> bool {
        self.begun.iter().any(|id| id == call.id.as_str())
    }
}

impl Window {
    /// What a compaction after this step left, with what waited then.
    pub(crate) fn compacted(messages: Vec<Message>, queued: Vec<Message>, step: u64) -> Self {
        let mut window = Self { queued, last_step: step, ..Self::default() };
        window.replace(messages);
        window
    }

    /// Steps up to this one were named in what was not read.
    pub(crate) fn count_from(&mut self, step: u64) {
        self.last_step = self.last_step.max(step);
    }

    /// Takes the next record.
    pub fn apply(&mut self, record: &Record) {
        self.count_from(record.step().unwrap_or(0));
        match record {
            Record::Message(said) | Record::Told(said) => self.said(said.step, &said.message),
            Record::Queued(said) => self.queued.push(said.message.clone()),
            Record::Taken(_) => self.messages.append(&mut self.queued),
            // Reasoning alone goes back to no model.
            Record::Partial(partial) if partial.text.is_empty() => {}
            Record::Partial(partial) => match &mut self.partial {
                Some((step, text)) if *step == partial.step => text.push_str(&partial.text),
                Some(_) | None => self.partial = Some((partial.step, partial.text.clone())),
            },
            Record::Void(step) => {
                if self.partial.as_ref().is_some_and(|(at, _)| at == step) {
                    self.partial = None;
                }
            }
            Record::Running(running) => {
                if let Some(open) = self.open.as_mut().filter(|open| open.step == running.step) {
                    open.begun.extend(running.calls.iter().cloned());
                }
            }
            Record::Results(said) => self.results(said.step, &said.message),
            Record::Compacted(compacted) => self.replace(compacted.window.clone()),
            Record::Opened(_)
            | Record::Prompt(_)
            | Record::Rewound(_)
            | Record::Snapshot(_)
            | Record::Usage(_)
            | Record::Mode(_)
            | Record::Model(_)
            | Record::Title(_)
            | Record::Todos(_)
            | Record::Findings(_)
            | Record::Known(_)
            | Record::Ended(_)
            | Record::Note(_)
            | Record::Unknown { .. } => {}
        }
    }

    /// The messages, in order. Calls whose results are not all there may be at the end.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// What the user said and the model has not been told.
    pub fn queued(&self) -> &[Message] {
        &self.queued
    }

    /// Calls that do not all have results yet.
    pub fn open(&self) -> Option<&OpenStep> {
        self.open.as_ref()
    }

    /// What was shown of an answer that has not come to its end.
    pub fn partial(&self) -> Option<(u64, &str)> {
        self.partial.as_ref().map(|(step, text)| (*step, text.as_str()))
    }

    /// The highest step that is named.
    pub fn last_step(&self) -> u64 {
        self.last_step
    }

    fn said(&mut self, step: u64, message: &Message) {
        if message.role == Role::Assistant {
            self.partial = None;
            self.open = OpenStep::of(step, message);
        }
        self.messages.push(message.clone());
    }

    /// Another conversation. If calls are its end, they are those of the last step, and nobody has answered them.
    fn replace(&mut self, messages: Vec<Message>) {
        self.partial = None;
        self.open = messages.last().and_then(|last| OpenStep::of(self.last_step, last));
        self.messages = messages;
    }

    fn results(&mut self, step: u64, message: &Message) {
        let Some(open) = self.open.as_mut().filter(|open| open.step == step) else { return };
        for result in message.parts.iter().filter_map(result) {
            // Some models give two calls of one answer the same id: the first that has no result is meant.
            let slots = open.calls.iter().zip(&mut open.results);
            let mut slots =
                slots.filter(|(call, slot)| slot.is_none() && call.id.as_str() == result.id.as_str());
            if let Some((_, slot)) = slots.next() {
                *slot = Some(result.clone());
            }
        }
        if open.results.iter().all(Option::is_some) {
            let results = self.open.take().map(|open| open.results).unwrap_or_default();
            let parts = results.into_iter().flatten().map(|result| Part::new(PartBody::ToolResult(result)));
            self.messages.push(Message::new(Role::Tool, parts.collect()));
        }
    }
}

fn result(part: &Part) -> Option<&ToolResult> {
    if let PartBody::ToolResult(result) = &part.body { Some(result) } else { None }
}

/// The calls of a message, in order.
pub fn calls(message: &Message) -> Vec<ToolCall> {
    let call =
        |part: &Part| if let PartBody::ToolCall(call) = &part.body { Some(call.clone()) } else { None };
    message.parts.iter().filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use rail_model::{CallId, CallKind};

    use super::*;
    use crate::{Cause, Compacted, Partial, Running, Said};

    fn said(step: u64, role: Role, bodies: Vec<PartBody>) -> Said {
        Said { step, message: Message::new(role, bodies.into_iter().map(Part::new).collect()) }
    }

    /// A record by its words: `user 1 text`, `calls 1 a b`, `results 1 a=x b=y`, `compacted text` …
    fn record(line: &str) -> Record {
        let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
        if kind == "compacted" {
            let message = |text: &str| Message::new(Role::User, vec![Part::text(text)]);
            let window = rest.split_whitespace().map(message).collect();
            return Record::Compacted(Compacted { window, cause: Cause::Full, by: None });
        }
        let (step, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let step = step.parse().unwrap();
        let text = || vec![PartBody::Text(rest.into())];
        let (words, function) = (rest.split_whitespace(), CallKind::Function);
        let call = |id: &str| ToolCall {
            id: CallId::Given(id.into()),
            name: "x".into(),
            arguments: "{}".into(),
            kind: function,
        };
        let result = |word: &str| {
            let (id, text) = word.split_once('=').unwrap();
            let (id, content) = (CallId::Given(id.into()), vec![Part::text(text)]);
            PartBody::ToolResult(ToolResult { id, name: None, content, is_error: None, kind: function })
        };
        match kind {
            "user" => Record::Message(said(step, Role::User, text())),
            "model" => Record::Message(said(step, Role::Assistant, text())),
            "told" => Record::Told(said(step, Role::User, text())),
            "queued" => Record::Queued(said(step, Role::User, text())),
            "taken" => Record::Taken(step),
            "partial" => Record::Partial(Partial { step, text: rest.into(), ..Partial::default() }),
            "thought" => Record::Partial(Partial { step, thinking: rest.into(), ..Partial::default() }),
            "void" => Record::Void(step),
            "calls" => {
                let calls = words.map(|id| PartBody::ToolCall(call(id))).collect();
                Record::Message(said(step, Role::Assistant, calls))
            }
            "running" => Record::Running(Running { step, calls: words.map(str::to_owned).collect() }),
            "results" => Record::Results(said(step, Role::Tool, words.map(result).collect())),
            other => panic!("{other}"),
        }
    }

    fn word(part: &Part) -> String {
        match &part.body {
            PartBody::Text(text) => text.clone(),
            PartBody::ToolCall(call) => format!("{}?", call.id.as_str()),
            PartBody::ToolResult(result) => one(result),
            other => panic!("{other:?}"),
        }
    }

    fn one(result: &ToolResult) -> String {
        format!("{}={}", result.id.as_str(), words(&result.content))
    }

    fn words(parts: &[Part]) -> String {
        parts.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    /// All that a window is, in a line.
    fn show(window: &Window) -> String {
        let Window { messages, queued, open, partial, last_step } = window;
        let all = |messages: &[Message]| {
            messages.iter().map(|message| words(&message.parts)).collect::<Vec<_>>().join(", ")
        };
        let mut out = format!("{last_step}: {}", all(messages));
        if let Some(OpenStep { step, calls, results, begun }) = open {
            let slots = calls.iter().zip(results).map(|(call, result)| match result {
                Some(result) => one(result),
                None => format!("{}?", call.id.as_str()),
            });
            out += &format!(" | open {step} {}", slots.collect::<Vec<_>>().join(" "));
            out += &begun.iter().map(|id| format!(" {id}!")).collect::<String>();
        }
        if let Some((step, text)) = partial {
            out += &format!(" | partial {step} {text}");
        }
        if !queued.is_empty() {
            out += &format!(" | queued {}", all(queued));
        }
        out
    }

    #[test]
    fn what_records_come_to() {
        for (records, expected) in [
            ("", "0: "),
            ("user 1 go; model 1 done; told 2 plan", "2: go, done, plan"),
            // What waits is no part of the conversation before it is taken, then all of it is, in order.
            ("user 1 go; queued 1 also; queued 2 and", "2: go | queued also, and"),
            ("user 1 go; queued 1 also; queued 1 and; taken 2", "2: go, also, and"),
            ("queued 1 also; taken 2; queued 2 and", "2: also | queued and"),
            ("user 1 go; taken 3", "3: go"),
            ("queued 1 also; calls 1 a; taken 2; results 1 a=x", "2: a?, also, a=x"),
            // An answer that comes piece by piece.
            ("partial 1 I; partial 1 t", "1:  | partial 1 It"),
            ("thought 1 Hm", "1: "),
            ("thought 1 Hm; partial 1 It", "1:  | partial 1 It"),
            ("partial 1 I; void 1", "1: "),
            ("partial 1 I; void 2", "2:  | partial 1 I"),
            ("partial 1 I; void 1; partial 1 You", "1:  | partial 1 You"),
            ("partial 1 I; partial 2 You", "2:  | partial 2 You"),
            ("partial 1 I; model 1 It", "1: It"),
            ("partial 1 I; calls 1 a", "1: a? | open 1 a?"),
            ("partial 1 I; user 1 go; told 1 plan", "1: go, plan | partial 1 I"),
            // Results, whenever they come, in the order of the calls.
            ("calls 1 a b; running 1 a", "1: a? b? | open 1 a? b? a!"),
            ("calls 1 a b; results 1 b=y", "1: a? b? | open 1 a? b=y"),
            ("calls 1 a b; results 1 b=y; results 1 a=x", "1: a? b?, a=x b=y"),
            ("calls 1 a b; results 1 b=y a=x; model 2 done", "2: a? b?, a=x b=y, done"),
            // A second result for an answered call changes nothing, also when all are answered.
            ("calls 1 a b; results 1 a=x; results 1 a=z", "1: a? b? | open 1 a=x b?"),
            ("calls 1 a; results 1 a=x; results 1 a=z", "1: a?, a=x"),
            // Unless two calls have the same id.
            ("calls 1 a a; results 1 a=x; results 1 a=y", "1: a? a?, a=x a=y"),
            ("calls 1 a a b; results 1 a=x a=y a=z", "1: a? a? b? | open 1 a=x a=y b?"),
            // What belongs to another step, or to no call, has no effect.
            ("calls 2 a; results 1 a=x; running 1 a", "2: a? | open 2 a?"),
            ("calls 1 a; results 1 b=y", "1: a? | open 1 a?"),
            ("results 1 a=x", "1: "),
            ("calls 1 a; results 1 a=x; calls 2 a; results 1 a=y", "2: a?, a=x, a? | open 2 a?"),
            // A compaction ends all but what waits.
            ("user 1 go; model 1 done; compacted short; user 2 on", "2: short, on"),
            ("calls 1 a b; results 1 a=x; compacted short; results 1 b=y", "1: short"),
            ("partial 1 I; compacted short", "1: short"),
            ("queued 1 also; compacted short", "1: short | queued also"),
            ("queued 1 also; compacted short; queued 1 and; taken 2", "2: short, also, and"),
            // The last step is the highest that anything names.
            ("user 3 go; model 2 done", "3: go, done"),
            ("user 1 go; running 7 a", "7: go"),
            ("user 4 go; compacted", "4: "),
        ] {
            let mut window = Window::default();
            records.split("; ").filter(|line| !line.is_empty()).for_each(|line| window.apply(&record(line)));
            assert_eq!(show(&window), expected, "{records}");
        }
    }

    #[test]
    fn calls_that_a_compaction_ends_with_are_those_of_the_last_step() {
        let Record::Message(asked) = record("calls 1 a b") else { panic!("a message") };
        let compacted = Compacted { window: vec![asked.message], cause: Cause::Trimmed, by: None };
        let mut window = Window::default();
        for record in [record("user 7 go"), Record::Compacted(compacted), record("running 7 a")] {
            window.apply(&record);
        }
        assert_eq!(show(&window), "7: a? b? | open 7 a? b? a!");
        window.apply(&record("results 7 b=y a=x"));
        assert_eq!(show(&window), "7: a? b?, a=x b=y");
    }
}
