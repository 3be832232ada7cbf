//! `rail replay`: a gateway whose only provider is a cassette.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::Args;
use rail_config::{Inputs, Loaded, Scope, load};
use rail_gateway::{Configuration, Observe};
use rail_ledger::Place;
use rail_stdx::{Access, replace};
use rail_upstream::{CassetteHead, Matching, Pace, Replay, Transports, Upstream};
use serde_json::json;

use crate::Failure;
use crate::run::{Aim, Program, Stage, ended};
use crate::setup::{Common, live, serving_runtime, wrong};

#[derive(Args)]
pub(crate) struct Replaying {
    /// The cassette.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where to listen, `host:port`.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4141", conflicts_with = "command")]
    listen: String,
    /// A request that is not in the cassette gets the next answer that is left, instead of an error.
    #[arg(long)]
    in_order: bool,
    /// A client as for `rail run`, or any program; without one, the cassette is served until Ctrl-C.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl Replaying {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let matching = if self.in_order { Matching::InOrder } else { Matching::Same };
        // Read once as a whole, so that a broken one is told now and not to a client.
        let played = Replay::open(&self.file, matching, Pace::AtOnce);
        let played = played.map_err(|error| Failure::Usage(error.into()))?;
        let inputs = common.inputs()?;
        let loaded = configuration(&self.file, played.head(), &inputs)?;
        let aim = Aim::find(&loaded, None)?;
        let transport = Transports::new(live(&inputs.env), matching, Pace::AtOnce);
        let upstream = Upstream::new(Arc::new(transport));
        let stage = Stage {
            configuration: Configuration::Fixed(Arc::new(loaded)),
            upstream,
            observe: Observe::default(),
            // Nothing was asked of anybody, so there is nothing to remember.
            ledger: Place::Memory,
            env: inputs.env,
            aim,
        };
        let runtime = serving_runtime()?;
        match Program::of(&self.command) {
            Some(program) => ended(stage.run(runtime, &program)?),
            None => stage.serve(runtime, self.listen),
        }
    }
}

/// A configuration with the cassette as its only provider. It has the recorded one's name, so that requests are written in the
/// same way.
fn configuration(file: &Path, head: &CassetteHead, inputs: &Inputs) -> Result<Loaded, Failure> {
    let folder = tempfile::tempdir().context("no folder for temporary files can be made")?;
    let path = folder.path().join("replay.json");
    let cassette = fs::canonicalize(file).with_context(|| format!("{} can't be found", file.display()))?;
    let cassette = cassette.to_str().ok_or_else(|| anyhow!("the path of a cassette must be Unicode"))?;
    let CassetteHead { provider, model, .. } = head;
    let model = model.as_deref().unwrap_or("replay");
    let said = json!({
        "providers": {provider: {"protocol": "replay", "cassette": cassette, "models": [model]}},
        "router": {"default": format!("{provider},{model}")},
    });
    let written = replace(&path, said.to_string().as_bytes(), Access::Owner);
    written.with_context(|| format!("{} can't be written", path.display()))?;
    load(&Inputs { config: Some(path), scope: Scope::GivenFile, ..inputs.clone() }).map_err(wrong)
}
