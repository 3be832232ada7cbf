//! Requests against real sockets that fail in every way.

mod answers;
mod cancel;
mod faults;
mod keys;
mod learning;
mod limits;
mod plain;
mod scripts;
mod switch;
mod world;
