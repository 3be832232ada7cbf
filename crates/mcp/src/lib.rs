//! Servers of the Model Context Protocol.

pub mod auth;
