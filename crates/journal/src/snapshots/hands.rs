//! Files below one folder, reached without ever following a link.
//!
//! Every folder on the way is opened by its own name and held open, so a link that is swapped in under any name leads nowhere.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, fchmod, fchown, fstat, mkdirat, open,
    openat, renameat, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::scan::Stamp;
use super::tree::Entry;

/// What is at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Found {
    Nothing,
    File(Stamp),
    Link(Stamp),
    Folder(Stamp),
    /// A device, a socket, a pipe, or what can't be looked at.
    Special,
}

/// A folder that is held open.
#[derive(Debug)]
pub(crate) struct Folder(pub(crate) OwnedFd);

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Folder {
    /// The workspace itself. Its links were resolved at the beginning, so one that is there now was swapped in.
    pub(crate) fn root(path: &Path) -> io::Result<Self> {
        Ok(Self(open(path, FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// A folder in this one.
    pub(crate) fn enter(&self, name: &[u8]) -> Result<Self, Errno> {
        Ok(Self(openat(&self.0, OsStr::from_bytes(name), FOLDER | OFlags::NOFOLLOW, Mode::empty())?))
    }

    /// The folder of an entry below this one, and the entry's name.
    pub(crate) fn parent_of<'p>(&self, path: &'p [u8]) -> Result<(Self, &'p [u8]), Errno> {
        let mut folder = Self(rustix::io::dup(&self.0)?);
        let mut names = path.split(|byte| *byte == b'/');
        let last = names.next_back().unwrap_or_default();
        for name in names {
            folder = folder.enter(name)?;
        }
        Ok((folder, last))
    }

    /// What an entry is; a link is not followed.
    pub(crate) fn stat(&self, name: &[u8]) -> Result<Stat, Errno> {
        statat(&self.0, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW)
    }

    /// Opens a file to be read; nothing but a file.
    pub(crate) fn open(&self, name: &[u8]) -> io::Result<(File, Stamp)> {
        // Without waiting: a pipe with no writer would hold the call for ever.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = openat(&self.0, OsStr::from_bytes(name), flags, Mode::empty())?;
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Errno::NXIO.into());
        }
        Ok((File::from(file), Stamp::of(&stat)))
    }

    /// What a link leads to.
    pub(crate) fn link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(rustix::fs::readlinkat(&self.0, OsStr::from_bytes(name), Vec::new())?.into_bytes())
    }
}

impl Folder {
    /// What is at a name now.
    pub(crate) fn found(&self, name: &[u8]) -> Found {
        match self.stat(name) {
            Err(Errno::NOENT) => Found::Nothing,
            Err(_) => Found::Special,
            Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Found::File(Stamp::of(&stat)),
                FileType::Symlink => Found::Link(Stamp::of(&stat)),
                FileType::Directory => Found::Folder(Stamp::of(&stat)),
                _ => Found::Special,
            },
        }
    }

    /// Replaces a file at once, or makes it, if it is still what was found.
    pub(crate) fn write(&self, name: &[u8], bytes: &[u8], mode: u32, found: &Found) -> io::Result<()> {
        self.allowed(|| {
            let draft = draft_name();
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = File::from(openat(&self.0, &draft, flags, Mode::from_raw_mode(0o600))?);
            let filled = file.write_all(bytes).and_then(|()| {
                self.carry_owner(name, &file);
                Ok(fchmod(&file, Mode::from_raw_mode(narrow(mode & 0o777)))?)
            });
            self.take_name(&draft, name, found, filled)
        })
    }

    /// Replaces a link at once, or makes it, if it is still what was found.
    pub(crate) fn write_link(&self, name: &[u8], to: &[u8], found: &Found) -> io::Result<()> {
        self.allowed(|| {
            let draft = draft_name();
            symlinkat(OsStr::from_bytes(to), &self.0, &draft)?;
            self.take_name(&draft, name, found, Ok(()))
        })
    }

    /// Removes a file or a link, if it is still what was found.
    pub(crate) fn remove(&self, name: &[u8], stamp: Option<Stamp>) -> io::Result<()> {
        self.allowed(|| {
            self.still(name, stamp)?;
            Ok(unlinkat(&self.0, OsStr::from_bytes(name), AtFlags::empty())?)
        })
    }

    /// Removes a folder that is empty.
    pub(crate) fn remove_folder(&self, name: &[u8]) -> io::Result<()> {
        self.allowed(|| Ok(unlinkat(&self.0, OsStr::from_bytes(name), AtFlags::REMOVEDIR)?))
    }

    /// Makes a folder that only we can look into, for now.
    pub(crate) fn make_folder(&self, name: &[u8]) -> io::Result<()> {
        self.allowed(|| Ok(mkdirat(&self.0, OsStr::from_bytes(name), Mode::from_raw_mode(0o700))?))
    }

    /// Sets who may read, write and run a file.
    pub(crate) fn set_mode(&self, name: &[u8], mode: u32) -> io::Result<()> {
        match self.open(name) {
            Ok((file, _)) => Ok(fchmod(file, Mode::from_raw_mode(narrow(mode & 0o777)))?),
            Err(cause) => Err(cause),
        }
    }

    /// Sets who may look into this folder.
    pub(crate) fn set_own_mode(&self, mode: u32) -> io::Result<()> {
        Ok(fchmod(&self.0, Mode::from_raw_mode(narrow(mode & 0o7777)))?)
    }

    /// Makes a change in a folder that forbids it to its owner too: for this moment it is allowed.
    fn allowed<T>(&self, change: impl Fn() -> io::Result<T>) -> io::Result<T> {
        match change() {
            Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
                let mode = Mode::from_raw_mode(fstat(&self.0)?.st_mode & 0o7777);
                if mode.contains(Mode::RWXU) || fchmod(&self.0, mode | Mode::RWXU).is_err() {
                    return Err(cause);
                }
                let changed = change();
                fchmod(&self.0, mode)?;
                changed
            }
            changed => changed,
        }
    }

    /// A draft takes the name of what was found, or goes away again.
    fn take_name(&self, draft: &str, name: &[u8], found: &Found, filled: io::Result<()>) -> io::Result<()> {
        let name = OsStr::from_bytes(name);
        let named = filled.and_then(|()| match found.stamp() {
            Some(stamp) => {
                self.still(name.as_bytes(), Some(stamp))?;
                Ok(renameat(&self.0, draft, &self.0, name)?)
            }
            None => match renameat_with(&self.0, draft, &self.0, name, RenameFlags::NOREPLACE) {
                // Not every file system can do that.
                Err(Errno::INVAL | Errno::NOSYS) => {
                    self.still(name.as_bytes(), None)?;
                    Ok(renameat(&self.0, draft, &self.0, name)?)
                }
                named => Ok(named?),
            },
        });
        if named.is_err() {
            // What went wrong is told already; a draft that can't be removed says nothing new.
            let _ = unlinkat(&self.0, draft, AtFlags::empty());
        }
        named
    }

    /// An error that says that somebody came between, unless a place is what it was.
    fn still(&self, name: &[u8], stamp: Option<Stamp>) -> io::Result<()> {
        let now = self.stat(name).ok().map(|stat| Stamp::of(&stat));
        if now == stamp { Ok(()) } else { Err(Errno::STALE.into()) }
    }

    /// The owner of what is replaced stays, as far as the system lets us.
    fn carry_owner(&self, name: &[u8], file: &File) {
        if let (Ok(old), Ok(new)) = (self.stat(name), fstat(file))
            && (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid)
        {
            let _ = fchown(file, Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)));
        }
    }
}

impl Found {
    /// What tells whether it is still the same; nothing if nothing is there.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        match self {
            Self::File(stamp) | Self::Link(stamp) | Self::Folder(stamp) => Some(*stamp),
            Self::Nothing | Self::Special => None,
        }
    }

    /// Whether it holds what an entry says; who may read it does not count.
    pub(crate) fn holds(&self, folder: &Folder, name: &[u8], entry: &Entry) -> bool {
        match (self, entry) {
            (Self::File(stamp), Entry::File { id, size, .. }) => {
                stamp.size == *size && hash(folder, name).is_ok_and(|digest| digest == *id.digest())
            }
            (Self::File(stamp), Entry::NotKept { size, mtime, .. }) => {
                (stamp.size, stamp.modified) == (*size, *mtime)
            }
            (Self::Link(_), Entry::Link(to)) => folder.link(name).is_ok_and(|now| now == *to),
            (Self::Folder(_), Entry::Folder { .. }) => true,
            (Self::Nothing | Self::Special | Self::File(_) | Self::Link(_) | Self::Folder(_), _) => false,
        }
    }

    /// Whether others may do with it what an entry says.
    pub(crate) fn has_mode(&self, entry: &Entry) -> bool {
        match (self, entry) {
            (Self::File(stamp), Entry::File { mode, .. } | Entry::NotKept { mode, .. }) => {
                stamp.mode & 0o777 == *mode
            }
            (Self::Nothing | Self::Special | Self::File(_) | Self::Link(_) | Self::Folder(_), _) => true,
        }
    }
}

fn hash(folder: &Folder, name: &[u8]) -> io::Result<[u8; 32]> {
    let mut file = folder.open(name)?.0;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hash.finalize().into()),
            read => hash.update(piece.get(..read).unwrap_or_default()),
        }
    }
}

/// A mode as the system gives it, which has 16 or 32 bits.
pub(crate) fn wide(mode: impl Into<u32>) -> u32 {
    mode.into()
}

/// A mode as the system wants it. All that a mode can be fits.
pub(crate) fn narrow<T: TryFrom<u32> + Default>(mode: u32) -> T {
    T::try_from(mode).unwrap_or_default()
}

/// A name that no other writer has.
fn draft_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!(".rail-{}-{}~", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}
