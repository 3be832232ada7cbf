//! Spans on their way to the collector.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use rail_model::ProtocolId;
use rail_route::Provider;
use rail_stdx::Secret;
use rail_upstream::{Outgoing, Transport};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::proto::{self, Value};
use super::settings::Otlp;
use super::span::Spans;

/// How long spans wait for others to go with them.
const GATHER: Duration = Duration::from_secs(2);
/// How many bytes of spans go at once at most.
const MOST_BYTES: usize = 512 * 1024;
/// How long the collector may take.
const WAIT: Duration = Duration::from_secs(10);
/// How long to wait before the same spans are sent again; it doubles each time.
const PAUSE: Duration = Duration::from_millis(500);
/// How often spans are sent at most.
const TRIES: u32 = 3;

/// What is handed to the task.
pub(super) enum Message {
    Spans(Spans),
    /// All that came before is sent; then this is told.
    Flush(oneshot::Sender<()>),
}

/// The task that sends spans.
pub(super) struct Export {
    url: String,
    headers: Vec<(String, Secret)>,
    /// The `Resource` and the `InstrumentationScope`, which are always the same.
    resource: Vec<u8>,
    scope: Vec<u8>,
    provider: Arc<Provider>,
    transport: Arc<dyn Transport>,
    lost: Arc<AtomicU64>,
    problem: Box<dyn Fn(&str) + Send + Sync>,
    /// Whether the last failure was told.
    told: bool,
    gathered: Vec<u8>,
    count: u64,
}

/// Why spans did not arrive.
struct Failure {
    problem: String,
    /// Whether the same spans may arrive a little later.
    passing: bool,
}

impl Export {
    pub(super) fn new(
        otlp: Otlp,
        transport: Arc<dyn Transport>,
        lost: Arc<AtomicU64>,
        problem: Box<dyn Fn(&str) + Send + Sync>,
    ) -> Self {
        let mut resource = proto::Message::default();
        resource.attribute(1, "service.name", Value::Text(&otlp.service));
        resource.attribute(1, "service.version", Value::Text(env!("CARGO_PKG_VERSION")));
        let mut scope = proto::Message::default();
        scope.bytes(1, b"switchrail");
        scope.bytes(2, env!("CARGO_PKG_VERSION").as_bytes());
        let base = otlp.url.trim_end_matches("/v1/traces").to_owned();
        let kind = ("content-type".to_owned(), Secret::new("application/x-protobuf"));
        Self {
            url: otlp.url,
            headers: otlp.headers.into_iter().chain([kind]).collect(),
            resource: resource.0,
            scope: scope.0,
            provider: Arc::new(Provider::new("otlp", ProtocolId::new("otlp"), base)),
            transport,
            lost,
            problem,
            told: false,
            gathered: Vec::new(),
            count: 0,
        }
    }

    pub(super) async fn run(mut self, mut queue: mpsc::Receiver<Message>) {
        while let Some(first) = queue.recv().await {
            let until = Instant::now() + GATHER;
            let mut next = Some(first);
            let mut flushed = None;
            while let Some(message) = next {
                match message {
                    Message::Spans(spans) => {
                        self.gathered.extend_from_slice(&spans.bytes);
                        self.count += spans.count;
                    }
                    Message::Flush(done) => flushed = Some(done),
                }
                let enough = flushed.is_some() || self.gathered.len() >= MOST_BYTES;
                next = if enough { None } else { timeout_at(until, queue.recv()).await.ok().flatten() };
            }
            self.send().await;
            if let Some(done) = flushed {
                // Whoever asked may have stopped waiting.
                let _ = done.send(());
            }
        }
    }

    /// Sends what was gathered, or gives it up.
    async fn send(&mut self) {
        if self.gathered.is_empty() {
            return;
        }
        let (spans, count) = (std::mem::take(&mut self.gathered), std::mem::take(&mut self.count));
        let body = self.body(&spans);
        let mut pause = PAUSE;
        for left in (0..TRIES).rev() {
            match self.post(body.clone()).await {
                Ok(()) => {
                    self.told = false;
                    return;
                }
                Err(failure) if left > 0 && failure.passing => {
                    sleep(pause).await;
                    pause *= 2;
                }
                Err(failure) => {
                    self.gave_up(&failure.problem, count);
                    return;
                }
            }
        }
    }

    fn gave_up(&mut self, problem: &str, count: u64) {
        self.lost.fetch_add(count, Ordering::Relaxed);
        if !std::mem::replace(&mut self.told, true) {
            let address = rail_config::shown_address(&self.url);
            (self.problem)(&format!(
                "traces can't be sent to {address}: {problem}; {count} spans are lost, and more until it works; correct `gateway.otlp`, or start the collector"
            ));
        }
    }

    async fn post(&self, body: Bytes) -> Result<(), Failure> {
        let call = Outgoing {
            provider: Arc::clone(&self.provider),
            method: "POST".to_owned(),
            url: self.url.clone(),
            headers: self.headers.clone(),
            body,
        };
        let answered = timeout(WAIT, async {
            let mut answer = self.transport.send(call).await.map_err(|error| error.problem)?;
            // Read to its end, so that the connection can be used again.
            while let Some(piece) = answer.body.next().await {
                piece.map_err(|error| error.problem)?;
            }
            Ok::<u16, String>(answer.status)
        });
        match answered.await {
            Ok(Ok(200..=299)) => Ok(()),
            Ok(Ok(status)) => {
                let passing = matches!(status, 429 | 502 | 503 | 504);
                Err(Failure { problem: format!("HTTP {status}"), passing })
            }
            Ok(Err(problem)) => Err(Failure { problem, passing: true }),
            Err(_) => Err(Failure { problem: format!("no answer in {} s", WAIT.as_secs()), passing: false }),
        }
    }

    /// An `ExportTraceServiceRequest`.
    fn body(&self, spans: &[u8]) -> Bytes {
        let mut request = proto::Message::default();
        request.inner(1, |resource_spans| {
            resource_spans.bytes(1, &self.resource);
            resource_spans.inner(2, |scope_spans| {
                scope_spans.bytes(1, &self.scope);
                scope_spans.0.extend_from_slice(spans);
            });
        });
        request.0.into()
    }
}
