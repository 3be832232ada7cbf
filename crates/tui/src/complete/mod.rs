//! What can be typed next: names of files behind `@`, commands behind `/`, by fuzzy search.

mod commands;
mod files;
mod fuzzy;
mod popup;
mod token;

pub use commands::{CommandHit, CommandInfo, search_commands};
pub use files::{Files, Finder, Hit};
pub(crate) use fuzzy::lower;
pub use fuzzy::{Match, fuzzy};
pub(crate) use popup::head;
pub use popup::{Choice, Item, Picker, Popup};
pub use token::{Token, TokenKind, is_note, is_shell, token_at};
