use super::super::{Word, touches};
use super::places::lexical;
use super::{Finding, Seen, ask, refuse};

/// Devices that hold no data.
const HARMLESS: &[&str] = &[
    "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tcp", "tty", "udp",
    "urandom", "zero",
];
/// Beginnings of the names of devices that hold disks and memory.
const DISKS: &[&str] = &[
    "bcache", "disk", "dm-", "hd", "kmem", "loop", "mapper", "md", "mem", "mmcblk", "nbd", "nvme", "pmem",
    "port", "ram", "rdisk", "sd", "sr", "vd", "xvd", "zram",
];
/// Files that a shell, a session or a server reads and runs or trusts, by their last name.
const STARTED: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".cshrc",
    ".envrc",
    ".gitconfig",
    ".gitmodules",
    ".kshrc",
    ".login",
    ".netrc",
    ".npmrc",
    ".profile",
    ".pypirc",
    ".rhosts",
    ".tcshrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".zlogin",
    ".zlogout",
    ".zprofile",
    ".zshenv",
    ".zshrc",
    "authorized_keys",
    "authorized_keys2",
    "config.fish",
    "known_hosts",
    "sudoers",
];
/// Folders whose files are run or trusted, in any place.
const TRUSTED: &[&str] = &[
    "/.git/hooks/",
    "/.git/config",
    "/.husky/",
    "/.ssh/",
    "/.gnupg/",
    "/.config/autostart/",
    "/.config/systemd/",
    "/.config/fish/",
    "/.config/git/",
    "/LaunchAgents/",
    "/LaunchDaemons/",
    "/cron.d/",
    "/cron.daily/",
    "/cron.hourly/",
    "/cron.weekly/",
    "/cron.monthly/",
    "/crontabs/",
    "/spool/cron/",
    "/systemd/system/",
    "/systemd/user/",
    "/.aws/",
    "/.kube/",
    "/.docker/",
    "/.cargo/config",
    "/.cargo/bin/",
    "/.local/bin/",
    "/.vscode/tasks.json",
];
/// Folders of the system whose writing is always asked about.
const SYSTEM: &[&str] =
    &["/bin/", "/boot/", "/etc/", "/lib/", "/lib64/", "/proc/", "/sbin/", "/sys/", "/usr/", "/var/spool/"];

/// The places that a command writes: what is certain of each.
fn written(seen: &Seen<'_>) -> Vec<String> {
    let writes = touches(seen.simple).writes;
    let known = |word: &Word| match word.at_home(Some(seen.home)) {
        Word::Literal(path) | Word::Pattern(path) => lexical(&path),
        Word::Dynamic { known, .. } => known,
    };
    writes.iter().map(known).collect()
}

/// Writing to a device.
pub(super) fn devices(seen: &Seen<'_>) -> Option<Finding> {
    let mut worst = None;
    for path in written(seen) {
        let Some(name) = path.strip_prefix("/dev/").or_else(|| path.strip_prefix("/private/dev/")) else {
            continue;
        };
        let first = name.split('/').next().unwrap_or(name);
        if HARMLESS.contains(&first) || first.starts_with("tty") {
            continue;
        }
        if DISKS.iter().any(|disk| name.starts_with(disk)) {
            return refuse(format!("overwrites the disk or memory `{path}`"));
        }
        worst = ask(format!("writes to the device `{path}`"));
    }
    worst
}

/// Programs that make a file system, or wipe one.
pub(super) fn formats(seen: &Seen<'_>) -> Option<Finding> {
    let makes = seen.program.starts_with("mkfs")
        || matches!(seen.program, "blkdiscard" | "mke2fs" | "mkswap" | "wipefs" | "newfs");
    if !makes {
        return None;
    }
    let device = |word: &&Word| match word {
        Word::Literal(text) | Word::Pattern(text) => lexical(text).starts_with("/dev/"),
        Word::Dynamic { known, .. } => known.is_empty() || known.starts_with("/dev"),
    };
    match seen.operands().iter().any(device) {
        true => refuse("overwrites a disk"),
        false => ask("makes a file system"),
    }
}

/// Writing where a shell, a session or a server reads what it runs or trusts.
pub(super) fn sensitive(seen: &Seen<'_>) -> Option<Finding> {
    for path in written(seen) {
        let rooted = if path.starts_with('/') { path.clone() } else { format!("/{path}") };
        let name = rooted.rsplit('/').next().unwrap_or_default();
        let folder = format!("{rooted}/");
        if STARTED.contains(&name)
            || TRUSTED.iter().any(|trusted| rooted.contains(trusted) || folder.ends_with(trusted))
        {
            return ask(format!("writes `{path}`, which other programs run or trust"));
        }
        let under_home = path.strip_prefix(seen.home).is_some_and(|rest| rest.starts_with('/'));
        if path.starts_with('/') && !under_home && SYSTEM.iter().any(|system| folder.starts_with(system)) {
            return ask(format!("writes `{path}`, a file of the system"));
        }
    }
    None
}

/// Rights that are given to everybody, or to a program.
pub(super) fn rights(seen: &Seen<'_>) -> Option<Finding> {
    let whole = seen.has("R", &["recursive"]);
    match seen.program {
        "chmod" => {
            let modes = || seen.literals().filter(|word| !word.starts_with("--"));
            let open = |mode: &str| {
                mode.ends_with("777")
                    || mode.ends_with("666")
                    || matches!(mode, "a+rwx" | "ugo+rwx" | "o+w" | "a+w" | "+w" | "a+rw")
            };
            let raised = |mode: &str| {
                let number = mode.len() >= 4 && mode.chars().all(|c| c.is_digit(8));
                let bits = number
                    && mode
                        .chars()
                        .rev()
                        .nth(3)
                        .is_some_and(|digit| matches!(digit, '2' | '3' | '4' | '5' | '6' | '7'));
                bits || mode.contains(['+', '='])
                    && mode.split(['+', '=']).nth(1).is_some_and(|rights| rights.contains('s'))
            };
            if modes().any(raised) {
                return ask("makes a program run with its owner's rights");
            }
            (whole && modes().any(open)).then(|| ask("lets everybody write a whole folder")).flatten()
        }
        "chown" | "chgrp" if whole => ask("gives a whole folder to another owner"),
        "setcap" => ask("gives a program rights of the system"),
        _ => None,
    }
}
