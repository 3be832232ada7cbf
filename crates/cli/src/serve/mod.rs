//! `rail serve`: the gateway.

mod start;

use clap::Args;
use rail_config::{Change, Inputs, Live, LiveError, hijack};
use rail_gateway::{Configuration, Observe, ObserveSettings, Otlp};

use crate::images::shrink_image;
use crate::provider::NONE;
use crate::setup::{Common, serving_runtime, transport, warn, with_local, wrong};
use crate::state::upstream;
use crate::{Failure, ledger, output};

pub(crate) use start::{Start, begin, serve};

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
        if let Some(problem) =
            Otlp::warning(&inputs.env).filter(|_| Otlp::find(&loaded, &inputs.env).is_some())
        {
            output::tell(&format!("warning: {problem}"));
        }
        let banner = hijack::banner(&loaded.extras.hijack, loaded.routing.active.as_deref());
        let upstream = upstream(&loaded, &inputs.env).shrinking(shrink_image);
        let runtime = serving_runtime()?;
        let observe = {
            let _within = runtime.enter();
            Observe::new(ObserveSettings {
                loaded: &loaded,
                log_to: Box::new(std::io::stderr()),
                otlp: Otlp::find(&loaded, &inputs.env),
                transport: transport(&inputs.env),
            })
        };
        let start = Start {
            configuration: Configuration::Live(follow(inputs, observe.clone())?),
            upstream,
            observe,
            ledger: ledger::place_or_none(&loaded)?,
            listen: loaded.settings.gateway.listen.clone(),
            health: loaded.places.as_ref().map(|places| places.health()),
            banner,
            guest: None,
        };
        serve(runtime, start)
    }
}

/// Follows the files of the configuration; the log tells what becomes of changes.
fn follow(inputs: Inputs, observe: Observe) -> Result<Live, Failure> {
    let tell = move |change: Change| {
        if let Change::Loaded(loaded) = &change {
            warn(loaded);
        }
        observe.changed(&change);
    };
    Live::start(inputs, tell).map_err(|error| match error {
        LiveError::Problems(problems) => wrong(problems),
        LiveError::Watch(_) | LiveError::Thread(_) => Failure::Task(error.into()),
    })
}
