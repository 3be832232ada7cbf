//! The types of agents: those that come with the program, and those that are Markdown files of the user or the project.

use std::path::{Path, PathBuf};

use rail_config::Trusted;
use rail_permit::{Level, Mode};
use rail_tool::Card;

use crate::commands::files::{Found, checked, described, native};
use crate::commands::{OwnedFolder, Owner, front};

/// A type of agents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentType {
    /// What it is asked for by.
    pub name: String,
    /// When to use it, for the model that chooses.
    pub description: String,
    /// The tools that it has.
    pub tools: Tools,
    /// Native names of tools that it does not have, whatever the others are.
    pub without: Vec<String>,
    /// The model that it asks: a target, an alias, a virtual model. None is the one of whoever sets it to work.
    pub model: Option<String>,
    /// The mode that it works in, where that is not the session's.
    pub mode: Option<Mode>,
    /// What it is told to be.
    pub prompt: String,
    /// Whose it is.
    pub owner: Owner,
    /// The file, if it is from one.
    pub path: Option<PathBuf>,
}

/// The tools of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tools {
    /// All that an agent may have.
    All,
    /// Those that change nothing.
    ReadOnly,
    /// Those that change nothing, and a shell for the commands of git that only read.
    Reviewing,
    /// Those of these native names; a `*` at the end of one stands for any rest.
    Named(Vec<String>),
}

impl AgentType {
    /// Whether it has a tool.
    pub fn has(&self, card: &Card<'_>) -> bool {
        let fits = |names: &[String]| names.iter().any(|name| is_meant(name, card.name));
        let among = match &self.tools {
            Tools::All => true,
            Tools::ReadOnly => reads(card.level),
            Tools::Reviewing => reads(card.level) || card.name == "bash",
            Tools::Named(names) => fits(names),
        };
        let looks = self.mode != Some(Mode::Plan) || reads(card.level);
        among && looks && !fits(&self.without)
    }

    /// Whether it could have one of the tools whose names begin like this (`mcp__server__`), whatever those are.
    pub fn could_have(&self, beginning: &str) -> bool {
        let all = |name: &String| {
            let stands_for = name.strip_suffix('*').is_some_and(|stem| beginning.starts_with(stem));
            stands_for || is_meant(name, beginning)
        };
        let some = |name: &String| all(name) || name.trim_end_matches('*').starts_with(beginning);
        let among = match &self.tools {
            // A server says of each tool whether it only reads.
            Tools::All | Tools::ReadOnly | Tools::Reviewing => true,
            Tools::Named(names) => names.iter().any(some),
        };
        among && !self.without.iter().any(all)
    }

    /// Whether it changes nothing, whatever it is told.
    pub fn only_looks(&self) -> bool {
        match self.tools {
            Tools::ReadOnly | Tools::Reviewing => true,
            Tools::All | Tools::Named(_) => false,
        }
    }

    /// Whether it is of a project that the user does not trust.
    pub fn is_untrusted(&self) -> bool {
        matches!(self.owner, Owner::Project(Trusted::No))
    }
}

fn reads(level: Level) -> bool {
    match level {
        Level::None | Level::Read => true,
        Level::Write | Level::Execute | Level::Network => false,
    }
}

/// Whether a name in a type's list means a tool: `mcp__git` and `mcp__git__*` are all tools of that server.
fn is_meant(name: &str, tool: &str) -> bool {
    let beginning = name.strip_suffix('*').is_some_and(|beginning| tool.starts_with(beginning));
    let server =
        name.starts_with("mcp__") && tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"));
    name == tool || beginning || server
}

/// Makes the list of the types that come with the program; the text of each is a file of its name.
macro_rules! built_in {
    ($($name:literal $tools:ident $description:literal;)*) => {
        /// The types that come with the program.
        pub fn built_in() -> Vec<AgentType> {
            vec![$(AgentType {
                name: $name.to_owned(),
                description: $description.to_owned(),
                tools: Tools::$tools,
                without: Vec::new(),
                model: None,
                mode: None,
                prompt: include_str!(concat!("prompts/", $name, ".md")).trim().to_owned(),
                owner: Owner::BuiltIn,
                path: None,
            }),*]
        }
    };
}

built_in! {
    "general-purpose" All "Open questions and tasks of several steps, searches above all; changes files where the task says so.";
    "code-refactorer" All "Rebuilds code without changing what it does, in steps that tests confirm.";
    "security-auditor" ReadOnly "Finds weaknesses that could be used against the code, and how to close them.";
    "project-rules-architect" All "Writes down a project's rules for agents and people, AGENTS.md and the like.";
    "code-reviewer" Reviewing "Reads changes with fresh eyes: what is wrong, risky or missing.";
    "test-writer" All "Writes and runs tests where there are too few.";
    "doc-writer" All "Writes documentation and checks it against the code.";
    "architect" ReadOnly "Works out how something is to be built, as a plan in steps.";
}

/// All types: those of files, and those that come with the program where no file has the name.
pub fn all(folders: &[OwnedFolder], problems: &mut Vec<String>) -> Vec<AgentType> {
    let mut own = read(folders, problems);
    own.retain(|kind| {
        // What a folder brings that nobody trusts is one more type at best, and never in the place of one that is known.
        let hides = kind.is_untrusted() && built_in().iter().any(|known| known.name == kind.name);
        if hides {
            problems.push(format!(
                "the agent `{}` of this project does not take the place of the built-in one until the folder is trusted (`rail config trust`)",
                kind.name
            ));
        }
        !hides
    });
    let take = |built_in: AgentType| match own.iter().position(|own| own.name == built_in.name) {
        Some(at) => own.remove(at),
        None => built_in,
    };
    let mut all: Vec<AgentType> = built_in().into_iter().map(take).collect();
    all.extend(own);
    all
}

/// The types that the files of these folders describe; of two with one name the first counts. What can't be read is a problem.
pub fn read(folders: &[OwnedFolder], problems: &mut Vec<String>) -> Vec<AgentType> {
    let mut all: Vec<AgentType> = Vec::new();
    for folder in folders {
        let mut found = Vec::new();
        for Found { path, names } in folder.markdown("agents", problems) {
            let name = names.last().map(String::as_str).unwrap_or_default();
            let mut notes = Vec::new();
            let read = folder
                .text(&path)
                .and_then(|(text, _)| of_text(&text, name, &path, folder.owner, &mut notes));
            problems.extend(notes.into_iter().map(|note| format!("the agent {}: {note}", path.display())));
            match read {
                Ok(kind) => found.push(kind),
                Err(why) => problems.push(format!("the agent {} is left out: {why}", path.display())),
            }
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        for kind in found {
            match all.iter_mut().find(|known| known.name == kind.name) {
                None => all.push(kind),
                Some(known) if known.is_untrusted() && !kind.is_untrusted() => *known = kind,
                Some(_) => {}
            }
        }
    }
    all
}

/// The longest description: all of them are shown to the model that chooses.
const DESCRIPTION: usize = 1_500;

/// Reads the text of a type's file; `notes` get what does not count in it.
fn of_text(
    text: &str,
    file: &str,
    path: &Path,
    owner: Owner,
    notes: &mut Vec<String>,
) -> Result<AgentType, String> {
    let (front, body) = front(text).map_err(|error| error.to_string())?;
    let name = front.text("name").unwrap_or_else(|| file.to_owned());
    checked(&name)?;
    let prompt = body.trim().to_owned();
    if prompt.is_empty() {
        return Err("it says nothing below its front matter; write there what the agent is told".to_owned());
    }
    let description = front.text("description").unwrap_or_else(|| described(body));
    Ok(AgentType {
        name,
        description: description.chars().take(DESCRIPTION).collect(),
        tools: tools(&front.list("tools"), notes),
        without: front.list("disallowedTools").iter().filter_map(|tool| native_of(tool, notes)).collect(),
        // Who gets what an agent reads is for the user to say.
        model: front.text("model").filter(|model| model != "inherit" && owner != Owner::Project(Trusted::No)),
        mode: front.text("permissionMode").and_then(|word| mode(&word, owner, notes)),
        prompt,
        owner,
        path: Some(path.to_owned()),
    })
}

/// The tools that a list names. What is not known is left out, so that a list never means more than it says.
fn tools(written: &[String], notes: &mut Vec<String>) -> Tools {
    match written {
        [] => Tools::All,
        [one] if matches!(one.as_str(), "*" | "all") => Tools::All,
        [one] if matches!(one.as_str(), "read-only" | "readonly" | "read_only") => Tools::ReadOnly,
        [..] => Tools::Named(written.iter().filter_map(|name| native_of(name, notes)).collect()),
    }
}

fn native_of(name: &str, notes: &mut Vec<String>) -> Option<String> {
    let known = native(name);
    if known.is_none() {
        notes.push(format!(
            "`{name}` is no tool and does not count; name one such as `Read`, `Bash` or `mcp__server__tool`"
        ));
    }
    known
}

/// The mode of a word. A file may ask for more care than the user; for less only where it is the user's or trusted, and never for none.
fn mode(word: &str, owner: Owner, notes: &mut Vec<String>) -> Option<Mode> {
    let mut not = |why: &str| {
        notes.push(format!("`permissionMode: {word}` does not count: {why}"));
        None
    };
    match (word, owner) {
        ("default", _) => Some(Mode::Default),
        ("plan", _) => Some(Mode::Plan),
        ("acceptEdits" | "accept-edits", Owner::Project(Trusted::No)) => {
            not("this folder is not trusted; trust it with `rail config trust`")
        }
        ("acceptEdits" | "accept-edits", Owner::Project(Trusted::Yes) | Owner::User | Owner::BuiltIn) => {
            Some(Mode::AcceptEdits)
        }
        ("bypassPermissions" | "bypass", _) => not("only the user can say that nothing is asked"),
        (_, _) => not("write `default`, `acceptEdits` or `plan`"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(text: &str, owner: Owner) -> (Result<AgentType, String>, Vec<String>) {
        let mut notes = Vec::new();
        (of_text(text, "file", Path::new("/a/file.md"), owner, &mut notes), notes)
    }

    #[test]
    fn a_file_is_read_with_all_it_says() {
        let text = "---\nname: searcher\ndescription: |\n  Use it: often.\n  Really.\ntools: Read, run_shell_command, mcp__git__*, Nonsense\ndisallowedTools: [Write]\nmodel: haiku\npermissionMode: plan\ncolor: red\n---\n\nYou search.\n";
        let (read, notes) = of(text, Owner::User);
        let expected = AgentType {
            name: "searcher".to_owned(),
            description: "Use it: often.\nReally.".to_owned(),
            tools: Tools::Named(vec!["read_file".to_owned(), "bash".to_owned(), "mcp__git__*".to_owned()]),
            without: vec!["write_file".to_owned()],
            model: Some("haiku".to_owned()),
            mode: Some(Mode::Plan),
            prompt: "You search.".to_owned(),
            owner: Owner::User,
            path: Some("/a/file.md".into()),
        };
        assert_eq!(read, Ok(expected));
        assert_eq!(
            notes,
            [
                "`Nonsense` is no tool and does not count; name one such as `Read`, `Bash` or `mcp__server__tool`"
            ]
        );
        let (plain, notes) = of("---\nmodel: inherit\n---\n# Look\nand say", Owner::User);
        let plain = plain.unwrap();
        assert_eq!(
            (plain.name.as_str(), plain.description.as_str(), plain.tools),
            ("file", "Look", Tools::All)
        );
        assert_eq!((plain.model, plain.mode, notes), (None, None, Vec::new()));
    }

    #[test]
    fn a_list_never_means_more_than_it_says() {
        for (written, expected) in [
            ("x: y", Tools::All),
            ("tools: '*'", Tools::All),
            ("tools: read-only", Tools::ReadOnly),
            ("tools:\n  - Grep\n  - Glob", Tools::Named(vec!["grep".to_owned(), "glob".to_owned()])),
            ("tools: Bash(git log:*)", Tools::Named(Vec::new())),
            ("tools: Nonsense", Tools::Named(Vec::new())),
        ] {
            let (read, _) = of(&["---\n", written, "\n---\nx"].concat(), Owner::User);
            assert_eq!(read.unwrap().tools, expected, "{written}");
        }
    }

    #[test]
    fn a_mode_with_less_care_needs_trust() {
        let trusted = Owner::Project(Trusted::Yes);
        for (word, owner, expected) in [
            ("plan", Owner::Project(Trusted::No), Some(Mode::Plan)),
            ("acceptEdits", Owner::Project(Trusted::No), None),
            ("acceptEdits", trusted, Some(Mode::AcceptEdits)),
            ("acceptEdits", Owner::User, Some(Mode::AcceptEdits)),
            ("bypassPermissions", Owner::User, None),
            ("sometimes", Owner::User, None),
        ] {
            let (read, notes) = of(&["---\npermissionMode: ", word, "\n---\nx"].concat(), owner);
            assert_eq!(read.unwrap().mode, expected, "{word}");
            assert_eq!(notes.is_empty(), expected.is_some(), "{word}: {notes:?}");
        }
    }

    #[test]
    fn what_is_no_type_is_refused() {
        for (text, expected) in [
            (
                "---\nname: ../x\n---\nx",
                "its name can't be used; take letters, digits, `-` and `_`, 64 bytes at most",
            ),
            (
                "---\nname: x\n---\n \n",
                "it says nothing below its front matter; write there what the agent is told",
            ),
            ("---\nno colon\n---\nx", "line 2: it has no `:`; write `key: value`"),
        ] {
            assert_eq!(of(text, Owner::User).0, Err(expected.to_owned()));
        }
    }

    #[test]
    fn built_in_types_have_texts_of_their_own() {
        let all = built_in();
        assert_eq!(all.len(), 8);
        for kind in &all {
            assert!(checked(&kind.name).is_ok() && kind.prompt.len() > 400, "{}", kind.name);
            assert!(kind.description.ends_with('.') && !kind.description.contains('\n'), "{}", kind.name);
        }
        let readers = all.iter().filter(|kind| kind.only_looks());
        let readers: Vec<&str> = readers.map(|kind| kind.name.as_str()).collect();
        assert_eq!(readers, ["security-auditor", "code-reviewer", "architect"]);
        let registry = rail_tools::registry();
        let has = |kind: &AgentType, tool: &str| kind.has(&registry.get(tool).unwrap().card());
        let reviewer = all.iter().find(|kind| kind.name == "code-reviewer").unwrap();
        assert!(has(reviewer, "read_file") && has(reviewer, "grep") && has(reviewer, "todo_write"));
        assert!(has(reviewer, "bash") && !has(reviewer, "edit_file"));
        let architect = all.iter().find(|kind| kind.name == "architect").unwrap();
        assert!(!has(architect, "bash") && !has(architect, "edit_file"));
        let bare = AgentType { without: vec!["bash".to_owned()], ..all[0].clone() };
        assert!(has(&all[0], "bash") && !has(&bare, "bash") && has(&bare, "edit_file"));
    }

    #[test]
    fn whether_tools_of_a_server_can_come_is_known_before_they_do() {
        for (tools, without, expected) in [
            (Tools::All, "write_file", true),
            (Tools::ReadOnly, "write_file", true),
            (Tools::All, "mcp__git", false),
            (Tools::All, "mcp__*", false),
            (Tools::All, "*", false),
            (Tools::All, "mcp__git__push", true),
            (Tools::Named(vec!["read_file".to_owned()]), "", false),
            (Tools::Named(vec!["mcp__git".to_owned()]), "", true),
            (Tools::Named(vec!["mcp__git__log".to_owned()]), "", true),
            (Tools::Named(vec!["mcp__git__l*".to_owned()]), "", true),
            (Tools::Named(vec!["mcp__*".to_owned()]), "", true),
            (Tools::Named(vec!["mcp__other__*".to_owned()]), "", false),
            (Tools::Named(vec!["mcp__gi".to_owned()]), "", false),
        ] {
            let kind = AgentType { tools, without: vec![without.to_owned()], ..built_in().remove(0) };
            assert_eq!(kind.could_have("mcp__git__"), expected, "{:?} without {without}", kind.tools);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(---\n)?((name|tools|model|permissionMode|disallowedTools): [a-zA-Z*_,()./ -]{0,12}\n){0,4}(---\n)?[a-z \n]{0,8}") {
            if let (Ok(kind), _) = of(&text, Owner::Project(Trusted::No)) {
                prop_assert!(checked(&kind.name).is_ok() && !kind.prompt.is_empty());
                prop_assert!(matches!(kind.mode, None | Some(Mode::Default | Mode::Plan)));
            }
        }
    }
}
