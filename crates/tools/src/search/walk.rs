//! A walk over a tree, on all cores.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ignore::types::Types;
use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};

use super::Stop;
use crate::words;

/// Folders of version control: nobody looks for a file in them.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".jj", ".svn"];

/// More threads than this only wait for each other.
const MAX_THREADS: usize = 12;

/// What is walked over.
#[derive(Debug)]
pub(crate) struct Walk<'a> {
    /// The folder, links resolved.
    pub(crate) root: &'a Path,
    /// The working folder, for ignore files of the user that are meant from it.
    pub(crate) cwd: &'a Path,
    pub(crate) ignored: Ignored,
    /// How deep it goes.
    pub(crate) depth: Option<usize>,
    /// The kinds of files.
    pub(crate) types: Option<Types>,
}

/// What is done with files that ignore files name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ignored {
    LeftOut,
    Included,
}

/// Somebody who is shown the files of a tree; each thread has its own.
pub(crate) trait Visit: Send {
    /// Whether a folder is gone into. The path is from the walk's root.
    fn enters(&mut self, below: &Path) -> bool;
    /// A file, or a link that is not followed.
    fn file(&mut self, entry: &DirEntry, below: &Path);
}

/// What could not be looked at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Troubles {
    count: u64,
    first: Option<String>,
}

impl Troubles {
    pub(crate) fn add(&mut self, what: String) {
        self.count += 1;
        self.first.get_or_insert(what);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.first = self.first.take().or(other.first);
    }

    /// What is said of them, on a line of its own; nothing where there are none.
    pub(crate) fn said(&self) -> String {
        match &self.first {
            None => String::new(),
            Some(first) if self.count == 1 => format!("\nNot looked at: {first}"),
            Some(first) => {
                format!("\nNot looked at: {first}, and {}", words::count(self.count - 1, "other"))
            }
        }
    }
}

impl Walk<'_> {
    /// Shows every file to one of the visitors; gives them back, with what they saw.
    pub(crate) fn run<V: Visit>(&self, stop: &Stop, visitor: impl Fn() -> V) -> (Vec<V>, Troubles) {
        let obey = self.ignored == Ignored::LeftOut;
        let mut builder = WalkBuilder::new(self.root);
        builder.standard_filters(obey).hidden(false).follow_links(false);
        builder.max_depth(self.depth).threads(threads()).current_dir(self.cwd);
        if obey {
            builder.add_custom_ignore_filename(".rgignore");
        }
        if let Some(types) = &self.types {
            builder.types(types.clone());
        }
        let done = Mutex::new((Vec::new(), Troubles::default()));
        let mut workers = Workers { root: self.root, stop, visitor: &visitor, done: &done };
        builder.build_parallel().visit(&mut workers);
        done.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_THREADS))
}

type Done<V> = Mutex<(Vec<V>, Troubles)>;

struct Workers<'s, V, F> {
    root: &'s Path,
    stop: &'s Stop,
    visitor: &'s F,
    done: &'s Done<V>,
}

impl<'s, V: Visit, F: Fn() -> V> ParallelVisitorBuilder<'s> for Workers<'s, V, F> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        Box::new(Worker {
            root: self.root,
            stop: self.stop,
            visitor: Some((self.visitor)()),
            troubles: Troubles::default(),
            done: self.done,
        })
    }
}

struct Worker<'s, V> {
    root: &'s Path,
    stop: &'s Stop,
    /// There until the end.
    visitor: Option<V>,
    troubles: Troubles,
    done: &'s Done<V>,
}

impl<V: Visit> ParallelVisitor for Worker<'_, V> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if self.stop.is_set() {
            return WalkState::Quit;
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                self.note(&error);
                return WalkState::Continue;
            }
        };
        let Some(below) = below(self.root, entry.path()) else { return WalkState::Continue };
        let Some(visitor) = &mut self.visitor else { return WalkState::Quit };
        let kind = entry.file_type();
        if entry.depth() == 0 {
            return WalkState::Continue;
        }
        if VERSION_CONTROL.iter().any(|name| entry.file_name() == *name) {
            return WalkState::Skip;
        }
        if kind.is_some_and(|kind| kind.is_dir()) {
            return if visitor.enters(below) { WalkState::Continue } else { WalkState::Skip };
        }
        if kind.is_some_and(|kind| kind.is_file() || kind.is_symlink()) {
            visitor.file(&entry, below);
        }
        WalkState::Continue
    }
}

/// The path from the root, which every path of the walk begins with; this is done for every file, so it is cut as bytes.
fn below<'p>(root: &Path, path: &'p Path) -> Option<&'p Path> {
    let rest = path.as_os_str().as_bytes().get(root.as_os_str().len()..)?;
    Some(Path::new(OsStr::from_bytes(rest.strip_prefix(b"/").unwrap_or(rest))))
}

impl<V> Worker<'_, V> {
    fn note(&mut self, error: &ignore::Error) {
        // What is gone again is not there.
        if error.io_error().is_some_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
            return;
        }
        self.troubles.add(rail_tool::shown(Path::new(&error.to_string())));
    }
}

impl<V> Drop for Worker<'_, V> {
    fn drop(&mut self) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.0.extend(self.visitor.take());
        done.1.merge(std::mem::take(&mut self.troubles));
    }
}

/// A file that was found, and its place in the order: the newest first where times are known, then by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Hit {
    pub(crate) newest: Option<std::cmp::Reverse<std::time::SystemTime>>,
    pub(crate) path: PathBuf,
    /// How many matches are in it.
    pub(crate) matches: u64,
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    struct Seen<'a>(u64, &'a Stop, &'a AtomicBool);

    impl Visit for Seen<'_> {
        fn enters(&mut self, _: &Path) -> bool {
            true
        }

        fn file(&mut self, _: &DirEntry, _: &Path) {
            self.0 += 1;
            if self.2.load(Ordering::Relaxed) {
                self.1.0.store(true, Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn a_walk_ends_when_it_is_told_to() {
        let root = tempfile::tempdir().unwrap();
        for name in 0..500 {
            std::fs::write(root.path().join(name.to_string()), "").unwrap();
        }
        let seen = |stops: bool| {
            let (stop, stops) = (Stop::default(), AtomicBool::new(stops));
            let walk = Walk {
                root: root.path(),
                cwd: root.path(),
                ignored: Ignored::LeftOut,
                depth: None,
                types: None,
            };
            let (visitors, troubles) = walk.run(&stop, || Seen(0, &stop, &stops));
            assert_eq!(troubles, Troubles::default());
            visitors.iter().map(|visitor| visitor.0).sum::<u64>()
        };
        assert_eq!(seen(false), 500);
        assert!(seen(true) <= MAX_THREADS as u64);
    }

    #[test]
    fn paths_are_cut_behind_the_root() {
        let check = |root: &str, path: &str, expected: &str| {
            assert_eq!(below(Path::new(root), Path::new(path)), Some(Path::new(expected)));
        };
        check("/srv", "/srv/a/b", "a/b");
        check("/srv", "/srv", "");
        check("/", "/a/b", "a/b");
    }

    #[test]
    fn troubles_are_told_in_short() {
        let mut troubles = Troubles::default();
        assert_eq!(troubles.said(), "");
        troubles.add("`a` (no)".to_owned());
        assert_eq!(troubles.said(), "\nNot looked at: `a` (no)");
        troubles.add("`b` (no)".to_owned());
        troubles.add("`c` (no)".to_owned());
        assert_eq!(troubles.said(), "\nNot looked at: `a` (no), and 2 others");
    }
}
