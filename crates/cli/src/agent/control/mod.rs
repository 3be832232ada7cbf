//! The agent driven by a program: messages and control requests as JSON lines, in both directions.

mod asking;
mod begin;
mod client;
mod line;
mod serve;
mod tools;

pub(crate) use serve::{Asks, serve};
