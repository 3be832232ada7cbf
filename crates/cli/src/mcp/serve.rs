//! `rail mcp serve`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, anyhow};
use clap::Args;
use rail_agent::hooks::{HookFacts, HookOutcome, HookRunner, HookWatch};
use rail_agent::machine::Bounds;
use rail_agent::team::Purse;
use rail_agent::{Aside, AsideParts};
use rail_config::{Env, Loaded};
use rail_mcp::serve::{Asked, Http, Offer, Opened, ServeError, Sessions, offered, serve_http, serve_streams};
use rail_stdx::Secret;
use rail_tool::{BoxFuture, Dialect, Generation, Hooks, Limits, Registry, Session};
use rail_tools::Sight;
use rail_upstream::Upstream;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::images::shrink_image;
use crate::permission::{PermissionFlags, workspace};
use crate::setup::{Common, serving_runtime, wrong};
use crate::signals::{Signals, Told};
use crate::tool::words::{Dialect as DialectName, generation};
use crate::{Failure, output, state, trust};

/// How long what was left in the background has to end.
const GRACE: Duration = Duration::from_secs(1);

#[derive(Args)]
pub(crate) struct Serve {
    /// Serve streamable HTTP at this address, `http://ADDR/mcp`, instead of stdin and stdout; port 0 is any that is free.
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// Where the key is that clients must bring, as `env:NAME`; needed where other machines can reach the address.
    #[arg(long, value_name = "env:NAME", requires = "listen")]
    key: Option<String>,
    /// A further name that clients may call the server by, besides addresses and `localhost`; repeatable.
    #[arg(long, value_name = "NAME", requires = "listen")]
    host: Vec<String>,
    /// The tools of this generation instead of the configured one.
    #[arg(long, value_name = "genN", value_parser = generation)]
    generation: Option<Generation>,
    /// The names in which the tools are shown.
    #[arg(long, value_name = "D", default_value = "native")]
    dialect: DialectName,
    #[command(flatten)]
    flags: PermissionFlags,
}

impl Serve {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let inputs = common.inputs()?;
        trust::first_use(&inputs)?;
        let checked = rail_config::check(&inputs);
        let loaded = checked.loaded.ok_or(checked.problems).map_err(wrong)?;
        let model = common.model.clone().unwrap_or_default();
        let offer = self.offer(&loaded, &inputs.env, &model)?;
        let key = self.key.as_deref().map(|key| key_at(key, &inputs.env)).transpose()?;
        let sessions = Arc::new(Guests {
            flags: self.flags.clone(),
            upstream: state::upstream(&loaded, &inputs.env).shrinking(shrink_image),
            loaded: Arc::new(loaded),
            env: inputs.env,
            model,
            folders: Mutex::default(),
        });
        let runtime = serving_runtime()?;
        let ended = runtime.block_on(async {
            let mut signals = Signals::listen().context("signals can't be heard")?;
            let stop = CancellationToken::new();
            let serving = self.serve(offer, sessions, key, stop.clone());
            tokio::pin!(serving);
            let told = tokio::select! {
                ended = &mut serving => return ended,
                told = signals.next() => told,
            };
            stop.cancel();
            serving.await?;
            match told {
                Told::Interrupt => Err(Failure::Interrupted),
                Told::Terminate => Ok(()),
            }
        });
        // A read of the standard input can't be cancelled; nobody waits for it.
        runtime.shutdown_background();
        ended
    }

    async fn serve(
        &self,
        offer: Offer,
        sessions: Arc<dyn Sessions>,
        key: Option<Secret>,
        stop: CancellationToken,
    ) -> Result<(), Failure> {
        let Some(listen) = &self.listen else {
            serve_streams(offer, sessions, (tokio::io::stdin(), tokio::io::stdout()), stop).await;
            return Ok(());
        };
        let unbound = |error| {
            anyhow!(
                "{listen} can't be listened on: {error}; choose another address with `--listen`, such as 127.0.0.1:0"
            )
        };
        let listener = TcpListener::bind(listen).await.map_err(unbound)?;
        let address = listener.local_addr().context("the server's address can't be told")?;
        if key.is_some() || address.ip().to_canonical().is_loopback() {
            output::tell(&format!("MCP is served at http://{address}/mcp"));
        }
        let http = Http { listener, key, names: self.host.clone() };
        serve_http(offer, sessions, http, stop).await.map_err(|error| match error {
            ServeError::Open(_) | ServeError::EmptyKey => Failure::Usage(error.into()),
            ServeError::Listen(_) => Failure::Task(error.into()),
        })
    }

    fn offer(&self, loaded: &Loaded, env: &Env, model: &str) -> Result<Offer, Failure> {
        let all = able(loaded, env, model);
        let policy = self.flags.policy(loaded, env, &all)?;
        let generation = self.generation.unwrap_or(loaded.settings.agent.generation);
        let workspace = workspace()?;
        Ok(Offer {
            registry: offered(&all, generation, &policy),
            dialect: Dialect::named(self.dialect.name()),
            limits: Limits::from(&loaded.settings.tools),
            policy,
            asked: if self.flags.asks_nobody() { Asked::Nobody } else { Asked::Client },
            version: env!("CARGO_PKG_VERSION").to_owned(),
            instructions: format!(
                "Tools to read, change, search and run things in {}. Relative paths start there. A file must be read before it is \
                 changed. What the user has not allowed is asked about or refused; a refusal says which rule would allow it.",
                workspace.display()
            ),
        })
    }
}

/// The tools that have what they need: somebody to look at images, an engine to search with.
fn able(loaded: &Loaded, env: &Env, model: &str) -> Registry {
    let sight = match rail_agent::sight(loaded, env, model) {
        Sight::Nobody => Sight::Nobody,
        // Whether the client's own model sees, nobody knows.
        Sight::Others | Sight::MainToo => Sight::Others,
    };
    let searches = rail_tools::web::has_engine(&loaded.settings.web, |name| env.get(name).map(str::to_owned));
    rail_tools::seeing(&rail_tools::registry(), sight).only(|card| searches || card.name != "web_search")
}

/// The key that stands where the flag says. It is not given itself: command lines can be seen by others.
fn key_at(reference: &str, env: &Env) -> Result<Secret, Failure> {
    let Some(name) = reference.strip_prefix("env:") else {
        return Err(Failure::Usage(anyhow!(
            "--key: write `env:NAME`, the variable that holds the key; what stands in a command line can be seen by others"
        )));
    };
    let value = env.get(name).filter(|value| !value.trim().is_empty());
    let missing = || Failure::Usage(anyhow!("--key: the variable {name} is not set; export it"));
    value.map(|value| Secret::new(value.trim())).ok_or_else(missing)
}

/// Opens sessions in this folder.
struct Guests {
    flags: PermissionFlags,
    loaded: Arc<Loaded>,
    env: Env,
    /// The way to the models that tools ask.
    upstream: Upstream,
    /// The model that counts as the session's own.
    model: String,
    /// The folders of the sessions' outputs, which are removed with them.
    folders: Mutex<Vec<TempDir>>,
}

impl Guests {
    /// The models that the tools of a session ask, within the budget of a task.
    fn models(&self) -> Aside {
        let usd = self.loaded.settings.agent.limits.max_budget_usd;
        Aside::new(AsideParts {
            upstream: self.upstream.clone(),
            loaded: Arc::clone(&self.loaded),
            env: self.env.clone(),
            model: self.model.clone(),
            purse: Arc::new(Purse::new(&Bounds { usd, ..Bounds::default() })),
            // A client has no word for what a call has cost.
            heard: Arc::new(|_| ()),
        })
    }
}

impl Sessions for Guests {
    fn open(&self) -> Result<Opened, String> {
        let outputs = tempfile::Builder::new()
            .prefix("rail-")
            .tempdir()
            .map_err(|error| format!("no folder for outputs can be made: {error}"))?;
        let session = self.flags.session(&self.loaded, &self.env, outputs.path().to_owned());
        let mut session = session.map_err(|failure| match failure {
            Failure::Usage(error) | Failure::Task(error) => format!("{error:#}"),
            Failure::Interrupted | Failure::Ended(_) => "it was interrupted".to_owned(),
        })?;
        session.models = Arc::new(self.models());
        let id = outputs.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.folders.lock().unwrap_or_else(PoisonError::into_inner).push(outputs);
        let settings = self.loaded.settings.hooks.clone();
        let hooks = Box::new(move |session: &Arc<Session>| {
            let transcript = session.folder.join("transcript.jsonl");
            let facts = HookFacts { id, transcript, session: Arc::clone(session) };
            let hooks = HookRunner::new(&settings, facts, Arc::new(OnStderr));
            hooks.problems().iter().for_each(|problem| output::tell(&format!("warning: {problem}")));
            Arc::new(hooks) as Arc<dyn Hooks>
        });
        Ok(Opened { session, hooks })
    }

    fn end(&self, session: Arc<Session>) -> BoxFuture<'static, ()> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let at = folders.iter().position(|folder| folder.path() == session.folder);
        let folder = at.map(|at| folders.swap_remove(at));
        Box::pin(async move {
            rail_tools::end_commands(&session, GRACE).await;
            drop(folder);
        })
    }
}

/// What hooks say to the user goes to stderr: stdout is the protocol's.
struct OnStderr;

impl HookWatch for OnStderr {
    fn said(&self, event: &'static str, outcome: &HookOutcome) {
        for text in outcome.messages.iter().chain(&outcome.problems).chain(&outcome.stop) {
            output::tell(&format!("{event}: {text}"));
        }
    }
}
