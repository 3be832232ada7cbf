//! The protocol with a host of the test's own: what a client may do, at any moment, and what it gets.

mod bed;
mod cancel;
mod hostile;
mod sessions;
