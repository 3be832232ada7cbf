//! Notices a model that goes round in circles: the same failing call, the same call with the same result, the same few calls in
//! turn, the same words.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use rail_model::{MediaSource, Part, PartBody, ToolCall, ToolResult};
use serde_json::Value;

/// A circle has at most so many calls.
const LONGEST_CIRCLE: usize = 3;
/// A tool that waits for something may be called in vain so many times more often than others.
const WAITING: usize = 4;
/// The tool that reads what a command in the background printed.
const WAITS: &str = "bash_output";

/// How often a model may repeat itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Patience {
    /// From this many times on it is told.
    pub tell_after: usize,
    /// At this many times it is stopped.
    pub stop_after: usize,
}

impl Default for Patience {
    fn default() -> Self {
        Self { tell_after: 3, stop_after: 5 }
    }
}

/// What is to be done about a repetition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing.
    Fine,
    /// Say this to the model.
    Tell(String),
    /// End the turn, for this reason.
    Stop(String),
}

/// What a model did lately.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repeats {
    patience: Patience,
    calls: VecDeque<Seen>,
    /// How many times the model was told of the circle that it is in.
    told: usize,
    words: Option<u64>,
    times_said: usize,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Seen {
    tool: String,
    call: u64,
    outcome: Outcome,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Outcome {
    /// Errors often tell a time or a number that differs: a failure is a failure.
    Failed,
    Gave(u64),
}

impl Default for Repeats {
    fn default() -> Self {
        Self::new(Patience::default())
    }
}

impl Repeats {
    /// Nothing was done yet.
    pub fn new(patience: Patience) -> Self {
        Self { patience, calls: VecDeque::new(), told: 0, words: None, times_said: 0 }
    }

    /// The user said something: what was done before may well be done again.
    pub fn user_spoke(&mut self) {
        *self = Self::new(self.patience);
    }

    /// A call was run. Calls that ran together are told in their order.
    pub fn saw(&mut self, call: &ToolCall, result: &ToolResult) -> Verdict {
        let seen = Seen { tool: call.name.clone(), call: meaning(call), outcome: outcome(result) };
        if !self.calls.contains(&seen) {
            // Something new: words that introduce it may be the same as before.
            (self.words, self.times_said) = (None, 0);
        }
        self.calls.push_back(seen);
        while self.calls.len() > self.patience.stop_after.max(1) * WAITING * LONGEST_CIRCLE {
            self.calls.pop_front();
        }
        let Some((length, times)) = self.circle() else {
            self.told = 0;
            return Verdict::Fine;
        };
        let patience = self.patience_with(length);
        if times >= patience.stop_after {
            return Verdict::Stop(format!("{}: it was stopped", self.described(length, times)));
        }
        if times <= self.told {
            return Verdict::Fine;
        }
        self.told = times;
        let done = self.described(length, times);
        Verdict::Tell(format!(
            "{done}. Doing it again will not help: read what the results say, then try another way, or tell the user what is in the way."
        ))
    }

    /// The model answered with these words, with or without calls.
    pub fn said(&mut self, text: &str) -> Verdict {
        let words = hash(&text.split_whitespace().collect::<Vec<_>>());
        if text.trim().is_empty() {
            return Verdict::Fine;
        }
        self.times_said = if self.words == Some(words) { self.times_said + 1 } else { 1 };
        self.words = Some(words);
        let times = self.times_said;
        let done = format!("the model gave the same answer {times} times in a row");
        if times >= self.patience.stop_after {
            Verdict::Stop(format!("{done}: it was stopped"))
        } else if times >= self.patience.tell_after {
            Verdict::Tell(format!("{done}. Do something else, or say what is in the way."))
        } else {
            Verdict::Fine
        }
    }

    /// The circle that the last calls are: how many calls it has, and how often it was gone round. Only one that is worth a word.
    fn circle(&self) -> Option<(usize, usize)> {
        let worth_it = |(length, times): &(usize, usize)| *times >= self.patience_with(*length).tell_after;
        (1..=LONGEST_CIRCLE).map(|length| (length, self.times(length))).find(worth_it)
    }

    /// How often the last `length` calls were made in a row.
    fn times(&self, length: usize) -> usize {
        let newest: Vec<&Seen> = self.calls.iter().rev().collect();
        let Some(circle) = newest.get(..length) else { return 0 };
        newest.chunks_exact(length).take_while(|chunk| *chunk == circle).count()
    }

    /// With calls that wait one is more patient, unless they fail.
    fn patience_with(&self, length: usize) -> Patience {
        let waits = |seen: &Seen| seen.tool == WAITS && matches!(seen.outcome, Outcome::Gave(_));
        let factor = if self.calls.iter().rev().take(length).all(waits) { WAITING } else { 1 };
        Patience {
            tell_after: self.patience.tell_after * factor,
            stop_after: self.patience.stop_after * factor,
        }
    }

    fn described(&self, length: usize, times: usize) -> String {
        let mut circle: Vec<&Seen> = self.calls.iter().rev().take(length).collect();
        circle.reverse();
        let tools: Vec<String> = circle.iter().map(|seen| format!("`{}`", seen.tool)).collect();
        let failed = circle.iter().all(|seen| seen.outcome == Outcome::Failed);
        let outcome = if failed { "it failed each time" } else { "it gave the same each time" };
        match tools.as_slice() {
            [tool] => format!(
                "the model called {tool} {times} times in a row with the same arguments, and {outcome}"
            ),
            tools => format!(
                "the model called {} {times} times in turn with the same arguments and the same results",
                tools.join(", ")
            ),
        }
    }
}

/// What a call asks for, however its arguments are spelled.
fn meaning(call: &ToolCall) -> u64 {
    let mut hasher = DefaultHasher::new();
    call.name.hash(&mut hasher);
    match serde_json::from_str::<Value>(&call.arguments) {
        Ok(arguments) => sorted(&arguments, &mut hasher),
        Err(_) => call.arguments.trim().hash(&mut hasher),
    }
    hasher.finish()
}

/// JSON apart from the order of its keys.
fn sorted(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Object(map) => {
            let mut members: Vec<(&String, &Value)> = map.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            members.len().hash(hasher);
            for (key, value) in members {
                key.hash(hasher);
                sorted(value, hasher);
            }
        }
        Value::Array(list) => {
            list.len().hash(hasher);
            list.iter().for_each(|value| sorted(value, hasher));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string().hash(hasher),
    }
}

fn outcome(result: &ToolResult) -> Outcome {
    if result.is_error == Some(true) {
        return Outcome::Failed;
    }
    let mut hasher = DefaultHasher::new();
    for part in &result.content {
        content(part, &mut hasher);
    }
    Outcome::Gave(hasher.finish())
}

fn content(part: &Part, hasher: &mut DefaultHasher) {
    match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => text.hash(hasher),
        PartBody::Redacted(seal) => seal.data.hash(hasher),
        PartBody::ToolCall(call) => call.arguments.hash(hasher),
        PartBody::ToolResult(result) => result.content.iter().for_each(|part| content(part, hasher)),
        PartBody::Media(media) => match &media.source {
            MediaSource::Base64(data)
            | MediaSource::Text(data)
            | MediaSource::Url(data)
            | MediaSource::FileId(data) => data.hash(hasher),
        },
        PartBody::Opaque(opaque) => opaque.value.to_string().hash(hasher),
    }
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests;
