//! The tests of the terminal interface.

mod input;
mod input_any;
mod input_vim;
mod keys;
