//! An answer on its way in: bytes become events, within the provider's time limits.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rail_model::{Delta, Event, PartKind, ProtocolId};
use rail_repair::{Note, Pipeline, Stage};
use rail_route::{Provider, Timeouts};
use rail_wire::{BodyKind, Decode, Restore, WireError};
use tokio::time::{Instant, timeout, timeout_at};

use crate::Body;
use crate::failure::{Failure, Limit};
use crate::issuer::claim;

/// So much may come before the first content, frames in the making not counted.
const MOST_BEFORE_CONTENT: usize = 8 << 20;
/// How long the end of a body is awaited after the answer's own end: a connection read to its end can be used again.
const GRACE: Duration = Duration::from_millis(100);

/// What an answer passes: the decoder, the name of who seals, the stages that repair calls, and what the writing of the request
/// must undo.
pub(crate) struct Flow {
    decoder: Box<dyn Decode>,
    issuer: Option<(ProtocolId, String)>,
    stages: Option<Box<Pipeline>>,
    restore: Restore,
    provider: Arc<Provider>,
    /// The decoder has seen content, though a stage may still hold it.
    begun: bool,
}

impl Flow {
    pub(crate) fn new(
        decoder: Box<dyn Decode>,
        issuer: Option<(ProtocolId, String)>,
        stages: Option<Box<Pipeline>>,
        restore: Restore,
        provider: Arc<Provider>,
    ) -> Self {
        Self { decoder, issuer, stages, restore, provider, begun: false }
    }

    /// Takes bytes, or the end of the body; what they become is appended, also when they end in an error.
    fn take(&mut self, bytes: Option<&[u8]>, out: &mut Vec<Event>) -> Result<(), WireError> {
        let mut raw = Vec::new();
        let read = match bytes {
            Some(bytes) => self.decoder.push(bytes, &mut raw),
            None => self.decoder.finish(&mut raw),
        };
        self.begun |= raw.iter().any(|event| is_content(event) || matches!(event, Event::Finished { .. }));
        if let Some((protocol, issuer)) = &self.issuer {
            raw.iter_mut().for_each(|event| claim(event, *protocol, issuer));
        }
        let mut settled = Vec::new();
        match &mut self.stages {
            None => settled = raw,
            Some(stages) => {
                raw.into_iter().for_each(|event| stages.event(event, &mut settled));
                if bytes.is_none() {
                    stages.finish(&mut settled);
                }
            }
        }
        if self.restore.is_empty() {
            out.append(&mut settled);
        } else {
            settled.into_iter().for_each(|event| self.restore.event(event, out));
        }
        read
    }
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    times: Timeouts,
    sent: Instant,
    kind: BodyKind,
}

impl Limits {
    /// The limits of a request that is sent now.
    pub(crate) fn from_now(times: Timeouts, kind: BodyKind) -> Self {
        Self { times, sent: Instant::now(), kind }
    }

    /// When to stop waiting, before or after the first content, for a piece that is awaited since `waiting`.
    fn until(&self, begun: bool, waiting: Instant) -> (Instant, Limit) {
        let total = (self.sent + self.times.total, Limit::Total);
        let nearer = match (begun, self.kind) {
            (true, _) => (waiting + self.times.idle, Limit::Idle),
            (false, BodyKind::Stream | BodyKind::Array) => {
                (self.sent + self.times.first_token, Limit::FirstToken)
            }
            // A whole answer has no first token: it comes when all of it is there.
            (false, BodyKind::Whole) => total,
        };
        if nearer.0 <= total.0 { nearer } else { total }
    }

    fn late(&self, limit: Limit) -> Failure {
        let time = match limit {
            Limit::FirstToken => self.times.first_token,
            Limit::Idle => self.times.idle,
            Limit::Total => self.times.total,
        };
        Failure::Late(limit, time)
    }

    /// When the first content is too late.
    pub(crate) fn for_content(&self) -> Instant {
        self.until(false, self.sent).0
    }

    /// Waits for something before the first content.
    pub(crate) async fn wait<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        let (until, limit) = self.until(false, self.sent);
        timeout_at(until, future).await.map_err(|_| self.late(limit))
    }
}

/// An answer on its way in.
pub(crate) struct Answer {
    body: Body,
    flow: Flow,
    limits: Limits,
    /// Events that nobody has taken yet.
    ready: VecDeque<Event>,
    /// Content is among the events.
    shown: bool,
    end: Option<End>,
    /// Since when the next piece is awaited, however often the wait was given up and begun again.
    waiting: Option<Instant>,
    /// Bytes of whole frames without content, and of a frame in the making.
    idle_bytes: (usize, usize),
    /// What the body begins with, to tell a web page from an answer.
    head: Vec<u8>,
}

#[derive(Clone, Debug)]
enum End {
    Good,
    Bad(Failure),
    /// The end, good or bad, was taken.
    Taken,
}

impl Answer {
    pub(crate) fn new(body: Body, flow: Flow, limits: Limits) -> Self {
        let (ready, head) = (VecDeque::new(), Vec::new());
        Self { body, flow, limits, ready, shown: false, end: None, waiting: None, idle_bytes: (0, 0), head }
    }

    /// Reads until there is content or the answer is complete; true when it is complete and empty.
    pub(crate) async fn begin(&mut self) -> Result<bool, Failure> {
        loop {
            match &self.end {
                // Nobody has seen any of it yet, so what is broken can be left for another target.
                Some(End::Bad(failure)) => return Err(failure.clone()),
                Some(End::Good | End::Taken) => return Ok(!self.shown),
                None if self.shown => return Ok(false),
                None => self.read().await,
            }
        }
    }

    /// The next event; None at the end.
    pub(crate) async fn next(&mut self) -> Option<Result<Event, Failure>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            match self.end.take() {
                None => self.read().await,
                Some(End::Bad(failure)) => {
                    self.end = Some(End::Taken);
                    return Some(Err(failure));
                }
                Some(End::Good) => {
                    self.end = Some(End::Taken);
                    self.drain().await;
                    return None;
                }
                Some(End::Taken) => {
                    self.end = Some(End::Taken);
                    return None;
                }
            }
        }
    }

    /// What the stages have to say since the last time.
    pub(crate) fn notes(&mut self) -> Vec<Note> {
        self.flow.stages.as_mut().map(|stages| stages.notes()).unwrap_or_default()
    }

    /// Reads one piece of the body, or its end.
    async fn read(&mut self) {
        let waiting = *self.waiting.get_or_insert_with(Instant::now);
        let (until, limit) = self.limits.until(self.flow.begun, waiting);
        let piece = match timeout_at(until, self.body.next()).await {
            Ok(piece) => piece,
            Err(_late) => return self.fail(self.limits.late(limit)),
        };
        self.waiting = None;
        let mut events = Vec::new();
        let read = match &piece {
            Some(Ok(bytes)) => {
                self.keep_head(bytes);
                self.flow.take(Some(bytes), &mut events)
            }
            None => self.flow.take(None, &mut events),
            Some(Err(error)) => return self.fail(Failure::Transport(error.clone())),
        };
        let quiet = events.is_empty();
        events.into_iter().for_each(|event| self.absorb(event));
        if let Err(error) = read {
            let page = self.page();
            self.fail(page.unwrap_or(Failure::Unreadable(error)));
        } else if piece.is_none() && self.end.is_none() {
            self.fail(Failure::Unreadable(WireError::truncated(UPSTREAM, "it ended without its end marker")));
        }
        let bytes = piece.and_then(Result::ok).map_or(0, |bytes| bytes.len());
        self.count(bytes, quiet);
    }

    /// Takes an event; what comes after the end says nothing any more.
    fn absorb(&mut self, event: Event) {
        if self.end.is_some() {
            return;
        }
        match event {
            Event::Failed(error) => self.fail(Failure::Said(error)),
            Event::Ping if !self.shown => {}
            Event::Finished { .. } => {
                self.ready.push_back(event);
                self.end = Some(End::Good);
            }
            Event::Started { .. }
            | Event::Opened { .. }
            | Event::Delta { .. }
            | Event::Closed { .. }
            | Event::Usage(_)
            | Event::Ping
            | Event::Opaque(_) => {
                self.shown |= is_content(&event);
                self.ready.push_back(event);
            }
        }
    }

    fn fail(&mut self, failure: Failure) {
        if self.end.is_none() {
            self.end = Some(End::Bad(failure.settled(&self.flow.provider)));
        }
    }

    /// Bounds what is held before the first content. A frame in the making may be large: the framer has its own bound.
    fn count(&mut self, bytes: usize, quiet: bool) {
        if self.shown {
            return;
        }
        let (whole, making) = &mut self.idle_bytes;
        *making += bytes;
        if !quiet || self.flow.begun {
            *whole += std::mem::take(making);
        }
        let whole = *whole;
        if whole > MOST_BEFORE_CONTENT {
            self.fail(Failure::Flood(whole));
        }
    }

    fn keep_head(&mut self, bytes: &[u8]) {
        let room = 2000_usize.saturating_sub(self.head.len());
        self.head.extend(bytes.iter().take(room));
    }

    /// The words of a web page, if that is what the body is.
    fn page(&self) -> Option<Failure> {
        let text = String::from_utf8_lossy(&self.head);
        text.trim_start().starts_with('<').then(|| Failure::Page(words(&text)))
    }

    async fn drain(&mut self) {
        let end = async { while let Some(Ok(_)) = self.body.next().await {} };
        // A body that does not end in time is dropped, and its connection with it.
        let _ = timeout(GRACE, end).await;
    }
}

/// Whether an event says something: that a part begins which is still empty does not.
fn is_content(event: &Event) -> bool {
    match event {
        Event::Opened { kind, .. } => match kind {
            PartKind::Text | PartKind::Refusal | PartKind::Thinking => false,
            PartKind::Redacted(_) | PartKind::ToolCall { .. } | PartKind::Media(_) | PartKind::Opaque(_) => {
                true
            }
        },
        Event::Delta { delta, .. } => match delta {
            Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments(text) => !text.is_empty(),
            Delta::Seal(_) | Delta::Logprobs(_) | Delta::Extra { .. } => true,
        },
        Event::Started { .. }
        | Event::Closed { .. }
        | Event::Usage(_)
        | Event::Finished { .. }
        | Event::Failed(_)
        | Event::Ping
        | Event::Opaque(_) => false,
    }
}

/// Who reads, where no protocol is to blame.
const UPSTREAM: ProtocolId = ProtocolId::new("upstream");

/// The visible words of a page, short.
fn words(page: &str) -> String {
    let mut visible = String::new();
    let mut inside = false;
    for c in page.chars() {
        match c {
            '<' => inside = true,
            '>' => {
                inside = false;
                visible.push(' ');
            }
            _ if !inside => visible.push(c),
            _ => {}
        }
    }
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(120).collect()
}
