use std::path::{Path, PathBuf};

use crate::Rule;

/// What the user allows, and where.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Policy {
    /// What is asked about when no rule decides.
    pub mode: Mode,
    /// The user's rules.
    pub rules: Rules,
    /// The workspace and the folders added to it, links resolved; the first is the workspace.
    pub folders: Vec<PathBuf>,
    /// The folder for temporary files, links resolved.
    pub temp: Option<PathBuf>,
    /// The user's home folder, links resolved.
    pub home: Option<PathBuf>,
    /// Places whose writing always asks, whatever is allowed: our own configuration, state and project files.
    pub own: Vec<PathBuf>,
}

/// What is asked about when no rule decides.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Whatever writes, runs or uses the network.
    #[default]
    Default,
    /// As `Default`, but files of the workspace are written without asking.
    AcceptEdits,
    /// Only what reads is done.
    Plan,
    /// Nothing: also what always asks in the other modes is done. Hard denials and the user's deny rules still hold, and a
    /// command that can't be read is asked about, because nobody could tell whether they do.
    Bypass,
}

/// The user's rules: deny beats ask beats allow.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rules {
    /// What is done without asking.
    pub allow: Vec<Rule>,
    /// What is always asked about.
    pub ask: Vec<Rule>,
    /// What is never done.
    pub deny: Vec<Rule>,
}

/// What only the file system knows.
pub trait World {
    /// The path with all links and `..` resolved, as far as it exists; what does not exist yet is kept behind its nearest
    /// existing folder.
    fn real(&self, path: &Path) -> PathBuf;
}

/// Who the program runs as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum User {
    /// The one who may do everything on this machine.
    Root,
    /// Anybody else.
    Other,
}

/// Whether something outside the program limits what it can do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Contained {
    /// A sandbox or a container does.
    Yes,
    /// Nothing does.
    No,
}

/// Why [`Mode::Bypass`] can't be used here, and what to do instead; None where it can.
pub fn bypass_refused(user: User, contained: Contained) -> Option<String> {
    match (user, contained) {
        (User::Root, Contained::No) => Some(
            "the permission mode `bypass` is refused as root, where one wrong command can destroy the machine; \
             start it as another user, in a container, or with the sandbox on"
                .to_owned(),
        ),
        (User::Root, Contained::Yes) | (User::Other, Contained::Yes | Contained::No) => None,
    }
}
