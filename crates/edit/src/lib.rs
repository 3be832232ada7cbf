//! Changes of texts: edits by old and new text, the patch envelope, diffs. Text in, text out.

pub mod diff;
pub mod edit;
pub mod lines;
pub mod patch;
