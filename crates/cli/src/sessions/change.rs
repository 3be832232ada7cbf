//! `rail sessions fork` and `rail sessions delete`.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::Args;
use rail_journal::UnixMillis;

use super::pick::id_of;
use super::{Kept, pick};
use crate::clock::Now;
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct ForkOne {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    id: String,
    /// Only up to this line of its journal; `rail sessions show` has the numbers.
    #[arg(long, value_name = "N")]
    at: Option<u64>,
}

impl ForkOne {
    pub(super) fn run(self, kept: &Kept) -> Result<(), Failure> {
        let folder = pick(&kept.sessions, &self.id)?;
        let now = UnixMillis(Now::read().unix.saturating_mul(1000));
        let forked = rail_journal::fork(&kept.sessions, &folder, self.at, now);
        let (writer, _) = forked.context("the session can't be forked")?;
        output::print(&format!("{}\n", id_of(writer.folder())))
    }
}

#[derive(Args)]
pub(crate) struct Delete {
    /// The sessions, or the beginnings of their ids.
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Without asking.
    #[arg(short, long)]
    yes: bool,
}

impl Delete {
    pub(super) fn run(self, kept: &Kept) -> Result<(), Failure> {
        // All are looked for before the first is gone.
        let mut folders: Vec<PathBuf> =
            self.ids.iter().map(|id| pick(&kept.sessions, id)).collect::<Result<_, Failure>>()?;
        folders.sort();
        folders.dedup();
        if !self.yes && !agreed(&folders)? {
            return output::print("nothing was deleted\n");
        }
        for folder in &folders {
            let id = id_of(folder);
            rail_journal::delete(folder).with_context(|| format!("the session {id} can't be deleted"))?;
            output::print(&format!("deleted {id}\n"))?;
        }
        Ok(())
    }
}

/// Asks at the terminal. Without one nobody can agree.
fn agreed(folders: &[PathBuf]) -> Result<bool, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::Usage(anyhow!("nobody is there to ask; say `--yes` to delete without asking")));
    }
    let ids: Vec<String> = folders.iter().map(|folder| id_of(folder)).collect();
    // A terminal that can't be written to can't be answered from either.
    let _ = write!(stderr(), "Delete for ever: {}? [y/N]\n> ", ids.join(", "));
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).context("the answer can't be read")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
