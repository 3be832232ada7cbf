use std::path::PathBuf;

use rail_edit::diff::FileDiff;
use rail_model::Part;

use crate::{Finding, PlanStep, SkillLoaded, Telling, Todo};

/// What a call gave.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ToolOutput {
    /// For the model, in order.
    pub parts: Vec<Given>,
    /// For people, where it is shown in another way.
    pub display: Option<Display>,
    /// For the session: what it must know besides.
    pub notes: Vec<OutputNote>,
}

/// One part of what a model is given.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// A text: what the tool says, and what it shows.
    Text(Telling),
    /// An image, or whatever else it found; it is never changed.
    Part(Part),
}

/// Something that a session must know of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OutputNote {
    /// A memory file (`AGENTS.md`, `CLAUDE.md`, …) was written: it is to be loaded anew. The path has its links resolved.
    MemoryFile(PathBuf),
    /// The list of things to do is this now.
    Todos(Vec<Todo>),
    /// Plan mode begins or ends. The executor keeps to it from the next call on; whoever shows the mode has to show it.
    Plan(PlanStep),
    /// The findings are these now.
    Findings(Vec<Finding>),
    /// A skill was loaded. The executor allows what follows from it, from the next call on.
    Skill(SkillLoaded),
}

/// How a result is shown to people.
#[derive(Clone, PartialEq, Debug)]
pub enum Display {
    /// Changes of files.
    Diff {
        /// The files.
        files: Vec<FileDiff>,
        /// How many lines are shown when not everything is.
        lines: usize,
    },
    /// The first lines of a text, and how many more there are.
    Preview {
        /// The text.
        text: String,
        /// How many lines are shown when not everything is.
        lines: usize,
    },
    /// A few words instead of the output, `12 files in 3 ms`.
    Summary(String),
    /// The list of things to do.
    Todos(Vec<Todo>),
}

/// Why a call failed. It can't end the session.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{say}")]
pub struct ToolFault {
    /// For the model: what happened, to what, and what to do next.
    pub say: Telling,
    /// For the log: what the system said.
    pub cause: Option<String>,
}

impl ToolOutput {
    /// A text that the tool found, as it is.
    pub fn text(text: impl Into<String>) -> Self {
        Self::told(Telling::shown(text))
    }

    /// A text in the tool's own words, or one of words and what it found.
    pub fn told(text: impl Into<Telling>) -> Self {
        Self { parts: vec![Given::Text(text.into())], display: None, notes: Vec::new() }
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
    pub fn new(say: impl Into<Telling>) -> Self {
        Self { say: say.into(), cause: None }
    }

    /// A fault that the system caused.
    pub fn caused(say: impl Into<Telling>, cause: impl ToString) -> Self {
        Self { say: say.into(), cause: Some(cause.to_string()) }
    }
}
