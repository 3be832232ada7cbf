//! Changes of files as lines, with numbers and with what changed within a line.
