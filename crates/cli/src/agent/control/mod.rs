//! The agent driven by a program: messages and control requests as JSON lines, in both directions.

mod asker;
mod asking;
mod begin;
mod client;
mod desk;
mod line;
mod serve;
mod tools;
mod typed;

pub(crate) use asker::Asks;
pub(crate) use serve::serve;
pub(crate) use typed::{Became, becomes, typed};
