//! What a client is told while its answer comes: events become bytes, and silence becomes signs of life.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use rail_ledger::Ending;
use rail_model::{ApiError, Event, Extras};
use rail_upstream::{Broken, Reply};
use rail_wire::{BodyKind, Encode, Inbound, ReplyTo};
use tokio::time::{Instant, Sleep, sleep};

use super::pieces::Outlet;
use super::record::Open;
use super::{head, numbers};

/// A piece is given out when nothing more is there right now, and at the latest when it is as large as this.
const PIECE: usize = 64 << 10;
/// Larger pieces are given away with their buffer; smaller ones are copied out of it, so that it can be used again.
const COPIED: usize = 4 << 10;

/// An answer on its way out to a client that takes it in pieces.
pub(super) struct Talk {
    inbound: &'static dyn Inbound,
    kind: BodyKind,
    encoder: Box<dyn Encode>,
    outlet: Outlet,
    /// Bytes that were not given out yet.
    out: Vec<u8>,
    /// The head was given.
    begun: bool,
    /// The client was told that the answer starts, before the target said so.
    started: bool,
    /// When the client was last given something.
    given: Instant,
    /// The target's own frames that the client was given last.
    passed: Bytes,
}

/// What is next.
enum Next<T> {
    /// What was waited for.
    Here(T),
    /// Nothing is there right now, so what was made is given out.
    Idle,
    /// Nothing has come for so long that the client is told that it still waits.
    Silent,
}

impl Talk {
    /// Nothing was said yet.
    pub(super) fn new(
        inbound: &'static dyn Inbound,
        kind: BodyKind,
        reply_to: &ReplyTo,
        outlet: Outlet,
    ) -> Self {
        let (encoder, given) = (inbound.encoder(kind, reply_to), Instant::now());
        let (out, passed) = (Vec::new(), Bytes::new());
        Self { inbound, kind, encoder, outlet, out, begun: false, started: false, given, passed }
    }

    /// Begins before anybody has answered. Where the protocol has an event for the start, it goes first: clients of OpenAI's
    /// library take no sign of life before it.
    pub(super) async fn start(&mut self, reply_to: &ReplyTo, open: &mut Open) {
        let start = Event::Started { id: None, model: reply_to.model.clone(), extras: Extras::NONE };
        self.encoder.push(&start, &mut self.out);
        if self.out.is_empty() {
            // A start that waits for what follows it is not held back by a sign of life.
            self.encoder.push(&Event::Ping, &mut self.out);
        }
        self.started = !self.out.is_empty();
        if !self.started {
            // This protocol's first bytes are content. Its start can still be the target's own.
            self.encoder = self.inbound.encoder(self.kind, reply_to);
        }
        self.flush(open).await;
    }

    /// Tells the client that it still waits.
    pub(super) async fn keep_alive(&mut self, open: &mut Open) {
        self.out.extend_from_slice(self.inbound.keep_alive());
        self.flush(open).await;
    }

    /// Passes an answer on to its end, and ends the record.
    pub(super) async fn pass(mut self, mut reply: Reply, keep_alive: Duration, mut open: Open) {
        let mut timer = pin!(sleep(keep_alive));
        loop {
            let event = self.while_waiting(reply.next(), keep_alive, timer.as_mut(), &mut open).await;
            match event {
                Some(Ok(event)) => {
                    self.event(&event, &mut open);
                    match event {
                        // What was said of a call is complete when the call is.
                        Event::Closed { .. } => open.repaired(reply.repairs()),
                        Event::Finished { .. } => {
                            open.repaired(reply.repairs());
                            open.completes();
                            self.end(Ending::Answered, &mut open);
                        }
                        Event::Started { .. }
                        | Event::Opened { .. }
                        | Event::Delta { .. }
                        | Event::Usage(_)
                        | Event::Failed(_)
                        | Event::Ping
                        | Event::Opaque(_) => {}
                    }
                }
                Some(Err(Broken { error })) => return self.fail(&error, Ending::Broken, open).await,
                None => break,
            }
            if self.out.len() >= PIECE {
                self.flush(&mut open).await;
            }
        }
        self.flush(&mut open).await;
    }

    /// Passes an answer on as it comes, byte for byte but for the model's name, and ends the record.
    pub(super) async fn relay(
        mut self,
        mut reply: Reply,
        model: Option<&str>,
        keep_alive: Duration,
        mut open: Open,
    ) {
        let mut timer = pin!(sleep(keep_alive));
        loop {
            let frames =
                self.while_waiting(reply.next_raw(model), keep_alive, timer.as_mut(), &mut open).await;
            let finished = open.hears(&mut reply);
            if finished {
                open.completes();
            }
            match frames {
                Some(Ok(frames)) => {
                    self.passed = frames.clone();
                    if finished {
                        self.out.extend_from_slice(&frames);
                        self.close(Ending::Answered, &mut open);
                    } else {
                        self.frames(frames, &mut open).await;
                    }
                    if self.out.len() >= PIECE {
                        self.flush(&mut open).await;
                    }
                }
                Some(Err(Broken { error })) => {
                    let failure = self.failure_alone(&error);
                    self.out.extend_from_slice(&failure);
                    open.has_problem(&error.message);
                    self.close(Ending::Broken, &mut open);
                    break;
                }
                None => {
                    // Some protocols have no end but that of their body.
                    if finished {
                        self.close(Ending::Answered, &mut open);
                    }
                    break;
                }
            }
        }
        self.flush(&mut open).await;
    }

    /// Takes frames of the target's own. Small ones wait for what comes with them; large ones go out as they are.
    async fn frames(&mut self, frames: Bytes, open: &mut Open) {
        if frames.len() <= COPIED {
            self.out.extend_from_slice(&frames);
            return;
        }
        self.flush(open).await;
        open.gave(&frames);
        self.give(frames).await;
    }

    /// A failure as it is said behind frames that this encoder did not write: it is told of a start, which the client has had.
    fn failure_alone(&mut self, error: &ApiError) -> Vec<u8> {
        let start = Event::Started { id: None, model: None, extras: Extras::NONE };
        let (mut before, mut failure) = (Vec::new(), Vec::new());
        self.encoder.push(&start, &mut before);
        self.encoder.push(&Event::Ping, &mut before);
        self.encoder.push(&Event::Failed(error.clone()), &mut failure);
        self.encoder.finish(&mut failure);
        numbers::go_on(&self.passed, failure)
    }

    /// Waits for what is next. When it is not there right now, what was made is given out; when it does not come for long, the
    /// client is told that it still waits.
    ///
    /// What is next may lie in a connection whose task has only to run: before anything is given out, others have a turn. So what
    /// came at once goes out at once, and what comes alone waits for no clock.
    async fn while_waiting<T>(
        &mut self,
        next: impl Future<Output = T>,
        keep_alive: Duration,
        mut timer: Pin<&mut Sleep>,
        open: &mut Open,
    ) -> T {
        let mut next = pin!(next);
        let mut gave_way = false;
        loop {
            let turn = poll_fn(|cx| match next.as_mut().poll(cx) {
                Poll::Ready(event) => Poll::Ready(Next::Here(event)),
                Poll::Pending if !self.begun || !self.out.is_empty() => {
                    if std::mem::replace(&mut gave_way, true) {
                        return Poll::Ready(Next::Idle);
                    }
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
                Poll::Pending => loop {
                    ready!(timer.as_mut().poll(cx));
                    // The timer is not set anew with every piece: it is cheaper to look once when it rings.
                    let due = self.given + keep_alive;
                    if due <= Instant::now() {
                        break Poll::Ready(Next::Silent);
                    }
                    timer.as_mut().reset(due);
                },
            });
            match turn.await {
                Next::Here(event) => return event,
                Next::Idle => self.flush(open).await,
                Next::Silent => self.keep_alive(open).await,
            }
        }
    }

    /// Says a failure as the protocol says it in mid-answer, and ends the record.
    pub(super) async fn fail(mut self, error: &ApiError, ending: Ending, mut open: Open) {
        self.encoder.push(&Event::Failed(error.clone()), &mut self.out);
        open.has_problem(&error.message);
        self.end(ending, &mut open);
        self.flush(&mut open).await;
    }

    fn event(&mut self, event: &Event, open: &mut Open) {
        open.event(event);
        if !(self.started && matches!(event, Event::Started { .. })) {
            self.encoder.push(event, &mut self.out);
        }
    }

    /// Writes the answer's end.
    fn end(&mut self, ending: Ending, open: &mut Open) {
        self.encoder.finish(&mut self.out);
        self.close(ending, open);
    }

    /// The answer has its end, and so has the record: before the client can see it, so that who asks again is not ahead of it.
    fn close(&mut self, ending: Ending, open: &mut Open) {
        self.begin(open);
        open.gave(&self.out);
        open.ends(ending);
    }

    fn begin(&mut self, open: &mut Open) {
        open.lost_to_client(self.encoder.losses());
        if !std::mem::replace(&mut self.begun, true) {
            open.shows(200);
            let mut head = head::of_pieces(self.kind, open.entry());
            head::pass_on(open.passed_on(), &mut head.headers);
            self.outlet.begin(head);
        }
    }

    /// Gives out what was made, and waits until it is taken.
    async fn flush(&mut self, open: &mut Open) {
        self.begin(open);
        if self.out.is_empty() {
            return;
        }
        open.gave(&self.out);
        let piece = if self.out.len() <= COPIED {
            let piece = Bytes::copy_from_slice(&self.out);
            self.out.clear();
            piece
        } else {
            Bytes::from(std::mem::take(&mut self.out))
        };
        self.give(piece).await;
    }

    async fn give(&mut self, piece: Bytes) {
        self.outlet.give(piece).await;
        self.given = Instant::now();
    }
}
