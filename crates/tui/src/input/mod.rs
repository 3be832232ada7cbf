//! The line in which the user types: several lines of text, its keys, its history.

mod buffer;
mod editor;
mod history;
mod kill;
mod layout;
mod motion;
mod piece;
mod search;
mod usual;
mod vim;

pub use editor::{Attachment, Editor, Handled, Keys, Typed, View};
pub use history::{Entry, History, read_history, write_history};
pub use search::Search;
pub use vim::VimMode;
