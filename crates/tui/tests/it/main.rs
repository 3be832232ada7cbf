//! The tests of the terminal interface: what a terminal shows of it.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bytes;
mod complete;
mod diff;
mod history;
mod input;
mod input_any;
mod input_vim;
mod keys;
mod look;
mod markdown;
mod markdown_any;
mod markdown_blocks;
mod screen;
mod screens;
mod screens_any;
mod screens_ask;
mod screens_picture;
mod screens_script;
mod screens_talk;
mod screens_work;
mod typing;
