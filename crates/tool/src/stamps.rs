use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Which files were read in this session, and as what: nobody may overwrite what they have not seen.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Stamps {
    seen: Mutex<BTreeMap<PathBuf, Stamp>>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Stamp {
    outside: Outside,
    /// Of all bytes; nothing if not all were read.
    digest: Option<[u8; 32]>,
}

/// What tells that a file was changed without reading it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Outside {
    modified: Option<SystemTime>,
    /// The time of the last change of anything; nobody can set it back.
    changed: (i64, i64),
    len: u64,
    file: (u64, u64),
}

/// Why a file may not be overwritten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stale {
    /// It was not read in this session.
    Unread,
    /// It is not what was read any more.
    Changed,
}

impl Stamps {
    /// A file was read or written: this is what it holds now. The path has its links resolved.
    pub fn saw(&self, real: &Path, meta: &Metadata, bytes: &[u8]) {
        let digest = Some(Sha256::digest(bytes).into());
        self.lock().insert(real.to_owned(), Stamp { outside: Outside::of(meta), digest });
    }

    /// A part of a file was read that is too large to be read whole: it is known again by its times, length and number.
    pub fn saw_part(&self, real: &Path, meta: &Metadata) {
        let mut seen = self.lock();
        let outside = Outside::of(meta);
        // What was seen whole, and is still that, stays seen whole.
        if seen.get(real).is_none_or(|stamp| stamp.outside != outside) {
            seen.insert(real.to_owned(), Stamp { outside, digest: None });
        }
    }

    /// Whether a file is as it was when it was read. The path has its links resolved.
    ///
    /// A file whose time changed but whose bytes did not is still as it was, if all of it was read.
    ///
    /// # Errors
    /// Why it may not be overwritten.
    pub fn check(&self, real: &Path, meta: &Metadata, bytes: &[u8]) -> Result<(), Stale> {
        let seen = self.lock().get(real).cloned().ok_or(Stale::Unread)?;
        let same = match seen.digest {
            Some(digest) => Sha256::digest(bytes).as_slice() == digest,
            None => seen.outside == Outside::of(meta),
        };
        if same { Ok(()) } else { Err(Stale::Changed) }
    }

    /// A file is gone, or is to be read again.
    pub fn forget(&self, real: &Path) {
        self.lock().remove(real);
    }

    /// The files that were seen, links resolved.
    pub fn files(&self) -> Vec<PathBuf> {
        self.lock().keys().cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PathBuf, Stamp>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outside {
    fn of(meta: &Metadata) -> Self {
        Self {
            modified: meta.modified().ok(),
            changed: (meta.ctime(), meta.ctime_nsec()),
            len: meta.len(),
            file: (meta.dev(), meta.ino()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(path: &Path) -> Metadata {
        path.metadata().unwrap()
    }

    #[test]
    fn a_file_is_known_by_its_bytes_or_from_outside() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "one").unwrap();
        let stamps = Stamps::default();
        assert_eq!(stamps.check(&file, &meta(&file), b"one"), Err(Stale::Unread));

        stamps.saw(&file, &meta(&file), b"one");
        let later = SystemTime::UNIX_EPOCH;
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(later).unwrap();
        assert_eq!(stamps.check(&file, &meta(&file), b"one"), Ok(()));
        assert_eq!(stamps.check(&file, &meta(&file), b"two"), Err(Stale::Changed));

        stamps.saw_part(&file, &meta(&file));
        assert_eq!(stamps.check(&file, &meta(&file), b"one"), Ok(()));
        std::fs::write(&file, "longer").unwrap();
        assert_eq!(stamps.check(&file, &meta(&file), b"longer"), Err(Stale::Changed));

        stamps.forget(&file);
        assert_eq!(stamps.check(&file, &meta(&file), b"longer"), Err(Stale::Unread));
    }

    #[test]
    fn a_part_does_not_weaken_what_was_seen_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "one").unwrap();
        let stamps = Stamps::default();
        stamps.saw(&file, &meta(&file), b"one");
        stamps.saw_part(&file, &meta(&file));
        let later = SystemTime::UNIX_EPOCH;
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(later).unwrap();
        assert_eq!(stamps.check(&file, &meta(&file), b"one"), Ok(()));
    }
}
