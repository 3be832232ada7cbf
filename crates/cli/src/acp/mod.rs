//! `rail acp`: the agent for editors, over the Agent Client Protocol.

mod confined;
mod editor;
mod host;
mod live;
mod servers;

use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use rail_acp::serve;
use rail_tool::Generation;
use tokio_util::sync::CancellationToken;

use crate::Failure;
use crate::agent::AgentFlags;
use crate::init::Init;
use crate::permission::PermissionFlags;
use crate::setup::{Common, serving_runtime};
use crate::signals::{Signals, Told};
use crate::tool::words::{Dialect, generation};
pub(crate) use confined::Confined;
use host::Sessions;

#[derive(Args)]
pub(crate) struct Acp {
    /// Write a first configuration by asking, as `rail init` does; editors call this at a terminal of theirs.
    #[arg(long)]
    setup: bool,
    /// The tools of this generation instead of the configured one.
    #[arg(long, value_name = "genN", value_parser = generation)]
    generation: Option<Generation>,
    /// The tool names of this dialect instead of those that the model knows best.
    #[arg(long, value_name = "D")]
    dialect: Option<Dialect>,
    /// End a turn after so many answers of the model.
    #[arg(long, value_name = "N")]
    max_turns: Option<u64>,
    /// End a turn when so many dollars are spent.
    #[arg(long, value_name = "X")]
    max_budget_usd: Option<f64>,
    #[command(flatten)]
    permission: PermissionFlags,
}

impl Acp {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        if self.setup {
            return Init::default().run(common);
        }
        let mut flags = AgentFlags::default();
        (flags.generation, flags.dialect) = (self.generation, self.dialect);
        (flags.max_turns, flags.max_budget_usd) = (self.max_turns, self.max_budget_usd);
        flags.permission = self.permission;
        let host = Arc::new(Sessions::new(flags, common.clone()));
        let runtime = serving_runtime()?;
        let ended = runtime.block_on(async {
            let mut signals = Signals::listen().context("signals can't be heard")?;
            let stop = CancellationToken::new();
            let serving = serve(host, (tokio::io::stdin(), tokio::io::stdout()), stop.clone());
            tokio::pin!(serving);
            let told = tokio::select! {
                () = &mut serving => return Ok(()),
                told = signals.next() => told,
            };
            stop.cancel();
            serving.await;
            match told {
                Told::Interrupt => Err(Failure::Interrupted),
                Told::Terminate => Ok(()),
            }
        });
        // A read of the standard input can't be cancelled; nobody waits for it.
        runtime.shutdown_background();
        ended
    }
}
