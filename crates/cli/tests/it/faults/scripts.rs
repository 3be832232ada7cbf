//! Servers of OpenAI's chat protocol with a fault each.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::thread;

use rail_testkit::{
    Authority, Conversation, Peer, Step, chunk, garbage, http_head, http_whole, last_chunk, refused_addr,
    sse_head,
};

pub(super) const START: &str =
    r#"data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#;
pub(super) const HELLO: &str =
    r#"data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"hello"}}]}"#;
pub(super) const STOP: &str = r#"data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const DONE: &str = "data: [DONE]";
const CUT: &str = "data: {\"id\":\"1\",\"choi";
const SHORT: &str = "timeouts = { first_token = \"200ms\", idle = \"200ms\" }";

/// A server with a fault.
pub(super) struct Fault {
    pub(super) name: &'static str,
    pub(super) url: String,
    pub(super) addr: String,
    /// What its provider is configured with besides.
    pub(super) settings: &'static str,
    /// It plays until it is dropped.
    _peer: Option<Peer>,
}

impl Fault {
    fn of(name: &'static str, peer: Peer) -> Self {
        let (url, addr) = (peer.url("/v1"), peer.addr().to_string());
        Self { name, url, addr, settings: "", _peer: Some(peer) }
    }

    fn at(name: &'static str, url: String, addr: String) -> Self {
        Self { name, url, addr, settings: "", _peer: None }
    }

    fn with(self, settings: &'static str) -> Self {
        Self { settings, ..self }
    }
}

pub(super) fn event(data: &str) -> Vec<u8> {
    chunk(format!("{data}\n\n"))
}

fn always(steps: impl IntoIterator<Item = Step>) -> Peer {
    let steps = [Step::ReadRequest].into_iter().chain(steps);
    Peer::start(vec![Conversation::new(steps).repeat()]).unwrap()
}

fn answers(name: &'static str, bytes: Vec<u8>) -> Fault {
    Fault::of(name, always([Step::Send(bytes), Step::Close]))
}

/// A stream of these pieces that ends as HTTP wants it.
fn streams(name: &'static str, pieces: &[Vec<u8>]) -> Fault {
    answers(name, [sse_head(), pieces.concat(), last_chunk()].concat())
}

fn says(name: &'static str, status: u16, headers: &[(&str, &str)], body: &str) -> Fault {
    let length = body.len().to_string();
    let usual = [("content-type", "application/json"), ("content-length", &length), ("connection", "close")];
    let head = http_head(status, &[&usual[..], headers].concat());
    answers(name, [head, body.as_bytes().to_vec()].concat())
}

/// Packed events without the end of the packing.
fn packed(events: &[&str]) -> Vec<u8> {
    let text: String = events.iter().map(|event| format!("{event}\n\n")).collect();
    let length = u16::try_from(text.len()).unwrap();
    let block = [&[0][..], &length.to_le_bytes(), &(!length).to_le_bytes(), text.as_bytes()].concat();
    let begin = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let head = [("content-type", "text/event-stream"), ("content-encoding", "gzip"), ("connection", "close")];
    [http_head(200, &head), begin.to_vec(), block].concat()
}

/// A server that begins with this and goes on with that until its client leaves.
fn endless(first: Vec<u8>, then: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, first, then) = (stream.unwrap(), first.clone(), then.clone());
            thread::spawn(move || {
                // Who answers before it was asked is no server.
                let mut asked = [0; 65536];
                let mut sent = stream.read(&mut asked).and_then(|_| stream.write_all(&first));
                while sent.is_ok() {
                    sent = stream.write_all(&then);
                }
            });
        }
    });
    addr
}

fn endlessly(name: &'static str, then: &str) -> Fault {
    let addr = endless(sse_head(), event(then));
    Fault::at(name, format!("http://{addr}/v1"), addr.to_string())
}

/// Faults before any content.
pub(super) fn before() -> Vec<Fault> {
    let refused = refused_addr().unwrap();
    let stranger = Authority::new().unwrap().server().unwrap();
    let no_trust = Peer::start_tls(vec![Conversation::new([Step::Stall]).repeat()], &stranger).unwrap();
    let page = "<!doctype html><html><head><title>Sign in</title></head><body>Welcome</body></html>";
    vec![
        Fault::at("refused", format!("http://{refused}/v1"), refused.to_string()),
        Fault::of("reset", always([Step::Reset])),
        Fault::of("tls", no_trust),
        Fault::at("dns", "http://a.invalid/v1".to_owned(), "a.invalid:80".to_owned()),
        says("status-408", 408, &[], r#"{"error":{"message":"too slow"}}"#),
        says("status-429", 429, &[("retry-after", "7")], r#"{"error":{"message":"too many"}}"#),
        says("status-500", 500, &[], r#"{"error":{"message":"oh no"}}"#),
        says("status-529", 529, &[], r#"{"error":{"message":"too busy"}}"#),
        Fault::of("stall", always([Step::Stall])).with(SHORT),
        Fault::of("stall-started", always([Step::Send([sse_head(), event(START)].concat()), Step::Stall]))
            .with(SHORT),
        endlessly("endless-comments", ": still there").with(SHORT),
        answers("cut", [sse_head(), event(START), chunk(CUT)].concat()),
        streams("no-end-marker", &[event(START)]),
        streams("bad-utf8", &[chunk(b"data: {\"id\":\"\xff\xfe\"}\n\n")]),
        streams("bad-json", &[event("data: {\"id\":}")]),
        streams("garbage", &[chunk(garbage(5000, 7))]),
        answers("truncated-gzip", packed(&[START])),
        answers("web-page", http_whole(200, "text/html", page)),
        answers("no-body", http_whole(200, "text/event-stream", "")),
        says("error-in-200", 200, &[], r#"{"error":{"message":"no","code":502}}"#),
        streams("empty", &[event(START), event(STOP), event(DONE)]),
    ]
}

/// Faults after content.
pub(super) fn after() -> Vec<Fault> {
    let begun = || [sse_head(), event(HELLO)].concat();
    vec![
        Fault::of("stall", always([Step::Send(begun()), Step::Stall]))
            .with("timeouts = { idle = \"200ms\" }"),
        answers("cut", [begun(), chunk(CUT)].concat()),
        streams("no-end-marker", &[event(HELLO)]),
        streams("bad-utf8", &[event(HELLO), chunk(b"data: {\"id\":\"\xff\xfe\"}\n\n")]),
        streams("bad-json", &[event(HELLO), event("data: {\"id\":}")]),
        answers("truncated-gzip", packed(&[HELLO])),
        streams("error", &[event(HELLO), event(r#"data: {"error":{"message":"no","code":502}}"#)]),
    ]
}

/// An answer with content that has no end.
pub(super) fn without_end() -> Fault {
    endlessly("endless", HELLO).with("timeouts = { total = \"2s\" }")
}

/// What is no fault to a client: it is answered.
pub(super) fn mended() -> Vec<Fault> {
    let good = [START, HELLO, STOP, DONE].map(|data| format!("{data}\n\n")).concat();
    let twice = [START, START, HELLO, STOP, STOP, DONE, DONE].map(event);
    vec![
        answers("wrong-content-type", http_whole(200, "text/plain", &good)),
        answers("json-content-type", http_whole(200, "application/json", &good)),
        streams("duplicates", &twice),
    ]
}

/// Faults of answers that are no stream.
pub(super) fn whole() -> Vec<Fault> {
    let cut = r#"{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"hel"#;
    let promised = http_head(200, &[("content-type", "application/json"), ("content-length", "9999")]);
    vec![
        says("status-429", 429, &[("retry-after", "7")], r#"{"error":{"message":"too many"}}"#),
        says("status-500", 500, &[], r#"{"error":{"message":"oh no"}}"#),
        Fault::of("stall", always([Step::Stall])).with("timeouts = { total = \"200ms\" }"),
        answers("cut", [promised, cut.as_bytes().to_vec()].concat()),
        answers("bad-json", http_whole(200, "application/json", cut)),
        answers("web-page", http_whole(200, "text/html", "<html><body>Welcome</body></html>")),
        answers("no-body", http_whole(200, "application/json", "")),
    ]
}
