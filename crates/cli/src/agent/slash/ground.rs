//! What commands look at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rail_proto::Mode;

use crate::Failure;
use crate::agent::open::Prepared;

/// What a session is opened from, and the one that is open.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) prepared: Arc<Prepared>,
    pub(crate) live: Option<Live>,
}

/// A session that is open, as it is now.
#[derive(Clone)]
pub(crate) struct Live {
    /// Where its journal is.
    pub(crate) folder: PathBuf,
    pub(crate) mode: Mode,
    /// The model that is asked for.
    pub(crate) model: String,
}

impl Ground {
    /// The same without an open session.
    pub(crate) fn new(prepared: Prepared) -> Self {
        Self { prepared: Arc::new(prepared), live: None }
    }

    /// The folder of the session that is meant: the open one, or the one that goes on.
    pub(super) fn session(&self) -> Result<&Path, Failure> {
        match &self.live {
            Some(live) => Ok(&live.folder),
            None => self.prepared.resumed(),
        }
    }
}
