//! What commands look at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rail_journal::session_folder;
use rail_proto::{Mode, OfferedCommand, Opened, SessionEvent};

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
    /// Prompts of MCP servers.
    pub(super) offered: Vec<OfferedCommand>,
}

impl Ground {
    /// The same without an open session.
    pub(crate) fn new(prepared: Prepared) -> Self {
        Self { prepared: Arc::new(prepared), live: None }
    }

    /// Something happened in the session.
    pub(crate) fn event(&mut self, event: &SessionEvent) {
        if let SessionEvent::Opened(opened) = event {
            self.live = live(&self.prepared, opened);
        }
        let Some(live) = &mut self.live else { return };
        match event {
            SessionEvent::Mode(mode) => live.mode = *mode,
            SessionEvent::Model(model) => live.model.clone_from(model),
            SessionEvent::Offered(offered) => live.offered.clone_from(&offered.commands),
            _ => {}
        }
    }

    /// The folder of the session that is meant: the open one, or the one that goes on.
    pub(super) fn session(&self) -> Result<&Path, Failure> {
        match &self.live {
            Some(live) => Ok(&live.folder),
            None => self.prepared.resumed(),
        }
    }
}

/// The session that was opened, as it begins.
fn live(prepared: &Prepared, opened: &Opened) -> Option<Live> {
    let folder = match prepared.resumed() {
        Ok(folder) => folder.to_owned(),
        Err(_) => {
            let id = opened.id.parse().ok()?;
            session_folder(&prepared.state.join("sessions"), &prepared.workspace, &id)
        }
    };
    Some(Live { folder, mode: opened.mode, model: opened.model.clone(), offered: Vec::new() })
}
