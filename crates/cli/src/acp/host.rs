//! Who opens sessions for editors.

use std::path::PathBuf;
use std::sync::Arc;

use rail_acp::{Begin, BoxFuture, Editor, Facts, Host, Listed, Offered, Opened, Refused, Wanted};
use rail_config::{Inputs, check};
use rail_journal::{SessionId, UnixMillis, What};
use rail_proto::SessionEvent;

use super::editor;
use super::live::Live;
use super::servers;
use crate::agent::slash::offered;
use crate::agent::{AgentFlags, Extras, Prepared, prepare_from};
use crate::clock::Now;
use crate::setup::{Common, with_local};
use crate::{Failure, output, state, trust};

/// What a client is told that has no provider.
const NO_PROVIDER: &str =
    "no provider is configured; run `rail init` at a terminal, or set a provider's key in the environment";

/// Opens sessions, each in the folder that the editor names.
#[derive(Clone)]
pub(super) struct Sessions {
    flags: AgentFlags,
    common: Common,
}

impl Sessions {
    pub(super) fn new(flags: AgentFlags, common: Common) -> Self {
        Self { flags, common }
    }

    fn inputs(&self) -> Result<Inputs, Refused> {
        self.common.inputs().map_err(refused)
    }

    /// The folder of all sessions.
    fn kept(&self) -> Result<PathBuf, Refused> {
        let checked = check(&self.inputs()?);
        let loaded = checked.loaded.ok_or_else(|| Refused::Failed(checked.problems.to_string()))?;
        Ok(state::folder(&loaded).join("sessions"))
    }

    fn is_ready(&self) -> Result<(), Refused> {
        let (_, checked) = with_local(self.inputs()?).map_err(refused)?;
        let loaded = checked.loaded.ok_or_else(|| Refused::Failed(checked.problems.to_string()))?;
        if loaded.routing.providers.is_empty() {
            Err(Refused::NoProvider(NO_PROVIDER.to_owned()))
        } else {
            Ok(())
        }
    }

    /// Reads all that a session is opened from.
    fn prepare(&self, wanted: &Wanted) -> Result<Prepared, Refused> {
        let id = parsed(&wanted.id)?;
        if !wanted.cwd.is_dir() {
            return Err(Refused::Wrong(format!("`{}` is no folder", wanted.cwd.display())));
        }
        let inputs = Inputs { working_folder: wanted.cwd.clone(), ..self.inputs()? };
        trust::first_use(&inputs).map_err(refused)?;
        let mut flags = self.flags.clone();
        // The folder itself is set when its links are resolved.
        flags.permission = flags.permission.within(&wanted.cwd, wanted.folders.clone());
        flags.claude = flags.claude.with_servers(servers::given(&wanted.servers)?);
        if wanted.begin == Begin::New {
            flags.claude.session_id = Some(wanted.id.clone());
        }
        let prepared = prepare_from(flags, self.common.model.clone(), inputs).map_err(refused)?;
        if prepared.loaded.routing.providers.is_empty() {
            return Err(Refused::NoProvider(NO_PROVIDER.to_owned()));
        }
        match wanted.begin {
            Begin::New => Ok(prepared),
            Begin::Load | Begin::Resume => {
                let found = rail_journal::find(&prepared.state.join("sessions"), &id);
                match found.map_err(|error| Refused::Failed(error.to_string()))? {
                    Some(folder) => Ok(prepared.going_on(folder)),
                    None => Err(Refused::Unknown(wanted.id.clone())),
                }
            }
        }
    }

    fn begin(&self, wanted: &Wanted, editor: &Arc<Editor>) -> Result<(Live, History), Refused> {
        let prepared = self.prepare(wanted)?;
        let history = match wanted.begin {
            Begin::Load => history(&prepared)?,
            Begin::New | Begin::Resume => Box::new(std::iter::empty()) as History,
        };
        let orders = prepared.state.join("orders");
        let editor = editor::editor(editor, &prepared.workspace, &wanted.cwd, orders);
        let (agent, handle, _) = prepared.open(Extras { editor, ..Extras::default() }).map_err(refused)?;
        Ok((Live::new(agent, handle, prepared), history))
    }
}

type History = Box<dyn Iterator<Item = rail_model::Message> + Send>;

/// What was said in the session that goes on. What can't be read is left out, which is told when it is opened.
fn history(prepared: &Prepared) -> Result<History, Refused> {
    let folder = prepared.resumed().map_err(refused)?;
    let messages = rail_journal::messages(folder).map_err(|error| Refused::Failed(error.to_string()))?;
    Ok(Box::new(messages.map_while(Result::ok).filter_map(|shown| match shown.what {
        What::Message(message) => Some(message),
        // Nobody said it.
        What::Told(_) | What::Compacted { .. } => None,
    })))
}

impl Host for Sessions {
    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), Refused>> {
        let own = self.clone();
        Box::pin(beside(move || own.is_ready()))
    }

    fn check(&self, wanted: Wanted) -> BoxFuture<'_, Result<(), Refused>> {
        let own = self.clone();
        Box::pin(beside(move || own.prepare(&wanted).map(drop)))
    }

    fn open(&self, wanted: Wanted, editor: Arc<Editor>) -> BoxFuture<'_, Result<Opened, Refused>> {
        let own = self.clone();
        Box::pin(async move {
            let (mut live, history) = beside(move || own.begin(&wanted, &editor)).await?;
            let Some(SessionEvent::Opened(opened)) = live.first().await else {
                return Err(Refused::Failed("the session ended as it began".to_owned()));
            };
            let prepared = live.prepared();
            let facts = Facts {
                mode: opened.mode,
                model: opened.model,
                bypass_refused: prepared.bypass_refused.clone(),
                models: prepared.models(),
                commands: offered(prepared)
                    .into_iter()
                    .map(|each| Offered { name: each.name, hint: each.hint, help: each.help })
                    .collect(),
            };
            Ok(Opened { session: Box::new(live), facts, history })
        })
    }

    fn new_id(&self) -> Result<String, Refused> {
        let now = UnixMillis(Now::read().unix.saturating_mul(1000));
        let minted =
            SessionId::mint(now).map_err(|error| Refused::Failed(format!("no id can be made: {error}")))?;
        Ok(minted.to_string())
    }

    fn list(&self, cwd: Option<PathBuf>) -> BoxFuture<'_, Result<Vec<Listed>, Refused>> {
        let own = self.clone();
        Box::pin(beside(move || {
            let listing = rail_journal::list(&own.kept()?, cwd.as_deref());
            let listing = listing.map_err(|error| Refused::Failed(error.to_string()))?;
            // Editors open sessions in which nothing is ever said.
            let said = listing.sessions.into_iter().filter(|session| session.turns > 0);
            Ok(said
                .map(|session| Listed {
                    id: session.id.to_string(),
                    cwd: session.cwd,
                    title: session.title,
                    last_ms: session.last.0,
                })
                .collect())
        }))
    }

    fn delete(&self, id: String) -> BoxFuture<'_, Result<(), Refused>> {
        let own = self.clone();
        Box::pin(beside(move || {
            let found = rail_journal::find(&own.kept()?, &parsed(&id)?);
            let folder = found.map_err(|error| Refused::Failed(error.to_string()))?;
            let folder = folder.ok_or_else(|| Refused::Unknown(id.clone()))?;
            rail_journal::delete(&folder).map_err(|error| Refused::Failed(error.to_string()))
        }))
    }
}

fn parsed(id: &str) -> Result<SessionId, Refused> {
    id.parse().map_err(|_| Refused::Unknown(id.to_owned()))
}

/// What reads files and servers takes its time; nothing else waits for it.
async fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> Result<T, Refused> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| {
        Err(Refused::Failed(format!("it broke off: {error}; this is a fault of rail")))
    })
}

pub(super) fn refused(failure: Failure) -> Refused {
    let text = match failure {
        Failure::Usage(error) => return Refused::Wrong(format!("{error:#}")),
        Failure::Task(error) => format!("{error:#}"),
        Failure::Interrupted | Failure::Ended(_) => "it was interrupted".to_owned(),
    };
    output::tell(&text);
    Refused::Failed(text)
}
