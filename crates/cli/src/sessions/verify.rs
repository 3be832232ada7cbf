//! `rail sessions verify`.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;

use super::pick::id_of;
use super::{Kept, pick};
use crate::permission::workspace;
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Verify {
    /// The session, or the beginning of its id; all of this folder if not given.
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// The sessions of all folders.
    #[arg(long, conflicts_with = "id")]
    all: bool,
}

impl Verify {
    pub(super) fn run(self, kept: &Kept) -> Result<(), Failure> {
        let folders = self.folders(kept)?;
        let mut broken = 0;
        for folder in &folders {
            let (line, is_whole) = proved(folder);
            broken += usize::from(!is_whole);
            output::print(&format!("{line}\n"))?;
        }
        if broken > 0 {
            let error = anyhow!("{broken} of {} sessions are not as they were written", folders.len());
            return Err(Failure::Task(error));
        }
        if folders.is_empty() {
            return output::print("there are no sessions of this folder; `--all` proves those of others\n");
        }
        Ok(())
    }

    fn folders(&self, kept: &Kept) -> Result<Vec<PathBuf>, Failure> {
        if let Some(id) = &self.id {
            return Ok(vec![pick(&kept.sessions, id)?]);
        }
        let cwd = if self.all { None } else { Some(workspace()?) };
        let listing =
            rail_journal::list(&kept.sessions, cwd.as_deref()).context("sessions can't be listed")?;
        let unreadable = listing.unreadable.into_iter().map(|(folder, _)| folder);
        Ok(listing.sessions.into_iter().map(|session| session.folder).chain(unreadable).collect())
    }
}

/// What a journal proved to be, and whether that is what was written.
fn proved(folder: &Path) -> (String, bool) {
    let id = id_of(folder);
    let verdict = match rail_journal::verify(folder) {
        Ok(verdict) => verdict,
        Err(error) => return (format!("{id}  broken: {error}"), false),
    };
    if let Some(trouble) = verdict.trouble {
        return (format!("{id}  broken behind line {}: {trouble}", verdict.last.n), false);
    }
    let torn = verdict.torn.map_or_else(String::new, |torn| {
        format!("; behind them {} bytes that a crash left, which the next resume sets aside", torn.bytes)
    });
    (format!("{id}  proved: {} lines, the last {}{torn}", verdict.last.n, verdict.last.hash), true)
}
