//! The tests of the terminal interface.
