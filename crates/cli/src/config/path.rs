use clap::Args;
use rail_config::hijack::EnvSource;
use rail_config::{Checked, FileFound, Trusted, check};
use serde_json::{Value, json};

use super::print;
use crate::Failure;
use crate::setup::Common;

#[derive(Args)]
pub(crate) struct Path {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Path {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        // Whether it is right does not matter: whoever mends it must find it.
        let checked = check(&common.inputs()?);
        let text = if self.json { format!("{:#}\n", as_json(&checked)) } else { as_text(&checked) };
        print(&text)
    }
}

fn found(found: FileFound) -> &'static str {
    match found {
        FileFound::Read => "read",
        FileFound::Unreadable => "unreadable",
        FileFound::Missing => "missing",
    }
}

/// Whose a `.env` file is.
fn whose(source: EnvSource) -> &'static str {
    match source {
        EnvSource::Environment => "environment",
        EnvSource::Project => "project",
        EnvSource::User => "user",
        EnvSource::Gemini => "gemini",
    }
}

/// What became of a `.env` file.
fn state(source: EnvSource, file: FileFound, trusted: Trusted) -> &'static str {
    match (source, file, trusted) {
        (EnvSource::Project, FileFound::Read, Trusted::No) => "not trusted",
        (_, file, _) => found(file),
    }
}

fn as_text(checked: &Checked) -> String {
    let mut text = String::from("Configuration, what stands below wins:\n");
    let mut row = |what: &str, state: &str, path: String| {
        text.push_str(&format!("  {what:<14}{state:<13}{path}\n"));
    };
    for file in &checked.files {
        row(&file.layer.to_string(), found(file.found), file.path.display().to_string());
    }
    row("environment", "", "variables that begin with SWITCHRAIL_".to_owned());
    text.push_str("Variables, what stands above wins:\n");
    for file in &checked.env_files {
        let state = state(file.source, file.found, checked.trusted);
        text.push_str(&format!("  {:<14}{state:<13}{}\n", whose(file.source), file.path.display()));
    }
    text.push_str("Other places:\n");
    let Some(places) = &checked.places else {
        return text + "  none: there is no home folder; set HOME\n";
    };
    for (what, path) in [("config", &places.config), ("state", &places.state), ("cache", &places.cache)] {
        text.push_str(&format!("  {what:<14}{}\n", path.display()));
    }
    let trusted = match checked.trusted {
        Trusted::Yes => "trusted",
        Trusted::No => "not trusted; `rail config trust` trusts it",
    };
    let project = places.project.as_ref().map(|path| format!("{} ({trusted})", path.display()));
    let project = project.unwrap_or_else(|| "none: no folder .switchrail from here up".to_owned());
    text + &format!("  {:<14}{project}\n", "project")
}

fn as_json(checked: &Checked) -> Value {
    let files = checked.files.iter().map(|file| {
        let path = file.path.to_string_lossy();
        json!({"layer": file.layer.to_string(), "path": path, "state": found(file.found)})
    });
    let env = checked.env_files.iter().map(|file| {
        let state = state(file.source, file.found, checked.trusted);
        json!({"source": whose(file.source), "path": file.path.to_string_lossy(), "state": state})
    });
    let place = |of: fn(&rail_config::Places) -> Option<&std::path::PathBuf>| {
        checked.places.as_ref().and_then(of).map(|path| path.to_string_lossy())
    };
    json!({
        "files": files.collect::<Vec<_>>(),
        "env_files": env.collect::<Vec<_>>(),
        "config": place(|places| Some(&places.config)),
        "state": place(|places| Some(&places.state)),
        "cache": place(|places| Some(&places.cache)),
        "project": place(|places| places.project.as_ref()),
        "trusted": checked.trusted == Trusted::Yes,
    })
}
