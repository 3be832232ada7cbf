//! The tests of the terminal interface.

mod complete;
mod history;
mod input;
mod input_any;
mod input_vim;
mod keys;
