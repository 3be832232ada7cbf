//! A policy, a file system of links alone, and short ways to ask.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use rail_permit::{
    Asked, Decision, Exec, Explained, Facet, Held, Level, Mode, Policy, Rule, Verdict, World, explain, judge,
};

/// A file system that knows nothing but its links.
#[derive(Clone, Default)]
pub(crate) struct Links(pub(crate) BTreeMap<PathBuf, PathBuf>);

impl Links {
    pub(crate) fn new(links: &[(&str, &str)]) -> Self {
        Self(links.iter().map(|(from, to)| (PathBuf::from(from), PathBuf::from(to))).collect())
    }

    fn resolve(&self, path: &Path, left: usize) -> PathBuf {
        let mut real = PathBuf::from("/");
        for component in path.components() {
            match component {
                Component::ParentDir => {
                    real.pop();
                }
                Component::Normal(name) => {
                    real.push(name);
                    if let Some(to) = self.0.get(&real).filter(|_| left > 0) {
                        real.pop();
                        real = self.resolve(&real.join(to), left - 1);
                    }
                }
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
        real
    }
}

impl World for Links {
    fn git_runs(&self, folder: &Path) -> Option<String> {
        folder.starts_with("/srv/ws/hostile").then(|| "core.fsmonitor".to_owned())
    }

    fn real(&self, path: &Path) -> PathBuf {
        self.resolve(path, 40)
    }
}

/// What all dialects call the tools, as far as the tests need it.
pub(crate) fn native(name: &str) -> Option<String> {
    let native = match name {
        "Bash" | "bash" | "run_shell_command" => "bash",
        "Read" | "read_file" => "read_file",
        "Edit" | "edit_file" | "replace" => "edit_file",
        "Write" | "write_file" => "write_file",
        "MultiEdit" => "multi_edit",
        "Grep" | "grep" | "search_file_content" => "grep",
        "Glob" => "glob",
        "WebFetch" | "web_fetch" => "web_fetch",
        "WebSearch" => "web_search",
        "Task" => "task",
        "TodoWrite" => "todo_write",
        "Skill" | "activate_skill" => "skill",
        _ => return None,
    };
    Some(native.to_owned())
}

pub(crate) fn rule(text: &str) -> Rule {
    Rule::parse(text, "a test", &native).unwrap_or_else(|error| panic!("{error}"))
}

/// The workspace is `/srv/ws`, `/srv/added` was added, `/srv/u` is home.
pub(crate) fn policy() -> Policy {
    Policy {
        mode: Mode::Default,
        folders: vec!["/srv/ws".into(), "/srv/added".into()],
        temp: Some("/srv/tmp".into()),
        home: Some("/srv/u".into()),
        own: vec!["/srv/u/state".into()],
        ..Policy::default()
    }
}

/// The policy with rules: `allow Bash(ls:*)`, `ask …`, `deny …`, and a mode.
pub(crate) fn with(lines: &[&str]) -> Policy {
    let mut policy = policy();
    for line in lines {
        let (list, text) = line.split_once(' ').unwrap_or((line, ""));
        match list {
            "allow" => policy.rules.allow.push(rule(text)),
            "ask" => policy.rules.ask.push(rule(text)),
            "deny" => policy.rules.deny.push(rule(text)),
            "mode" => {
                policy.mode = match text {
                    "default" => Mode::Default,
                    "accept-edits" => Mode::AcceptEdits,
                    "plan" => Mode::Plan,
                    "bypass" => Mode::Bypass,
                    other => panic!("no mode {other}"),
                }
            }
            other => panic!("no list {other}"),
        }
    }
    policy
}

/// A call: `read PATH`, `write PATH`, `host HOST`, `mcp NAME`, `tool NAME LEVEL`, or else a command.
pub(crate) struct Call {
    tool: String,
    level: Level,
    facets: Vec<Facet>,
}

impl Call {
    pub(crate) fn new(text: &str) -> Self {
        let call = |tool: &str, level, facets| Self { tool: tool.to_owned(), level, facets };
        match text.split_once(' ').unwrap_or((text, "")) {
            ("read", path) => call("read_file", Level::Read, vec![Facet::Read(path.into())]),
            ("grep-in", path) => call("grep", Level::Read, vec![Facet::Read(path.into())]),
            ("write", path) => call("edit_file", Level::Write, vec![Facet::Write(path.into())]),
            ("host", host) => call("web_fetch", Level::Network, vec![Facet::Net(host.to_owned())]),
            ("mcp", name) => call(name, Level::Execute, vec![Facet::Foreign]),
            ("mcp-reads", name) => call(name, Level::Read, vec![Facet::Foreign]),
            ("skill", name) => {
                let (folder, from) = ("/srv/u/skills/it".into(), "yours".to_owned());
                let facet = Facet::Skill { name: name.to_owned(), folder, from };
                call("skill", Level::None, vec![facet])
            }
            ("none", name) => call(name, Level::None, vec![]),
            ("network", name) => call(name, Level::Network, vec![]),
            ("execute", name) => call(name, Level::Execute, vec![]),
            _ => Self::command(text, "/srv/ws"),
        }
    }

    pub(crate) fn command(text: &str, cwd: &str) -> Self {
        let exec = Exec { command: text.to_owned(), cwd: cwd.into(), held: Held::Sandbox };
        Self { tool: "bash".to_owned(), level: Level::Execute, facets: vec![Facet::Exec(exec)] }
    }

    /// A command that was asked for outside of the sandbox.
    pub(crate) fn outside(text: &str) -> Self {
        let exec = Exec { command: text.to_owned(), cwd: "/srv/ws".into(), held: Held::Outside };
        Self { tool: "bash".to_owned(), level: Level::Execute, facets: vec![Facet::Exec(exec)] }
    }

    pub(crate) fn judge(&self, policy: &Policy, world: &dyn World) -> Verdict {
        judge(policy, &self.asked(), world)
    }

    pub(crate) fn explain(&self, policy: &Policy, world: &dyn World) -> Explained {
        explain(policy, &self.asked(), world)
    }

    fn asked(&self) -> Asked<'_> {
        Asked { tool: &self.tool, level: self.level, facets: &self.facets }
    }
}

pub(crate) fn decide(policy: &Policy, call: &str) -> Decision {
    Call::new(call).explain(policy, &Links::default()).decision
}

/// Checks rows of policy, call and what is decided, all of them before it fails.
pub(crate) fn check(rows: &[(&[&str], &str, Decision)]) {
    check_in(&Links::default(), rows);
}

pub(crate) fn check_in(world: &Links, rows: &[(&[&str], &str, Decision)]) {
    let mut wrong = Vec::new();
    for (policy, call, expected) in rows {
        let explained = Call::new(call).explain(&with(policy), world);
        if explained.decision != *expected {
            wrong.push(format!("{policy:?} `{call}`: expected {expected:?}\n{explained}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
