//! Providers, plans and requests for tests, who hears the notes, and a clock that stands still.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use rail_model::{Assembler, Event, Message, Part, PartBody, ProtocolId, Request, Role};
use rail_route::{Attempt, ModelProfile, Plan, Provider, Retry, Target, Timeouts, ToolStyle};
use rail_testkit::Peer;
use rail_upstream::{Broken, Class, NoAnswer, Note, Notes, Outcome, Reply, Sent, Upstream};
use tokio::sync::mpsc as channel;
use tokio::time::Instant;

use crate::counted::Counted;

pub(crate) const CHAT: ProtocolId = ProtocolId::new("openai-chat");
pub(crate) const ANTHROPIC: ProtocolId = ProtocolId::new("anthropic");

/// Limits and retries that no good answer meets.
pub(crate) fn provider(name: &str, base_url: String) -> Provider {
    let seconds = Duration::from_secs;
    let timeouts =
        Timeouts { connect: seconds(5), first_token: seconds(20), idle: seconds(10), total: seconds(100) };
    let retry = Retry { tries: 1, wait: seconds(1), max_wait: seconds(5), within: seconds(15) };
    Provider { timeouts, retry, ..Provider::new(name, CHAT, base_url) }
}

/// A model whose calls can be trusted.
pub(crate) fn profile() -> ModelProfile {
    ModelProfile {
        vision: true,
        tools: ToolStyle::Native,
        developer_role: true,
        image_in_tool_result: true,
        custom_tools: true,
        stream_usage: true,
        ..ModelProfile::default()
    }
}

pub(crate) fn attempt(provider: Provider) -> Attempt {
    attempt_as(provider, profile())
}

pub(crate) fn attempt_as(provider: Provider, profile: ModelProfile) -> Attempt {
    let target = Target::new(&provider.name, "m");
    Attempt { target, provider: Arc::new(provider), profile: Arc::new(profile), why: String::new() }
}

pub(crate) fn plan(attempts: impl IntoIterator<Item = Attempt>) -> Plan {
    Plan {
        asked: "m".to_owned(),
        virtual_model: None,
        why: String::new(),
        estimated: 0,
        attempts: attempts.into_iter().collect(),
        skipped: Vec::new(),
    }
}

/// A question, to be answered by a stream.
pub(crate) fn request() -> Request {
    let messages = vec![Message::new(Role::User, vec![Part::text("question")])];
    Request { model: "m".to_owned(), messages, stream: true, ..Request::default() }
}

pub(crate) fn upstream() -> Upstream {
    upstream_over(&Counted::default())
}

pub(crate) fn upstream_over(counted: &Counted) -> Upstream {
    Upstream::new(Arc::new(counted.clone()))
}

/// Keeps all notes, and tells each pause to whoever moves the clock.
pub(crate) struct Heard {
    notes: Mutex<Vec<Note>>,
    pauses: channel::UnboundedSender<Duration>,
}

impl Notes for Heard {
    fn note(&self, note: Note) {
        if let Note::Retrying { wait, .. } = &note {
            self.pauses.send(*wait).ok();
        }
        self.notes.lock().unwrap().push(note);
    }
}

impl Heard {
    pub(crate) fn notes(&self) -> Vec<Note> {
        self.notes.lock().unwrap().clone()
    }

    /// The sends that the notes tell of.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        let notes = self.notes().into_iter();
        notes.filter_map(|note| if let Note::Sent(sent) = note { Some(sent) } else { None }).collect()
    }
}

/// A clock that moves only when a test, or a pause of a request, moves it: real sockets take no time.
pub(crate) struct Frozen {
    /// Tokio moves its paused clock by itself only while no blocking task runs; this ends one.
    _held: mpsc::Sender<()>,
    pub(crate) heard: Arc<Heard>,
    pauses: channel::UnboundedReceiver<Duration>,
    began: Instant,
}

impl Frozen {
    pub(crate) fn new() -> Self {
        let (held, released) = mpsc::channel::<()>();
        // A test that waits for what never comes must fail and not hang: after this long the clock runs again.
        tokio::task::spawn_blocking(move || released.recv_timeout(Duration::from_secs(20)).ok());
        let (pauses, waited) = channel::unbounded_channel();
        let heard = Arc::new(Heard { notes: Mutex::default(), pauses });
        Self { _held: held, heard, pauses: waited, began: Instant::now() }
    }

    /// Asks, and lets each pause pass.
    pub(crate) async fn ask(
        &mut self,
        upstream: &Upstream,
        plan: &Plan,
        request: &Request,
    ) -> Result<Reply, NoAnswer> {
        self.ask_while(upstream, plan, request, std::future::pending()).await
    }

    /// Asks while the test does something else too; a test that ends its part leaves the request to itself.
    pub(crate) async fn ask_while(
        &mut self,
        upstream: &Upstream,
        plan: &Plan,
        request: &Request,
        test: impl Future<Output = ()>,
    ) -> Result<Reply, NoAnswer> {
        let heard = Arc::clone(&self.heard);
        let mut asked = Box::pin(upstream.ask(plan, request, &*heard));
        let mut test = Box::pin(async {
            test.await;
            std::future::pending::<()>().await;
        });
        loop {
            tokio::select! {
                biased;
                answer = &mut asked => return answer,
                wait = self.pauses.recv() => {
                    // Timers count whole milliseconds.
                    let whole = wait.unwrap().as_nanos().div_ceil(1_000_000);
                    tokio::time::advance(Duration::from_millis(u64::try_from(whole).unwrap())).await;
                }
                () = &mut test => {}
            }
        }
    }

    /// How far the clock went.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

/// Waits until a peer's script came to this mark.
pub(crate) async fn reached(peer: &Arc<Peer>, mark: &'static str) {
    let peer = Arc::clone(peer);
    tokio::task::spawn_blocking(move || peer.wait_for(mark)).await.unwrap();
}

/// All that is left of an answer.
pub(crate) async fn rest(reply: &mut Reply) -> Result<Vec<Event>, Broken> {
    let mut events = Vec::new();
    while let Some(event) = reply.next().await {
        events.push(event?);
    }
    Ok(events)
}

/// The text of an answer.
pub(crate) async fn text(reply: &mut Reply) -> Result<String, Broken> {
    let mut assembler = Assembler::default();
    rest(reply).await?.into_iter().for_each(|event| assembler.push(event));
    let parts = assembler.parts().iter();
    Ok(parts
        .filter_map(|part| if let PartBody::Text(text) = &part.body { Some(text.as_str()) } else { None })
        .collect())
}

/// The record in short: target, status, end, and `$` where a charge is possible.
pub(crate) fn record(sent: &[Sent]) -> Vec<String> {
    let line = |sent: &Sent| {
        let status = sent.status.map_or("-".to_owned(), |status| status.to_string());
        let end = match &sent.outcome {
            Outcome::Answered => "answered",
            Outcome::Empty => "empty",
            Outcome::Left => "left",
            Outcome::Failed { class, .. } => Class::word(class),
        };
        format!("{} {status} {end}{}", sent.target.provider, if sent.possible_charge { " $" } else { "" })
    };
    sent.iter().map(line).collect()
}
