//! The agent on the command line: `rail -p`.

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

pub(crate) use flags::AgentFlags;
pub(crate) use open::{Extras, prepare_from};
