use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rail_sandbox::Support;

use crate::agents::NoAgents;
use crate::models::NoModels;
use crate::{Agents, Editor, FacetCx, Limits, Models, Services, SkillCard, Stamps};

/// What all calls of a session share.
#[derive(Debug)]
pub struct Session {
    /// The workspace, links resolved.
    pub workspace: PathBuf,
    /// The user's home folder, links resolved.
    pub home: Option<PathBuf>,
    /// The folder for temporary files, links resolved.
    pub temp: Option<PathBuf>,
    /// Where whole outputs are kept that are too long for the model.
    pub folder: PathBuf,
    /// How commands are confined.
    pub confine: Confine,
    /// What the system can do to confine them; where nobody says, that is found out.
    pub support: Option<Support>,
    /// Folders of this program's own that are made, empty, before a command could make them: what is there can be kept.
    pub own: Vec<PathBuf>,
    /// The environment that commands get, before a login shell adds its own.
    pub env: Vec<(OsString, OsString)>,
    /// Variables that commands do not get, wherever they come from: the keys of providers.
    pub withheld: BTreeSet<OsString>,
    /// How much a call may take.
    pub limits: Limits,
    /// How pages of the web are fetched and searched for; keys and proxies that it does not name are in `env`.
    pub web: rail_config::settings::Web,
    /// The names of files that tell agents what to know.
    pub memory_files: Vec<String>,
    /// Which files were read, and as what.
    pub stamps: Stamps,
    /// What tools keep.
    pub services: Services,
    /// The models that tools ask.
    pub models: Arc<dyn Models>,
    /// The agents that calls set to work.
    pub agents: Arc<dyn Agents>,
    /// Held by a call while it writes or runs something: all agents of one workspace share it.
    pub writers: Arc<Writers>,
    /// The skills that a model may load.
    pub skills: Vec<SkillCard>,
    /// The editor in front of the session, if there is one.
    pub editor: Editor,
    cwd: Mutex<PathBuf>,
    /// How often a call of this agent began or ended to write.
    own_writes: AtomicU64,
}

/// The agents of one workspace that write or run something, one at a time.
#[derive(Debug, Default)]
pub struct Writers {
    turn: tokio::sync::Mutex<()>,
    /// How often one of them began or ended.
    writes: AtomicU64,
}

/// The turn to write. It is over when this is dropped.
#[derive(Debug)]
pub struct Writing<'a> {
    session: &'a Session,
    _turn: tokio::sync::MutexGuard<'a, ()>,
}

/// What was written until some moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Written {
    all: u64,
    own: u64,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.session.wrote();
    }
}

/// How commands are confined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Confine {
    /// Not at all.
    Off,
    /// They write in the workspace and in the folder for temporary files.
    #[default]
    Workspace,
    /// They write nowhere but in the folder for temporary files.
    ReadOnly,
}

impl Session {
    /// A session in a workspace, whose whole outputs are kept in a folder.
    pub fn new(workspace: PathBuf, folder: PathBuf) -> Self {
        Self {
            cwd: Mutex::new(workspace.clone()),
            workspace,
            home: None,
            temp: None,
            folder,
            confine: Confine::default(),
            support: None,
            own: Vec::new(),
            env: Vec::new(),
            withheld: BTreeSet::new(),
            limits: Limits::default(),
            web: rail_config::settings::Web::default(),
            memory_files: rail_config::settings::Agent::default().memory_files,
            stamps: Stamps::default(),
            services: Services::default(),
            models: Arc::new(NoModels),
            agents: Arc::new(NoAgents),
            writers: Arc::default(),
            skills: Vec::new(),
            own_writes: AtomicU64::new(0),
            editor: Editor::default(),
        }
    }

    /// Waits for the turn to write.
    pub async fn writing(&self) -> Writing<'_> {
        let turn = self.writers.turn.lock().await;
        self.wrote();
        Writing { session: self, _turn: turn }
    }

    fn wrote(&self) {
        self.own_writes.fetch_add(1, Ordering::AcqRel);
        self.writers.writes.fetch_add(1, Ordering::AcqRel);
    }

    /// What was written until now.
    pub fn written(&self) -> Written {
        let all = self.writers.writes.load(Ordering::Acquire);
        Written { all, own: self.own_writes.load(Ordering::Acquire) }
    }

    /// Whether no other agent of the workspace wrote since then, or was at it.
    pub fn wrote_alone(&self, since: Written) -> bool {
        let now = self.written();
        now.all.wrapping_sub(since.all) == now.own.wrapping_sub(since.own)
    }

    /// A session of another agent in the same workspace: it has the same places, limits and lock, and has read nothing yet.
    #[must_use]
    pub fn beside(&self) -> Self {
        Self {
            home: self.home.clone(),
            temp: self.temp.clone(),
            confine: self.confine,
            support: self.support.clone(),
            own: self.own.clone(),
            env: self.env.clone(),
            withheld: self.withheld.clone(),
            limits: self.limits.clone(),
            web: self.web.clone(),
            memory_files: self.memory_files.clone(),
            skills: self.skills.clone(),
            // Its calls are not shown by themselves, so that no terminal could be shown with them.
            editor: Editor { terminals: None, ..self.editor.clone() },
            writers: Arc::clone(&self.writers),
            cwd: Mutex::new(self.cwd()),
            ..Self::new(self.workspace.clone(), self.folder.clone())
        }
    }

    /// The folder that relative paths and commands start from.
    pub fn cwd(&self) -> PathBuf {
        self.cwd.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the folder that relative paths and commands start from.
    pub fn set_cwd(&self, cwd: &Path) {
        cwd.clone_into(&mut self.cwd.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What a tool may know to say what a call will touch that starts from a folder.
    pub fn facet_cx<'a>(&'a self, cwd: &'a Path) -> FacetCx<'a> {
        FacetCx { cwd, home: self.home.as_deref(), skills: &self.skills, confine: self.confine }
    }

    /// A command changed these files: those of them that were read are as if they had been read again, those that are gone are
    /// forgotten. Whoever calls it knows that the command did it, and nobody else. The paths have their links resolved.
    pub fn changed_by_command(&self, files: &[PathBuf]) {
        let read = self.stamps.files();
        for file in files.iter().filter(|file| read.contains(file)) {
            match (std::fs::read(file), std::fs::metadata(file)) {
                (Ok(bytes), Ok(meta)) => self.stamps.saw(file, &meta, &bytes),
                (Err(_), _) | (_, Err(_)) => self.stamps.forget(file),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stale;

    #[tokio::test]
    async fn who_wrote_alone_is_known_also_of_one_who_was_at_it() {
        let one = Session::new(PathBuf::from("/w"), PathBuf::from("/o"));
        let two = one.beside();
        let begin = one.written();
        drop(one.writing().await);
        assert!(one.wrote_alone(begin) && !two.wrote_alone(begin));
        let began = two.writing().await;
        let since = one.written();
        assert!(one.wrote_alone(since));
        drop(began);
        assert!(!one.wrote_alone(since), "it ended meanwhile");
        assert!(one.wrote_alone(one.written()));
    }

    #[test]
    fn what_a_command_changed_counts_as_read_if_it_was_read_before() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::new(folder.path().to_owned(), folder.path().to_owned());
        let files: Vec<PathBuf> =
            ["read", "unread", "removed", "other"].iter().map(|name| folder.path().join(name)).collect();
        for file in &files {
            std::fs::write(file, "before").unwrap();
            if !file.ends_with("unread") {
                session.stamps.saw(file, &file.metadata().unwrap(), b"before");
            }
            std::fs::write(file, "after").unwrap();
        }
        let meta = files[0].metadata().unwrap();
        std::fs::remove_file(&files[2]).unwrap();
        session.changed_by_command(&files[..3]);
        let stale: Vec<_> = files.iter().map(|file| session.stamps.check(file, &meta, b"after")).collect();
        assert_eq!(stale, [Ok(()), Err(Stale::Unread), Err(Stale::Unread), Err(Stale::Changed)]);
    }
}
