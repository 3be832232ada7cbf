mod agents_md;
mod ask;
mod hidden;
mod repository;
mod talk;

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use rail_config::first::{self, FirstProvider};
use rail_config::found::{KnownProvider, known};
use rail_config::{
    Existing, Extras, Inputs, Places, SaveError, check, existing, look_up, plain, save, shown_address,
};
use rail_route::{Chain, Provider};
use rail_stdx::Secret;
use rail_upstream::{ListError, Transport, list_models};
use tokio::runtime::Runtime;

use crate::Failure;
use crate::config::{Program, print, report, tell, tell_state};
use crate::setup::{Common, local_servers, runtime, transport};
use talk::Talk;

#[derive(Args, Default)]
pub(crate) struct Init {
    /// Ask nothing: write all that is found.
    #[arg(long, short)]
    yes: bool,
    /// Replace a configuration that is there; it is kept as config.toml.bak. With `--agents-md`, an AGENTS.md, kept as AGENTS.md.bak.
    #[arg(long)]
    force: bool,
    /// Look at the repository and write AGENTS.md, which tells agents how to work in it; to one that is there, what it lacks is added.
    #[arg(long, conflicts_with_all = ["yes", "provider"])]
    agents_md: bool,
    /// Write no file: print what a model is asked that is to write it.
    #[arg(long, requires = "agents_md", conflicts_with = "force")]
    prompt: bool,
    /// Ask nothing: set up this provider. A well-known name needs no more.
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Where its key stands: env:NAME, file:PATH or keyring:NAME, or `none`; the usual variable of a well-known provider when not said.
    #[arg(long, value_name = "WHERE", requires = "provider")]
    key: Option<String>,
    /// Its model for everything; the best suited ones when not said.
    #[arg(long, value_name = "M", requires = "provider")]
    model: Option<String>,
    /// Where it is, such as https://host/v1.
    #[arg(long, value_name = "URL", requires = "provider")]
    base_url: Option<String>,
    /// What it speaks: anthropic, openai-chat, openai-responses or gemini; as its address tells when not said.
    #[arg(long, value_name = "P", requires = "provider")]
    protocol: Option<String>,
}

/// What is to be written.
struct Plan {
    providers: Vec<FirstProvider>,
    chains: BTreeMap<String, Chain>,
}

/// What can be asked, and what was seen before asking.
struct World {
    inputs: Inputs,
    extras: Extras,
    transport: Arc<dyn Transport>,
    runtime: Runtime,
}

impl Init {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let inputs = common.inputs()?;
        if self.agents_md {
            return self.write_agents_md(&inputs);
        }
        let places = Places::find(&inputs.env, &inputs.working_folder);
        let places = places.map_err(|problem| usage(problem.to_string()))?;
        if let (Some(path), false) = (existing(&places), self.force) {
            return Err(usage(SaveError::Exists(path).to_string()));
        }
        let world = World::look(inputs)?;
        let plan = match &self.provider {
            Some(name) => self.given(name, &world)?,
            None => {
                tell(&world.found_text());
                match if self.yes { None } else { Talk::begin()? } {
                    Some(mut talk) => ask::plan(&world, &mut talk)?,
                    None => world.all_found()?,
                }
            }
        };
        let written = first::write(&plan.providers, &plan.chains);
        let how = if self.force { Existing::Replace } else { Existing::Refuse };
        let saved = save(&places, &written, how).map_err(|error| usage(error.to_string()))?;
        print(&report(&saved))?;
        tell_state(&common.check()?)?;
        print(
            "next:    rail provider test    asks each provider whether it works\n         \
             rail route explain    tells which model serves which request\n",
        )
    }

    /// The one provider that the flags name.
    fn given(&self, name: &str, world: &World) -> Result<Plan, Failure> {
        let said = |answer: Result<_, first::WrongAnswer>| answer.map_err(|wrong| usage(wrong.to_string()));
        let known = known(name);
        let mut one = match (&self.base_url, &known) {
            (Some(url), _) => {
                let protocol =
                    self.protocol.as_deref().or(known.as_ref().map(|known| known.elsewhere.name()));
                let protocol = first::protocol_of(protocol.unwrap_or_default(), url);
                let protocol = protocol.map_err(|wrong| usage(wrong.to_string()))?;
                let url = said(first::address(url, protocol))?;
                let name = said(first::name(name, &[]))?;
                FirstProvider::new(Provider::new(name, protocol, url), "Named on the command line.")
            }
            (None, Some(known)) => match world.seen(&known.name) {
                Some(seen) => seen,
                None => FirstProvider::known(known),
            },
            (None, None) => {
                return Err(usage(format!(
                    "`{name}` is no provider that is known; say where it is with `--base-url`"
                )));
            }
        };
        one.key = self.key_of(&one, known.as_ref(), world)?;
        self.chains_of(one, world)
    }

    /// Where the key of the one provider stands.
    fn key_of(
        &self,
        one: &FirstProvider,
        known: Option<&KnownProvider>,
        world: &World,
    ) -> Result<Option<String>, Failure> {
        let key = match self.key.as_deref() {
            Some("none") => None,
            Some(reference) => Some(reference.to_owned()),
            None if one.key.is_some() || !one.headers.is_empty() => one.key.clone(),
            // At another address it is not that provider, and must not get its key.
            None if self.base_url.is_some() => None,
            None => known.and_then(|known| Some(format!("env:{}", known.keys.first()?))),
        };
        match key.as_deref() {
            None => {}
            // A variable may be set later.
            Some(reference) if reference.starts_with("env:") => {
                first::variable_name(reference).map_err(|wrong| usage(wrong.to_string()))?;
            }
            // A key itself on the command line would be seen by everyone, and is refused here.
            Some(reference) => drop(look_up(&world.inputs, reference).map_err(usage)?),
        }
        Ok(key)
    }

    fn chains_of(&self, mut one: FirstProvider, world: &World) -> Result<Plan, Failure> {
        if let Some(model) = &self.model {
            let target = first::pick_target(model, &[], &[&one.provider.name]);
            let target = target.map_err(|wrong| usage(wrong.to_string()))?;
            let chains = BTreeMap::from([("default".to_owned(), Chain(vec![target]))]);
            one.suits.clear();
            return Ok(Plan { providers: vec![one], chains });
        }
        if one.suits.is_empty() && one.models.is_empty() {
            one.models = world.models(&one).map_err(|error| {
                usage(format!("{error}; name a model with `--model`, or correct what is wrong"))
            })?;
        }
        let chains = first::chains(std::slice::from_ref(&one));
        if chains.is_empty() {
            let name = &one.provider.name;
            return Err(usage(format!(
                "provider `{name}` names no model that converses; name one with `--model`"
            )));
        }
        Ok(Plan { providers: vec![one], chains })
    }
}

impl World {
    fn look(inputs: Inputs) -> Result<Self, Failure> {
        let settings = check(&inputs).loaded.map(|loaded| loaded.settings).unwrap_or_default();
        let local = local_servers(&inputs.env, &settings.discovery)?;
        let inputs = Inputs { local, ..inputs };
        let extras = first::look_around(&inputs);
        Ok(Self { extras, transport: transport(&inputs.env), runtime: runtime()?, inputs })
    }

    /// All that was found, each once: of a server that a variable names, its own answer counts.
    fn all_seen(&self) -> Vec<FirstProvider> {
        let local = |name: &str| self.extras.local.iter().find(|local| local.provider.name == name);
        let found = self.extras.found.iter();
        let found = found.filter(|found| local(&found.provider.name).is_none()).map(FirstProvider::found);
        found.chain(self.extras.local.iter().map(FirstProvider::local)).collect()
    }

    fn seen(&self, name: &str) -> Option<FirstProvider> {
        self.all_seen().into_iter().find(|seen| seen.provider.name == name)
    }

    fn all_found(&self) -> Result<Plan, Failure> {
        let providers = self.all_seen();
        let chains = first::chains(&providers);
        if chains.is_empty() {
            return Err(usage(
                "nothing was found to set up: no key is in the environment, and no model server answers on this machine; \
                 export a key such as ANTHROPIC_API_KEY, start a server such as Ollama, or name one with `--provider`"
                    .to_owned(),
            ));
        }
        Ok(Plan { providers, chains })
    }

    /// The models that a provider says it has.
    fn models(&self, one: &FirstProvider) -> Result<Vec<String>, ListError> {
        let mut provider = one.provider.clone();
        let value = |reference: &str| {
            let kept = reference.strip_prefix("env:");
            let kept = kept.and_then(|name| one.env.iter().find(|(kept, _)| kept == name));
            kept.map(|(_, value)| value.clone()).or_else(|| look_up(&self.inputs, reference).ok())
        };
        let key = one.key.as_deref().and_then(value);
        if provider.headers.is_empty() {
            let headers = one.headers.iter();
            provider.headers = headers.filter_map(|(name, at)| Some((name.clone(), value(at)?))).collect();
        }
        // A list is short, and somebody waits for it.
        provider.timeouts.first_token = std::time::Duration::from_secs(15);
        let provider = Arc::new(provider);
        self.runtime.block_on(list_models(&*self.transport, &provider, key.as_ref()))
    }

    fn found_text(&self) -> String {
        let mut text = String::new();
        let seen = self.all_seen();
        if seen.is_empty() {
            text.push_str("No key is in the environment, and no model server answers on this machine.\n");
        } else {
            text.push_str("Found:\n");
        }
        for (at, one) in seen.iter().enumerate() {
            text.push_str(&format!("  {}. {:<14} {}\n", at + 1, one.provider.name, about(one)));
        }
        let others: Vec<(Program, std::path::PathBuf)> = self.others();
        if !others.is_empty() {
            text.push_str("Of other programs, taken over by `rail config import NAME --write`:\n");
        }
        for (program, path) in others {
            text.push_str(&format!("  {:<17} {}\n", program.name(), path.display()));
        }
        text
    }

    /// Configurations of other programs that are there.
    fn others(&self) -> Vec<(Program, std::path::PathBuf)> {
        let Some(home) = self.inputs.env.home() else { return Vec::new() };
        let at = |program: &Program| (*program, home.join(program.usual()));
        Program::value_variants().iter().map(at).filter(|(_, path)| path.is_file()).collect()
    }

    /// What a variable is set to, in the environment or in the user's `.env`.
    fn variable(&self, name: &str) -> Option<Secret> {
        look_up(&self.inputs, &format!("env:{name}")).ok()
    }
}

/// What is worth knowing of one that was found.
fn about(one: &FirstProvider) -> String {
    let secret = one.provider.keys.first().or_else(|| Some(&one.provider.headers.first()?.1));
    let hint = secret.map(|secret| format!(" ({})", plain(&secret.hint()))).unwrap_or_default();
    match one.models.as_slice() {
        [] if one.key.is_none() && secret.is_none() => format!("{} It lists no models.", one.why),
        [] => format!("{}{hint}", one.why.trim_end_matches('.')),
        models => {
            let first: Vec<String> = models.iter().take(3).map(|model| plain(model)).collect();
            let more = models.len().saturating_sub(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("answers at {}: {}{more}", shown_address(&one.provider.base_url), first.join(", "))
        }
    }
}

fn usage(text: String) -> Failure {
    Failure::Usage(anyhow!(text))
}
