use std::path::{Path, PathBuf};

use crate::{Level, Rule};

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

impl Policy {
    /// Whether no call of a tool can ever be allowed: a rule denies all of it, or it writes and the mode lets nothing be written. Such a
    /// tool is not worth telling a model of.
    pub fn bars(&self, tool: &str, level: Level) -> bool {
        let denied = self.rules.deny.iter().any(|rule| rule.names_tool(tool));
        denied || (self.mode == Mode::Plan && level == Level::Write)
    }
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

    /// What of the repository around a folder makes git run a program even when it only looks, such as `core.fsmonitor`.
    fn git_runs(&self, folder: &Path) -> Option<String> {
        let _ = folder;
        None
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_never_be_allowed_is_barred() {
        let rule = |text: &str| Rule::parse(text, "a test", &|name| Some(name.to_owned())).unwrap();
        let deny = vec![rule("web_fetch"), rule("bash(rm:*)")];
        let policy = |mode| Policy {
            mode,
            rules: Rules { deny: deny.clone(), ..Rules::default() },
            ..Policy::default()
        };
        for (mode, tool, level, expected) in [
            (Mode::Default, "web_fetch", Level::Network, true),
            (Mode::Bypass, "web_fetch", Level::Network, true),
            (Mode::Default, "bash", Level::Execute, false),
            (Mode::Plan, "bash", Level::Execute, false),
            (Mode::Default, "edit_file", Level::Write, false),
            (Mode::Plan, "edit_file", Level::Write, true),
            (Mode::Plan, "read_file", Level::Read, false),
        ] {
            assert_eq!(policy(mode).bars(tool, level), expected, "{mode:?} {tool}");
        }
    }
}
