//! Memory files in folders that nobody has worked in yet: they are named, not read.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::is_foreign;

/// How many are named.
const NAMED: usize = 20;
/// How many folders are looked into.
const FOLDERS: usize = 5_000;
/// How deep, where there is no repository that would bound it: the home folder of somebody has no end.
const DEPTH_OUTSIDE: usize = 2;

/// Memory files further down.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Below {
    /// The first of them, the nearest first.
    pub files: Vec<PathBuf>,
    /// How many more were seen.
    pub more: usize,
}

/// Whether the search came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    Whole,
    Early,
}

/// Where a search goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extent {
    /// As deep as it goes.
    Repository,
    /// A few folders.
    Shallow,
}

/// Looks for memory files under a folder, level by level; its own are not meant. Links, hidden folders and those of others' code are
/// passed over.
pub(super) fn search(
    folder: &Path,
    names: &[String],
    extent: Extent,
    is_late: &dyn Fn() -> bool,
) -> (Below, Ended) {
    let mut found = Below::default();
    let mut open = VecDeque::from([(folder.to_owned(), 0)]);
    let mut looked = 0;
    while let Some((folder, depth)) = open.pop_front() {
        if looked == FOLDERS || is_late() {
            return (found, Ended::Early);
        }
        looked += 1;
        let (files, folders) = entries(&folder, names);
        for file in files.into_iter().filter(|_| depth > 0) {
            match found.files.len() < NAMED {
                true => found.files.push(folder.join(file)),
                false => found.more += 1,
            }
        }
        if extent == Extent::Repository || depth < DEPTH_OUTSIDE {
            open.extend(folders.into_iter().map(|inner| (folder.join(inner), depth + 1)));
        }
    }
    (found, Ended::Whole)
}

/// The memory files and the folders of a folder, by name. One that can't be read has none.
fn entries(folder: &Path, names: &[String]) -> (Vec<OsString>, Vec<OsString>) {
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let name = entry.file_name();
        if kind.is_dir() {
            let is_hidden = name.as_encoded_bytes().starts_with(b".");
            folders.extend((!is_hidden && !is_foreign(&name)).then_some(name));
        } else if kind.is_file() && names.iter().any(|known| name == **known) {
            files.push(name);
        }
    }
    files.sort();
    folders.sort();
    (files, folders)
}
