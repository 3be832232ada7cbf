//! The gateway on real sockets.

mod door;
mod entry;
mod keys;
mod limits;
mod packed;
mod smuggling;
mod stop;
mod wire;
