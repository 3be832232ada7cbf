//! What the shell tools share: how a command is run, what it is given, what is said of it, and those that run in the background.

pub(crate) mod environment;
pub(crate) mod said;
pub(crate) mod script;
pub(crate) mod shells;
pub(crate) mod shown;
pub(crate) mod stopped;
pub(crate) mod terminal;
