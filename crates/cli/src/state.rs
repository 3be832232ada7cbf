//! What earlier runs left: what was learned of targets, and how they fared.

use std::path::{Path, PathBuf};
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

/// Where sessions are kept. Without a home that is among the temporary files.
pub(crate) fn folder(loaded: &Loaded) -> PathBuf {
    loaded.places.as_ref().map_or_else(temporary, |places| places.state.clone())
}

/// A folder of this user's own among the temporary files.
#[cfg(unix)]
pub(crate) fn temporary() -> PathBuf {
    std::env::temp_dir().join(format!("switchrail-{}", rustix::process::geteuid().as_raw()))
}

/// A folder among the temporary files, which are this user's own here.
#[cfg(not(unix))]
pub(crate) fn temporary() -> PathBuf {
    std::env::temp_dir().join("switchrail")
}

/// Whether a folder can be written, or made where it is not there yet.
#[cfg(unix)]
pub(crate) fn writable(folder: &Path) -> std::io::Result<()> {
    let there = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
    Ok(rustix::fs::access(there, rustix::fs::Access::WRITE_OK)?)
}

/// Whether a folder can be written turns out when it is.
#[cfg(not(unix))]
pub(crate) fn writable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Makes a folder that only this user can read. Anybody can make one among the temporary files: one of somebody else's is refused.
#[cfg(unix)]
pub(crate) fn own(folder: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};
    let made = std::fs::DirBuilder::new().mode(0o700).create(folder);
    let there = std::fs::symlink_metadata(folder);
    match (made, there) {
        (Ok(()), _) => Ok(()),
        (Err(_), Ok(meta)) if meta.is_dir() && meta.uid() == rustix::process::geteuid().as_raw() => Ok(()),
        (Err(error), _) => Err(Failure::Task(anyhow!(
            "{} can't be used ({error}); set `XDG_STATE_HOME` to a folder of your own",
            folder.display()
        ))),
    }
}

/// Makes a folder.
#[cfg(not(unix))]
pub(crate) fn own(folder: &Path) -> Result<(), Failure> {
    Ok(std::fs::create_dir_all(folder).map_err(anyhow::Error::from)?)
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
