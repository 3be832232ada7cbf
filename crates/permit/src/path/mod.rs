//! Patterns of names and paths.

mod glob;
mod pattern;

pub(crate) use glob::{Case, Glob};
pub(crate) use pattern::{Bases, Fence, List, PathPattern, Step, run};
