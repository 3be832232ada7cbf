//! Whole tasks through the real binary, on a scripted model and with real tools: what goes out is asserted as well as what comes of it.

mod bed;
mod compact;
mod golden;
mod long;
mod switch;
mod turns;

pub(crate) use bed::{PROTOCOLS, TaskBed, assert_valid};
