//! The log: a line for each request at its end, and one for each thing worth knowing on the way.

mod line;

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rail_config::settings::GatewayLog;
use rail_ledger::{Ending, Entry};
use tokio::sync::oneshot;

pub(crate) use line::{Level, Remark};

use super::mask::Mask;
use super::metrics::repair_steps;

/// Lines that wait for whoever reads the log; further ones are dropped and counted.
const MOST_WAITING: usize = 8192;
/// How long the last lines may take to be written when the gateway ends.
const LAST_WAIT: Duration = Duration::from_secs(1);
/// Bytes that are gathered before they are written.
const GATHER: usize = 64 * 1024;

/// Writes lines from a thread of its own, so that no request waits for a terminal or a pipe.
pub(crate) struct Log {
    lines: Option<SyncSender<Message>>,
    lost: AtomicU64,
    /// Closed when all is written.
    written: Mutex<Receiver<()>>,
}

enum Message {
    Line(String),
    /// All lines before are written; then this is told.
    Flush(oneshot::Sender<()>),
}

impl Log {
    /// A log to this place; none when no thread can be started.
    pub(crate) fn start(to: Box<dyn Write + Send>) -> Option<Self> {
        let (lines, waiting) = sync_channel(MOST_WAITING);
        let (writing, written) = sync_channel(0);
        let thread = std::thread::Builder::new().name("log".to_owned());
        let write = move || {
            write(to, &waiting);
            drop(writing);
        };
        thread.spawn(write).ok()?;
        Some(Self { lines: Some(lines), lost: AtomicU64::new(0), written: Mutex::new(written) })
    }

    /// A request came to its end. What was mended or lost in it has a line of its own.
    pub(crate) fn ended(&self, entry: &Entry, how: GatewayLog, mask: &Mask) {
        let wrong = match entry.ending {
            Ending::Failed | Ending::Broken => true,
            Ending::Answered | Ending::Left | Ending::Refused => false,
        };
        match how {
            GatewayLog::Quiet if !wrong => return,
            GatewayLog::Quiet | GatewayLog::Text => self.line(&line::request_text(entry), mask),
            GatewayLog::Json => self.line(&line::request_json(entry), mask),
        }
        let at = entry.at.saturating_add(entry.total_ms);
        let remark = |event, said: &str| {
            let remark = Remark {
                level: Level::Info,
                event,
                request: Some(&entry.id),
                target: entry.target.as_deref(),
                said,
            };
            self.remark(&remark, at, how, mask);
        };
        for repair in &entry.repairs {
            remark("repaired", &repair_steps(repair).join(", "));
        }
        if !entry.losses.is_empty() {
            remark("lost", &entry.losses.join("; "));
        }
    }

    /// Something worth knowing happened at this moment.
    pub(crate) fn remark(&self, remark: &Remark<'_>, at: u64, how: GatewayLog, mask: &Mask) {
        match how {
            GatewayLog::Quiet if remark.level == Level::Info => {}
            GatewayLog::Quiet | GatewayLog::Text => self.line(&remark.text(at), mask),
            GatewayLog::Json => self.line(&remark.json(at), mask),
        }
    }

    /// How many lines were lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Comes back when all lines are written.
    pub(crate) async fn flush(&self) {
        let (done, heard) = oneshot::channel();
        let sent = self.lines.as_ref().is_some_and(|lines| lines.try_send(Message::Flush(done)).is_ok());
        if sent {
            // A thread that ended has nothing left to write.
            let _ = heard.await;
        }
    }

    fn line(&self, line: &str, mask: &Mask) {
        let mut line = mask.cover(line).into_owned();
        line.push('\n');
        let sent = self.lines.as_ref().is_some_and(|lines| lines.try_send(Message::Line(line)).is_ok());
        if !sent {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.lines = None;
        let written = self.written.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A pipe that nobody reads must not keep the gateway from its end.
        let _ = written.recv_timeout(LAST_WAIT);
    }
}

/// Writes lines as they come, several at once when they come fast. That a log can't be written must not stop the gateway.
fn write(mut to: Box<dyn Write + Send>, waiting: &Receiver<Message>) {
    let mut gathered = String::new();
    while let Ok(first) = waiting.recv() {
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Message::Line(line) => gathered.push_str(&line),
                Message::Flush(done) => {
                    let _ = to.write_all(std::mem::take(&mut gathered).as_bytes());
                    let _ = to.flush();
                    let _ = done.send(());
                }
            }
            next = if gathered.len() < GATHER { waiting.try_recv().ok() } else { None };
        }
        let _ = to.write_all(gathered.as_bytes());
        let _ = to.flush();
        gathered.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    /// A pipe that nobody reads.
    struct Stuck(Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(0)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_log_that_nobody_reads_does_not_hold_up_the_end() {
        let (never, stuck) = sync_channel(0);
        let log = Log::start(Box::new(Stuck(stuck))).unwrap();
        log.line("somebody should read this", &Mask::default());
        drop(log);
        drop(never);
    }
}
