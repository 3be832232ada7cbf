//! What front ends are told of commands in the background.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use rail_sandbox::{Exit, Process};
use rail_tool::{Shell, ShellState};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::shells::{Background, Shells};

/// How often it is told that they print more.
const OFTEN: Duration = Duration::from_secs(1);

/// Tells what becomes of a session's commands in the background.
pub struct ShellWatch {
    shells: Arc<Shells>,
    changed: watch::Receiver<()>,
    told: Vec<Shell>,
    at: Instant,
}

impl ShellWatch {
    pub(crate) fn new(shells: Arc<Shells>) -> Self {
        let changed = shells.changed.subscribe();
        Self { shells, changed, told: Vec::new(), at: Instant::now() }
    }

    /// All of them, when one began or ended since the last time, at once, or printed more, about once a second.
    pub async fn next(&mut self) -> Vec<Shell> {
        loop {
            self.changed.mark_unchanged();
            let now = self.shells.shown();
            let same = now.len() == self.told.len()
                && now
                    .iter()
                    .zip(&self.told)
                    .all(|(now, told)| (&now.id, now.state) == (&told.id, told.state));
            let more = now.iter().zip(&self.told).any(|(now, told)| now.printed > told.printed);
            if !same || (more && self.at.elapsed() >= OFTEN) {
                self.at = Instant::now();
                self.told.clone_from(&now);
                return now;
            }
            // By what was told and not by what is so: one that has ended since then must be noticed.
            let running = self.shells.running(&self.told);
            let quiet = sleep_until(self.at + OFTEN);
            tokio::select! {
                // It can't end: we hold the other end of it.
                _ = self.changed.changed() => {}
                () = first(running.iter().map(|(process, _)| over(process))) => {}
                () = async {
                    quiet.await;
                    first(running.iter().map(|(process, printed)| process.printed_more_than(*printed))).await;
                } => {}
            }
        }
    }
}

async fn over(process: &Process) {
    process.wait().await;
}

/// Waits for the first of these, or for ever where there is none.
async fn first<F: Future<Output = ()>>(waits: impl Iterator<Item = F>) {
    let mut waits: Vec<Pin<Box<F>>> = waits.map(Box::pin).collect();
    poll_fn(|cx| match waits.iter_mut().any(|wait| wait.as_mut().poll(cx).is_ready()) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// How many lines of what a command printed a front end is told.
const LAST: usize = 10;

impl Background {
    /// It as a front end is told of it.
    pub(crate) fn shown(&self) -> Shell {
        let ended = self.process.ended();
        let state = match &ended {
            _ if self.killed.load(Ordering::Relaxed) && (ended.is_some() || self.is_given_up()) => {
                ShellState::Killed
            }
            None => ShellState::Running,
            Some(ended) => match ended.exit {
                Exit::Code(code) => ShellState::Exited { code },
                Exit::Signal(signal) => ShellState::Signalled { signal },
            },
        };
        let took = ended.map_or_else(|| self.process.age(), |ended| ended.took);
        Shell {
            id: self.id(),
            command: self.command.clone(),
            state,
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            printed: self.process.printed(),
            last: self.process.last_lines(LAST),
        }
    }
}
