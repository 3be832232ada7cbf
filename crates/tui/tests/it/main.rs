//! The tests of the terminal interface: what a terminal shows of it.

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
