use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use crate::confine::ConfineError;
use crate::{Bounds, Shape, Support};

/// What is started.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments; behind them comes the name of the file it reports to ([`Ended::report`](crate::Ended::report)), and, if it is fed, of the file it
    /// is fed from.
    pub args: Vec<OsString>,
    /// All of its environment; a mark is added by which whatever it starts is found again.
    pub env: Vec<(OsString, OsString)>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// What it reads.
    pub input: Input,
    /// Bytes for it that are too long for an argument.
    pub fed: Option<Vec<u8>>,
    /// How what it prints is kept.
    pub streams: Streams,
    /// What it may do.
    pub shape: Shape,
    /// What the system can do to confine it; where nobody says, that is found out.
    pub support: Option<Support>,
    /// How much of its output is kept.
    pub bounds: Bounds,
    /// Where its output is kept once it is too long for memory.
    pub file: Option<PathBuf>,
}

/// What a program reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Input {
    /// Nothing: it is at the end of its input from the start.
    #[default]
    Nothing,
    /// What [`Process::write`](crate::Process::write) gives it.
    Written,
}

/// How a program's output and what it says of errors are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Streams {
    /// In one, in the order in which they were written.
    #[default]
    Together,
    /// What it says of errors for itself: [`Process::errors`](crate::Process::errors).
    Apart,
    /// What it says of errors for itself; what it reads and prints goes to whoever takes it
    /// ([`Process::talk`](crate::Process::talk)), and nothing of it is kept. There is no file that it reports to, so that its arguments
    /// are its own.
    Talk,
}

/// Why a program could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It can't be confined as it must be.
    #[error("the command can't be confined: {0}")]
    Confine(#[from] ConfineError),
    /// The system did not start it.
    #[error("`{}` can't be started in `{}`: {cause}", .program.display(), .cwd.display())]
    System {
        /// The program.
        program: PathBuf,
        /// The folder.
        cwd: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}
