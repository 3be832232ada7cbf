//! How a repository is built, tested, checked and run.

use std::collections::BTreeSet;

use super::listing::Listing;
use super::{makefiles, manifests, python};

/// What a command is for, in the order in which they are told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Purpose {
    /// Gets what is needed.
    Setup,
    /// Builds.
    Build,
    /// Runs it.
    Run,
    /// Tests.
    Test,
    /// Runs the one test that is named.
    OneTest,
    /// Looks for mistakes.
    Lint,
    /// Brings code into shape.
    Format,
}

impl Purpose {
    /// Its word in the file.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Setup => "Setup",
            Self::Build => "Build",
            Self::Run => "Run",
            Self::Test => "Test",
            Self::OneTest => "One test",
            Self::Lint => "Lint",
            Self::Format => "Format",
        }
    }

    /// What a script of this name is for, as most people name them.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let first = name.split([':', '-', '_', '.']).next().unwrap_or_default();
        let is_watch = name.ends_with("watch");
        match first {
            _ if is_watch => None,
            "setup" | "bootstrap" | "deps" | "install" | "init" => Some(Self::Setup),
            "build" | "compile" | "all" | "dist" => Some(Self::Build),
            "dev" | "start" | "serve" | "run" => Some(Self::Run),
            "test" | "tests" | "e2e" | "unit" => Some(Self::Test),
            "lint" | "typecheck" | "types" | "check" | "clippy" | "vet" | "tsc" => Some(Self::Lint),
            "format" | "fmt" | "prettier" => Some(Self::Format),
            _ => None,
        }
    }
}

/// A command.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Command {
    /// What it is for.
    pub(crate) purpose: Purpose,
    /// The folder to run it in; empty for the repository's own.
    pub(crate) folder: String,
    /// The line to type.
    pub(crate) line: String,
}

/// Commands of one folder, as they are found.
pub(super) struct Found<'a> {
    pub(super) listing: &'a Listing,
    /// The folder, empty or ending with `/`.
    pub(super) folder: &'a str,
    commands: Vec<Command>,
}

impl Found<'_> {
    pub(super) fn add(&mut self, purpose: Purpose, line: impl Into<String>) {
        let folder = self.folder.trim_end_matches('/').to_owned();
        self.commands.push(Command { purpose, folder, line: line.into() });
    }

    /// Whether the folder has a file of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.listing.has(&format!("{}{name}", self.folder))
    }

    /// The text of a file of the folder; empty when there is none.
    pub(super) fn text(&self, name: &str) -> String {
        self.listing.text(&format!("{}{name}", self.folder)).to_owned()
    }
}

/// Folders that are looked at besides the repository's own.
const MOST_FOLDERS: usize = 4;
/// More commands of one purpose and folder say too much.
const MOST_OF_A_KIND: usize = 4;

/// All commands. Folders of the first level count where the repository itself has no such manifest.
pub(super) fn commands(listing: &Listing) -> Vec<Command> {
    let mut all = in_folder(listing, "");
    let folders: BTreeSet<&str> =
        listing.files.iter().filter_map(|path| path.split_once('/')).map(|(folder, _)| folder).collect();
    let mut added = 0;
    for folder in folders.into_iter().filter(|folder| !folder.starts_with('.')) {
        let folder = format!("{folder}/");
        if added == MOST_FOLDERS || !brings_its_own(listing, &folder) {
            continue;
        }
        let more = in_folder(listing, &folder);
        added += usize::from(!more.is_empty());
        all.extend(more);
    }
    all
}

/// Whether a folder has a manifest of a kind that the repository itself has not.
fn brings_its_own(listing: &Listing, folder: &str) -> bool {
    manifests::KINDS.iter().any(|name| listing.has(&format!("{folder}{name}")) && !listing.has(name))
}

fn in_folder(listing: &Listing, folder: &str) -> Vec<Command> {
    let mut found = Found { listing, folder, commands: Vec::new() };
    // What the repository itself wrote counts more than what is usual.
    makefiles::find(&mut found);
    manifests::find(&mut found);
    python::find(&mut found);
    let mut commands = found.commands;
    // Those of one purpose keep the order in which they were found: the most usual first.
    commands.sort_by_key(|command| command.purpose);
    let mut kept: Vec<Command> = Vec::new();
    for command in commands {
        let alike = kept.iter().filter(|kept| kept.purpose == command.purpose).count();
        if alike < MOST_OF_A_KIND && kept.iter().all(|kept| kept.line != command.line) {
            kept.push(command);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_scripts_are_for() {
        for (name, purpose) in [
            ("build", Some(Purpose::Build)),
            ("test:unit", Some(Purpose::Test)),
            ("test:watch", None),
            ("lint-fix", Some(Purpose::Lint)),
            ("fmt", Some(Purpose::Format)),
            ("release", None),
            ("testament", None),
        ] {
            assert_eq!(Purpose::of_name(name), purpose, "{name}");
        }
    }
}
