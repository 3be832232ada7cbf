//! The tests of the terminal interface: what a terminal shows of it.

mod screen;
