use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, RenameFlags, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr,
    fsetxattr, fsync, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

/// Bytes of extended attributes that are carried over; the kernel allows no more for one.
const MAX_ATTRIBUTE: usize = 64 << 10;

/// New content beside the file whose name it will take. It is gone again if it never takes it.
pub(crate) struct Draft<'a> {
    dir: &'a OwnedFd,
    name: OsString,
    file: File,
}

impl<'a> Draft<'a> {
    /// Begins one in the folder of a file.
    pub(crate) fn beside(name: &OsStr, dir: &'a OwnedFd) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A crash may have left one of the same name, so there are a few tries.
        for _ in 0..100 {
            let draft = draft_name(name);
            match openat(dir, &draft, flags, Mode::from_raw_mode(0o666)) {
                Ok(fd) => return Ok(Self { dir, name: draft, file: File::from(fd) }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(Errno::EXIST.into())
    }

    /// Writes all of it, to the disk itself; what the file before it was to others stays so.
    pub(crate) fn fill(&mut self, bytes: &[u8], before: Option<(&File, &Metadata)>) -> io::Result<()> {
        self.file.write_all(bytes)?;
        if let Some((file, meta)) = before {
            carry_attributes(file, &self.file);
            carry_owner_and_mode(meta, &self.file)?;
        }
        self.file.sync_all()
    }

    /// Takes the name of the file that was there.
    pub(crate) fn replace(self, name: &OsStr) -> io::Result<File> {
        renameat(self.dir, &self.name, self.dir, name)?;
        self.done()
    }

    /// Takes a name that nobody else has.
    pub(crate) fn appear(self, name: &OsStr) -> io::Result<File> {
        match renameat_with(self.dir, &self.name, self.dir, name, RenameFlags::NOREPLACE) {
            Ok(()) => self.done(),
            // Not every file system can do that.
            Err(Errno::INVAL | Errno::NOSYS) => match statat(self.dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(Errno::EXIST.into()),
                Err(_) => self.replace(name),
            },
            Err(errno) => Err(errno.into()),
        }
    }

    /// The new name is on the disk as well.
    fn done(mut self) -> io::Result<File> {
        self.name.clear();
        fsync(self.dir)?;
        self.file.try_clone()
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            // What went wrong is told already; a draft that can't be removed says nothing new.
            let _ = unlinkat(self.dir, &self.name, AtFlags::empty());
        }
    }
}

/// The owner stays as far as the system lets us; bits that lend the owner's rights do not outlive the owner.
fn carry_owner_and_mode(before: &Metadata, file: &File) -> io::Result<()> {
    let mine = file.metadata()?;
    let mut mode = before.mode() & 0o7777;
    if (mine.uid(), mine.gid()) != (before.uid(), before.gid()) {
        let (owner, group) = (Uid::from_raw(before.uid()), Gid::from_raw(before.gid()));
        let both = fchown(file, Some(owner), Some(group));
        if both.is_err() {
            // An ordinary user may still give it to a group of theirs.
            let _ = fchown(file, None, Some(group));
            mode &= 0o1777;
        }
    }
    fchmod(file, Mode::from_raw_mode(mode))?;
    Ok(())
}

/// Access lists and what users attached; file systems without them have nothing to carry.
fn carry_attributes(before: &File, file: &File) {
    let mut names = vec![0; MAX_ATTRIBUTE];
    let Ok(length) = flistxattr(before, names.as_mut_slice()) else { return };
    for name in names.get(..length).unwrap_or_default().split(|byte| *byte == 0) {
        if !name.starts_with(b"user.") && name != b"system.posix_acl_access" {
            continue;
        }
        let mut value = vec![0; MAX_ATTRIBUTE];
        if let Ok(length) = fgetxattr(before, name, value.as_mut_slice()) {
            // Best effort: the content matters more.
            let _ = fsetxattr(file, name, value.get(..length).unwrap_or_default(), XattrFlags::empty());
        }
    }
}

/// A name beside the file that no other writer has.
fn draft_name(name: &OsStr) -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut draft = OsString::from(".");
    // Names have at most 255 bytes.
    if name.len() <= 200 {
        draft.push(name);
    }
    draft.push(format!(".{}-{}~", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    draft
}
