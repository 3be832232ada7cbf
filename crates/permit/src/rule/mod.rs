//! What a rule says, and what it speaks of.

mod command;
mod host;

use std::fmt;
use std::path::Path;

use rail_stdx::nearest;

use crate::path::{Case, Glob, PathPattern};
pub(crate) use command::{CommandPattern, Cover, Hit};
pub(crate) use host::{HostPattern, host_name};

/// One rule: `Bash(git commit:*)`, `Edit(src/**)`, `WebFetch(domain:docs.rs)`, `mcp__github__*`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// As it was written.
    pub text: String,
    /// Where it was written: a file and line, a flag, an answer; shown when it decides.
    pub origin: String,
    /// The native tool it speaks of, perhaps with `*` in it.
    pub(crate) tool: String,
    /// What stands in the brackets.
    pub(crate) about: About,
}

/// What a rule speaks of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum About {
    /// Whatever the tool does.
    Anything,
    /// Commands.
    Command(CommandPattern),
    /// Files and folders.
    Path(PathPattern),
    /// Hosts.
    Host(HostPattern),
    /// Names of skills.
    Name(Glob),
}

/// Which calls a rule holds for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holds {
    /// Whatever reads a file.
    Reads,
    /// Whatever writes a file.
    Writes,
    /// Every command.
    Commands,
    /// Whatever speaks with a host.
    Hosts,
    /// The tool of its name.
    Tool,
}

/// Why a rule is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the permission rule `{text}` {why}")]
pub struct RuleError {
    /// The rule as it was written.
    pub text: String,
    /// What is wrong, and what to write instead.
    pub why: String,
}

/// Tools whose rules speak of files but hold for them alone.
const READERS: &[&str] = &["glob", "grep", "list_directory", "read_many_files", "read_pdf", "image"];

/// Names that rules are mostly written with, to guess what was meant.
const COMMON: &[&str] = &[
    "Bash",
    "Edit",
    "Glob",
    "Grep",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Skill",
    "Task",
    "TodoWrite",
    "WebFetch",
    "WebSearch",
    "Write",
];

/// The tool whose rules speak of skills.
const SKILL: &str = "skill";

impl Rule {
    /// Reads a rule. `native` gives the native name of a tool that any dialect names, None for one that nobody knows.
    ///
    /// - `Bash`: every command. `Bash(git commit:*)`: `git commit`, alone or with more words. `Bash(npm run test-*)`: `*` inside a
    ///   word is any text, a `*` of its own any words. `Bash(ls -la)`: exactly this command.
    /// - `Edit`, `Write` and their kin hold for whatever writes a file, `Read` for whatever reads one, commands included. In the
    ///   brackets stands a pattern as in `.gitignore`: `src/**` and `/src/**` from the workspace, `.env` at any depth,
    ///   `//etc/**` from the root, `~/notes/**` from the home folder.
    /// - `WebFetch(domain:docs.rs)`: this host; `WebFetch(domain:*.docs.rs)`: those under it. It holds for whatever uses the network.
    /// - `Skill(pdf)`: this skill; `Skill(git-*)`: those whose names fit; `Skill`: all of them.
    /// - `mcp__github__search`, `mcp__github__*`, `mcp__github`: a tool of an MCP server, or all of them.
    ///
    /// # Errors
    /// What is wrong with the text, and what to write instead.
    pub fn parse(
        text: &str,
        origin: impl Into<String>,
        native: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, RuleError> {
        let wrong = |why: String| RuleError { text: text.to_owned(), why };
        let (name, about) = split(text.trim()).map_err(wrong)?;
        let tool = tool_name(name, native).map_err(wrong)?;
        let about = match about {
            None => About::Anything,
            Some(about) => read_about(name, &tool, about).map_err(wrong)?,
        };
        Ok(Self { text: text.trim().to_owned(), origin: origin.into(), tool, about })
    }

    /// Which calls it holds for.
    pub(crate) fn holds(&self) -> Holds {
        match self.tool.as_str() {
            "read_file" => Holds::Reads,
            "edit_file" | "write_file" | "multi_edit" | "apply_patch" | "notebook_edit" => Holds::Writes,
            "bash" => Holds::Commands,
            "web_fetch" => Holds::Hosts,
            _ => Holds::Tool,
        }
    }

    /// Whether it speaks of a tool as a whole.
    pub(crate) fn names_tool(&self, tool: &str) -> bool {
        match self.about {
            About::Anything => self.is_for(tool),
            About::Command(_) | About::Path(_) | About::Host(_) | About::Name(_) => false,
        }
    }

    /// Whether it speaks of this tool, of all of it or of a part.
    pub(crate) fn is_for(&self, tool: &str) -> bool {
        // `mcp__server` has no second `__`: that would be one tool of it.
        let server =
            self.tool.strip_prefix("mcp__").filter(|server| !server.contains("__") && !server.contains('*'));
        let of_server = server.is_some()
            && tool.strip_prefix(self.tool.as_str()).is_some_and(|rest| rest.starts_with("__"));
        of_server
            || self.tool == tool
            || (self.tool.contains('*') && Glob::new(&self.tool).fits(tool.as_bytes(), Case::Counts))
    }

    /// A rule for reading a folder and all in it, secrets left out. None if its path can't be said in a rule.
    pub fn to_read(folder: &Path, origin: impl Into<String>) -> Option<Self> {
        let below = folder.strip_prefix("/").ok().filter(|below| !below.as_os_str().is_empty())?;
        let below = below.to_str().filter(|below| !below.contains(char::is_control))?;
        let text = format!("//{}/**", escaped(below));
        let about = About::Path(PathPattern::parse(&text).ok()?);
        let tool = "read_file".to_owned();
        Some(Self { text: format!("Read({text})"), origin: origin.into(), tool, about })
    }

    /// A rule that an answer would add.
    pub(crate) fn offered(text: String, tool: &str, about: About) -> Self {
        Self { text, origin: "an answer".to_owned(), tool: tool.to_owned(), about }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A path in which nothing has another meaning to a pattern.
pub(crate) fn escaped(path: &str) -> String {
    path.replace('\\', r"\\").replace('*', r"\*").replace('?', r"\?").replace('[', r"\[")
}

/// Reads what stands in the brackets of `Skill( )`: a name, perhaps with `*` in it. What a skill is given behind its name is not judged.
fn skill_name(about: &str) -> Result<Glob, String> {
    let is_name = |c: char| c.is_alphanumeric() || "_-:.*".contains(c);
    match about.chars().all(is_name) {
        true => Ok(Glob::new(about)),
        false => Err("names no skill; write its name alone, `Skill(pdf)`, perhaps with `*` in it".to_owned()),
    }
}

/// The tool's name, and what stands in the brackets behind it.
fn split(text: &str) -> Result<(&str, Option<&str>), String> {
    let form = "write `Tool` or `Tool(what it is given)`";
    let (name, about) = match (text.split_once('('), text.strip_suffix(')')) {
        (Some((name, _)), Some(inside)) => (name, inside.split_once('(').map(|(_, about)| about.trim())),
        (None, None) => (text, None),
        (Some(_), None) => return Err(format!("has no `)` at its end; {form}")),
        (None, Some(_)) => return Err(format!("has no `(`; {form}")),
    };
    if name.trim().is_empty() {
        return Err(format!("names no tool; {form}"));
    }
    if name.contains(char::is_whitespace) {
        return Err(format!("has blanks in the tool's name; {form}"));
    }
    match about {
        Some("") => Err(format!("has nothing in its brackets; write `{name}` for all it does")),
        Some(_) | None => Ok((name, about)),
    }
}

fn tool_name(name: &str, native: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    if let Some(native) = native(name) {
        return Ok(native);
    }
    if name.strip_prefix("mcp__").is_some_and(|server| !server.is_empty()) {
        return Ok(name.to_owned());
    }
    if name.contains('*') {
        return Err(
            "has `*` in the tool's name, which only `mcp__server__*` may; write one rule for each tool"
                .to_owned(),
        );
    }
    let meant = nearest(name, COMMON.iter().copied()).map_or_else(
        || "write one such as `Bash`, `Edit`, `Read`, `WebFetch` or `mcp__server__tool`".to_owned(),
        |meant| format!("did you mean `{meant}`?"),
    );
    Err(format!("names `{name}`, which is no tool; {meant}"))
}

fn read_about(name: &str, tool: &str, about: &str) -> Result<About, String> {
    let takes_paths = READERS.contains(&tool);
    let rule = Rule::offered(String::new(), tool, About::Anything);
    match rule.holds() {
        Holds::Commands if about == "*" => Ok(About::Anything),
        Holds::Tool if tool == SKILL && about == "*" => Ok(About::Anything),
        Holds::Tool if tool == SKILL => skill_name(about).map(About::Name),
        Holds::Commands => CommandPattern::parse(about).map(About::Command),
        Holds::Reads | Holds::Writes => PathPattern::parse(about).map(About::Path),
        Holds::Hosts => HostPattern::parse(name, about).map(About::Host),
        Holds::Tool if takes_paths => PathPattern::parse(about).map(About::Path),
        Holds::Tool => {
            Err(format!("says what `{name}` is given, which rules of this tool can't; write `{name}` alone"))
        }
    }
}
