//! The crate from outside.

mod tokens;
