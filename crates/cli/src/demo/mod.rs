//! `rail demo`: the agent at work without a key or a network.

mod told;

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::Args;
use rail_config::{Env, Inputs};
use rail_proto::{Command, Prompt, SessionEvent};
use rail_upstream::{Matching, Pace, Transports};

use crate::agent::{AgentFlags, Extras, prepare_from};
use crate::setup::{live, serving_runtime};
use crate::{Failure, output};
use told::Told;

const TASK: &str =
    "Three items should cost as much as two, but price.py charges all three. Find the fault and mend it.";
const INTRODUCTION: &str = "\
A tour without a key and without a network. The words of the models are scripted: they come from two cassettes that are part of rail.
All else is real: the agent, its routing and failover, the mending of calls, the tools, the permissions, the sandbox, the undo.
";

const END: &str = "That was the tour. `rail init` finds your own models; `rail` opens the agent on them, `rail -p \"…\"` gives them one task.\n";
const PRICE: &str = include_str!("price.py");

/// The files of the tour.
const FILES: [(&str, &str); 4] = [
    ("config/config.toml", include_str!("config.toml")),
    ("config/cloud.jsonl", include_str!("cloud.jsonl")),
    ("config/local.jsonl", include_str!("local.jsonl")),
    ("project/price.py", PRICE),
];

/// The flags of the tour.
#[derive(Args)]
pub(crate) struct Demo {
    /// Keep the scratch folder, and say where it is.
    #[arg(long)]
    keep: bool,
}

impl Demo {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let scratch = tempfile::Builder::new()
            .prefix("rail-demo-")
            .tempdir()
            .context("no scratch folder can be made")?;
        let root = scratch.path().canonicalize().context("the scratch folder can't be found")?;
        for (name, text) in FILES {
            let path = root.join(name);
            path.parent()
                .map_or(Ok(()), std::fs::create_dir_all)
                .and_then(|()| std::fs::write(&path, text))
                .with_context(|| format!("{} can't be written", path.display()))?;
        }
        let ended = tour(&root);
        if self.keep {
            output::print(&format!("\nThe scratch folder is {}\n", scratch.keep().display()))?;
        }
        ended
    }
}

fn tour(root: &Path) -> Result<(), Failure> {
    let project = root.join("project");
    // Everything of the agent is where the command was started.
    std::env::set_current_dir(&project).context("the scratch folder can't be entered")?;
    let inputs = Inputs {
        env: env(root),
        working_folder: project.clone(),
        config: Some(root.join("config/config.toml")),
        ..Inputs::default()
    };
    let transports = Transports::new(live(&inputs.env), Matching::InOrder, Pace::AsRecorded);
    let runtime = serving_runtime()?;
    let (agent, handle, _) = {
        let _in_it = runtime.enter();
        let extras = Extras { transport: Some(Arc::new(transports)), ..Extras::default() };
        prepare_from(AgentFlags::default(), None, inputs)?.open(extras)?
    };
    output::print(&format!("{INTRODUCTION}\nfolder   {}\nyou      {TASK}\n", project.display()))?;
    let ended = runtime.block_on(Box::pin(talk(agent, handle)));
    runtime.shutdown_background();
    ended?;
    let text = std::fs::read_to_string(project.join("price.py")).context("price.py can't be read")?;
    if text != PRICE {
        return Err(Failure::Task(anyhow!("the undo did not bring price.py back, which is a fault of rail")));
    }
    output::print(&format!("         price.py is as it was before the task\n\n{END}"))
}

/// The environment without the user's own settings, keys and sessions.
fn env(root: &Path) -> Env {
    let home = root.join("home").display().to_string();
    let own = ["PATH", "LANG", "TERM", "TMPDIR", "SHELL"];
    let process = Env::of_process();
    let kept = process
        .all()
        .filter(|(name, _)| own.contains(name))
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    kept.chain([("HOME".to_owned(), home)]).collect()
}

async fn talk(agent: rail_agent::Agent, mut handle: rail_agent::Handle) -> Result<(), Failure> {
    let send = |command| {
        // A session that has ended takes no commands.
        let _ = handle.commands.send(command);
    };
    let running = agent.run();
    tokio::pin!(running);
    send(Command::Submit(Prompt::text(TASK)));
    let mut told = Told::default();
    let mut ended = false;
    loop {
        tokio::select! {
            biased;
            numbered = handle.events.recv() => {
                let Some(numbered) = numbered else { return Ok(()) };
                if let Some(text) = told.event(&numbered.event) {
                    output::print(&text)?;
                }
                match numbered.event {
                    SessionEvent::Done(_) => {
                        output::print("\nyou      /undo\n")?;
                        send(Command::Undo);
                    }
                    SessionEvent::Restored(_) => send(Command::End),
                    SessionEvent::Closed => return Ok(()),
                    _ => {}
                }
            }
            // What it could not keep was told by its last event.
            _ = &mut running, if !ended => ended = true,
        }
    }
}
