//! The agent on the command line: `rail` and `rail -p`.

pub(crate) mod brought;
mod claude;
pub(crate) mod control;
mod ending;
mod flags;
mod headless;
mod messages;
mod open;
mod preview;
mod printers;
pub(crate) mod slash;
mod text;
mod tui;

pub(crate) use flags::AgentFlags;
pub(crate) use headless::ended_by;
pub(crate) use open::{Extras, Prepared, prepare_from};
