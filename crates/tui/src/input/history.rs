use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::editor::{Draft, Editor};

/// How many entries are kept.
const MAX_ENTRIES: usize = 1_000;

/// Something that was sent.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// The text, with what was pasted in full.
    pub text: String,
    /// When, in seconds since 1970, if it is known.
    pub at: Option<u64>,
}

impl Entry {
    /// An entry of which it is not known when it was sent.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), at: None }
    }
}

/// What was sent before, to be walked through.
#[derive(Debug, Default)]
pub struct History {
    /// Oldest first.
    entries: Vec<Entry>,
    /// Which entry is shown; none is the user's own draft.
    at: Option<usize>,
    /// The draft, and entries that were changed while they were shown: nothing typed is lost. The draft is behind the last entry.
    changed: BTreeMap<usize, Draft>,
}

impl History {
    /// A history of these entries, the oldest first.
    pub fn new(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut history = Self::default();
        entries.into_iter().for_each(|entry| history.push(entry));
        history
    }

    /// Adds what was sent, if it is not empty or the same as the last, and ends a walk.
    pub fn push(&mut self, entry: Entry) {
        self.at = None;
        self.changed.clear();
        let is_same = self.entries.last().is_some_and(|last| last.text == entry.text);
        if !is_same && !entry.text.trim().is_empty() {
            self.entries.push(entry);
            let surplus = self.entries.len().saturating_sub(MAX_ENTRIES);
            self.entries.drain(..surplus);
        }
    }

    /// The entries, the oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Shows the entry before the one that is shown; says whether there is one.
    pub fn older(&mut self, editor: &mut Editor) -> bool {
        let to = self.at.unwrap_or(self.entries.len()).checked_sub(1);
        to.is_some_and(|to| self.show(to, editor))
    }

    /// Shows the entry behind the one that is shown, at last the user's own draft; says whether there is one.
    pub fn newer(&mut self, editor: &mut Editor) -> bool {
        self.at.is_some_and(|at| self.show(at + 1, editor))
    }

    fn show(&mut self, to: usize, editor: &mut Editor) -> bool {
        let from = self.at.unwrap_or(self.entries.len());
        let draft = editor.draft();
        if self.entries.get(from).is_some_and(|entry| draft.is(&entry.text)) {
            self.changed.remove(&from);
        } else {
            self.changed.insert(from, draft);
        }
        match (self.changed.remove(&to), self.entries.get(to)) {
            (Some(draft), _) => editor.restore(draft),
            (None, Some(entry)) => editor.set(&entry.text),
            (None, None) => editor.set(""),
        }
        self.at = Some(to).filter(|to| *to < self.entries.len());
        true
    }
}

/// Reads entries from lines of JSON, as [`write_history`] makes them. Lines that are none are left out.
pub fn read_history(lines: &str) -> Vec<Entry> {
    let entry = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = value.get("text")?.as_str()?.to_owned();
        Some(Entry { text, at: value.get("at").and_then(Value::as_u64) })
    };
    lines.lines().filter_map(entry).collect()
}

/// Writes entries as lines of JSON, each with its end: `{"text": …, "at": …}`.
pub fn write_history(entries: &[Entry]) -> String {
    let line = |entry: &Entry| match entry.at {
        Some(at) => format!("{}\n", json!({ "text": entry.text, "at": at })),
        None => format!("{}\n", json!({ "text": entry.text })),
    };
    entries.iter().map(line).collect()
}
