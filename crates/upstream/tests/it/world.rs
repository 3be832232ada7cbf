//! Providers, plans and requests for tests, who hears the notes, and a clock that stands still.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use bytes::Bytes;
use rail_model::{Assembler, ErrorKind, Event, Message, Part, PartBody, ProtocolId, Request, Role};
use rail_route::{Attempt, ModelProfile, Plan, Provider, Retry, Target, Timeouts, ToolStyle};
use rail_testkit::Peer;
use rail_upstream::{Broken, Class, NoAnswer, Note, Notes, Original, Outcome, Reply, Sent, Upstream};
use rail_wire::{BodyKind, HttpCall, Protocol};
use serde_json::json;
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
        self.wait(upstream.ask(plan, request, &*heard), test).await
    }

    /// Asks as a client does that wrote the request itself, and lets each pause pass.
    pub(crate) async fn relay(
        &mut self,
        upstream: &Upstream,
        plan: &Plan,
        client: &Client,
    ) -> Result<Reply, NoAnswer> {
        let heard = Arc::clone(&self.heard);
        let original = Original { protocol: client.protocol.id, body: &client.body };
        self.wait(upstream.relay(plan, &client.request, &original, &*heard), std::future::pending()).await
    }

    /// Waits for an answer and lets each pause pass, while the test does something else too.
    pub(crate) async fn wait<T>(
        &mut self,
        asked: impl Future<Output = T>,
        test: impl Future<Output = ()>,
    ) -> T {
        let mut asked = Box::pin(asked);
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

/// A client's request, as it wrote it and as it is read.
pub(crate) struct Client {
    pub(crate) protocol: &'static Protocol,
    pub(crate) body: Bytes,
    pub(crate) request: Request,
}

impl Client {
    /// A client of this protocol that asks for the model `asked`.
    pub(crate) fn new(protocol: ProtocolId, kind: BodyKind) -> Self {
        let stream = kind == BodyKind::Stream;
        let body = match protocol.name() {
            "anthropic" => {
                json!({"model": "asked", "max_tokens": 9, "messages": [{"role": "user", "content": "question"}], "stream": stream})
            }
            "openai-chat" if stream => {
                json!({"model": "asked", "messages": [{"role": "user", "content": "question"}], "stream": true, "stream_options": {"include_usage": true}})
            }
            "openai-chat" => json!({"model": "asked", "messages": [{"role": "user", "content": "question"}]}),
            "openai-responses" => {
                json!({"model": "asked", "input": [{"role": "user", "content": "question"}], "stream": stream})
            }
            _ => json!({"contents": [{"role": "user", "parts": [{"text": "question"}]}]}),
        };
        Self::saying(protocol, kind, &body.to_string())
    }

    /// A client of this protocol that says this.
    pub(crate) fn saying(protocol: ProtocolId, kind: BodyKind, body: &str) -> Self {
        let protocol = rail_wire::find(protocol.name()).unwrap();
        let verb = if kind == BodyKind::Stream { "streamGenerateContent" } else { "generateContent" };
        let call = HttpCall::post(format!("/v1beta/models/asked:{verb}"), body.into());
        let request = protocol.inbound.decode_request(&call).unwrap();
        Self { protocol, body: Bytes::from(body.to_owned()), request }
    }
}

/// All bytes of an answer that is passed on, and how it broke if it did.
pub(crate) async fn raw(reply: &mut Reply) -> (Vec<u8>, Option<Broken>) {
    let mut bytes = Vec::new();
    while let Some(piece) = reply.next_raw(Some("asked")).await {
        match piece {
            Ok(piece) => bytes.extend_from_slice(&piece),
            Err(broken) => return (bytes, Some(broken)),
        }
    }
    (bytes, None)
}

/// What comes of a client's request: the record, and the text or how the answer broke. It is read from the bytes themselves
/// wherever they can be passed on.
pub(crate) async fn relayed(plan: &Plan, client: &Client) -> (Vec<String>, Result<String, ErrorKind>) {
    let mut world = Frozen::new();
    let mut reply = world.relay(&upstream(), plan, client).await.unwrap();
    let record = record(reply.sent());
    if !reply.relayable() {
        return (record, text(&mut reply).await.map_err(|broken| broken.error.kind));
    }
    let asked = plan.attempts.iter().find(|attempt| attempt.target == *reply.target()).unwrap();
    assert_eq!(asked.provider.protocol, client.protocol.id);
    let (bytes, broken) = raw(&mut reply).await;
    assert!(bytes.ends_with(b"\n\n"), "only whole frames: {}", String::from_utf8_lossy(&bytes));
    let text = text_in(client.protocol, BodyKind::Stream, &bytes);
    (record, broken.map_or(Ok(text), |broken| Err(broken.error.kind)))
}

/// The text in the bytes of an answer, which may lack their end.
pub(crate) fn text_in(protocol: &Protocol, kind: BodyKind, bytes: &[u8]) -> String {
    let (mut decoder, mut events) = (protocol.outbound.decoder(kind), Vec::new());
    decoder.push(bytes, &mut events).unwrap();
    let _ = decoder.finish(&mut events);
    let failed = events.iter().any(|event| matches!(event, Event::Failed(_)));
    assert!(!failed, "whoever passes the bytes on says himself what failed");
    let mut assembler = Assembler::default();
    events.into_iter().for_each(|event| assembler.push(event));
    said(&assembler)
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
    Ok(said(&assembler))
}

fn said(assembler: &Assembler) -> String {
    let parts = assembler.parts().iter();
    parts
        .filter_map(|part| if let PartBody::Text(text) = &part.body { Some(text.as_str()) } else { None })
        .collect()
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
