//! Slash commands: those that come with the program, and those that are Markdown files of the user or the project.

mod builtin;
mod custom;
mod expand;
mod front;
mod list;
mod mentions;
mod parse;
mod template;

pub use builtin::Builtin;
pub use custom::{ByModel, CommandFolder, CustomCommand, Owner, folders};
pub use expand::{Attached, Expanded, Sources, expand};
pub use front::{Front, FrontError, front};
pub use list::{Commands, Typed};
pub use mentions::{Mention, mentions};
pub use parse::{SlashCommand, parse, words};
