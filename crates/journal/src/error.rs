use std::io;
use std::path::PathBuf;

use crate::store::ContentId;

/// Why a journal could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// There is no such session.
    #[error("there is no journal at `{}`; `rail sessions list` shows the sessions there are", path.display())]
    Missing {
        /// Where it would be.
        path: PathBuf,
    },
    /// A session of this id exists already.
    #[error("there is a session at `{}` already; resume it, or begin one with another id", folder.display())]
    Exists {
        /// Its folder.
        folder: PathBuf,
    },
    /// Another process writes this session.
    #[error("the session at `{}` is in use by {}; end that one first, or fork the session", folder.display(), holder(*pid))]
    InUse {
        /// The session's folder.
        folder: PathBuf,
        /// The process that has it, if it said so.
        pid: Option<u32>,
    },
    /// Its beginning was never written: there is nothing to resume.
    #[error("`{}` holds no whole record, so there is nothing to resume; delete the session", path.display())]
    Empty {
        /// The journal.
        path: PathBuf,
    },
    /// A later version wrote it in another form.
    #[error("`{}` was written in form {version}, and this program knows forms up to {}; install a newer one", path.display(), crate::VERSION)]
    TooNew {
        /// The journal.
        path: PathBuf,
        /// The form it has.
        version: u32,
    },
    /// What stands in the file is not what was written.
    #[error("`{}`, the line that begins at byte {offset}: {wrong}; `rail sessions verify` says what is whole, and a fork of the session before that line can go on", path.display())]
    Broken {
        /// The journal.
        path: PathBuf,
        /// Where the line begins.
        offset: u64,
        /// What is wrong with it.
        wrong: Wrong,
    },
    /// What a line refers to can't be had.
    #[error("`{}`, line {n}: the content {id} can't be read ({source}); bring it back, or fork the session before that line", path.display())]
    Content {
        /// The journal.
        path: PathBuf,
        /// The line's number.
        n: u64,
        /// What it refers to.
        id: ContentId,
        /// Why it can't be read.
        source: io::Error,
    },
    /// A record could not be written; nothing of it stands in the journal.
    #[error("a record could not be written to `{}` ({source}); {}", path.display(), way_out(source))]
    Write {
        /// The journal.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A record that can't be written at all.
    #[error("a record of {size} bytes is too large for `{}`; one may have {limit}", path.display())]
    TooLarge {
        /// The journal.
        path: PathBuf,
        /// How large it is.
        size: u64,
        /// How large it may be.
        limit: u64,
    },
    /// The disk did not take what was written, so it is not known what of it is there.
    #[error("the disk did not take what was written to `{}`{}; resume the session to go on from what is there", path.display(), because(source.as_ref()))]
    Lost {
        /// The journal.
        path: PathBuf,
        /// Why, when it happened just now.
        source: Option<io::Error>,
    },
    /// There is no line of this number.
    #[error("`{}` has no line {n}; it has {lines}", path.display())]
    NoLine {
        /// The journal.
        path: PathBuf,
        /// The number asked for.
        n: u64,
        /// How many there are.
        lines: u64,
    },
    /// What was to be written out could not be.
    #[error("the export could not be written: {source}")]
    Export {
        /// Why.
        source: io::Error,
    },
    /// A file or folder could not be used.
    #[error("`{}`: {source}; look at its permissions and at the disk", path.display())]
    Io {
        /// Which one.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// What is wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Wrong {
    /// It is no line of a journal.
    #[error("it can't be read ({0})")]
    Unreadable(String),
    /// Its number is not the one after the line before.
    #[error("it has number {found} where {due} is due: lines are missing or were added")]
    Number {
        /// The number it has.
        found: u64,
        /// The number it must have.
        due: u64,
    },
    /// It is not the line that the one after it was written behind.
    #[error("it was changed after it was written: its hash is not the one that was noted")]
    Changed,
    /// It refers to a place that is not before it.
    #[error("it goes back to byte {0}, which is not before it")]
    Place(u64),
    /// It is the first, but does not open a session.
    #[error("it is the first, but opens no session")]
    NoBeginning,
    /// It is longer than any line that is written.
    #[error("it is longer than {0} bytes")]
    TooLong(u64),
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

fn way_out(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "make room on the disk and try again: all records before it are whole"
        }
        _ => "all records before it are whole; look at the disk, then try again",
    }
}

fn because(source: Option<&io::Error>) -> String {
    source.map(|source| format!(" ({source})")).unwrap_or_default()
}
