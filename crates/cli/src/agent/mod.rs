//! The agent on the command line: `rail` and `rail -p`.

pub(crate) mod brought;
mod claude;
mod control;
mod ending;
mod flags;
mod headless;
mod messages;
mod open;
mod preview;
mod printers;
mod slash;
mod text;
mod tui;

pub(crate) use flags::AgentFlags;
pub(crate) use open::{Extras, prepare_from};
