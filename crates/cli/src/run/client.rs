//! The clients that are known.

use super::launch::{Launch, Pointing};
use super::{claude, codex, gemini, opencode, qwen};

/// A client that can be started.
pub(crate) struct Client {
    /// The name of the command, which is also the client's name here.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// The npm package that it comes in.
    pub(crate) package: &'static str,
    /// How it is pointed at a gateway.
    pub(crate) launch: fn(&Pointing<'_>) -> Launch,
}

/// All clients.
pub(crate) const CLIENTS: [&Client; 5] =
    [&claude::CLIENT, &codex::CLIENT, &gemini::CLIENT, &qwen::CLIENT, &opencode::CLIENT];

/// The client of this name.
pub(crate) fn find(name: &str) -> Option<&'static Client> {
    CLIENTS.into_iter().find(|client| client.name == name)
}

/// The same for a command line, with an error that names them all.
pub(crate) fn parse(name: &str) -> Result<&'static Client, String> {
    find(name).ok_or_else(|| {
        let known: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
        format!("there are {}; for other programs see `rail serve`", known.join(", "))
    })
}
