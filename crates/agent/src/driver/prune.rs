//! Old contents of snapshots are thrown away: what can be undone is bounded by age.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rail_journal::snapshots::{SnapshotId, Snapshots};
use rail_journal::{UnixMillis, list, view};
use rail_proto::NoteKind;

use super::Agent;
use super::clock::today;

/// Steps can be undone for so long.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// Old contents are looked for so often.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);
/// Tells when they were looked for last.
const MARK: &str = "pruned";

impl Agent {
    /// Throws away what no session can want any more, once a day, behind a session that changed something: the workspace as it is now is
    /// then among what is kept.
    pub(super) async fn prune_snapshots(&mut self) {
        let Some(snapshots) = self.snapshots.clone().filter(|_| !self.history.steps().is_empty()) else {
            return;
        };
        let mut keep: Vec<SnapshotId> =
            self.history.steps().iter().flat_map(|step| [step.before, step.after]).collect();
        let (sessions, workspace) = (self.sessions.clone(), self.session.workspace.clone());
        let pruned = tokio::task::spawn_blocking(move || {
            let now = today();
            if !is_due(&snapshots, now) {
                return Ok(());
            }
            keep.extend(wanted(&sessions, &workspace, now));
            snapshots.prune(&keep, &|_| false, time(now) - KEPT).map(drop)
        });
        if let Ok(Err(error)) = pruned.await {
            self.note(NoteKind::Guard, format!("old snapshots were not thrown away: {error}"));
        }
    }
}

/// Whether it is time; if so, the next time is a day from now.
fn is_due(snapshots: &Arc<Snapshots>, now: UnixMillis) -> bool {
    let mark = snapshots.folder().join(MARK);
    let last = std::fs::metadata(&mark).and_then(|meta| meta.modified());
    // A mark of the future is one of a clock that was wrong.
    let is_fresh = last.is_ok_and(|last| time(now).duration_since(last).is_ok_and(|past| past < EVERY));
    !is_fresh && rail_stdx::replace(&mark, b"", rail_stdx::Access::Owner).is_ok()
}

/// The snapshots of all sessions of this folder that are not too old.
fn wanted(sessions: &Path, workspace: &Path, now: UnixMillis) -> Vec<SnapshotId> {
    let oldest = now.0.saturating_sub(u64::try_from(KEPT.as_millis()).unwrap_or(u64::MAX));
    let mut ids = Vec::new();
    for session in list(sessions, Some(workspace)).unwrap_or_default().sessions {
        // What can't be read can't be undone either.
        let Ok(seen) = view(&session.folder) else { continue };
        if seen.last_at.0 >= oldest {
            let texts = seen.snapshots.iter().flat_map(|step| [&step.before, &step.after]);
            ids.extend(texts.filter_map(|id| id.parse::<SnapshotId>().ok()));
        }
    }
    ids
}

fn time(at: UnixMillis) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(at.0)
}
