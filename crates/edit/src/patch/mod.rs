//! Patches of several files in one text: the envelope that Codex models write.
//!
//! Reading one and making its changes in a text are pure; the tool `apply_patch` does the rest.

mod apply;
mod parse;

pub use apply::{HunkFault, Patched, patched};
pub use parse::{PatchFault, parse};

/// What a patch changes, in its order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patch {
    /// The files.
    pub files: Vec<FilePatch>,
}

/// What becomes of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FilePatch {
    /// It is made.
    Add {
        /// Its path as it was written.
        path: String,
        /// What is to stand in it.
        content: String,
    },
    /// It is removed.
    Delete {
        /// Its path as it was written.
        path: String,
    },
    /// It is changed, moved, or both.
    Update {
        /// Its path as it was written.
        path: String,
        /// Where it goes, if it is moved.
        to: Option<String>,
        /// The changed places, in the order of the file.
        hunks: Vec<PatchHunk>,
    },
}

/// One changed place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PatchHunk {
    /// The line of the patch that it starts at, from 1.
    pub line: usize,
    /// Lines of the file that stand somewhere before it, each after the one before.
    pub anchors: Vec<String>,
    /// The lines that are there now; each ends with `\n`.
    pub old: String,
    /// The lines that are there after it; each ends with `\n`.
    pub new: String,
    /// Where it must be.
    pub at: At,
}

/// Where a hunk must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum At {
    /// Where its lines are.
    #[default]
    Anywhere,
    /// At the end of the file.
    End,
}

impl FilePatch {
    /// The file's path as it was written.
    pub fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Delete { path } | Self::Update { path, .. } => path,
        }
    }
}

#[cfg(test)]
mod tests;
