//! Whole files in, whole answers out.

mod hijack;
