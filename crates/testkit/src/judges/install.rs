//! The SDKs by name, and how each is called.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install::{Packages, Wanted, installed, program, python_in};

/// The language of an SDK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Python 3.
    Python,
    /// Node.js.
    Node,
}

/// An installed set of SDKs.
#[derive(Debug)]
pub struct Judge {
    language: Language,
    folder: PathBuf,
}

/// The SDKs of a language, or None when they cannot be had here; in CI that is a failure.
///
/// They are kept beside this scratch folder of the tests, `CARGO_TARGET_TMPDIR`, for all crates that need them.
pub fn judge(language: Language, scratch: &Path) -> Option<Judge> {
    let (list, place) = match language {
        Language::Python => (include_str!("../../tests/judges/python/requirements.txt"), "python"),
        Language::Node => (include_str!("../../tests/judges/node/package.json"), "node"),
    };
    judge_at(language, list, place, scratch)
}

/// The same with packages of the test's own: a `requirements.txt` or a `package.json`.
pub fn judge_of(language: Language, list: &str, scratch: &Path) -> Option<Judge> {
    let place = match language {
        Language::Python => "own-python",
        Language::Node => "own-node",
    };
    judge_at(language, list, place, scratch)
}

fn judge_at(language: Language, list: &str, place: &str, scratch: &Path) -> Option<Judge> {
    let packages = match language {
        Language::Python => Packages::Python(list),
        Language::Node => Packages::Node(list),
    };
    let title = format!("judges in {place}");
    let wanted = Wanted { title: &title, place: ("judges", place), packages, crate_name: "rail-testkit" };
    installed(&wanted, scratch).map(|folder| Judge { language, folder })
}

impl Judge {
    /// The script that plays scenarios with one SDK, away from any account and proxy of this machine.
    pub fn script(&self, sdk: &str) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges");
        let mut command = match self.language {
            Language::Python => self.command(&scripts.join("python/judge.py")),
            Language::Node => self.command(&scripts.join("node/judge.mjs")),
        };
        command.arg(sdk);
        if self.language == Language::Node {
            command.arg(&self.folder);
        }
        command
    }

    /// Where the packages are installed.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A script of the test's own, away from any account and proxy of this machine.
    pub fn command(&self, script: &Path) -> Command {
        let mut command = match self.language {
            Language::Python => {
                let mut command = program(python_in(&self.folder));
                command.arg("-B").arg(script);
                command
            }
            Language::Node => {
                let mut command = program("node");
                command.arg(script);
                command
            }
        };
        for (name, _) in std::env::vars_os() {
            let known = name.to_string_lossy().to_ascii_uppercase();
            let foreign = ["ANTHROPIC", "OPENAI", "GOOGLE", "GEMINI", "CLAUDE"];
            if foreign.iter().any(|prefix| known.starts_with(prefix)) || known.ends_with("_PROXY") {
                command.env_remove(&name);
            }
        }
        command.env("NO_PROXY", "*");
        command
    }
}
