use rail_model::{Message, PartBody, Role, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Place, Record, Spent};

/// What holds of a session besides its conversation. Lines that readers stop at carry it, so that nothing above is needed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct State {
    /// The title and the figures.
    pub sum: Sum,
    /// The permission mode, if one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The model, as the user names it.
    pub model: String,
    /// The todo list, if there is one. It belongs to the conversation: going back brings back the old one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todos: Option<Value>,
    /// What was found out while planning; it belongs to the conversation, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub findings: Option<Value>,
    /// What the model knows of the world around the session; what is taken back was never told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Value>,
    /// The line that holds the head of requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Place>,
    /// The lines that hold what the user said and the model has not been told; they belong to the conversation, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queued: Vec<Place>,
}

/// What a list of sessions shows of one. Every record of a request's cost carries it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Sum {
    /// The title: given, or made of the first message of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The figures.
    pub totals: Totals,
}

/// The figures of a session. What was taken back counts too: it was paid for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Totals {
    /// Messages of the user.
    pub turns: u64,
    /// The highest number of a step.
    pub steps: u64,
    /// Requests that were answered.
    pub requests: u64,
    /// Tokens of input that came from no cache and were written to none.
    pub input: u64,
    /// Tokens of input that were read from a cache.
    pub cache_read: u64,
    /// Tokens of input that were written to a cache.
    pub cache_write: u64,
    /// Tokens of output without reasoning.
    pub output: u64,
    /// Tokens of reasoning, where they are told apart.
    pub reasoning: u64,
    /// Dollars, as far as prices are known.
    pub cost_usd: f64,
    /// Requests whose price is not known.
    pub unpriced: u64,
}

impl State {
    /// Takes in a record that was written, and the place it ends at.
    pub(crate) fn apply(&mut self, record: &Record, place: Place) {
        if let Some(step) = record.step() {
            self.sum.totals.step(step);
        }
        match record {
            Record::Opened(opened) => self.model.clone_from(&opened.model),
            Record::Prompt(_) => self.head = Some(place),
            Record::Message(said) => self.sum.hear(&said.message),
            Record::Queued(said) => {
                self.sum.hear(&said.message);
                self.queued.push(place);
            }
            Record::Taken(_) => self.queued.clear(),
            Record::Usage(spent) => self.sum.totals.add(spent),
            Record::Mode(mode) => self.mode = Some(mode.clone()),
            Record::Model(model) => self.model.clone_from(model),
            Record::Title(title) => self.sum.title = Some(title.clone()),
            Record::Todos(todos) => self.todos = Some(todos.clone()),
            Record::Findings(findings) => self.findings = Some(findings.clone()),
            Record::Known(known) => self.known = Some(known.clone()),
            Record::Told(_)
            | Record::Partial(_)
            | Record::Void(_)
            | Record::Running(_)
            | Record::Results(_)
            | Record::Compacted(_)
            | Record::Rewound(_)
            | Record::Snapshot(_)
            | Record::Ended(_)
            | Record::Note(_)
            | Record::Unknown { .. } => {}
        }
    }
}

impl Sum {
    fn hear(&mut self, message: &Message) {
        if message.role != Role::User {
            return;
        }
        self.totals.turns = self.totals.turns.saturating_add(1);
        if self.title.is_none() {
            let texts = message.parts.iter().filter_map(|part| match &part.body {
                PartBody::Text(text) => title_of(text),
                PartBody::Refusal(_)
                | PartBody::Thinking(_)
                | PartBody::Redacted(_)
                | PartBody::ToolCall(_)
                | PartBody::ToolResult(_)
                | PartBody::Media(_)
                | PartBody::Opaque(_) => None,
            });
            self.title = texts.into_iter().next();
        }
    }
}

impl Totals {
    fn step(&mut self, step: u64) {
        self.steps = self.steps.max(step);
    }

    fn add(&mut self, spent: &Spent) {
        let Usage { input, cache_read, cache_write, output, reasoning, extras: _ } = &spent.usage;
        for (sum, tokens) in [
            (&mut self.requests, Some(1)),
            (&mut self.input, *input),
            (&mut self.cache_read, *cache_read),
            (&mut self.cache_write, *cache_write),
            (&mut self.output, *output),
            (&mut self.reasoning, *reasoning),
        ] {
            *sum = sum.saturating_add(tokens.unwrap_or_default());
        }
        // A price that is no number would make every sum after it none, and JSON has no word for it.
        match spent.cost_usd.filter(|cost| cost.is_finite()) {
            Some(cost) if (self.cost_usd + cost).is_finite() => self.cost_usd += cost,
            Some(_) | None => self.unpriced = self.unpriced.saturating_add(1),
        }
    }
}

/// The longest title that is made of a message, in characters.
const TITLE: usize = 60;

/// The title that a message of the user gives: its first line that says something, at most 60 characters of it.
pub fn title_of(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    // A control character in a title would be one in every list of sessions.
    let mut line = line.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut title: String = line.by_ref().take(TITLE).collect();
    if line.next().is_some() {
        title.pop();
        title.truncate(title.trim_end().len());
        title.push('…');
    }
    Some(title)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn titles() {
        for (text, expected) in [
            ("fix the build", Some("fix the build")),
            ("\n\n  fix\tthe build  \nplease", Some("fix the build")),
            (" \n ", None),
            ("", None),
            (&"é".repeat(60), Some("é".repeat(60).as_str())),
            (&"é".repeat(61), Some(format!("{}…", "é".repeat(59)).as_str())),
            ("a\u{1b}[31mb", Some("a [31mb")),
        ] {
            assert_eq!(title_of(text).as_deref(), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_a_title_of_at_most_60_characters(text: String) {
            prop_assert!(title_of(&text).is_none_or(|title| (1..=60).contains(&title.chars().count())));
        }
    }
}
