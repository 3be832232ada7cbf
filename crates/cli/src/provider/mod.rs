//! `rail provider`: what is known of providers, whether they answer, and which of them comes first.

mod activate;
mod forget;
mod list;
mod probe;

use clap::Subcommand;

pub(crate) use activate::put_first;
pub(crate) use list::listed;

use crate::Failure;
use crate::setup::Common;

/// What can be done with providers.
#[derive(Subcommand)]
pub(crate) enum ProviderCommand {
    /// List the providers: where each comes from, how its targets fare, what was learned of them.
    List(list::List),
    /// Ask each provider a tiny question and tell how it answers.
    Test(probe::Test),
    /// Put a provider at the front of every chain that has it, now and for all that runs.
    Use(activate::Use),
    /// Forget what was learned of a target, so that it is asked again as the client asks.
    Forget(forget::Forget),
}

impl ProviderCommand {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        match self {
            Self::List(list) => list.run(common),
            Self::Test(test) => test.run(common),
            Self::Use(activate) => activate.run(common),
            Self::Forget(forget) => forget.run(common),
        }
    }
}

/// What to do when there is no provider at all.
pub(crate) const NONE: &str =
    "no provider is configured; run `rail init`, or set a key such as ANTHROPIC_API_KEY";
