use std::io;
use std::path::Path;
use std::{fs, io::Read};

/// No configuration is longer; a link may lead to something that has no end.
const LONGEST: u64 = 16 << 20;

/// What a file of ours holds. Only regular files are read: a pipe would be waited for, and a device has no end. A repository
/// can hold a link to either.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, LONGEST)
}

/// The same, of at most so many bytes.
pub(crate) fn read_at_most(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let data = fs::metadata(path)?;
    if data.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !data.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(longest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > longest {
        return Err(io::Error::other(format!("it is longer than {} MiB", longest >> 20)));
    }
    Ok(bytes)
}

/// The text of a file of ours.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read(path)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8 text"))
}

/// Whether this says that there is no such file. A path through a file is no path to one.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
