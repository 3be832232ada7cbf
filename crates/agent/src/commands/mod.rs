//! Slash commands: those that come with the program, and those that are Markdown files of the user or the project.

mod builtin;
mod custom;
mod expand;
pub(crate) mod files;
mod front;
mod list;
mod mentions;
mod parse;
mod template;

pub use builtin::Builtin;
pub use custom::{ByModel, CustomCommand};
pub use expand::{Attached, Expanded, Sources, expand};
pub use files::{FileKind, OwnedFolder, Owner, Places};
pub use front::{Front, FrontError, front};
pub use list::{Commands, Typed};
pub use mentions::{Mention, mentions};
pub use parse::{SlashCommand, parse, words};
