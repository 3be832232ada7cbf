//! The line in which the user types: several lines of text, its keys, its history.

mod buffer;
mod editor;
mod kill;
mod layout;
mod motion;
mod piece;
mod usual;
mod vim;

pub use editor::{Attachment, Editor, Handled, Keys, Typed, View};
pub use vim::VimMode;
