//! Files that are written, moved and removed, as far as a grant goes.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    Access, AtFlags, Mode, OFlags, RenameFlags, accessat, fsync, openat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use crate::draft::Draft;
use crate::files::{mode_of, of};
use crate::{FileFault, Files, Opened};

/// What a file is expected to hold when it is replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected<'a> {
    /// Whatever it holds.
    Anything,
    /// There is no such file.
    Nothing,
    /// These bytes.
    Bytes(&'a [u8]),
}

impl Files {
    /// Replaces a file at once, or makes it, with the folders on the way: a crash leaves the old or the new bytes.
    ///
    /// A file that was there keeps its mode, its access list and what users attached to it, and its owner where the system
    /// lets us; its other names (hard links) keep the old bytes. A link is followed: what it leads to is replaced. Whether the
    /// file is what was expected is looked at just before the new one takes its name; a writer who comes in the moment
    /// between the two, or who still has the old file open, is not seen.
    ///
    /// # Errors
    /// It is no file, or not what was allowed or expected, or the system refused.
    pub fn replace(&self, path: &Path, bytes: &[u8], expected: Expected<'_>) -> Result<Opened, FileFault> {
        let system = |cause: io::Error| FileFault::System { path: path.to_owned(), cause };
        if let Some(opened) = self.by_editor(path, bytes, expected)? {
            return Ok(opened);
        }
        let (dir, name, real) = self.place(path)?;
        let found = before(&dir, &name, path)?;
        let mut draft = Draft::beside(&name, &dir).map_err(system)?;
        let old = found.as_ref().map(|(file, meta)| (file, meta));
        draft.fill(bytes, old).map_err(system)?;
        let changed = || FileFault::Changed { path: path.to_owned() };
        let file = match (expected, found) {
            (Expected::Nothing, Some(_)) | (Expected::Bytes(_), None) => return Err(changed()),
            (Expected::Nothing, None) => draft.appear(&name).map_err(|cause| match cause.kind() {
                io::ErrorKind::AlreadyExists => changed(),
                _ => system(cause),
            })?,
            (Expected::Bytes(wanted), Some(_)) => {
                if !before(&dir, &name, path)?.is_some_and(|(file, _)| holds(&file, wanted)) {
                    return Err(changed());
                }
                draft.replace(&name).map_err(system)?
            }
            (Expected::Anything, Some(_) | None) => draft.replace(&name).map_err(system)?,
        };
        let meta = file.metadata().map_err(system)?;
        Ok(Opened { file, real, meta })
    }

    /// Removes a file. A link is followed: what it leads to is removed.
    ///
    /// # Errors
    /// It is missing, no file, or not what was allowed, or the system refused.
    pub fn remove(&self, path: &Path) -> Result<PathBuf, FileFault> {
        let (dir, name, real) = self.place(path)?;
        let stat = statat(&dir, &name, AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| of(path, errno))?;
        mode_of(&stat, path)?;
        unlinkat(&dir, &name, AtFlags::empty()).map_err(|errno| of(path, errno))?;
        fsync(&dir).map_err(|errno| of(path, errno))?;
        Ok(real)
    }

    /// Gives a file another name that nothing has yet, with the folders on the way; it stays the same file. A link is followed:
    /// what it leads to is moved.
    ///
    /// # Errors
    /// It is missing, no file, or not what was allowed, something has the name already, or the system refused.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<PathBuf, FileFault> {
        let (from_dir, from_name, _) = self.place(from)?;
        if before(&from_dir, &from_name, from)?.is_none() {
            return Err(FileFault::Missing { path: from.to_owned() });
        }
        let (to_dir, to_name, real) = self.place(to)?;
        match renameat_with(&from_dir, &from_name, &to_dir, &to_name, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(FileFault::Changed { path: to.to_owned() }),
            Err(errno) => return Err(of(to, errno)),
        }
        fsync(&to_dir).map_err(|errno| of(to, errno))?;
        fsync(&from_dir).map_err(|errno| of(from, errno))?;
        Ok(real)
    }
}

/// The file that has a name now. One that nobody may write, or not we, is left alone.
pub(crate) fn before(
    dir: &OwnedFd,
    name: &OsStr,
    path: &Path,
) -> Result<Option<(File, Metadata)>, FileFault> {
    let stat = match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(of(path, errno)),
    };
    let mode = mode_of(&stat, path)?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(openat(dir, name, flags, Mode::empty()).map_err(|errno| of(path, errno))?);
    let meta = file.metadata().map_err(|cause| FileFault::System { path: path.to_owned(), cause })?;
    let writable = accessat(dir, name, Access::WRITE_OK, AtFlags::empty());
    // For root nothing is read-only, but a file that nobody may write is meant to stay.
    if mode.bits() & 0o222 == 0 || matches!(writable, Err(Errno::ACCESS | Errno::PERM)) {
        return Err(FileFault::ReadOnly { path: path.to_owned() });
    }
    Ok(Some((file, meta)))
}

/// Whether a file holds these bytes and no others.
fn holds(mut file: &File, wanted: &[u8]) -> bool {
    let mut rest = wanted;
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return rest.is_empty(),
            Ok(read) => match piece.get(..read).and_then(|piece| rest.strip_prefix(piece)) {
                Some(after) => rest = after,
                None => return false,
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
}
