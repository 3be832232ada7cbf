//! Contents by their hash: each is kept once, whoever puts it there.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

mod pack;

pub use pack::Batch;

/// Bytes of a file that are held at once while it is copied.
const PIECE: usize = 64 << 10;

/// The beginning of the names of objects that are not whole yet.
const DRAFT: &str = "new-";

/// The name of a content: its SHA-256, written as 64 small hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentId([u8; 32]);

/// A text that names no content.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` names no content; a name has 64 digits of 0-9 and a-f")]
pub struct BadContentId(String);

/// A content that was put into a store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stored {
    /// Its name.
    pub id: ContentId,
    /// Its length in bytes.
    pub len: u64,
}

/// What was thrown away.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pruned {
    /// How many contents.
    pub contents: u64,
    /// How many bytes they had.
    pub bytes: u64,
}

/// A folder of contents, each in a file that is named by its hash. Only its owner can look into it.
///
/// Any number of processes may use one folder: an object is written under a name of its own and renamed when it is whole.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    packs: pack::Shared,
}

impl ContentId {
    /// The name of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash itself.
    pub fn digest(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = String::with_capacity(64);
        for byte in self.0 {
            for half in [byte >> 4, byte & 15] {
                digits.push(char::from_digit(half.into(), 16).unwrap_or('0'));
            }
        }
        out.write_str(&digits)
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "ContentId({self})")
    }
}

impl FromStr for ContentId {
    type Err = BadContentId;

    fn from_str(text: &str) -> Result<Self, BadContentId> {
        Self::read(text.as_bytes()).ok_or_else(|| BadContentId(text.chars().take(80).collect()))
    }
}

impl ContentId {
    /// Reads a name; nothing if it is none.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let mut id = [0; 32];
        let (pairs, []) = text.as_chunks::<2>() else { return None };
        if pairs.len() != id.len() {
            return None;
        }
        for (byte, [high, low]) in id.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(id))
    }
}

/// Capital letters are refused: a content has one name.
fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

impl TryFrom<String> for ContentId {
    type Error = BadContentId;

    fn try_from(text: String) -> Result<Self, BadContentId> {
        text.parse()
    }
}

impl From<ContentId> for String {
    fn from(id: ContentId) -> Self {
        id.to_string()
    }
}

impl Store {
    /// The store in this folder; it is made when the first content comes.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder, packs: pack::Shared::default() }
    }

    /// Where the store is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps these bytes. What is there already is not written again, but counts as new for [`prune`](Self::prune).
    ///
    /// The object is not forced to the disk: a crash of the process loses nothing, and one of the machine leaves at worst a
    /// damaged object, which [`get`](Self::get) notices and the next `put` mends. Who must be sure calls [`sync`](Self::sync).
    ///
    /// # Errors
    /// It can't be written; then nothing of it is there.
    pub fn put(&self, bytes: &[u8]) -> io::Result<ContentId> {
        let id = ContentId::of(bytes);
        if self.freshen(&id, bytes.len() as u64) {
            return Ok(id);
        }
        self.put_alone(&id, bytes)?;
        Ok(id)
    }

    /// Keeps what a file holds, of any size, in a little memory. A link is followed.
    ///
    /// # Errors
    /// It is no file, or can't be read, or can't be written; then nothing of it is there.
    pub fn put_file(&self, path: &Path) -> io::Result<Stored> {
        // Without waiting: a pipe with no writer would hold the call for ever.
        let flags = rustix::fs::OFlags::NONBLOCK.bits();
        let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
        if !file.metadata()?.is_file() {
            let said = format!("`{}` is no file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, said));
        }
        self.put_from(file)
    }

    /// Keeps all that a reader gives, in a little memory.
    ///
    /// # Errors
    /// It can't be read or written; then nothing of it is there.
    pub fn put_from(&self, mut from: impl Read) -> io::Result<Stored> {
        let mut draft = self.draft()?;
        let mut hash = Sha256::new();
        let mut len = 0_u64;
        let mut piece = vec![0; PIECE];
        loop {
            let read = match from.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => piece.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            hash.update(read);
            draft.file.write_all(read)?;
            len += read.len() as u64;
        }
        let id = ContentId(hash.finalize().into());
        if !self.freshen(&id, len) {
            self.appear(draft, &id)?;
        }
        Ok(Stored { id, len })
    }

    /// The bytes of a content.
    ///
    /// # Errors
    /// It is not there, or no longer what it was.
    pub fn get(&self, id: &ContentId) -> io::Result<Vec<u8>> {
        let alone = || fs::read(self.path(id));
        let bytes = match self.get_packed(id).unwrap_or_else(alone) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Somebody else may have packed or unpacked it.
                self.look_for_packs();
                alone().or_else(|error| self.get_packed(id).unwrap_or(Err(error)))
            }
            read => read,
        };
        let bytes = bytes.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                let said = format!("the content {id} is not in the store `{}`", self.folder.display());
                io::Error::new(io::ErrorKind::NotFound, said)
            }
            _ => error,
        })?;
        if ContentId::of(&bytes) != *id {
            let folder = self.folder.display();
            let said =
                format!("the content {id} in `{folder}` is damaged: its bytes are not those it is named by");
            return Err(io::Error::new(io::ErrorKind::InvalidData, said));
        }
        Ok(bytes)
    }

    /// Whether a content is there. Whether it is whole, only [`get`](Self::get) tells.
    pub fn has(&self, id: &ContentId) -> bool {
        self.packed(id).is_some() || self.path(id).symlink_metadata().is_ok_and(|meta| meta.is_file())
    }

    /// Forces a content and its name to the disk, so that it outlives a crash of the machine.
    ///
    /// # Errors
    /// It is not there, or the disk refused.
    pub fn sync(&self, id: &ContentId) -> io::Result<()> {
        let path = self.pack_of(id).unwrap_or_else(|| self.path(id));
        File::open(&path)?.sync_all()?;
        File::open(path.parent().unwrap_or(&self.folder))?.sync_all()?;
        File::open(&self.folder)?.sync_all()
    }

    /// Throws contents away that nobody wants to keep and that were last put here before a time.
    ///
    /// The time is what makes it safe beside others who put contents here and have not yet told anybody of them; a day is
    /// enough.
    ///
    /// # Errors
    /// The folder can't be read, or something in it can't be removed.
    pub fn prune(&self, keep: &dyn Fn(&ContentId) -> bool, older_than: SystemTime) -> io::Result<Pruned> {
        let mut pruned = self.prune_packs(keep, older_than)?;
        for fan in entries(&self.folder)? {
            let name = fan.file_name();
            let Some(first) = name.to_str() else { continue };
            if first.starts_with(DRAFT) {
                // Left by a process that was killed.
                remove_old(&fan, older_than)?;
                continue;
            }
            if first.len() != 2 || !fan.file_type()?.is_dir() {
                continue;
            }
            for entry in entries(&fan.path())? {
                let rest = entry.file_name();
                let Ok(id) = format!("{first}{}", rest.to_string_lossy()).parse() else { continue };
                if keep(&id) {
                    continue;
                }
                if let Some(bytes) = remove_old(&entry, older_than)? {
                    pruned.contents += 1;
                    pruned.bytes += bytes;
                }
            }
        }
        Ok(pruned)
    }
    fn path(&self, id: &ContentId) -> PathBuf {
        let name = id.to_string();
        let (fan, rest) = name.split_at_checked(2).unwrap_or_default();
        let mut path = PathBuf::with_capacity(self.folder.as_os_str().len() + name.len() + 2);
        path.push(&self.folder);
        path.push(fan);
        path.push(rest);
        path
    }

    /// Whether a content is there with this length; if so, it counts as put now.
    pub(crate) fn freshen(&self, id: &ContentId, len: u64) -> bool {
        if self.packed(id) == Some(len) && self.freshen_pack(id) {
            return true;
        }
        let path = self.path(id);
        path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == len) && touch(&path)
    }

    /// Writes an object in a file of its own.
    fn put_alone(&self, id: &ContentId, bytes: &[u8]) -> io::Result<()> {
        let mut draft = self.draft()?;
        draft.file.write_all(bytes)?;
        self.appear(draft, id)
    }

    /// Writes a file that is no object, below the store's folder, at once.
    pub(crate) fn write_beside(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut draft = self.draft()?;
        draft.file.write_all(bytes)?;
        fs::rename(&draft.path, path)?;
        draft.path.clear();
        Ok(())
    }

    /// A file for an object that is not whole yet.
    fn draft(&self) -> io::Result<Draft> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = || format!("{DRAFT}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        // A crash may have left one of the same name, and the folder may be missing, so there are a few tries.
        for _ in 0..100 {
            let path = self.folder.join(name());
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => return Ok(Draft { path, file }),
                Err(error) => match error.kind() {
                    io::ErrorKind::AlreadyExists => {}
                    io::ErrorKind::NotFound => {
                        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
                    }
                    _ => return Err(error),
                },
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives a whole object its name.
    fn appear(&self, mut draft: Draft, id: &ContentId) -> io::Result<()> {
        let path = self.path(id);
        let mut renamed = fs::rename(&draft.path, &path);
        if renamed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            let fan = path.parent().unwrap_or(&self.folder);
            DirBuilder::new().recursive(true).mode(0o700).create(fan)?;
            renamed = fs::rename(&draft.path, &path);
        }
        if renamed.is_ok() {
            draft.path.clear();
        }
        renamed
    }
}

/// An object that is not whole yet. It is gone again if it never becomes so.
struct Draft {
    path: PathBuf,
    file: File,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // What went wrong is told already; a draft that can't be removed says nothing new.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Sets a file's time to now; whether it was there.
fn touch(path: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, utimensat};
    let times = Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec { tv_sec: 0, tv_nsec: UTIME_NOW },
    };
    utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// What stands in a folder; nothing if there is none.
fn entries(folder: &Path) -> io::Result<Vec<fs::DirEntry>> {
    match fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Removes a file that was last changed before a time; its length, if it was so.
fn remove_old(entry: &fs::DirEntry, older_than: SystemTime) -> io::Result<Option<u64>> {
    // What is gone already, somebody else has removed.
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(None),
        _ => Err(error),
    };
    let meta = match entry.metadata() {
        Ok(meta) => meta,
        Err(error) => return gone(error),
    };
    if !meta.is_file() || meta.modified()? >= older_than {
        return Ok(None);
    }
    match fs::remove_file(entry.path()) {
        Ok(()) => Ok(Some(meta.len())),
        Err(error) => gone(error),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_read_as_they_are_written_and_nothing_else_is() {
        let name = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let id = ContentId::of(b"abc");
        assert_eq!((id.to_string().as_str(), name.parse()), (name, Ok(id)));
        assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{name}\""));
        assert_eq!(serde_json::from_str::<ContentId>(&format!("\"{name}\"")).unwrap(), id);
        for bad in
            ["", "ba", "..", &name[1..], &format!("{name}0"), &name.to_uppercase(), &name.replace('b', "g")]
        {
            assert!(bad.parse::<ContentId>().is_err(), "{bad}");
            assert!(serde_json::from_str::<ContentId>(&format!("\"{bad}\"")).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_name_or_an_error(text in "[0-9a-fA-F/.ä]{60,68}") {
            match text.parse::<ContentId>() {
                Ok(id) => prop_assert_eq!(id.to_string(), text),
                Err(error) => prop_assert!(error.to_string().contains("64 digits")),
            }
        }
    }
}
