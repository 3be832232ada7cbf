use std::fmt;
use std::path::PathBuf;

use rail_tool::shown;

/// Something that was not read, or not as it stands there; for the user.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct MemoryNote {
    /// The file that it is about, or the folder that was searched.
    pub path: PathBuf,
    /// The file that asked for it by `@path`, if one did.
    pub imported_by: Option<PathBuf>,
    /// What happened.
    pub what: NotRead,
}

/// Why a memory file was not read, or not as it stands there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NotRead {
    /// There is no such file.
    Missing,
    /// A project may bring only files of its own.
    Outside {
        /// What it really is.
        real: PathBuf,
    },
    /// It is a secret.
    Secret {
        /// What kind, after "it is".
        kind: &'static str,
    },
    /// Imports stand in imports more often than they are followed.
    TooDeep,
    /// It is a folder, a pipe or a device.
    NoFile,
    /// The system refused, with these words.
    Refused(String),
    /// It is longer than is read; so many bytes were.
    Cut {
        /// Bytes that were read.
        read: u64,
        /// Bytes that there are.
        all: u64,
    },
    /// It holds bytes that are no UTF-8; they are shown as `�`.
    NoText,
    /// The memory files before it are as much as is read.
    Full,
    /// The time for a search was over.
    TimeUp,
}

impl fmt::Display for MemoryNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "memory file `{}`", shown(&self.path))?;
        if let Some(by) = &self.imported_by {
            write!(f, ", imported by `{}`", shown(by))?;
        }
        f.write_str(": ")?;
        match &self.what {
            NotRead::Missing => {
                f.write_str("there is no such file; correct the `@path`, or put it between backticks")
            }
            NotRead::Outside { real } => write!(
                f,
                "not read, since `{}` is outside of the project; import it in your own memory file instead",
                shown(real)
            ),
            NotRead::Secret { kind } => {
                write!(f, "not read, since it is {kind}; keep secrets out of memory files")
            }
            NotRead::TooDeep => {
                f.write_str("not read, since imports are followed five deep; import it further up")
            }
            NotRead::NoFile => f.write_str("not read, since it is no regular file"),
            NotRead::Refused(why) => write!(f, "it can't be read: {why}"),
            NotRead::Cut { read, all } => {
                write!(f, "only the first {read} of {all} bytes were read; make it shorter")
            }
            NotRead::NoText => {
                f.write_str("it holds bytes that are no UTF-8, which were replaced; save it as UTF-8")
            }
            NotRead::Full => {
                f.write_str("not read, since the memory files before it are long enough; make them shorter")
            }
            NotRead::TimeUp => f.write_str("the search was ended here, because it took too long"),
        }
    }
}
