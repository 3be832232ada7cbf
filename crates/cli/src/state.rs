//! What earlier runs left: what was learned of targets, and how they fared.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::anyhow;
use rail_config::{Env, Loaded, Places};
use rail_upstream::{HealthFile, Learned, Transport, Upstream};

use crate::{Failure, output, setup};

/// What earlier runs left; nothing where it can't be read, which is told.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) learned: Learned,
    pub(crate) health: HealthFile,
}

impl State {
    pub(crate) fn load(loaded: &Loaded) -> Self {
        let Some(places) = &loaded.places else { return Self::default() };
        Self {
            learned: told(Learned::load(&places.learned())),
            health: told(HealthFile::load(&places.health())),
        }
    }
}

/// The upstream of a command, which learns where all others do.
pub(crate) fn upstream(loaded: &Loaded, env: &Env) -> Upstream {
    upstream_through(loaded, setup::transport(env))
}

/// The same through a transport of its own.
pub(crate) fn upstream_through(loaded: &Loaded, transport: Arc<dyn Transport>) -> Upstream {
    let Some(places) = &loaded.places else { return Upstream::new(Arc::clone(&transport)) };
    let (upstream, problem) = Upstream::learning_at(transport, places.learned());
    if let Some(problem) = problem {
        output::tell(&format!("warning: {problem}"));
    }
    upstream
}

/// The places of a command that must write.
pub(crate) fn places(loaded: &Loaded) -> Result<&Places, Failure> {
    let missing = || anyhow!("there is no home folder; set `HOME` to an absolute path");
    loaded.places.as_ref().ok_or_else(|| Failure::Usage(missing()))
}

/// The user's home.
pub(crate) fn home(env: &Env) -> Option<PathBuf> {
    env.home().map(PathBuf::from)
}

fn told<T: Default>(read: Result<T, String>) -> T {
    read.unwrap_or_else(|problem| {
        output::tell(&format!("warning: {problem}"));
        T::default()
    })
}
