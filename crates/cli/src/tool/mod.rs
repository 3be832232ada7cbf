//! `rail tool`: the registry, and one call through the whole executor.

mod ask;
mod choose;
mod list;
mod run;
mod seen;
pub(crate) mod words;

use clap::Subcommand;

pub(crate) use list::listed;

use crate::Failure;
use crate::setup::Common;

#[derive(Subcommand)]
pub(crate) enum ToolCommand {
    /// The tools: what they do, since which generation, and what they need to be allowed.
    List(list::List),
    /// Run one tool through the whole executor: repair, hooks, permission, sandbox.
    Run(run::Run),
}

impl ToolCommand {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        match self {
            Self::List(list) => list.run(common),
            Self::Run(run) => run.run(common),
        }
    }
}
