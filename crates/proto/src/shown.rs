use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Todo;

/// How a result is shown to people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Shown {
    /// Changes of files.
    Diff {
        /// The files.
        files: Vec<FileChange>,
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
    /// The list of things to do.
    Todos {
        /// The list.
        todos: Vec<Todo>,
    },
    /// A few words instead of the output.
    Summary {
        /// The words.
        text: String,
    },
}

/// What became of one file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    /// The file.
    pub path: String,
    /// Where it was before, if it was moved.
    pub moved_from: Option<String>,
    /// The changed places, in order; of very large changes only the first lines.
    pub hunks: Vec<Hunk>,
    /// How many lines were added in all.
    pub added: usize,
    /// How many lines were taken out in all.
    pub removed: usize,
}

/// One changed place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Hunk {
    /// The first line before, counted from 1.
    pub old_start: usize,
    /// The first line after, counted from 1.
    pub new_start: usize,
    /// The lines.
    pub lines: Vec<Line>,
}

/// One line of a changed place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// Whether it stays, goes or comes.
    pub mark: Mark,
    /// Its text.
    pub text: String,
}

/// Whether a line stays, goes or comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// It stays.
    Same,
    /// It is new.
    Added,
    /// It is gone.
    Removed,
}
