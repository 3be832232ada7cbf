use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use rail_config::{Checked, Inputs, Origin, Problem, Scope, check};
use serde_json::{Value, json};

use super::{lines, print};
use crate::Failure;
use crate::setup::Common;

#[derive(Args)]
pub(crate) struct Check {
    /// Check this file by itself, as if nothing else were configured.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let checked = match self.file {
            Some(file) => check(&Inputs { config: Some(file), scope: Scope::GivenFile, ..common.inputs()? }),
            None => common.check()?,
        };
        let text = if self.json { format!("{:#}\n", as_json(&checked)) } else { as_text(&checked) };
        print(&text)?;
        match checked.problems.0.len() {
            0 => Ok(()),
            1 => Err(Failure::Usage(anyhow!("the configuration has 1 problem"))),
            count => Err(Failure::Usage(anyhow!("the configuration has {count} problems"))),
        }
    }
}

/// How many providers and chains there are, when nothing is wrong.
fn counts(checked: &Checked) -> Option<(usize, usize)> {
    let routing = &checked.loaded.as_ref()?.routing;
    Some((routing.providers.len(), routing.chains.len()))
}

fn as_text(checked: &Checked) -> String {
    let mut text = lines("problem", &checked.problems.0) + &lines("warning", &checked.warnings);
    if let Some((providers, chains)) = counts(checked) {
        let plural = |count| if count == 1 { "" } else { "s" };
        let (of_providers, of_chains) = (plural(providers), plural(chains));
        text.push_str(&format!("ok: {providers} provider{of_providers}, {chains} chain{of_chains}\n"));
    }
    text
}

fn as_json(checked: &Checked) -> Value {
    let list = |problems: &[Problem]| problems.iter().map(one).collect::<Vec<_>>();
    let (providers, chains) = counts(checked).unzip();
    json!({
        "ok": checked.loaded.is_some(),
        "providers": providers,
        "chains": chains,
        "problems": list(&checked.problems.0),
        "warnings": list(&checked.warnings),
    })
}

fn one(problem: &Problem) -> Value {
    let mut value = json!({"origin": problem.origin.to_string(), "key": problem.key, "text": problem.text});
    if let (Origin::File { file, at, .. }, Some(map)) = (&problem.origin, value.as_object_mut()) {
        map.insert("file".to_owned(), json!(file.to_string_lossy()));
        map.insert("line".to_owned(), json!(at.line));
        map.insert("column".to_owned(), json!(at.column));
    }
    value
}
