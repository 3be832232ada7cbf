//! The calls of a step, with the workspace as it was before and after them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rail_journal::snapshots::{SnapshotError, SnapshotId, Snapshots};
use rail_model::ToolCall;
use rail_proto::NoteKind;
use rail_tool::{Executor, Facet, Level, Registry, Session};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Agent;
use super::ports::{Line, News};
use super::servers::Servers;
use crate::machine::StepId;

/// What the calls of a step may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Changes {
    /// Nothing.
    Nothing,
    /// Files, by commands alone.
    ByCommand,
    /// Files, by tools that know which.
    Files,
}

/// All that the calls of a step need.
struct Batch {
    step: StepId,
    calls: Vec<ToolCall>,
    changes: Changes,
    executor: Arc<Executor>,
    /// The servers that may still bring a tool that is called, and all other tools.
    servers: Option<(Servers, Registry)>,
    session: Arc<Session>,
    snapshots: Option<Arc<Snapshots>>,
    line: Line,
}

impl Agent {
    /// Runs calls beside the driver, after those of the step before have come to their end.
    pub(super) fn run_tools(&mut self, step: StepId, calls: Vec<ToolCall>) {
        let batch = Batch {
            step,
            changes: self.may_change(&calls),
            calls,
            executor: Arc::clone(&self.executor),
            servers: self.servers.clone().map(|servers| (servers, self.own_tools.clone())),
            session: Arc::clone(&self.session),
            snapshots: self.snapshots.clone(),
            line: self.line.clone(),
        };
        let (ended, end) = oneshot::channel();
        let before = self.last_tools.replace(end);
        let cancel = self.token(step);
        self.tasks.spawn(async move {
            if let Some(before) = before {
                // An error says the same: they have ended.
                let _ = before.await;
            }
            batch.run(cancel).await;
            let _ = ended.send(());
        });
    }

    fn may_change(&self, calls: &[ToolCall]) -> Changes {
        let understood = calls.iter().filter_map(|call| self.executor.understood(call));
        let levels = understood.map(|(tool, _)| match tool.card() {
            // Who was set to work may write; what it wrote was written by somebody else.
            card if card.name == "task" => Level::Write,
            card => card.level,
        });
        levels.fold(Changes::Nothing, |so_far, level| match (so_far, level) {
            (Changes::Nothing, Level::Execute) => Changes::ByCommand,
            (_, Level::Write) => Changes::Files,
            (so_far, Level::None | Level::Read | Level::Execute | Level::Network) => so_far,
        })
    }

    /// The files and folders that a call names.
    pub(super) fn touched(&self, call: &ToolCall) -> Vec<PathBuf> {
        let Some((tool, arguments)) = self.executor.understood(call) else { return Vec::new() };
        let Ok(admitted) = tool.admit(arguments) else { return Vec::new() };
        let cwd = self.session.cwd();
        let facets = admitted.facets(&self.session.facet_cx(&cwd));
        let path = |facet: Facet| match facet {
            Facet::Read(path) | Facet::Write(path) => Some(path),
            Facet::Exec(_) | Facet::Net(_) | Facet::Foreign | Facet::Skill { .. } => None,
        };
        facets.into_iter().filter_map(path).collect()
    }
}

impl Batch {
    async fn run(self, cancel: CancellationToken) {
        let since = self.session.written();
        let before = self.snapshot().await;
        if let Some(before) = &before {
            self.line.tell(News::ToolsBegin { step: self.step, before: before.to_string() });
        }
        self.line.step.store(self.step, Ordering::Release);
        let executor = self.with_late_tools(&cancel).await;
        executor.run(self.calls.clone(), &cancel).await;
        let after = if before.is_some() { self.snapshot().await } else { None };
        let changed = match before.zip(after) {
            // What other agents changed meanwhile is theirs.
            Some((before, after)) => self.changed(before, after, self.session.wrote_alone(since)).await,
            None => None,
        };
        self.line.tell(News::ToolsEnded { step: self.step, changed });
    }

    /// A call of a tool that no server has yet waits for those that are being connected; how long at most, their start limits say.
    async fn with_late_tools(&self, cancel: &CancellationToken) -> Arc<Executor> {
        let late = |call: &ToolCall| {
            let is_mcp = call.name.starts_with("mcp__") || call.arguments.contains("mcp__");
            is_mcp && self.executor.understood(call).is_none()
        };
        let Some((servers, own)) = self.servers.as_ref().filter(|_| self.calls.iter().any(late)) else {
            return Arc::clone(&self.executor);
        };
        tokio::select! {
            () = servers.hub.all_settled() => {}
            () = cancel.cancelled() => {}
        }
        Arc::new(self.executor.with_tools(servers.callable(own)))
    }

    /// The two snapshots of a step that changed files. Files that a command changed itself need not be read again before they are
    /// edited.
    async fn changed(&self, before: SnapshotId, after: SnapshotId, alone: bool) -> Option<(String, String)> {
        let (snapshots, session) = (self.snapshots.clone()?, Arc::clone(&self.session));
        let by_command = self.changes == Changes::ByCommand && alone;
        if before == after {
            return Some((before.to_string(), after.to_string()));
        }
        let looked = tokio::task::spawn_blocking(move || {
            let changes = snapshots.changes(before, after)?;
            let files: Vec<PathBuf> =
                changes.iter().map(|change| session.workspace.join(&change.path)).collect();
            if by_command {
                session.changed_by_command(&files);
            }
            Ok::<bool, SnapshotError>(!files.is_empty())
        });
        // What can't be compared counts as changed: it can be undone all the same.
        let is_changed = looked.await.ok().and_then(Result::ok).unwrap_or(true);
        let after = if is_changed { after } else { before };
        Some((before.to_string(), after.to_string()))
    }

    /// The workspace as it is now; nothing where nothing may change, or where there are no snapshots.
    async fn snapshot(&self) -> Option<SnapshotId> {
        let snapshots = self.snapshots.clone().filter(|_| self.changes != Changes::Nothing)?;
        let taken = tokio::task::spawn_blocking(move || snapshots.take()).await.ok()?;
        match taken {
            Ok(taken) => Some(taken.id),
            Err(SnapshotError::Off) => None,
            Err(error) => {
                let text = format!("this step can't be undone: {error}");
                self.line.tell(News::Note(NoteKind::Guard, text));
                None
            }
        }
    }
}
