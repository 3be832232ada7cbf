//! What every command that needs the configuration begins with.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::Args;
use rail_config::found::{self, Local};
use rail_config::settings::Discovery;
use rail_config::{Checked, Env, Inputs, Loaded, check};
use rail_route::Provider;
use rail_stdx::Proxies;
use rail_upstream::{
    Candidate, Live, LiveSettings, LocalKind, LocalServer, Matching, Pace, Transport, Transports, find_local,
};

use crate::{Failure, output};

/// Flags that every command takes.
#[derive(Args, Clone, Default)]
pub(crate) struct Common {
    /// A configuration file that counts more than all others.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The model: a target `provider,model`, an alias, or a virtual model.
    #[arg(short, long, global = true, value_name = "NAME")]
    pub(crate) model: Option<String>,
}

impl Common {
    /// What the configuration is loaded from.
    pub(crate) fn inputs(&self) -> Result<Inputs, Failure> {
        let inputs =
            Inputs::of_process().context("the working folder can't be found; change to one that exists")?;
        Ok(Inputs { config: self.config.clone(), ..inputs })
    }

    /// The configuration in force. With no provider configured, servers on this machine are looked for.
    pub(crate) fn load(&self) -> Result<Loaded, Failure> {
        let checked = self.check()?;
        checked.loaded.ok_or(checked.problems).map_err(wrong)
    }

    /// All that is seen of the configuration, right or wrong; servers on this machine as for [`Common::load`].
    pub(crate) fn check(&self) -> Result<Checked, Failure> {
        Ok(with_local(self.inputs()?)?.1)
    }
}

/// What a configuration is loaded from, and what is seen of it. With no provider configured, servers on this machine are looked for
/// and count among the inputs.
pub(crate) fn with_local(inputs: Inputs) -> Result<(Inputs, Checked), Failure> {
    let checked = check(&inputs);
    let settings = checked.loaded.as_ref().map(|loaded| &loaded.settings);
    let Some(settings) = settings.filter(|settings| settings.providers.is_empty()) else {
        return Ok((inputs, checked));
    };
    let local = local_servers(&inputs.env, &settings.discovery)?;
    if local.is_empty() {
        return Ok((inputs, checked));
    }
    let inputs = Inputs { local, ..inputs };
    let checked = check(&inputs);
    Ok((inputs, checked))
}

/// Tells the warnings that bear on requests and that no output shows; `rail config check` has all of them.
pub(crate) fn warn(loaded: &Loaded) {
    for warning in loaded.notable_warnings() {
        output::tell(&format!("warning: {warning}"));
    }
}

/// A wrong configuration is the user's to mend.
pub(crate) fn wrong(problems: rail_config::Problems) -> Failure {
    Failure::Usage(anyhow!("the configuration is wrong:\n{problems}"))
}

/// The servers that answer where the user lets us look, as providers.
pub(crate) fn local_servers(env: &Env, discovery: &Discovery) -> Result<Vec<Local>, Failure> {
    let variables = env.all().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let addresses = found::servers_to_ask(&variables, discovery).into_iter();
    let candidates: Vec<Candidate> = addresses.map(|address| Candidate { address }).collect();
    let transport = transport(env);
    let servers = runtime()?.block_on(find_local(&*transport, &candidates, discovery.wait.0));
    Ok(servers.into_iter().map(local).collect())
}

fn local(server: LocalServer) -> Local {
    let name = match server.kind {
        LocalKind::Ollama => "ollama",
        LocalKind::LmStudio => "lmstudio",
        LocalKind::LlamaCpp => "llamacpp",
        LocalKind::Vllm => "vllm",
        LocalKind::Other => "local",
    };
    let provider = Provider::new(name, rail_wire::openai_chat::PROTOCOL.id, server.base_url);
    Local { provider: found::on_this_machine(provider), models: server.models }
}

/// The way to all providers, cassettes included.
pub(crate) fn transport(env: &Env) -> Arc<dyn Transport> {
    Arc::new(transports(env))
}

/// The same, for those who stand before it.
pub(crate) fn transports(env: &Env) -> Transports<Live> {
    Transports::new(live(env), Matching::Same, Pace::AtOnce)
}

/// The way to providers that are no cassettes.
pub(crate) fn live(env: &Env) -> Live {
    let proxies = Proxies::from_variables(|name| env.get(name).map(str::to_owned));
    Live::new(LiveSettings { proxies })
}

/// A runtime for commands that ask a provider.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.context("the runtime can't be started")?)
}

/// A runtime for a gateway, which uses all cores.
pub(crate) fn serving_runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    Ok(runtime.context("the runtime can't be started")?)
}
