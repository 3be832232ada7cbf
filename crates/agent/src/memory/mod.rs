//! Memory files: what the user and a project want a model to know, in files such as `AGENTS.md`.
//!
//! They are read in this order: the user's own, then those of every folder from the repository's root down to the working folder, then
//! those of deeper folders in the order in which they were entered. In one folder all names count, in the order of the configuration; a
//! text that was read already, under whatever name, is not read again. `@path` in a file has that file read right after it.
//!
//! A project's file is text that anybody may have written. It is read without trust, but it can bring nothing into the conversation that
//! is not the project's own: what its links and imports lead to must be inside the project, and secrets are never read.

mod below;
mod gather;
mod imports;
mod note;
mod read;
mod say;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use below::Below;
use below::{Ended, Extent};
use gather::{gather, note};
pub use note::{MemoryNote, NotRead};
use read::Reader;
pub use say::{changes, files};

/// How long a search may take.
const SEARCH: Duration = Duration::from_secs(3);
/// Folders of code that others wrote: what stands there is not said by the user or the project.
const FOREIGN: &[&str] =
    &[".git", ".tox", ".venv", "node_modules", "site-packages", "target", "vendor", "venv"];

/// Where memory files are looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryPlaces {
    /// The folder that is worked in, links resolved.
    pub working_folder: PathBuf,
    /// The root of the repository that it is in, links resolved; None outside of one.
    pub root: Option<PathBuf>,
    /// The folder of the user's own files.
    pub user: Option<PathBuf>,
    /// The user's home, which `~/` means.
    pub home: Option<PathBuf>,
    /// The names of memory files.
    pub names: Vec<String>,
}

impl MemoryPlaces {
    /// The places for a working folder. The nearest folder from it up that holds `.git` is the root; above the home none is.
    pub fn find(working_folder: &Path, user: Option<&Path>, home: Option<&Path>, names: &[String]) -> Self {
        let working_folder = working_folder.canonicalize().unwrap_or_else(|_| working_folder.to_owned());
        let home = home.map(|home| home.canonicalize().unwrap_or_else(|_| home.to_owned()));
        Self {
            root: repository(&working_folder, home.as_deref()),
            working_folder,
            user: user.map(Path::to_owned),
            home,
            names: names.to_vec(),
        }
    }

    /// The folder that a project's files must be in.
    fn project(&self) -> &Path {
        self.root.as_deref().unwrap_or(&self.working_folder)
    }
}

/// The root of the repository that a folder is in; above the home none is looked for.
pub(crate) fn repository(folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    for folder in folder.ancestors() {
        if folder.join(".git").exists() {
            return Some(folder.to_owned());
        }
        if Some(folder) == home {
            break;
        }
    }
    None
}

/// Whose word a memory file is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Whose {
    /// The user's own, for all projects.
    User,
    /// The project's.
    Project,
}

/// A memory file that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryFile {
    /// Its path.
    pub path: PathBuf,
    /// Whose word it is.
    pub whose: Whose,
    /// The file that imports it, if one does.
    pub imported_by: Option<PathBuf>,
    /// What it says.
    pub text: Arc<str>,
}

/// What a search gave.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// The files that were read, in order.
    pub files: Vec<MemoryFile>,
    /// Files further down, which were not.
    pub below: Below,
    /// What the user is to be told.
    pub notes: Vec<MemoryNote>,
}

/// What happened to a memory file since it was last read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Changed {
    /// It is new, or says something else now.
    Written(MemoryFile),
    /// It is gone, or says nothing any more.
    Gone(PathBuf),
}

/// What happened to memory files since they were last read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Refreshed {
    /// Each that is not as it was.
    pub changed: Vec<Changed>,
    /// What the user is to be told, and was not yet.
    pub notes: Vec<MemoryNote>,
    /// Whether the time was over before all were looked at: what was not reached is not gone.
    pub cut_short: bool,
}

/// The memory files of a session. A file that did not change is not read again.
pub struct Memory {
    places: MemoryPlaces,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
    /// The folders whose files count, in order.
    folders: Vec<PathBuf>,
    reader: Reader,
    known: Vec<MemoryFile>,
    told: BTreeSet<MemoryNote>,
}

impl Memory {
    /// Nothing is read yet; the clock bounds how long a search takes.
    pub fn new(places: MemoryPlaces, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        let project = places.project();
        let mut folders: Vec<PathBuf> = places
            .working_folder
            .ancestors()
            .take_while(|folder| folder.starts_with(project))
            .map(Path::to_owned)
            .collect();
        folders.reverse();
        Self {
            places,
            clock: Box::new(clock),
            folders,
            reader: Reader::default(),
            known: Vec::new(),
            told: BTreeSet::new(),
        }
    }

    /// The files at the beginning of a session, and which there are further down.
    pub fn begin(&mut self) -> Found {
        let until = (self.clock)() + SEARCH;
        let (files, notes) = self.collect(until);
        self.known.clone_from(&files);
        let mut notes = self.untold(notes);
        let extent = if self.places.root.is_some() { Extent::Repository } else { Extent::Shallow };
        let is_late = || (self.clock)() >= until;
        let (below, ended) = below::search(&self.places.working_folder, &self.places.names, extent, &is_late);
        if ended == Ended::Early {
            notes.extend(self.untold(vec![note(&self.places.working_folder, None, NotRead::TimeUp)]));
        }
        Found { files, below, notes }
    }

    /// The files that come in because something at this path is worked with, each once.
    pub fn entered(&mut self, path: &Path) -> Found {
        let new = self.new_folders(path);
        if new.is_empty() {
            return Found::default();
        }
        self.folders.extend(new);
        let (files, notes) = self.collect((self.clock)() + SEARCH);
        let is_known = |file: &MemoryFile| self.known.iter().any(|known| known.path == file.path);
        let files: Vec<MemoryFile> = files.into_iter().filter(|file| !is_known(file)).collect();
        self.known.extend(files.iter().cloned());
        Found { files, below: Below::default(), notes: self.untold(notes) }
    }

    /// What of all these files is not as it was when it was last read, new ones in the same folders included.
    pub fn refreshed(&mut self) -> Refreshed {
        let until = (self.clock)() + SEARCH;
        let (files, notes) = self.collect(until);
        if (self.clock)() >= until {
            // What was not reached is not gone.
            return Refreshed { changed: Vec::new(), notes: self.untold(notes), cut_short: true };
        }
        let was = std::mem::replace(&mut self.known, files);
        let text_of = |files: &[MemoryFile], path: &Path| {
            files.iter().find(|file| file.path == path).map(|file| Arc::clone(&file.text))
        };
        let written = self.known.iter().filter(|file| text_of(&was, &file.path).as_ref() != Some(&file.text));
        let gone = was.iter().filter(|file| text_of(&self.known, &file.path).is_none());
        let changed =
            written.cloned().map(Changed::Written).chain(gone.map(|file| Changed::Gone(file.path.clone())));
        Refreshed { changed: changed.collect(), notes: self.untold(notes), cut_short: false }
    }

    /// The files that were read last, in order.
    pub fn files(&self) -> &[MemoryFile] {
        &self.known
    }

    /// The folders on the way from the project's root to a path that nobody has worked in yet.
    fn new_folders(&self, path: &Path) -> Vec<PathBuf> {
        let path = self.places.working_folder.join(path);
        let there = path.ancestors().find_map(|part| part.canonicalize().ok()).unwrap_or(path);
        let folder = if there.is_dir() { there.as_path() } else { there.parent().unwrap_or(&there) };
        let Ok(inner) = folder.strip_prefix(self.places.project()) else { return Vec::new() };
        if inner.iter().any(is_foreign) {
            return Vec::new();
        }
        let project = self.places.project();
        let mut new: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|folder| folder.starts_with(project))
            .filter(|folder| !self.folders.iter().any(|known| known == folder))
            .map(Path::to_owned)
            .collect();
        new.reverse();
        new
    }

    fn untold(&mut self, notes: Vec<MemoryNote>) -> Vec<MemoryNote> {
        notes.into_iter().filter(|note| self.told.insert(note.clone())).collect()
    }

    /// All files that count now, in order.
    fn collect(&mut self, until: Instant) -> (Vec<MemoryFile>, Vec<MemoryNote>) {
        let clock = &self.clock;
        gather(&self.places, &self.folders, &mut self.reader, &|| clock() >= until)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("folders", &self.folders)
            .field("known", &self.known)
            .finish_non_exhaustive()
    }
}

/// Whether a folder of this name holds what others wrote.
fn is_foreign(name: &OsStr) -> bool {
    FOREIGN.iter().any(|foreign| name == *foreign)
}
