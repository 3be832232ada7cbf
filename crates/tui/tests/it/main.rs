//! The tests of the terminal interface.

mod look;
mod markdown;
mod markdown_any;
