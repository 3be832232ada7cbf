//! What the interface wants of the world beside the session, and what it hears of it.

use std::sync::Arc;

use rail_model::Media;
use rail_proto::FileChange;

use crate::complete::Files;

/// Something that only the host can do. What comes of it, if anything, is [`News`].
#[derive(Clone, PartialEq, Debug)]
pub enum Want {
    /// The user's words, with what is attached to them: a prompt, a slash command, or a note for a memory file.
    Line {
        /// The text.
        text: String,
        /// Images, in order.
        attached: Vec<Media>,
        /// What the user's own commands printed before.
        context: Vec<String>,
    },
    /// A shell command of the user's own, behind `!`.
    Shell(String),
    /// The shell command that runs is to end.
    StopShell,
    /// The files that `@` can name.
    Files,
    /// What the session has changed in files.
    Changes,
    /// What can be picked from.
    Picker(PickerKind),
    /// The image in the clipboard.
    ClipboardImage,
    /// An image in a file, by the path that was pasted.
    FileImage(String),
    /// What was typed is to be remembered for another day.
    Remember(String),
    /// The theme is to be kept.
    KeepTheme(&'static str),
}

/// What can be picked from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PickerKind {
    /// Models, with their chain, health and price.
    Models,
    /// Virtual models, with the chains behind them.
    Routes,
    /// The user's messages, to go back to.
    Rewind,
    /// Earlier sessions.
    Sessions,
}

/// What the host says.
#[derive(Clone, Debug)]
pub enum News {
    /// The answer of a command, in Markdown.
    Say(String),
    /// What has changed in files.
    Changes(Vec<FileChange>),
    /// What could not be done, and why.
    Failed(String),
    /// The files that `@` can name.
    Files(Arc<Files>),
    /// Something to pick from.
    Picker(PickerKind, Vec<Item>),
    /// An image to attach.
    Image(Media),
    /// What was pasted is no image after all, but text.
    Text(String),
    /// What the user's shell command printed, in place of what was said of it before: its last lines while it runs, and all that is kept at its end.
    ShellOutput(String),
    /// The user's shell command has ended; what it printed goes with the next prompt.
    ShellEnded {
        /// How it ended, in a few words; empty where it went well.
        how: String,
    },
    /// Another session is to be opened in place of this one.
    Open(String),
    /// The interface is to end.
    Quit,
}

/// Something that can be picked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Item {
    /// What picking it gives.
    pub value: String,
    /// It in a line.
    pub label: String,
    /// What stands beside it.
    pub detail: String,
    /// What is shown of it while it is chosen, a line each.
    pub more: Vec<String>,
}
