//! Landlock's rules for a child.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};

use crate::Network;

/// What the rules are made for.
pub(super) struct Land<'a> {
    /// The kernel's version of Landlock.
    pub(super) version: u32,
    /// Places that may be written.
    pub(super) writable: &'a [PathBuf],
    /// Whether sockets of outside may be spoken with.
    pub(super) network: Network,
    /// Whose terminals and shared memory the child sees.
    pub(super) devices: Devices,
    /// What may not be read, by its true name and outside of the writable places.
    pub(super) unreadable: &'a [PathBuf],
}

/// Whose terminals and shared memory a child sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Devices {
    /// Its own.
    Own,
    /// The user's: shared memory, which programs need for locks, but no terminals, on which the user types.
    Shared,
}

/// Devices that hold nothing and steer nothing; `tty` is the child's own terminal, if it has one.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

/// The rules, as the kernel holds them.
pub(super) fn ruleset(land: &Land<'_>) -> Result<OwnedFd, RulesetError> {
    let abi = known(land.version);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    if abi >= ABI::V6 {
        rules = rules.scope(match land.network {
            Network::Off => Scope::Signal | Scope::AbstractUnixSocket,
            Network::On => Scope::Signal.into(),
        })?;
    }
    let rights = Rights::of(land.version);
    let mut rules = allow(rules.create()?, Path::new("/"), AccessFs::Execute | AccessFs::ReadDir)?;
    for path in readable(land.unreadable) {
        rules = allow(rules, &path, AccessFs::ReadFile.into())?;
    }
    for device in DEVICES {
        rules = allow(rules, Path::new(device), rights.device)?;
    }
    rules = match land.devices {
        // The rules for what is mounted there are added by the child.
        Devices::Own => allow(rules, Path::new("/dev/ptmx"), rights.device)?,
        Devices::Shared => allow(rules, Path::new("/dev/shm"), rights.folder)?,
    };
    for path in land.writable {
        rules = allow(rules, path, if path.is_dir() { rights.folder } else { rights.file })?;
    }
    Option::<OwnedFd>::from(rules)
        .ok_or(RulesetError::CreateRuleset(landlock::CreateRulesetError::MissingHandledAccess))
}

/// Everything but devices and what may not be read. A rule gives and never takes, so that something is left out only by naming
/// all that stands around it: what is made later directly in a folder around it can't be read either.
fn readable(unreadable: &[PathBuf]) -> Vec<PathBuf> {
    let mut around: BTreeSet<&Path> = unreadable.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    around.insert(Path::new("/"));
    let left_out = |path: &Path| {
        path.starts_with("/dev") || around.contains(path) || unreadable.iter().any(|hidden| hidden == path)
    };
    let entries = around.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    // A link would give what it leads to, which has a name of its own.
    let named = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    named.map(|entry| entry.path()).filter(|path| !left_out(path)).collect()
}

/// The newest version that these rules were written for; what later ones add stays free.
fn known(version: u32) -> ABI {
    ABI::from(i32::try_from(version.min(8)).unwrap_or(0))
}

/// Rights that are given together.
pub(super) struct Rights {
    /// In a writable folder: all but device nodes.
    pub(super) folder: BitFlags<AccessFs>,
    /// On a writable file.
    pub(super) file: BitFlags<AccessFs>,
    /// On a harmless device.
    pub(super) device: BitFlags<AccessFs>,
}

impl Rights {
    /// The rights that this version of Landlock knows.
    pub(super) fn of(version: u32) -> Self {
        let abi = known(version);
        let nodes = AccessFs::MakeChar | AccessFs::MakeBlock;
        let file = AccessFs::from_file(abi);
        Self { folder: AccessFs::from_all(abi) & !nodes, file, device: file & !AccessFs::Execute }
    }
}

/// Allows this at and below the path; a path that is not there, or can't be reached, needs no rule.
fn allow(
    rules: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(there) => rules.add_rule(PathBeneath::new(there, access)),
        Err(_) => Ok(rules),
    }
}
