//! The log: a line for each request at its end, and one for each thing worth knowing on the way.

mod line;

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rail_config::settings::GatewayLog;
use rail_ledger::{Ending, Entry};
use tokio::sync::oneshot;

pub(crate) use line::{Level, Remark};

use super::Mask;
use super::metrics::repair_steps;

/// Bytes that wait for whoever reads the log; further lines are dropped and counted.
const MOST_WAITING: usize = 2 << 20;
/// How long the last lines may take to be written when the gateway ends.
const LAST_WAIT: Duration = Duration::from_secs(1);
/// So long a line waits for others to be written with: to wake a thread for each costs more than the line.
const GATHER: Duration = Duration::from_millis(20);

/// Writes lines from a thread of its own, so that no request waits for a terminal or a pipe.
pub(crate) struct Log {
    desk: Arc<Desk>,
    lost: AtomicU64,
    /// Closed when all is written.
    written: Mutex<Receiver<()>>,
}

/// Where lines wait to be written.
#[derive(Default)]
struct Desk {
    waiting: Mutex<Waiting>,
    called: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: String,
    /// Told when the lines before are written.
    flushes: Vec<oneshot::Sender<()>>,
    closed: bool,
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.flushes.is_empty() && !self.closed
    }

    fn is_urgent(&self) -> bool {
        self.closed || !self.flushes.is_empty()
    }
}

impl Log {
    /// A log to this place; none when no thread can be started.
    pub(crate) fn start(to: Box<dyn Write + Send>) -> Option<Self> {
        let (writing, written) = sync_channel(0);
        let desk = Arc::new(Desk::default());
        let lines = Arc::clone(&desk);
        let write = move || {
            write(to, &lines);
            drop(writing);
        };
        std::thread::Builder::new().name("log".to_owned()).spawn(write).ok()?;
        Some(Self { desk, lost: AtomicU64::new(0), written: Mutex::new(written) })
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
        self.desk.lock().flushes.push(done);
        self.desk.called.notify_one();
        // A thread that ended has nothing left to write.
        let _ = heard.await;
    }

    fn line(&self, line: &str, mask: &Mask) {
        let line = mask.cover(line);
        let mut waiting = self.desk.lock();
        if waiting.lines.len() > MOST_WAITING {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let first = waiting.is_empty();
        waiting.lines.push_str(&line);
        waiting.lines.push('\n');
        drop(waiting);
        // Whoever writes looks for more by itself.
        if first {
            self.desk.called.notify_one();
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.desk.lock().closed = true;
        self.desk.called.notify_one();
        let written = self.written.get_mut().unwrap_or_else(PoisonError::into_inner);
        // A pipe that nobody reads must not keep the gateway from its end.
        let _ = written.recv_timeout(LAST_WAIT);
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing that is done under the lock can panic half way.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for lines, and then a little for others.
    fn take(&self) -> Waiting {
        let unpoisoned = PoisonError::into_inner;
        let waiting =
            self.called.wait_while(self.lock(), |waiting| waiting.is_empty()).unwrap_or_else(unpoisoned);
        let (mut waiting, _) = self
            .called
            .wait_timeout_while(waiting, GATHER, |waiting| !waiting.is_urgent())
            .unwrap_or_else(PoisonError::into_inner);
        let closed = waiting.closed;
        Waiting { closed, ..std::mem::take(&mut *waiting) }
    }
}

/// Writes lines as they come, several at once when they come fast. That a log can't be written must not stop the gateway.
fn write(mut to: Box<dyn Write + Send>, desk: &Desk) {
    loop {
        let Waiting { lines, flushes, closed } = desk.take();
        let _ = to.write_all(lines.as_bytes());
        let _ = to.flush();
        for done in flushes {
            let _ = done.send(());
        }
        if closed {
            return;
        }
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

    /// A file that several hold.
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn lines_are_there_after_a_flush_and_at_the_end() {
        let file = Shared::default();
        let log = Log::start(Box::new(file.clone())).unwrap();
        let written = || String::from_utf8(file.0.lock().unwrap().clone()).unwrap();
        log.line("one", &Mask::default());
        log.flush().await;
        assert_eq!(written(), "one\n");
        log.line("two", &Mask::default());
        log.line("three", &Mask::default());
        drop(log);
        assert_eq!(written(), "one\ntwo\nthree\n");
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
