//! Slash commands: those that come with the program, and those that are Markdown files of the user or the project.

mod builtin;
mod custom;
mod expand;
pub(crate) mod files;
mod front;
mod list;
mod parse;
mod remote;
mod template;

pub use builtin::Builtin;
pub use custom::{ByModel, CustomCommand};
pub(crate) use expand::rules;
pub use expand::{Attached, Expanded, Sources, expand};
pub use files::{FileKind, OwnedFolder, Owner, Places};
pub use front::{Front, FrontError, front};
pub use list::{Commands, Typed};
pub use parse::{SlashCommand, parse, words};
pub use remote::{Need, RemoteArgument, RemoteCommand, Remotes};
