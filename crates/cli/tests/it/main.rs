//! The real `rail` binary, as a user runs it.
