//! Markdown as lines, also while it is still being written.
