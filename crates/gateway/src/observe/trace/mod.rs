//! Traces over OTLP: one span for each request, with one below it for each send.
//!
//! Protobuf is written by hand in `proto`: spans need six kinds of field.

mod context;
mod export;
mod proto;
mod settings;
mod span;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rail_ledger::Entry;
use rail_upstream::Transport;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

pub(crate) use context::Context;
pub use settings::Otlp;

use super::Mask;
use super::known::Known;
use export::{Export, Message};

/// Requests whose spans wait to be sent; those of further ones are dropped and counted.
const MOST_WAITING: usize = 2048;

/// Sends spans in the background.
pub(crate) struct Traces {
    queue: mpsc::Sender<Message>,
    lost: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Traces {
    /// Sends to this collector from now on; `problem` is told when that fails, once until it works again. It must be called
    /// within a runtime.
    pub(crate) fn start(
        otlp: Otlp,
        transport: Arc<dyn Transport>,
        problem: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let (queue, waiting) = mpsc::channel(MOST_WAITING);
        let lost = Arc::new(AtomicU64::new(0));
        let export = Export::new(otlp, transport, Arc::clone(&lost), Box::new(problem));
        Self { queue, lost, task: tokio::spawn(export.run(waiting)) }
    }

    /// The spans of a request that came to its end.
    pub(crate) fn ended(&self, entry: &Entry, context: Option<Context>, known: &Known, mask: &Mask) {
        let context = context.unwrap_or_else(|| Context::new(None));
        if !context.sampled {
            return;
        }
        let spans = span::spans(entry, &context, known, mask);
        let count = spans.count;
        if self.queue.try_send(Message::Spans(spans)).is_err() {
            self.lost.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// How many spans were lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Sends what waits, and comes back when that is done or given up.
    pub(crate) async fn flush(&self) {
        let (done, heard) = oneshot::channel();
        if self.queue.send(Message::Flush(done)).await.is_ok() {
            // A task that ended has nothing left to send.
            let _ = heard.await;
        }
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[cfg(test)]
mod tests;
