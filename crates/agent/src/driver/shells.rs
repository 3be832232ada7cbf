//! Commands in the background, for front ends.

use std::sync::Arc;

use rail_proto::{SessionEvent, Shell};

use super::Agent;
use super::ports::News;

impl Agent {
    /// Tells the driver what becomes of commands in the background.
    pub(super) fn watch_shells(&mut self) {
        let (mut watch, line) = (rail_tools::watch_background(&self.session), self.line.clone());
        self.tasks.spawn(async move {
            loop {
                line.tell(News::Shells(watch.next().await));
            }
        });
    }

    pub(super) fn shells_changed(&mut self, shells: Vec<Shell>) {
        self.shells.clone_from(&shells);
        self.emit(SessionEvent::Shells(shells));
    }

    /// The session is over, and what ran in the background with it.
    pub(super) fn shells_over(&mut self) {
        let shells = rail_tools::background(&self.session);
        if shells != self.shells {
            self.shells_changed(shells);
        }
    }

    /// Ends a command in the background, here or in the agent whose call stands before its id. Nothing waits for its end.
    pub(super) fn kill_shell(&mut self, id: String) {
        if let Some((call, rest)) = id.split_once('/') {
            return self.team.kill_shell(call, rest);
        }
        let session = Arc::clone(&self.session);
        self.tasks.spawn(async move { rail_tools::kill_background(&session, &id).await });
    }
}
