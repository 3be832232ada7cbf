//! `rail serve`: the gateway.

mod signals;
mod start;

use clap::Args;
use rail_config::{Change, Inputs, Live, LiveError, Loaded, hijack};
use rail_gateway::Configuration;
use rail_ledger::Place;

use crate::images::shrink_image;
use crate::provider::NONE;
use crate::setup::{Common, warn, with_local, wrong};
use crate::state::upstream;
use crate::{Failure, output};

pub(crate) use start::{Start, serve};

#[derive(Args)]
pub(crate) struct Serve {
    /// Where to listen, `host:port`; port 0 is any that is free. Other than on this machine itself it needs keys.
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
}

impl Serve {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let mut inputs = common.inputs()?;
        inputs.flags.extend(self.listen.map(|listen| ("gateway.listen".to_owned(), listen, "--listen")));
        let (inputs, checked) = with_local(inputs)?;
        let loaded = checked.loaded.ok_or(checked.problems).map_err(wrong)?;
        warn(&loaded);
        if loaded.routing.providers.is_empty() {
            output::tell(&format!("warning: {NONE}"));
        }
        let banner = hijack::banner(&loaded.extras.hijack, loaded.routing.active.as_deref());
        let upstream = upstream(&loaded, &inputs.env).shrinking(shrink_image);
        serve(Start {
            configuration: Configuration::Live(follow(inputs)?),
            upstream,
            ledger: ledger(&loaded),
            listen: loaded.settings.gateway.listen.clone(),
            health: loaded.places.as_ref().map(|places| places.health()),
            banner,
        })
    }
}

/// Follows the files of the configuration, and tells what becomes of changes.
fn follow(inputs: Inputs) -> Result<Live, Failure> {
    let tell = |change: Change| match change {
        Change::Loaded(loaded) => {
            warn(&loaded);
            output::tell(&format!("the configuration has changed: {}", start::extent(&loaded)));
        }
        Change::Kept(problems) => output::tell(&format!(
            "the configuration is wrong, so that the one before stays in force:\n{problems}"
        )),
        Change::Blind(why) => output::tell(&format!(
            "warning: changes of the configuration may not be seen: {why}; start again to be sure"
        )),
    };
    Live::start(inputs, tell).map_err(|error| match error {
        LiveError::Problems(problems) => wrong(problems),
        LiveError::Watch(_) | LiveError::Thread(_) => Failure::Task(error.into()),
    })
}

/// Where the ledger is: the database that the configuration names, or a file beside the rest of the state.
fn ledger(loaded: &Loaded) -> Place {
    match (&loaded.settings.gateway.ledger, &loaded.places) {
        (Some(address), _) => Place::Postgres(address.0.clone()),
        (None, Some(places)) => Place::File(places.state.join("ledger.db")),
        (None, None) => Place::Memory,
    }
}
