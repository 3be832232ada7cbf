//! `rail sessions`: what earlier sessions of the agent left.

mod change;
mod export;
mod list;
mod part;
mod pick;
mod search;
mod show;
mod verify;

use std::path::PathBuf;

use clap::Subcommand;
use rail_stdx::Mask;

use crate::Failure;
use crate::setup::{Common, wrong};

pub(crate) use export::{Format, exported, write};
pub(crate) use list::{Folders, age, table};
pub(crate) use pick::pick;
pub(crate) use search::told;

#[derive(Subcommand)]
pub(crate) enum Sessions {
    /// The sessions of this folder, the latest first.
    List(list::List),
    /// A conversation; of results only the first lines.
    Show(show::Show),
    /// A conversation as Markdown or JSON, with secrets covered.
    Export(export::Export),
    /// Copy a session, whole or up to a line, and print the new id; `rail -r ID` goes on with it.
    Fork(change::ForkOne),
    /// Delete sessions with all that they kept.
    Delete(change::Delete),
    /// Look for words in titles and conversations.
    Search(search::Search),
    /// Prove that journals are as they were written: numbers, hashes, contents.
    Verify(verify::Verify),
}

impl Sessions {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let kept = Kept::of(common)?;
        match self {
            Self::List(list) => list.run(&kept),
            Self::Show(show) => show.run(&kept),
            Self::Export(export) => export.run(&kept),
            Self::Fork(fork) => fork.run(&kept),
            Self::Delete(delete) => delete.run(&kept),
            Self::Search(search) => search.run(&kept),
            Self::Verify(verify) => verify.run(&kept),
        }
    }
}

/// Where sessions are, and what of them is not shown.
struct Kept {
    /// The folder of all sessions.
    sessions: PathBuf,
    mask: Mask,
}

impl Kept {
    fn of(common: &Common) -> Result<Self, Failure> {
        let loaded = rail_config::load(&common.inputs()?).map_err(wrong)?;
        Ok(Self { sessions: crate::state::folder(&loaded).join("sessions"), mask: loaded.mask([]) })
    }
}
