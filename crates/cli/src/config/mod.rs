mod check;
mod import;
mod path;
mod trust;

use std::io::Write;

use clap::{Args, Subcommand};
use rail_config::{Checked, Problem, Which, With, schema, show_json, show_toml};

pub(crate) use import::{Program, report};

use crate::Failure;
use crate::setup::Common;

#[derive(Subcommand)]
pub(crate) enum Config {
    /// Print the configuration in force, and who said each value. A secret is never shown.
    Show(Show),
    /// Name the files, in the order in which they count, and the other places.
    Path(path::Path),
    /// Tell all that is wrong, and what will not work.
    Check(check::Check),
    /// Print the JSON Schema of the configuration, for editors.
    ///
    /// Write it beside your file with `rail config schema > switchrail.schema.json`. In TOML, editors with Taplo or Tombi
    /// (Even Better TOML in VS Code) take it from a first line `#:schema ./switchrail.schema.json`. In JSON, name it under
    /// "json.schemas" in the settings of VS Code.
    Schema,
    /// Trust the folder of a project: what its files say counts in full from then on.
    Trust(trust::Trust),
    /// Make a configuration of another program's. It is printed; `--write` adds it to yours.
    Import(import::Import),
}

#[derive(Args)]
pub(crate) struct Show {
    /// All values, also those that are as by default.
    #[arg(long)]
    all: bool,
    /// Print JSON: each key with its value and origin; with `--no-origins`, as a file would have it.
    #[arg(long)]
    json: bool,
    /// Leave out who said what.
    #[arg(long)]
    no_origins: bool,
}

impl Config {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        match self {
            Self::Show(show) => show.run(common),
            Self::Path(path) => path.run(common),
            Self::Check(check) => check.run(common),
            Self::Schema => print(&format!("{:#}\n", schema())),
            Self::Trust(trust) => trust.run(common),
            Self::Import(import) => import.run(common),
        }
    }
}

impl Show {
    fn run(self, common: &Common) -> Result<(), Failure> {
        let loaded = common.load()?;
        let which = if self.all { Which::All } else { Which::Changed };
        let with = if self.no_origins { With::ValuesOnly } else { With::Origins };
        if self.json {
            return print(&format!("{:#}\n", show_json(&loaded, which, with)));
        }
        match show_toml(&loaded, which, with) {
            text if text.is_empty() => {
                print("# Nothing is configured, and nothing was found; run `rail init`.\n")
            }
            text => print(&text),
        }
    }
}

/// Writes to the standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    crate::output::print(text)
}

/// Writes to the standard error. That it is closed must not turn a success into a failure.
pub(crate) fn tell(text: &str) {
    let _ = std::io::stderr().write_all(crate::output::harmless(text).as_bytes());
}

/// One a line, each after a word for what it is.
fn lines(word: &str, problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{word}: {problem}\n")).collect()
}

/// Tells what is wrong with a configuration that was just written; that is a failure.
pub(crate) fn tell_state(checked: &Checked) -> Result<(), Failure> {
    tell(&lines("warning", &checked.warnings));
    match checked.problems.0.as_slice() {
        [] => Ok(()),
        _ => Err(crate::setup::wrong(checked.problems.clone())),
    }
}
