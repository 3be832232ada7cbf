use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use rail_permit::{Grant, World};
use rustix::fs::{AtFlags, Mode, OFlags, fsync, mkdirat, open, openat};
use rustix::io::Errno;

use crate::unsaved::Unsaved;
use crate::{ToolFault, shown};

/// Files, as far as a grant goes.
///
/// The grant is looked at again when a file is open: what a path means can change between the judgement and the use, what an
/// open file is can't. New content goes beside the file and takes its name, inside a folder that is held open; so a link that is
/// swapped in under a name or a folder leads nowhere.
#[derive(Clone, Debug)]
pub struct Files {
    pub(crate) grant: Grant,
    /// Where an editor has texts of its own.
    pub(crate) editor: Option<Unsaved>,
}

/// A file that is open for reading.
#[derive(Debug)]
pub struct Opened {
    /// The file.
    pub file: File,
    /// Its path, links resolved.
    pub real: PathBuf,
    /// What the system knows of it.
    pub meta: Metadata,
}

/// One entry of a folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is; a link is not followed.
    pub kind: EntryKind,
    /// Its length in bytes.
    pub len: u64,
    /// When it was last changed.
    pub modified: Option<SystemTime>,
}

/// What an entry of a folder is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link to something else.
    Link,
    /// A device, a socket, a pipe.
    Other,
}

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// The grant does not go so far.
    #[error("`{}` is not what was allowed: it is `{}` now", shown(.path), shown(.real))]
    Denied {
        /// The path as it was asked for.
        path: PathBuf,
        /// What it really is.
        real: PathBuf,
    },
    /// There is no such file.
    #[error("there is no file `{}`", shown(.path))]
    Missing {
        /// The path as it was asked for.
        path: PathBuf,
    },
    /// It is a folder.
    #[error("`{}` is a folder", shown(.path))]
    Folder {
        /// The path as it was asked for.
        path: PathBuf,
    },
    /// It is neither a file nor a folder.
    #[error("`{}` is a device, a socket or a pipe, not a file", shown(.path))]
    Special {
        /// The path as it was asked for.
        path: PathBuf,
    },
    /// It holds more than was asked for.
    #[error("`{}` has {len} bytes, more than {at_most}", shown(.path))]
    TooLarge {
        /// The path as it was asked for.
        path: PathBuf,
        /// Its length.
        len: u64,
        /// The most that was asked for.
        at_most: u64,
    },
    /// It may not be written.
    #[error("`{}` is read-only", shown(.path))]
    ReadOnly {
        /// The path as it was asked for.
        path: PathBuf,
    },
    /// Somebody else changed it in the meantime.
    #[error("`{}` was changed by somebody else in this moment", shown(.path))]
    Changed {
        /// The path as it was asked for.
        path: PathBuf,
    },
    /// The system refused.
    #[error("`{}`: {cause}", shown(.path))]
    System {
        /// The path as it was asked for.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

impl From<FileFault> for ToolFault {
    fn from(fault: FileFault) -> Self {
        Self::new(fault.to_string())
    }
}

impl Files {
    pub(crate) fn new(grant: Grant) -> Self {
        Self { grant, editor: None }
    }

    /// Whether a file may be read; the path has its links resolved. For those who walk a tree by themselves.
    pub fn may_read(&self, real: &Path) -> bool {
        self.grant.reads(real)
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// It is missing, no file, or not what was allowed.
    pub fn open(&self, path: &Path) -> Result<Opened, FileFault> {
        Opened::if_real(path, |real| self.grant.reads(real))
    }

    /// Reads a whole file of at most so many bytes.
    ///
    /// # Errors
    /// As [`open`](Self::open), or it is larger.
    pub fn read(&self, path: &Path, at_most: u64) -> Result<(Opened, Vec<u8>), FileFault> {
        let opened = self.open_current(path)?;
        // Some files tell a wrong length, so it is only how much room is made at first.
        let room = opened.meta.len().min(at_most).saturating_add(1);
        let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
        // One byte more tells whether it grew while it was read.
        let read = (&opened.file).take(at_most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|cause| FileFault::System { path: path.to_owned(), cause })?;
        if bytes.len() as u64 > at_most {
            let len = opened.meta.len().max(bytes.len() as u64);
            return Err(FileFault::TooLarge { path: path.to_owned(), len, at_most });
        }
        Ok((opened, bytes))
    }

    /// What stands in a folder, by name.
    ///
    /// # Errors
    /// It is missing, no folder, or not what was allowed.
    pub fn list(&self, folder: &Path) -> Result<Vec<Entry>, FileFault> {
        let system = |cause| FileFault::System { path: folder.to_owned(), cause };
        let dir = self.folder(folder)?;
        let real = path_of(&dir).map_err(system)?;
        if !self.grant.reads(&real) {
            return Err(FileFault::Denied { path: folder.to_owned(), real });
        }
        let mut entries = Entry::all(&dir, usize::MAX).map_err(system)?;
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The folder that a file is written in, held open, with the folders on the way made; the file's name in it, and its path.
    pub(crate) fn place(&self, path: &Path) -> Result<(OwnedFd, OsString, PathBuf), FileFault> {
        let system = |cause: io::Error| FileFault::System { path: path.to_owned(), cause };
        let real = real(path);
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(FileFault::Folder { path: path.to_owned() });
        };
        let (there, missing) = split(parent);
        let mut dir = self.folder(&there)?;
        // The folder that is open, not the one that was meant, decides.
        let mut at = path_of(&dir).map_err(system)?;
        let target = missing.iter().fold(at.clone(), |at, name| at.join(name)).join(name);
        if !self.grant.writes(&target) {
            return Err(FileFault::Denied { path: path.to_owned(), real: target });
        }
        for name in missing {
            at.push(&name);
            match mkdirat(&dir, &name, Mode::from_raw_mode(0o777)) {
                // The new folder's name is to be on the disk before anything in it is.
                Ok(()) => fsync(&dir).map_err(|errno| of(&at, errno))?,
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(of(&at, errno)),
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            dir = openat(&dir, &name, flags, Mode::empty()).map_err(|errno| of(&at, errno))?;
        }
        Ok((dir, name.to_owned(), target))
    }

    pub(crate) fn folder(&self, path: &Path) -> Result<OwnedFd, FileFault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        open(path, flags, Mode::empty()).map_err(|errno| of(path, errno))
    }
}

impl Opened {
    /// Opens a file for reading if its path, links resolved, is one that may be read. For files that no call asks for, such as
    /// memory files; a tool's go through [`Files`].
    ///
    /// # Errors
    /// It is missing, no file, or not what may be read.
    pub fn if_real(path: &Path, may_read: impl Fn(&Path) -> bool) -> Result<Self, FileFault> {
        // Without waiting: a pipe with no writer would hold the call for ever.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(open(path, flags, Mode::empty()).map_err(|errno| of(path, errno))?);
        let meta = file.metadata().map_err(|cause| FileFault::System { path: path.to_owned(), cause })?;
        let real = path_of(&file).map_err(|cause| FileFault::System { path: path.to_owned(), cause })?;
        if !may_read(&real) {
            return Err(FileFault::Denied { path: path.to_owned(), real });
        }
        if meta.is_dir() {
            return Err(FileFault::Folder { path: path.to_owned() });
        }
        if !meta.is_file() {
            return Err(FileFault::Special { path: path.to_owned() });
        }
        Ok(Self { file, real, meta })
    }
}

impl Entry {
    /// What stands in an open folder, at most so many, in no order.
    pub(crate) fn all(dir: &OwnedFd, at_most: usize) -> io::Result<Vec<Self>> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(dir)? {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_bytes() == b"." || name.to_bytes() == b".." {
                continue;
            }
            if entries.len() >= at_most {
                break;
            }
            // What is gone again is not there.
            let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            entries.push(Self::of(name, &stat));
        }
        Ok(entries)
    }

    fn of(name: &std::ffi::CStr, stat: &rustix::fs::Stat) -> Self {
        use std::os::unix::ffi::OsStrExt;
        let kind = match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
            rustix::fs::FileType::RegularFile => EntryKind::File,
            rustix::fs::FileType::Directory => EntryKind::Folder,
            rustix::fs::FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        };
        let seconds = u64::try_from(stat.st_mtime).ok();
        let nanos = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
        let modified = seconds
            .and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(std::time::Duration::new(seconds, nanos)));
        Self {
            name: OsStr::from_bytes(name.to_bytes()).to_owned(),
            kind,
            len: u64::try_from(stat.st_size).unwrap_or(0),
            modified,
        }
    }
}

pub(crate) fn mode_of(stat: &rustix::fs::Stat, path: &Path) -> Result<Mode, FileFault> {
    match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::RegularFile => Ok(Mode::from_raw_mode(stat.st_mode)),
        rustix::fs::FileType::Directory => Err(FileFault::Folder { path: path.to_owned() }),
        _ => Err(FileFault::Special { path: path.to_owned() }),
    }
}

pub(crate) fn of(path: &Path, errno: Errno) -> FileFault {
    match errno {
        Errno::NOENT => FileFault::Missing { path: path.to_owned() },
        // A socket, or a device that is not plugged in.
        Errno::NXIO => FileFault::Special { path: path.to_owned() },
        errno => FileFault::System { path: path.to_owned(), cause: errno.into() },
    }
}

/// The path of something that is open.
pub(crate) fn path_of(fd: &impl std::os::fd::AsFd) -> io::Result<PathBuf> {
    #[cfg(target_os = "macos")]
    let path = {
        use std::os::unix::ffi::OsStringExt;
        PathBuf::from(OsString::from_vec(rustix::fs::getpath(fd)?.into_bytes()))
    };
    #[cfg(not(target_os = "macos"))]
    let path = {
        use std::os::fd::AsRawFd;
        std::fs::read_link(format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()))?
    };
    Ok(path)
}

/// The file system of this machine, for who judges paths.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl World for Disk {
    fn real(&self, path: &Path) -> PathBuf {
        real(path)
    }

    fn git_runs(&self, folder: &Path) -> Option<String> {
        crate::repository::runs(folder)
    }
}

/// The path with all links and `..` resolved, as far as it exists; the rest is kept behind it.
pub(crate) fn real(path: &Path) -> PathBuf {
    real_within(path, 40)
}

/// A link that leads to nothing yet is a file that would be made: it is followed too, so often and no more.
fn real_within(path: &Path, links: u32) -> PathBuf {
    if let Some(real) = by_kernel(path).or_else(|| path.canonicalize().ok()) {
        return real;
    }
    if let (Ok(to), Some(left)) = (path.read_link(), links.checked_sub(1)) {
        return real_within(&path.parent().unwrap_or(Path::new("/")).join(to), left);
    }
    match (path.parent(), path.components().next_back()) {
        (Some(parent), Some(Component::Normal(name))) => real_within(parent, links).join(name),
        (Some(parent), Some(Component::ParentDir)) => {
            let above = real_within(parent, links);
            above.parent().map_or(above.clone(), Path::to_owned)
        }
        (Some(parent), Some(_)) => real_within(parent, links),
        _ => path.to_owned(),
    }
}

/// The path as the kernel itself resolves it, in one walk instead of one for each name in it. Nothing where it can't tell.
#[cfg(target_os = "linux")]
fn by_kernel(path: &Path) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;

    let fd = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let real = path_of(&fd).ok()?;
    // Of what was removed in this moment the kernel tells a name that nothing has, and of what is outside of our root no path.
    let is_there = real.is_absolute() && !real.as_os_str().as_bytes().ends_with(b" (deleted)");
    is_there.then_some(real)
}

#[cfg(not(target_os = "linux"))]
fn by_kernel(_: &Path) -> Option<PathBuf> {
    None
}

/// The nearest folder that is there, and the names of those behind it that are not.
pub(crate) fn split(folder: &Path) -> (PathBuf, Vec<OsString>) {
    let mut missing = Vec::new();
    let mut there = folder;
    while !there.exists() {
        let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else { break };
        missing.push(name.to_owned());
        there = parent;
    }
    missing.reverse();
    (there.to_owned(), missing)
}
