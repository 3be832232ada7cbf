//! What the model knows of the world around the session. The head of requests tells it once; what is not so any more is told in the
//! conversation, whoever changed it and whenever, also between two runs of the same session.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rail_journal::store::ContentId;
use rail_journal::{JournalError, Record};
use rail_proto::{NoteKind, SessionEvent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Agent;
use super::clock::today;
use crate::machine::Input;
use crate::memory::{self, Changed, MemoryFile, MemoryNote};
use crate::prompt::Environment;

/// What the model was told last.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Known {
    date: String,
    git: Option<String>,
    /// The memory files by the hashes of their texts.
    memory: BTreeMap<String, String>,
}

impl Known {
    pub(super) fn of(environment: &Environment, files: &[MemoryFile]) -> Self {
        let name = |file: &MemoryFile| {
            (file.path.display().to_string(), ContentId::of(file.text.as_bytes()).to_string())
        };
        Self {
            date: environment.date.clone(),
            git: environment.git_text(),
            memory: files.iter().map(name).collect(),
        }
    }

    pub(super) fn read(value: Option<&Value>) -> Option<Self> {
        serde_json::from_value(value?.clone()).ok()
    }

    pub(super) fn record(&self) -> Record {
        Record::Known(serde_json::to_value(self).unwrap_or_default())
    }

    /// The memory files that are not as the model knows them.
    fn changed(&self, now: &Self, files: &[MemoryFile]) -> Vec<Changed> {
        let is_new = |file: &&MemoryFile| {
            let path = file.path.display().to_string();
            self.memory.get(&path) != now.memory.get(&path)
        };
        let written = files.iter().filter(is_new).cloned().map(Changed::Written);
        let gone = self.memory.keys().filter(|path| !now.memory.contains_key(*path));
        written.chain(gone.map(|path| Changed::Gone(PathBuf::from(path)))).collect()
    }

    /// What is said of the day and of git.
    fn surroundings(&self, now: &Self) -> Option<String> {
        let mut lines = Vec::new();
        if self.date != now.date {
            lines.push(format!("The date is now {}.", now.date));
        }
        if self.git != now.git {
            let git = now.git.as_deref().unwrap_or("no repository");
            lines.push(format!("Git: {git}."));
        }
        (!lines.is_empty()).then(|| lines.join(" "))
    }
}

impl Agent {
    /// Looks at all that the model was told of, and tells what is not so any more.
    pub(super) fn look_around(&mut self) -> Result<(), JournalError> {
        let environment = Environment::gather(&self.env, &self.session.workspace, today().0 / 1000);
        // Folders that were worked in before the session was left count again; what was only imported says nothing of its folder.
        let names = &self.asking.loaded.settings.agent.memory_files;
        let is_own =
            |path: &&String| names.iter().any(|name| Path::new(path).file_name() == Some(name.as_ref()));
        let known: Vec<String> = self.known.memory.keys().filter(is_own).cloned().collect();
        for path in known {
            let notes = self.memory.entered(Path::new(&path)).notes;
            self.not_read(&notes);
        }
        self.memory_changed()?;
        let now = Known { memory: self.known.memory.clone(), ..Known::of(&environment, &[]) };
        let told = self.known.surroundings(&now).filter(|_| self.heads.is_full());
        self.learnt(now, told)
    }

    /// Memory files that were written, by us or by others, are read again and told; the system prompt stays as it is.
    pub(super) fn memory_changed(&mut self) -> Result<(), JournalError> {
        let refreshed = self.memory.refreshed();
        self.not_read(&refreshed.notes);
        if refreshed.cut_short {
            return Ok(());
        }
        let files = self.memory.files().to_vec();
        let now = Known { memory: Known::of(&Environment::default(), &files).memory, ..self.known.clone() };
        let changed = self.known.changed(&now, &files);
        for change in &changed {
            if let Changed::Written(file) = change {
                let (path, tokens) = (file.path.display().to_string(), rail_route::tokens(&file.text));
                self.emit(SessionEvent::Memory(rail_proto::Memory { path, tokens }));
            }
        }
        self.learnt(now, memory::changes(&changed))
    }

    /// What was not read of memory files is for the user to know.
    pub(super) fn not_read(&mut self, notes: &[MemoryNote]) {
        for note in notes {
            self.note(NoteKind::Config, note.to_string());
        }
    }

    /// The model is told this, and knows that from then on.
    fn learnt(&mut self, now: Known, told: Option<String>) -> Result<(), JournalError> {
        self.known = now;
        match told {
            Some(text) => self.input(Input::Tell(text)),
            None => Ok(()),
        }
    }

    /// What the model knows is written behind what told it, so that neither a crash nor a rewind makes one of them untrue.
    pub(super) fn write_known(&mut self) -> Result<(), JournalError> {
        self.write(self.known.record())
    }
}
