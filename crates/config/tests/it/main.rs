//! Whole files in, whole answers out.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod found;
mod hijack;
mod import;
