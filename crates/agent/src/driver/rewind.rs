//! Undo, redo, rewind: files, the conversation, or both go back.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rail_journal::snapshots::{OnConflict, Plan, SnapshotError};
use rail_journal::{JournalError, Note, Record, UNDONE, Way, turns};
use rail_proto::{Restored, SessionEvent, What};

use super::Agent;
use super::clock::today;
use super::open::recall_notes;
use super::world::Known;
use crate::machine::{Input, Machine};

/// How long calls that were cancelled have to come to their end, with what they changed.
const LAST_CALLS: Duration = Duration::from_secs(10);

impl Agent {
    pub(super) async fn undo(&mut self) -> Result<(), JournalError> {
        self.calls_ended().await?;
        match self
            .free()
            .and_then(|()| self.history.undo().ok_or_else(|| "there is no step to undo".to_owned()))
        {
            Ok(plan) => self.restore(plan, "took back the changes of files of your last step").await,
            Err(why) => self.refuse(why),
        }
    }

    pub(super) async fn redo(&mut self) -> Result<(), JournalError> {
        self.calls_ended().await?;
        match self
            .free()
            .and_then(|()| self.history.redo().ok_or_else(|| "there is nothing to redo".to_owned()))
        {
            Ok(plan) => self.restore(plan, "did the changes of files again that had been taken back").await,
            Err(why) => self.refuse(why),
        }
    }

    pub(super) async fn rewind(&mut self, turn: u64, what: What) -> Result<(), JournalError> {
        self.calls_ended().await?;
        if let Err(why) = self.free() {
            return self.refuse(why);
        }
        let turns = turns(self.writer.folder())?;
        let at = usize::try_from(turn).ok().and_then(|turn| turn.checked_sub(1));
        let Some(to) = at.and_then(|at| turns.get(at)) else {
            return self.refuse(format!("there is no message {turn}; there are {}", turns.len()));
        };
        let mut restored = Restored::default();
        let done = self.steps.iter().filter(|step| **step <= to.step).count();
        if let (What::Code | What::Both, Some(plan)) = (what, self.history.rewind(done)) {
            restored = match self.files(plan).await {
                Ok(restored) => restored,
                Err(error) => return self.refuse(error.to_string()),
            };
            self.note_undone()?;
        }
        match what {
            What::Code => {
                self.tell_restored(&restored, "took back the changes of files since an earlier message")?
            }
            What::Conversation | What::Both => {
                let resumed = self.writer.rewind(today(), to.before, Way::Back)?;
                recall_notes(&self.session, &resumed);
                self.known = Known::read(resumed.state.known.as_ref()).unwrap_or_default();
                let mut effects = Vec::new();
                let (head, bounds) = (self.machine.head().clone(), self.machine.bounds().clone());
                self.machine = Machine::resumed(head, bounds, resumed.window, &mut effects);
                self.carry_out(effects)?;
                self.learn_room()?;
                restored.before_turn = Some(turn);
            }
        }
        self.emit(SessionEvent::Restored(restored));
        Ok(())
    }

    /// Waits for the last calls, which may go on for a moment behind an interruption: what they changed is known then.
    pub(super) async fn calls_ended(&mut self) -> Result<(), JournalError> {
        if let (false, Some(end)) = (self.machine.is_busy(), self.last_tools.take()) {
            // An error says the same: they have ended. One that can't be ended must not hold everything else.
            let _ = tokio::time::timeout(LAST_CALLS, end).await;
        }
        while let Ok(news) = self.news.try_recv() {
            self.heard(news)?;
        }
        Ok(())
    }

    /// Nothing can go back while something goes on.
    fn free(&self) -> Result<(), String> {
        if self.machine.is_busy() {
            Err("the agent is at work; interrupt it first".to_owned())
        } else {
            Ok(())
        }
    }

    fn refuse(&mut self, why: String) -> Result<(), JournalError> {
        self.emit(SessionEvent::Restored(Restored { refused: Some(why), ..Restored::default() }));
        Ok(())
    }

    async fn restore(&mut self, plan: Plan, what: &str) -> Result<(), JournalError> {
        match self.files(plan).await {
            Ok(restored) => {
                self.note_undone()?;
                self.tell_restored(&restored, what)?;
                self.emit(SessionEvent::Restored(restored));
                Ok(())
            }
            Err(error) => self.refuse(error.to_string()),
        }
    }

    /// Which steps are undone counts for whoever goes on with the session too.
    fn note_undone(&mut self) -> Result<(), JournalError> {
        let undone = self.history.steps().len().saturating_sub(self.history.done());
        self.write(Record::Note(Note { about: UNDONE.to_owned(), value: undone.into() }))
    }

    /// The model is told, since what it knows of these files is not so any more.
    fn tell_restored(&mut self, restored: &Restored, what: &str) -> Result<(), JournalError> {
        if restored.files.is_empty() {
            return Ok(());
        }
        let files = restored.files.join(", ");
        self.input(Input::Tell(format!("The user {what}; these files are not as you left them: {files}")))
    }

    /// Brings files to what a plan says.
    async fn files(&mut self, plan: Plan) -> Result<Restored, SnapshotError> {
        let Some(snapshots) = self.snapshots.clone() else { return Err(SnapshotError::Off) };
        let workspace = self.session.workspace.clone();
        let shown = move |path: &PathBuf| workspace.join(path).display().to_string();
        let mut all = Restored::default();
        for restore in &plan.restores {
            let (snapshots, restore) = (Arc::clone(&snapshots), *restore);
            let done = tokio::task::spawn_blocking(move || {
                snapshots.restore(restore.from, restore.to, OnConflict::Leave)
            });
            let done = done.await.map_err(std::io::Error::other)??;
            all.files.extend(done.restored.iter().chain(&done.removed).map(&shown));
            all.conflicts.extend(done.conflicts.iter().map(&shown));
        }
        self.history.went(&plan);
        Ok(all)
    }
}
