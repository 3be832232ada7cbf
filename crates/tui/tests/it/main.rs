//! The tests of the terminal interface.

mod diff;
mod look;
mod markdown;
mod markdown_any;
mod markdown_blocks;
