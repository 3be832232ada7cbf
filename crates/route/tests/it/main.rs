//! Requests as clients send them, and the plans that they get.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod chains;
mod clients;
mod docs;
mod explain;
mod facts;
mod health;
mod names;
mod odd;
mod properties;
mod rules;
mod seed;
mod sessions;
mod setup;
mod staying;
mod tokens;
mod virtual_models;
