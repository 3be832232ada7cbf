use std::path::PathBuf;

/// One thing that a call will touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Facet {
    /// It reads this file, or what is under this folder. The path is absolute; links in it are not yet resolved.
    Read(PathBuf),
    /// It writes, creates, renames or removes this file.
    Write(PathBuf),
    /// It runs a shell command.
    Exec(Exec),
    /// It speaks with this host.
    Net(String),
    /// It does what only somebody else knows: a tool of an MCP server, a created tool.
    Foreign,
    /// It gives the model instructions that somebody wrote down: a skill. With it goes leave to read the skill's folder.
    Skill {
        /// The skill's name.
        name: String,
        /// Its folder, links resolved.
        folder: PathBuf,
        /// Whose it is, in a few words: `yours`, `of this project`.
        from: String,
    },
}

/// A shell command that is to be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exec {
    /// Its text, as the shell will read it.
    pub command: String,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// Whether the sandbox would hold it. Outside of it, it always asks (unless the mode is bypass), whatever rules allow inside.
    pub held: Held,
}

/// Whether the sandbox holds a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Held {
    /// It writes only where it may.
    #[default]
    Sandbox,
    /// It was asked for outside of the sandbox, which had stopped it.
    Outside,
}

/// What kind of thing a tool does; its facets say to what.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Nothing outside the session.
    None,
    /// It reads.
    Read,
    /// It writes files.
    Write,
    /// It runs programs.
    Execute,
    /// It uses the network.
    Network,
}

/// One call, as far as permission is concerned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Asked<'a> {
    /// The tool's native name (`edit_file`, `mcp__github__search`).
    pub tool: &'a str,
    /// What kind of thing it does.
    pub level: Level,
    /// What it will touch.
    pub facets: &'a [Facet],
}
