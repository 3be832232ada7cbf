//! Reads what a process prints until it has ended, and tells how it ended.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::process::{Shared, Status};
use crate::reader::Reader;
use crate::{Exit, Straggler};

/// How long output is waited for after the program ended: what it had started may still be printing its last lines.
const LINGER: Duration = Duration::from_millis(200);
/// How long what the program left running has to end by itself when it is asked to.
const GRACE: Duration = Duration::from_millis(500);
/// The longest report that is read.
const REPORT: usize = 64 * 1024;

/// How a process ended, and what it left behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// How the program ended.
    pub exit: Exit,
    /// How long it ran.
    pub took: Duration,
    /// What it wrote to the file whose name was its last argument.
    pub report: Vec<u8>,
    /// What it left running, which was ended after it.
    pub swept: Vec<Straggler>,
    /// What it left running in sessions of their own, which goes on until the process is dropped.
    pub left: Vec<Straggler>,
}

impl Default for Ended {
    fn default() -> Self {
        Self {
            exit: Exit::Signal(0),
            took: Duration::ZERO,
            report: Vec::new(),
            swept: Vec::new(),
            left: Vec::new(),
        }
    }
}

/// What reads a process's output.
pub(crate) struct Pump {
    pub(crate) child: Child,
    pub(crate) output: pipe::Receiver,
    pub(crate) errors: Errors,
    pub(crate) report: OwnedFd,
    pub(crate) shared: Arc<Shared>,
    pub(crate) told: watch::Sender<Status>,
    pub(crate) file: Option<PathBuf>,
}

impl Pump {
    pub(crate) async fn run(self) {
        let began = Instant::now();
        let Self { mut child, output, mut errors, report, shared, told, file } = self;
        let mut reader = Reader::new(output, Arc::clone(&shared), told, file);
        let status = reader.read_until(child.wait()).await;
        let took = began.elapsed();
        reader.read_for(LINGER).await;
        errors.read_for(LINGER.saturating_sub(began.elapsed().saturating_sub(took))).await;
        let (mut swept, mut left) = (Vec::new(), Vec::new());
        if reader.open || errors.open() || !shared.trace.group_is_empty() {
            (left, swept) = shared.trace.find().into_iter().partition(|process| process.daemon);
            if cfg!(not(target_os = "linux")) {
                // There is no table of processes to look at: the group is all that is known of them.
                shared.trace.signal_group(Signal::KILL);
            }
            reader.read_until(sweep(&shared, &swept)).await;
            // What they printed at their end is in the pipe by now.
            reader.read_for(Duration::from_millis(20)).await;
            errors.read_for(Duration::from_millis(20)).await;
        }
        let exit = status.map_or(Exit::Signal(0), Exit::of);
        let ended = Ended { exit, took, report: report_of(&report), swept, left };
        reader.told.send_modify(|status| status.ended = Some(Arc::new(ended)));
        // A daemon that still holds the pipe would be ended by a signal if nobody read what it prints.
        reader.read_until(std::future::pending::<()>()).await;
    }
}

/// What reads what a process says of errors, where that is kept apart.
pub(crate) struct Errors(watch::Receiver<bool>);

impl Errors {
    /// Reads them onto their tape, beside everything else.
    pub(crate) fn read(from: Option<pipe::Receiver>, shared: &Arc<Shared>, tasks: &mut JoinSet<()>) -> Self {
        let (told, closed) = watch::channel(from.is_none());
        if let Some(mut from) = from {
            let shared = Arc::clone(shared);
            tasks.spawn(async move {
                let mut buffer = vec![0; 16 * 1024];
                while let Ok(count @ 1..) = from.read(&mut buffer).await {
                    shared.errors().push(buffer.get(..count).unwrap_or_default());
                }
                told.send_replace(true);
            });
        }
        Self(closed)
    }

    /// Whether somebody can still write.
    fn open(&self) -> bool {
        !*self.0.borrow()
    }

    /// Waits until nobody can write any more, at most for this long.
    async fn read_for(&mut self, at_most: Duration) {
        // The time over is no error, and neither is a reader that broke off: there is nothing to wait for.
        let _ = tokio::time::timeout(at_most, self.0.wait_for(|closed| *closed)).await;
    }
}

/// Ends what a program left running in its session.
async fn sweep(shared: &Shared, swept: &[Straggler]) {
    if swept.is_empty() {
        return;
    }
    swept.iter().for_each(|process| process.signal(Signal::TERM));
    let until = Instant::now() + GRACE;
    let mut pause = Duration::from_millis(2);
    loop {
        let rest: Vec<Straggler> =
            shared.trace.find().into_iter().filter(|process| !process.daemon).collect();
        if rest.is_empty() {
            return;
        }
        if Instant::now() >= until {
            rest.iter().for_each(|process| process.signal(Signal::KILL));
            // A process that the system holds can't be waited for.
            if Instant::now() >= until + GRACE {
                return;
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// What is in the pipe now: others may hold it open, and nothing they write later is a report.
fn report_of(report: &OwnedFd) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4_096];
    // It does not wait: an empty pipe is an error here.
    while let Ok(count @ 1..) = rustix::io::read(report, &mut buffer) {
        bytes.extend(buffer.iter().take(count));
        if bytes.len() >= REPORT {
            break;
        }
    }
    bytes
}

/// Writes to a child what is too long for an argument.
pub(crate) async fn feed(mut to: pipe::Sender, bytes: Vec<u8>) {
    // A child that does not read it has ended.
    let _ = to.write_all(&bytes).await;
}
