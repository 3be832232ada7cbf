use std::path::PathBuf;

use rail_edit::diff::FileDiff;
use rail_model::Part;

/// What a call gave.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ToolOutput {
    /// For the model, in order.
    pub parts: Vec<Part>,
    /// For people, where it is shown in another way.
    pub display: Option<Display>,
    /// For the session: what it must know besides.
    pub notes: Vec<OutputNote>,
}

/// Something that a session must know of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OutputNote {
    /// A memory file (`AGENTS.md`, `CLAUDE.md`, …) was written: it is to be loaded anew. The path has its links resolved.
    MemoryFile(PathBuf),
}

/// How a result is shown to people.
#[derive(Clone, PartialEq, Debug)]
pub enum Display {
    /// Changes of files.
    Diff(Vec<FileDiff>),
    /// The first lines of a text, and how many more there are.
    Preview {
        /// The text.
        text: String,
        /// How many lines are shown when not everything is.
        lines: usize,
    },
    /// A few words instead of the output, `12 files in 3 ms`.
    Summary(String),
}

/// Why a call failed. It can't end the session.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{say}")]
pub struct ToolFault {
    /// For the model: what happened, to what, and what to do next.
    pub say: String,
    /// For the log: what the system said.
    pub cause: Option<String>,
}

impl ToolOutput {
    /// A text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::text(text)], display: None, notes: Vec::new() }
    }

    /// The same, shown to people like this.
    #[must_use]
    pub fn shown(mut self, display: Display) -> Self {
        self.display = Some(display);
        self
    }

    /// The same, and this is to be known besides.
    #[must_use]
    pub fn noted(mut self, notes: impl IntoIterator<Item = OutputNote>) -> Self {
        self.notes.extend(notes);
        self
    }
}

impl ToolFault {
    /// A fault with nothing to say to the log.
    pub fn new(say: impl Into<String>) -> Self {
        Self { say: say.into(), cause: None }
    }

    /// A fault that the system caused.
    pub fn caused(say: impl Into<String>, cause: impl ToString) -> Self {
        Self { say: say.into(), cause: Some(cause.to_string()) }
    }
}
