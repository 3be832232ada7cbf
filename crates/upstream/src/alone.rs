//! One process at a time changes a file that several share.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

/// Runs while no other process, and no other thread, does so for this file.
///
/// Where a lock can't be had, as on a read-only disk, it runs all the same: what it does there fails in its own words.
pub(crate) fn alone<T>(path: &Path, act: impl FnOnce() -> T) -> T {
    let held = lock(path);
    let done = act();
    drop(held);
    done
}

/// The file itself is replaced and can't be locked; this one stays. It is unlocked when it is closed.
fn lock(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".lock");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path.with_file_name(name))?;
    file.lock()?;
    Ok(file)
}
