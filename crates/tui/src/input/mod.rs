//! The line in which the user types: several lines of text, its keys, its history.
