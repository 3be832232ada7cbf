use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use arc_swap::ArcSwap;
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::{Checked, Inputs, Loaded, Problems, check};

/// An editor that saves does several things at once; a file is read when nothing has happened for this long.
const QUIET: Duration = Duration::from_millis(20);

/// A file that never rests is read after so many changes nevertheless.
const MOST_CHANGES: usize = 200;

/// A configuration that follows its files. Dropping it ends the watch.
pub struct Live {
    current: Arc<ArcSwap<Loaded>>,
    signals: Sender<Signal>,
    thread: Option<JoinHandle<()>>,
}

/// What came of a change.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// This is in force now.
    Loaded(Arc<Loaded>),
    /// The files are broken, and what was in force before still is.
    Kept(Problems),
    /// Further changes may not be seen, for this reason.
    Blind(String),
}

/// Why a configuration can't be followed.
#[derive(Debug, thiserror::Error)]
pub enum LiveError {
    /// It is broken from the beginning.
    #[error("{0}")]
    Problems(Problems),
    /// The system does not tell of changes.
    #[error(
        "changes of files can't be watched: {0}; on Linux, raise `fs.inotify.max_user_instances` and `fs.inotify.max_user_watches`"
    )]
    Watch(#[from] notify::Error),
    /// No thread can be started.
    #[error("the watch of files can't be started: {0}")]
    Thread(#[from] io::Error),
}

enum Signal {
    /// Something happened to a file or a folder that matters.
    Changed,
    /// The watch itself failed.
    Failed(String),
    Stop,
}

impl Live {
    /// Loads, and loads again whenever a file changes that matters, also one that is not there yet. `tell` is told of each change,
    /// from a thread of its own.
    pub fn start(inputs: Inputs, tell: impl FnMut(Change) + Send + 'static) -> Result<Self, LiveError> {
        let Checked { watched, loaded, problems, .. } = check(&inputs);
        let loaded = loaded.ok_or(LiveError::Problems(problems))?;
        let current = Arc::new(ArcSwap::from_pointee(loaded));
        let (signals, received) = channel();
        let watch = Watch::new(&signals, &watched)?;
        let follow = Follow {
            inputs,
            current: Arc::clone(&current),
            watched,
            watch,
            signals: signals.clone(),
            tell,
            told: None,
        };
        // What changed between the first load and the watch is seen by loading once more.
        let _ = signals.send(Signal::Changed);
        let thread =
            std::thread::Builder::new().name("config".to_owned()).spawn(move || follow.run(&received))?;
        Ok(Self { current, signals, thread: Some(thread) })
    }

    /// The configuration in force. Keep it for as long as one request lasts.
    pub fn current(&self) -> Arc<Loaded> {
        self.current.load_full()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.signals.send(Signal::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread has.
struct Follow<T> {
    inputs: Inputs,
    current: Arc<ArcSwap<Loaded>>,
    watched: Vec<PathBuf>,
    watch: Watch,
    signals: Sender<Signal>,
    tell: T,
    /// What was told last of broken files.
    told: Option<Problems>,
}

impl<T: FnMut(Change)> Follow<T> {
    fn run(mut self, received: &Receiver<Signal>) {
        while let Ok(signal) = received.recv() {
            let mut signal = Some(signal);
            let mut changes = 0;
            while let Some(now) = signal {
                match now {
                    Signal::Changed => {}
                    Signal::Failed(why) => (self.tell)(Change::Blind(why)),
                    Signal::Stop => return,
                }
                changes += 1;
                signal = if changes < MOST_CHANGES { received.recv_timeout(QUIET).ok() } else { None };
            }
            self.reload();
        }
    }

    fn reload(&mut self) {
        // Watched anew each time, since a folder that was moved away and made again is another one; and before the files
        // are read, so that no change falls between.
        match Watch::new(&self.signals, &self.watched) {
            Ok(watch) => self.watch = watch,
            Err(error) => (self.tell)(Change::Blind(error.to_string())),
        }
        let Checked { watched, loaded, problems, .. } = check(&self.inputs);
        if watched != self.watched {
            self.watched = watched;
            let _ = self.signals.send(Signal::Changed);
        }
        match loaded.ok_or(problems) {
            Ok(loaded) if loaded == **self.current.load() => self.told = None,
            Ok(loaded) => {
                let loaded = Arc::new(loaded);
                self.current.store(Arc::clone(&loaded));
                self.told = None;
                (self.tell)(Change::Loaded(loaded));
            }
            Err(problems) if self.told.as_ref() == Some(&problems) => {}
            Err(problems) => {
                self.told = Some(problems.clone());
                (self.tell)(Change::Kept(problems));
            }
        }
    }
}

/// A watch over folders.
struct Watch {
    _watcher: RecommendedWatcher,
}

impl Watch {
    fn new(signals: &Sender<Signal>, files: &[PathBuf]) -> Result<Self, notify::Error> {
        let files = with_links(files);
        // A folder on the way matters as well: it may appear, vanish or be replaced.
        let matter: BTreeSet<PathBuf> = files.iter().flat_map(|file| file.ancestors()).map(real).collect();
        let signals = signals.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let signal = match event {
                Ok(event)
                    if is_change(&event.kind)
                        && (event.need_rescan()
                            || event.paths.iter().any(|path| matter.contains(&real(path)))) =>
                {
                    Signal::Changed
                }
                Ok(_) => return,
                Err(error) => Signal::Failed(error.to_string()),
            };
            // The receiver ends only with the watch itself.
            let _ = signals.send(signal);
        })?;
        // A folder that was made before the one above it was watched is seen by looking again.
        let mut seen = BTreeSet::new();
        while let Some(folder) = folders(&files).into_iter().find(|folder| !seen.contains(folder)) {
            match watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => {}
                // It has just gone, or is not for us to look into; the folder above it is watched too.
                Err(error) if is_about_the_folder(&error.kind) => {}
                Err(error) => return Err(error),
            }
            seen.insert(folder);
        }
        Ok(Self { _watcher: watcher })
    }
}

fn is_about_the_folder(kind: &notify::ErrorKind) -> bool {
    match kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => {
            matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory
            )
        }
        _ => false,
    }
}

/// Reading a file is no change of it, and we read them ourselves.
fn is_change(kind: &EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => false,
        EventKind::Any
        | EventKind::Create(_)
        | EventKind::Modify(_)
        | EventKind::Remove(_)
        | EventKind::Other => true,
    }
}

/// The files, and where they lead to if they are links.
fn with_links(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let real = files.iter().filter_map(|file| file.canonicalize().ok());
    files.iter().cloned().chain(real).collect()
}

/// The folders to watch: that of each file and the one above it, and instead of one that is not there the nearest that is.
///
/// Each by its one real name: the system tells of a folder under the last name by which it was watched.
fn folders(files: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let there = |file: &PathBuf| {
        let folders = file.ancestors().skip(1).filter_map(|folder| folder.canonicalize().ok());
        folders.filter(|folder| folder.is_dir()).take(2).collect::<Vec<_>>()
    };
    files.iter().flat_map(there).collect()
}

/// A path without links and `..` on the way to it; the last name stays as it is.
fn real(path: &Path) -> PathBuf {
    let Some((parent, name)) = path.parent().zip(path.file_name()) else { return path.to_owned() };
    match parent.canonicalize() {
        Ok(folder) => folder.join(name),
        Err(_) => real(parent).join(name),
    }
}
