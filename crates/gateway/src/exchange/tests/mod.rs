//! Requests of every protocol against scripted models of every protocol, on real sockets.

mod answers;
mod bursts;
mod contents;
mod endings;
mod keys;
mod leaving;
mod lists;
mod vain;
mod waiting;
mod world;
