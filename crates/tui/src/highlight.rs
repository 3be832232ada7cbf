//! Source code by what its pieces are.
