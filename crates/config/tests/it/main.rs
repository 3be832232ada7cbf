//! Whole files in, whole answers out.

mod found;
mod hijack;
