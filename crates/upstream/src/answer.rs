//! An answer on its way in: bytes become events, within the provider's time limits.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use rail_model::{Event, ProtocolId, Usage};
use rail_wire::{BodyKind, MAX_FRAME, WireError};
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use crate::failure::Failure;
use crate::flow::{Flow, is_content, reasons};
use crate::headers::worth_passing;
use crate::letter::Letter;
use crate::limits::Limits;
use crate::raw::Raw;
use crate::{Body, Incoming, Mended, TransportError};

/// So much may come before the first content, frames in the making not counted.
const MOST_BEFORE_CONTENT: usize = 8 << 20;
/// How long the end of a body is awaited after the answer's own end: a connection read to its end can be used again.
const GRACE: Duration = Duration::from_millis(100);

/// An answer on its way in.
pub(crate) struct Answer {
    body: Body,
    /// What the provider says beside it and a client may want to know.
    pub(crate) headers: Vec<(String, String)>,
    flow: Flow,
    /// The bytes themselves, for as long as they may be passed on instead of the events.
    raw: Option<Raw>,
    limits: Limits,
    /// Events that nobody has taken yet.
    ready: VecDeque<Event>,
    /// Content is among the events.
    shown: bool,
    end: Option<End>,
    /// Rings when the next piece is late, or sooner.
    timer: Option<Pin<Box<Sleep>>>,
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
    /// The answer to a letter.
    pub(crate) fn new(letter: &Letter, incoming: Incoming, limits: Limits) -> Self {
        let Incoming { headers, body, .. } = incoming;
        let kind = came_as(letter.kind(), &headers);
        Self {
            body,
            headers: worth_passing(headers),
            flow: letter.flow(kind),
            raw: letter.raw(kind),
            limits,
            ready: VecDeque::new(),
            shown: false,
            end: None,
            timer: None,
            waiting: None,
            idle_bytes: (0, 0),
            head: Vec::new(),
        }
    }

    /// Reads until there is content or the answer is complete; true when it is complete and empty.
    pub(crate) async fn begin(&mut self) -> Result<bool, Failure> {
        while self.end.is_none() && !self.shown {
            self.read().await;
        }
        self.keep_seals_named();
        match &self.end {
            // Nobody has seen any of it yet, so what is broken can be left for another target.
            Some(End::Bad(failure)) => Err(failure.clone()),
            Some(End::Good | End::Taken) => Ok(!self.shown),
            None => Ok(false),
        }
    }

    /// The tokens reported so far by what nobody has taken yet.
    pub(crate) fn reported(&self) -> Usage {
        let mut reported = Usage::default();
        for event in &self.ready {
            if let Event::Usage(usage) = event {
                reported.update(usage.clone());
            }
        }
        reported
    }

    /// The next event; None at the end. From now on there are only events.
    pub(crate) async fn next(&mut self) -> Option<Result<Event, Failure>> {
        self.leave_raw();
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(end) = self.read_on().await {
                return end.err().map(Err);
            }
        }
    }

    /// Whether its bytes can be passed on as they come.
    pub(crate) fn is_raw(&self) -> bool {
        self.raw.is_some()
    }

    /// The next whole frames, with this name of the model, or with the target's own; None at the end, or where there are only
    /// events.
    pub(crate) async fn next_raw(&mut self, model: Option<&str>) -> Option<Result<Bytes, Failure>> {
        loop {
            if let Some(frames) = self.raw.as_mut()?.take(model) {
                return Some(Ok(frames));
            }
            if let Some(end) = self.read_on().await {
                return end.err().map(Err);
            }
        }
    }

    /// The next event that is here already.
    pub(crate) fn heard(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// Reads one piece, or gives the end once it is here.
    async fn read_on(&mut self) -> Option<Result<(), Failure>> {
        let Some(end) = &mut self.end else {
            self.read().await;
            return None;
        };
        match std::mem::replace(end, End::Taken) {
            End::Bad(failure) => Some(Err(failure)),
            End::Good => {
                self.drain().await;
                Some(Ok(()))
            }
            End::Taken => Some(Ok(())),
        }
    }

    /// What the stages have to say since the last time.
    pub(crate) fn mended(&mut self) -> Mended {
        self.flow.mended()
    }

    /// Reads one piece of the body, or its end.
    async fn read(&mut self) {
        let waiting = *self.waiting.get_or_insert_with(Instant::now);
        let (until, limit) = self.limits.until(self.flow.begun, waiting);
        let Some(piece) = self.piece_until(until).await else {
            return self.fail(self.limits.late(limit));
        };
        self.waiting = None;
        let (bytes, events) = match piece {
            Some(Ok(bytes)) => {
                self.keep_head(&bytes);
                (bytes.len(), self.piece(bytes))
            }
            None => (0, self.over()),
            Some(Err(error)) => return self.fail(Failure::Transport(error)),
        };
        self.count(bytes, events == 0);
    }

    /// What comes next until this moment; none when nothing came.
    ///
    /// The timer is not set anew for every piece: mostly the next one comes long before it rings, and then it is looked at again.
    async fn piece_until(&mut self, until: Instant) -> Option<Option<Result<Bytes, TransportError>>> {
        let Self { body, timer, .. } = self;
        let timer = timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
        if timer.deadline() > until {
            timer.as_mut().reset(until);
        }
        poll_fn(|cx| {
            if let Poll::Ready(piece) = body.poll_next(cx) {
                return Poll::Ready(Some(piece));
            }
            loop {
                ready!(timer.as_mut().poll(cx));
                if timer.deadline() >= until {
                    return Poll::Ready(None);
                }
                timer.as_mut().reset(until);
            }
        })
        .await
    }

    /// Reads a piece, frame by frame where frames may be passed on: one that can't be read, or that tells of a failure, is
    /// not. Gives the number of events that it became.
    fn piece(&mut self, mut piece: Bytes) -> usize {
        if self.raw.as_mut().is_some_and(|raw| !raw.suits(&piece)) {
            self.leave_raw();
        }
        let Some(raw) = self.raw.as_mut().filter(|raw| raw.is_stream()) else {
            self.raw.iter_mut().for_each(|raw| raw.hold(&piece));
            return self.take(Some(&piece));
        };
        let mut events = 0;
        let mut cut = raw.cut(&mut piece);
        while let Some(frame) = cut.take().filter(|_| self.end.is_none()) {
            events += self.take(Some(&frame));
            if let Some(raw) = self.raw.as_mut().filter(|_| !matches!(self.end, Some(End::Bad(_)))) {
                raw.keep(frame);
                cut = raw.cut(&mut piece);
            }
        }
        if self.raw.as_ref().is_some_and(|raw| raw.held() > MAX_FRAME) {
            self.fail(Failure::Flood(MAX_FRAME));
        }
        events
    }

    /// Reads the end of the body. Gives the number of events that it became.
    fn over(&mut self) -> usize {
        let Some(raw) = &mut self.raw else { return self.take(None) };
        let (stream, last) = (raw.is_stream(), raw.unended());
        let mut events = if stream && !last.is_empty() { self.take(Some(&last)) } else { 0 };
        if self.end.is_none() {
            events += self.take(None);
        }
        if let Some(raw) = self.raw.as_mut().filter(|_| matches!(self.end, Some(End::Good))) {
            if stream { raw.keep_last(&last) } else { raw.keep(last) }
        }
        events
    }

    /// Reads bytes, or the end of the body. Gives the number of events that they became.
    fn take(&mut self, bytes: Option<&[u8]>) -> usize {
        let mut events = Vec::new();
        let read = self.flow.take(bytes, &mut events);
        let count = events.len();
        events.into_iter().for_each(|event| self.absorb(event));
        if let Err(error) = read {
            let page = self.page();
            self.fail(page.unwrap_or(Failure::Unreadable(error)));
        } else if bytes.is_none() && self.end.is_none() {
            self.fail(Failure::Unreadable(WireError::truncated(UPSTREAM, "it ended without its end marker")));
        }
        count
    }

    /// Gives up the bytes; those that were held back until their frame is whole are read now.
    fn leave_raw(&mut self) {
        let Some(mut raw) = self.raw.take() else { return };
        if raw.is_stream() && raw.held() > 0 {
            self.take(Some(&raw.unended()));
        }
    }

    /// Seals of another issuer than the protocol would be taken for the protocol's own by whoever gets the bytes.
    fn keep_seals_named(&mut self) {
        if self.flow.names_seals() && self.ready.iter().any(reasons) {
            self.leave_raw();
        }
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

/// How an answer comes: some servers stream whatever they were asked for. One that was to stream is told by its first bytes.
fn came_as(asked: BodyKind, headers: &[(String, String)]) -> BodyKind {
    let streams = |(name, value): &(String, String)| {
        name == "content-type" && value.to_ascii_lowercase().contains("event-stream")
    };
    match asked {
        BodyKind::Whole if headers.iter().any(streams) => BodyKind::Stream,
        BodyKind::Whole | BodyKind::Stream | BodyKind::Array => asked,
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
