//! Prepares in the parent what a child does to itself, and understands what it reports.

use std::ffi::{OsStr, c_int};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::calls::{Reach, filters};
use super::child::{self, Cover, Fresh, Spaces, Steps};
use super::land::{Devices, Land, Rights, ruleset};
use super::{ConfineError, places};
use crate::{Namespaces, Network, Support};

/// What a confined shape asks for.
pub(super) struct Wish<'a> {
    pub(super) writable: &'a [PathBuf],
    pub(super) kept: &'a [PathBuf],
    pub(super) hidden: &'a [PathBuf],
    pub(super) network: Network,
}

/// The paths that a child may report about.
#[derive(Debug, Default)]
pub(super) struct Names {
    writable: Vec<PathBuf>,
    kept: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
}

/// Prepares everything and adds it to the command.
pub(super) fn dress(
    command: &mut Command,
    wish: &Wish<'_>,
    support: &Support,
) -> Result<Names, ConfineError> {
    let writable = places::writable(wish.writable);
    let kept = places::kept(wish.kept, &writable);
    let hidden = places::hidden(wish.hidden)?;
    outside_of_hidden(command, &hidden)?;
    let version = *support
        .landlock
        .as_ref()
        .map_err(|missing| ConfineError::Impossible { missing: missing.clone() })?;
    let namespaces = match &support.namespaces {
        Ok(kind) => Some(Spaces {
            kept: kept.iter().filter_map(|(path, keep)| Some((places::c_path(path)?, *keep))).collect(),
            ..spaces(*kind, wish.network, &writable, &hidden, fresh(version, &writable))
        }),
        Err(why) => match hidden.iter().find(|(path, _)| is_in(path, &writable)) {
            Some((path, _)) => return Err(ConfineError::CantHide { path: path.clone(), why: why.clone() }),
            None => None,
        },
    };
    let hidden: Vec<PathBuf> = hidden.into_iter().map(|(path, _)| path).collect();
    let reach = match (wish.network, &namespaces) {
        (Network::On, _) => Reach::Everybody,
        (Network::Off, Some(_)) => Reach::OwnLoopback,
        (Network::Off, None) => Reach::Nobody,
    };
    let land = Land {
        version,
        writable: &writable,
        network: wish.network,
        devices: if namespaces.is_some() { Devices::Own } else { Devices::Shared },
        // What is mounted over needs no rules, and they would cost what is made around it later.
        unreadable: if namespaces.is_some() { &[] } else { &hidden },
    };
    let ruleset = ruleset(&land).map_err(|error| failed("Landlock's rules", io::Error::other(error)))?;
    child::arm(command, steps(namespaces, Some(ruleset), reach)?);
    let kept = kept.into_iter().map(|(path, _)| path).collect();
    Ok(Names { writable, kept, hidden })
}

/// Whether a path is in a writable place, where a command could move it, or what is around it. Shared memory is one.
fn is_in(path: &Path, writable: &[PathBuf]) -> bool {
    path.starts_with("/dev") || writable.iter().any(|place| path.starts_with(place))
}

/// The version of Landlock that works here, or why none does.
pub(crate) fn landlock() -> Result<u32, String> {
    child::landlock_version().map_err(|error| match error.raw_os_error() {
        Some(libc::EOPNOTSUPP) => String::from(
            "Landlock is in the kernel but not switched on (add `landlock` to the boot option `lsm=`)",
        ),
        Some(libc::ENOSYS) => String::from("the kernel has no Landlock (Linux 5.13 or newer is needed)"),
        Some(_) | None => format!("Landlock does not answer ({error})"),
    })
}

/// Whether system calls can be filtered, or why they can't.
pub(crate) fn seccomp() -> Result<(), String> {
    match filters(Reach::Nobody) {
        Ok(_) => {
            child::filters_work().map_err(|error| format!("the kernel filters no system calls ({error})"))
        }
        Err(error) => Err(format!("there are no filters of system calls for this architecture ({error})")),
    }
}

/// How namespaces can be had here, or why they can't.
pub(crate) fn namespaces() -> Result<Namespaces, String> {
    let rehearse = |kind| {
        let null = [(PathBuf::from("/dev/null"), Cover::File)];
        let usr = [PathBuf::from("/usr")];
        let spaces = spaces(kind, Network::Off, &usr, &null, fresh(1, &usr));
        match steps(Some(spaces), None, Reach::Nobody).map(child::rehearse) {
            Ok(Ok(())) => Ok(kind),
            Ok(Err(error)) => {
                Err(Names::default().explain(&error).map_or_else(|| error.to_string(), |error| short(&error)))
            }
            Err(error) => Err(error.to_string()),
        }
    };
    rehearse(Namespaces::Direct)
        .or_else(|_| rehearse(Namespaces::InUser))
        .map_err(|why| format!("namespaces can't be made here ({why})"))
}

fn short(error: &ConfineError) -> String {
    match error {
        ConfineError::Failed { what, source } => format!("{what}: {source}"),
        ConfineError::CantHide { why, .. } => why.clone(),
        ConfineError::Impossible { .. } | ConfineError::HiddenHere { .. } => error.to_string(),
    }
}

fn steps(namespaces: Option<Spaces>, ruleset: Option<OwnedFd>, reach: Reach) -> Result<Steps, ConfineError> {
    let filters =
        filters(reach).map_err(|error| failed("the filter of system calls", io::Error::other(error)))?;
    Ok(Steps { namespaces, ruleset, filters })
}

/// The caller's own folder counts where the command names none.
fn outside_of_hidden(command: &Command, hidden: &[(PathBuf, Cover)]) -> Result<(), ConfineError> {
    let folder = command.get_current_dir().unwrap_or(Path::new("."));
    // A folder that is not there fails by itself, later and better.
    let Ok(folder) = folder.canonicalize() else { return Ok(()) };
    match hidden.iter().find(|(path, _)| folder.starts_with(path)) {
        Some((path, _)) => Err(ConfineError::HiddenHere { folder, hidden: path.clone() }),
        None => Ok(()),
    }
}

fn spaces(
    kind: Namespaces,
    network: Network,
    writable: &[PathBuf],
    hidden: &[(PathBuf, Cover)],
    fresh: Vec<Fresh>,
) -> Spaces {
    let (users, maps) = match kind {
        Namespaces::Direct => (0, None),
        Namespaces::InUser => {
            let (user, group) = child::ids();
            let line = |id: u32| format!("{id} {id} 1\n").into_bytes();
            (libc::CLONE_NEWUSER, Some((line(user), line(group))))
        }
    };
    let net = match network {
        Network::Off => libc::CLONE_NEWNET,
        Network::On => 0,
    };
    let everything = writable.iter().any(|path| path == Path::new("/"));
    let copies = || writable.iter().filter_map(|path| Some((places::c_path(path)?, -1))).collect();
    Spaces {
        flags: libc::CLONE_NEWNS | libc::CLONE_NEWIPC | users | net,
        maps,
        writable: (!everything).then(copies),
        fresh,
        kept: Vec::new(),
        hidden: hidden.iter().filter_map(|(path, cover)| Some((places::c_path(path)?, *cover))).collect(),
    }
}

/// Terminals and shared memory of the child's own, unless one of its writable places is in there.
fn fresh(version: u32, writable: &[PathBuf]) -> Vec<Fresh> {
    let Rights { folder, device, .. } = Rights::of(version);
    let terminals = (c"/dev/pts", c"devpts", c"newinstance,ptmxmode=0666,mode=0620", device.bits());
    let memory = (c"/dev/shm", c"tmpfs", c"mode=1777", folder.bits());
    [terminals, memory]
        .into_iter()
        .map(|(path, kind, options, rights)| Fresh { path, kind, options, rights })
        .filter(|fresh| {
            let path = Path::new(OsStr::from_bytes(fresh.path.to_bytes()));
            path.is_dir() && !writable.iter().any(|place| place.starts_with(path))
        })
        .collect()
}

fn failed(what: impl Into<String>, source: io::Error) -> ConfineError {
    ConfineError::Failed { what: what.into(), source }
}

/// What a child was doing when it failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Namespaces,
    Maps,
    Private,
    Copy,
    ReadOnly,
    Fresh,
    Put,
    Keep,
    Hide,
    Loopback,
    Folder,
    Descriptors,
    Capabilities,
    Privileges,
    Landlock,
    Filter,
    /// Not a failure: all went well, and there is nothing more to do.
    Rehearsed,
}

impl Step {
    const ALL: [(Self, i32, &'static str); 17] = [
        (Self::Namespaces, 1, "moving into namespaces of its own"),
        (Self::Maps, 2, "keeping its user in a new namespace"),
        (Self::Private, 3, "keeping its mounts to itself"),
        (Self::Copy, 4, "keeping a place writable"),
        (Self::ReadOnly, 5, "making everything else read-only"),
        (Self::Fresh, 6, "mounting terminals and shared memory of its own"),
        (Self::Put, 7, "keeping a place writable"),
        (Self::Hide, 8, "hiding a file"),
        (Self::Loopback, 9, "starting a loopback of its own"),
        (Self::Folder, 10, "entering its working folder"),
        (Self::Descriptors, 11, "closing descriptors"),
        (Self::Capabilities, 12, "giving up capabilities"),
        (Self::Privileges, 13, "giving up new privileges"),
        (Self::Landlock, 14, "keeping Landlock's rules"),
        (Self::Filter, 15, "filtering system calls"),
        (Self::Rehearsed, 16, "becoming a program"),
        (Self::Keep, 17, "keeping a place read-only"),
    ];
}

/// A step of a child that failed. A child can only report a number, so it is folded into one that no system uses: step,
/// place and error in 7, 12 and 12 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Fault {
    pub(super) step: Step,
    pub(super) index: usize,
    pub(super) errno: c_int,
}

impl Fault {
    pub(super) fn into_error(self) -> io::Error {
        let step = Step::ALL.iter().find(|(step, _, _)| *step == self.step).map_or(0, |(_, code, _)| *code);
        let index = i32::try_from(self.index.min(0xFFF)).unwrap_or(0xFFF);
        io::Error::from_raw_os_error(step << 24 | index << 12 | self.errno & 0xFFF)
    }

    pub(super) fn of(error: &io::Error) -> Option<Self> {
        let code = error.raw_os_error()?;
        let (step, _, _) = Step::ALL.iter().find(|(_, step, _)| *step == code >> 24)?;
        Some(Self { step: *step, index: usize::try_from(code >> 12 & 0xFFF).ok()?, errno: code & 0xFFF })
    }
}

impl Names {
    pub(super) fn explain(&self, error: &io::Error) -> Option<ConfineError> {
        let fault = Fault::of(error)?;
        let source = io::Error::from_raw_os_error(fault.errno);
        let (_, _, what) = Step::ALL.iter().find(|(step, _, _)| *step == fault.step)?;
        let place = match fault.step {
            Step::Hide => {
                let path =
                    self.hidden.get(fault.index).cloned().unwrap_or_else(|| PathBuf::from("/dev/null"));
                return Some(ConfineError::CantHide { path, why: source.to_string() });
            }
            Step::Copy | Step::Put => self.writable.get(fault.index),
            Step::Keep => self.kept.get(fault.index),
            Step::Namespaces
            | Step::Maps
            | Step::Private
            | Step::ReadOnly
            | Step::Fresh
            | Step::Loopback
            | Step::Folder => None,
            Step::Descriptors
            | Step::Capabilities
            | Step::Privileges
            | Step::Landlock
            | Step::Filter
            | Step::Rehearsed => None,
        };
        let what = place.map_or_else(|| String::from(*what), |path| format!("{what} (`{}`)", path.display()));
        Some(failed(what, source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_survives_being_a_number() {
        for (step, _, _) in Step::ALL {
            for index in [0, 1, 0xFFF] {
                for errno in [0, libc::EPERM, libc::EHWPOISON] {
                    let fault = Fault { step, index, errno };
                    assert_eq!(Fault::of(&fault.into_error()), Some(fault));
                }
            }
        }
        for errno in 0..4096 {
            assert_eq!(Fault::of(&io::Error::from_raw_os_error(errno)), None, "an error of the system");
        }
        assert_eq!(Fault::of(&io::Error::other("none")), None);
    }

    #[test]
    fn a_fault_names_its_place() {
        let names = Names {
            writable: vec![PathBuf::from("/w")],
            kept: Vec::new(),
            hidden: vec![PathBuf::from("/h")],
        };
        let says =
            |step, errno| names.explain(&Fault { step, index: 0, errno }.into_error()).unwrap().to_string();
        insta::assert_snapshot!(says(Step::Put, libc::ENOENT), @"the command was not started, because it can't be confined: keeping a place writable (`/w`): No such file or directory (os error 2); `rail doctor` says what this system can do");
        insta::assert_snapshot!(says(Step::Hide, libc::EPERM), @"`/h` can't be hidden from commands on this system: Operation not permitted (os error 1); run the command only where it may read this: outside of the sandbox");
        insta::assert_snapshot!(says(Step::Filter, libc::EINVAL), @"the command was not started, because it can't be confined: filtering system calls: Invalid argument (os error 22); `rail doctor` says what this system can do");
    }
}
