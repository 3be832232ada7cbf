//! The real clients, as npm has them, doing a real task on scripted models that speak another protocol.
//!
//! Each reads a file, edits it, runs a command and answers; the file on disk must be right at the end.

mod fault;
mod install;
mod native;
mod person;
mod run;
mod table;
mod task;
mod text;
