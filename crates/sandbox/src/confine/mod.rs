//! Confines a child before it runs: what it may write, read, reach and signal is settled between fork and exec.
//!
//! On Linux three things stand one behind another, each for what the others can't do:
//!
//! - *Namespaces*, where the system has them: everything but the writable places becomes a read-only mount (also for modes,
//!   owners, times and attributes, of which Landlock knows nothing), places that are kept inside of the writable ones are
//!   read-only mounts as well, and the folders around them can't be moved, hidden files are mounted over, shared memory, terminals
//!   and System V objects are the child's own, and with the network off so is the loopback, on which it meets only itself.
//! - *Landlock*: writes only in the writable places and on harmless devices, no other device at all, no other process traced
//!   or signalled. Without namespaces hidden files outside of the writable places can't be read; those inside can't be hidden then,
//!   since a command may move them, and so it is not started.
//! - *seccomp*: no mounts, no new namespaces, no tracing, no rings, keys, clocks or modules, nothing typed into a terminal.
//!   With the network off there are no sockets but those of the own loopback, and pairs. A filter can't see to whom a Unix
//!   socket speaks, so there are none of these either: what listens outside (an agent, a desktop, a container service)
//!   can't be reached, and programs that speak with themselves by a named socket must ask for the network.
//!
//! A child of root keeps what it needs for files of other users and gives up all other capabilities. Descriptors from 3 up
//! are closed on exec. The controlling terminal is the caller's matter: start the child in a session of its own.
//!
//! With the network on, a child may speak with every server of this machine, also with those that act for the user and are
//! not confined (the desktop's bus, a container service): it is a permission to be given with care.
//!
//! What is refused says "Read-only file system" or "Permission denied" for files and "Operation not permitted" for the rest.
//! The writable places are mounts of their own: a file moved from one to another is copied, not renamed.
//!
//! Not covered: hard links to a hidden file that were there before; a hidden file that is made, or replaced, by somebody
//! outside while the child runs; a hidden file whose folder an earlier command moved (look for hidden files before each
//! command); command lines of other processes, which everybody can read; the priority of the user's other processes.
//! Root sees a hidden folder as an empty one, everybody else can't open it.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod land;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod places;

#[cfg(target_os = "linux")]
pub(crate) use linux::{landlock, namespaces, seccomp};

use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::{Shape, Support, support};

/// Why a command can't be confined; it must not be started then.
#[derive(Debug, thiserror::Error)]
pub enum ConfineError {
    /// This system can't confine at all.
    #[error(
        "commands can't be confined on this system: {missing}; with `--sandbox off` they run with all your rights, each one asked for"
    )]
    Impossible {
        /// What is missing, as a sentence's part.
        missing: String,
    },
    /// A file or folder can't be kept from the command's eyes.
    #[error(
        "`{}` can't be hidden from commands on this system: {why}; run the command only where it may read this: outside of the sandbox",
        path.display()
    )]
    CantHide {
        /// What was to be hidden.
        path: PathBuf,
        /// Why it can't be.
        why: String,
    },
    /// The command would run inside of something hidden.
    #[error("the command would run in `{}`, but `{}` is hidden from commands; run it in another folder", folder.display(), hidden.display())]
    HiddenHere {
        /// The command's working folder.
        folder: PathBuf,
        /// What is hidden.
        hidden: PathBuf,
    },
    /// One of the steps failed.
    #[error(
        "the command was not started, because it can't be confined: {what}: {source}; `rail doctor` says what this system can do"
    )]
    Failed {
        /// What was being done.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

/// A command that is ready to be started; keep it until the start has succeeded or failed.
#[derive(Debug, Default)]
#[must_use = "it explains why a start failed"]
pub struct Dressed {
    #[cfg(target_os = "linux")]
    names: linux::Names,
}

impl Dressed {
    /// What went wrong, if the start of the command failed because it could not be confined; nothing if it failed otherwise.
    pub fn explain(&self, error: &io::Error) -> Option<ConfineError> {
        #[cfg(target_os = "linux")]
        return self.names.explain(error);
        #[cfg(not(target_os = "linux"))]
        return {
            let _ = error;
            None
        };
    }
}

/// Makes the command confine itself to the shape when it is started, or says why it can't. Nothing else of the command
/// changes, and a free shape changes nothing at all.
///
/// On macOS a command can't confine itself: build it with [`crate::seatbelt::command`], otherwise this refuses.
pub fn dress(command: &mut Command, shape: &Shape) -> Result<Dressed, ConfineError> {
    match shape {
        Shape::Free => Ok(Dressed::default()),
        Shape::Confined { .. } => dress_on(command, shape, &support()),
    }
}

/// As [`dress`], on a system that can do this and no more.
pub fn dress_on(command: &mut Command, shape: &Shape, support: &Support) -> Result<Dressed, ConfineError> {
    let Shape::Confined { writable, kept, hidden, network } = shape else { return Ok(Dressed::default()) };
    support.ready()?;
    #[cfg(target_os = "linux")]
    return linux::dress(command, &linux::Wish { writable, kept, hidden, network: *network }, support)
        .map(|names| Dressed { names });
    #[cfg(not(target_os = "linux"))]
    return {
        let _ = (writable, kept, hidden, network);
        if command.get_program() == crate::seatbelt::PROGRAM {
            return Ok(Dressed::default());
        }
        Err(ConfineError::Impossible {
            missing: String::from("the command was not wrapped in a Seatbelt profile"),
        })
    };
}
