//! Where things are kept: folders, their permissions, space, the database.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rail_config::Places;
use rail_ledger::{Ledger, Place};

use super::check::{Check, State};
use super::{Cx, Reach};
use crate::ledger;

/// How long a database has to answer.
const PATIENCE: Duration = Duration::from_secs(15);
/// With less space than this, sessions soon can't be kept.
const LITTLE: u64 = 500 << 20;
/// With less space than this, nothing can.
const NOTHING: u64 = 20 << 20;

fn homeless(name: &str) -> Check {
    Check::skipped(name, "there is no home, so that nothing is kept")
}

/// Whether the folders can be written.
pub(super) fn folders(cx: &Cx) -> Vec<Check> {
    let Some(places) = &cx.checked.places else { return vec![homeless("folders")] };
    let Places { config, state, cache, project: _ } = places;
    [("config", config), ("state", state), ("cache", cache)]
        .map(|(name, folder)| writable(cx, name, folder))
        .into()
}

fn writable(cx: &Cx, name: &str, folder: &Path) -> Check {
    let shown = cx.shown(folder);
    let there = nearest(folder);
    let missing = if there == folder { "" } else { ", made when it is needed" };
    match try_write(&there) {
        Ok(()) if open_to_others(folder, OTHERS_WRITE) => {
            let says = format!("others can write in {shown}");
            Check::new(name, State::Problem, says).with_fix(format!("chmod go-w {shown}"))
        }
        Ok(()) => Check::ok(name, format!("{shown}{missing}")),
        Err(error) => {
            let says = format!("{shown} can't be written: {error}");
            let variable = format!("XDG_{}_HOME", name.to_ascii_uppercase());
            Check::new(name, State::Problem, says).with_fix(format!(
                "make {} yours and writable, or set `{variable}` to a folder that is",
                cx.shown(&there)
            ))
        }
    }
}

/// The nearest folder on the way that is there.
fn nearest(folder: &Path) -> PathBuf {
    folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("/")).to_owned()
}

/// Writes a file that has no name, and is gone at once.
fn try_write(folder: &Path) -> io::Result<()> {
    tempfile::tempfile_in(folder).map(drop).map_err(|error| match error.get_ref() {
        // The path that it tells is of no use to anybody.
        Some(_) => io::Error::from(error.kind()),
        None => error,
    })
}

const OTHERS_WRITE: u32 = 0o022;
const OTHERS: u32 = 0o077;

/// Whether others than its owner have one of these rights.
#[cfg(unix)]
fn open_to_others(path: &Path, rights: u32) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.permissions().mode() & rights != 0)
}

#[cfg(not(unix))]
fn open_to_others(_: &Path, _: u32) -> bool {
    false
}

/// Whether what is private is so.
pub(super) fn private(cx: &Cx) -> Vec<Check> {
    let Some(places) = &cx.checked.places else { return Vec::new() };
    let files = [
        (places.env(), "600"),
        (places.ledger(), "600"),
        (places.state.join("memory.db"), "600"),
        (places.trust(), "600"),
        (places.state.join("sessions"), "700"),
    ];
    let open: Vec<_> = files.iter().filter(|(path, _)| open_to_others(path, OTHERS)).collect();
    if open.is_empty() {
        return vec![Check::ok("private", "only you can read keys, the ledger and sessions")];
    }
    let warn = |(path, mode): &&(PathBuf, &str)| {
        let shown = cx.shown(path);
        Check::new("private", State::Warning, format!("others can read {shown}"))
            .with_fix(format!("chmod {mode} {shown}"))
    };
    open.iter().map(warn).collect()
}

pub(super) fn space(cx: &Cx) -> Check {
    let Some(places) = &cx.checked.places else { return homeless("space") };
    let there = nearest(&places.state);
    let Some(free) = free(&there) else {
        return Check::skipped("space", format!("{} does not tell how much is free", cx.shown(&there)));
    };
    let says = format!("{} free where sessions are kept", size(free));
    let fix = "make room, or set `XDG_STATE_HOME` to a folder on another disk";
    match free {
        ..NOTHING => Check::new("space", State::Problem, says).with_fix(fix),
        NOTHING..LITTLE => Check::new("space", State::Warning, says).with_fix(fix),
        LITTLE.. => Check::ok("space", says),
    }
}

fn size(bytes: u64) -> String {
    match bytes >> 20 {
        megabytes @ ..10_240 => format!("{megabytes} MB"),
        megabytes => format!("{} GB", megabytes >> 10),
    }
}

#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let seen = rustix::fs::statvfs(folder).ok()?;
    // Kernels' own file systems have no blocks at all.
    (seen.f_blocks > 0).then(|| seen.f_bavail.saturating_mul(seen.f_frsize))
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}

/// The gateway's ledger.
pub(super) fn database(cx: &Cx) -> Check {
    const NAME: &str = "database";
    let Some(loaded) = &cx.checked.loaded else {
        return Check::skipped(NAME, "not looked at, since the configuration is wrong");
    };
    let place = match ledger::place_or_none(loaded) {
        Ok(place) => place,
        Err(crate::Failure::Usage(error) | crate::Failure::Task(error)) => {
            return Check::of_message(NAME, State::Problem, &error.to_string());
        }
        Err(crate::Failure::Interrupted | crate::Failure::Ended(_)) => return homeless(NAME),
    };
    match &place {
        Place::Memory => homeless(NAME),
        Place::File(path) if !path.exists() => {
            let shown = cx.shown(path);
            match try_write(&nearest(path)) {
                Ok(()) => Check::ok(NAME, format!("SQLite, {shown}, made when the gateway needs it")),
                Err(_) => {
                    Check::skipped(NAME, format!("SQLite, {shown}, which can't be made, as its folder can't"))
                }
            }
        }
        Place::File(path) => match OpenOptions::new().append(true).open(path) {
            Ok(_) => opened(cx, &place, &format!("SQLite, {}", cx.shown(path))),
            Err(error) => {
                let says = format!("{} can't be written: {error}", cx.shown(path));
                Check::new(NAME, State::Problem, says).with_fix("make it yours and writable, or move it away")
            }
        },
        Place::Postgres(_) if cx.reach == Reach::Nobody => {
            Check::skipped(NAME, "PostgreSQL; not asked: --offline")
        }
        Place::Postgres(_) => opened(cx, &place, "PostgreSQL"),
    }
}

/// Opens it for real, as the gateway would.
fn opened(cx: &Cx, place: &Place, shown: &str) -> Check {
    const NAME: &str = "database";
    let asked = cx.runtime.block_on(async {
        tokio::time::timeout(PATIENCE, async { Ledger::open(place).await?.ping().await }).await
    });
    match asked {
        Ok(Ok(())) => Check::ok(NAME, format!("{shown} answers")),
        Ok(Err(error)) => Check::of_message(NAME, State::Problem, &cx.with_tilde(&error.to_string())),
        Err(_) => Check::new(
            NAME,
            State::Problem,
            format!("{shown} did not answer within {} s", PATIENCE.as_secs()),
        )
        .with_fix("see whether the database runs, and whether `gateway.ledger` is right"),
    }
}
