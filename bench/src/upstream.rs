//! One request to one target over loopback, against the same bytes over a bare socket; and how soon a client that goes away is felt.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

use rail_model::{Message, Part, Request, Role};
use rail_route::{Attempt, ModelProfile, Plan, Provider, Target, ToolStyle};
use rail_upstream::{Live, LiveSettings, Upstream};
use tokio::runtime::Runtime;

use crate::timing::shortest_wait;

/// Each candidate runs so often that the clock's own cost does not count.
const TIMES: u32 = 200;
/// As many clients go away.
const LEAVING: usize = 100;

pub(crate) fn run() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    println!(
        "reference: the same request and answer over a bare, kept socket; both include the server's work\n"
    );
    println!("{:<44} {:>10} {:>10} {:>7}", "upstream", "ref µs", "µs", "ratio");
    row(&runtime, "ask, whole answer", whole(), false);
    row(&runtime, "ask, stream of 200 pieces", stream(200), true);
    leaving(&runtime);
}

fn row(runtime: &Runtime, name: &str, answer: Vec<u8>, streamed: bool) {
    let server = Server::start(Does::Answers(answer.clone()));
    let (upstream, plan, request) = (upstream(), server.plan(), request(streamed));
    let Ok(mut bare) = TcpStream::connect(server.addr) else { return };
    let mut buffer = vec![0; 1 << 16];
    let times = shortest_wait(&mut [
        Box::new(|| {
            for _ in 0..TIMES {
                let _ = bare.write_all(BARE);
                let mut left = answer.len();
                while left > 0 {
                    left -= bare.read(&mut buffer).unwrap_or(left).min(left);
                }
            }
        }),
        Box::new(|| {
            runtime.block_on(async {
                for _ in 0..TIMES {
                    let Ok(mut reply) = upstream.ask(&plan, &request, &()).await else { continue };
                    while reply.next().await.is_some() {}
                }
            });
        }),
    ]);
    if let [reference, ours] = times.as_slice() {
        let micros = |time: &Duration| time.as_secs_f64() * 1e6 / f64::from(TIMES);
        let (reference, ours) = (micros(reference), micros(ours));
        println!("{name:<44} {reference:>10.1} {ours:>10.1} {:>7.2}", reference / ours);
    }
}

/// How long after a client went away the provider's server sees its connection end, while it still thinks.
fn leaving(runtime: &Runtime) {
    let server = Server::start(Does::Thinks);
    let (upstream, plan, request) = (upstream(), server.plan(), request(true));
    let mut times = Vec::new();
    for _ in 0..LEAVING {
        let left = runtime.block_on(async {
            let ask = upstream.ask(&plan, &request, &());
            tokio::select! {
                _ = ask => None,
                () = async { while server.asked.try_recv().is_err() { tokio::task::yield_now().await } } => Some(Instant::now()),
            }
        });
        // The connection is ended by the runtime, as in a gateway that goes on with its other clients.
        runtime.block_on(async {
            while let Some(left) = left {
                if let Ok(seen) = server.gone.try_recv() {
                    times.push(seen.saturating_duration_since(left));
                    break;
                }
                tokio::task::yield_now().await;
            }
        });
    }
    times.sort();
    let at =
        |share: usize| times.get(times.len().saturating_sub(1) * share / 100).copied().unwrap_or_default();
    println!(
        "\nafter a client left, its connection upstream ended: p50 {:?}, p99 {:?} (aim: 100 ms)",
        at(50),
        at(99)
    );
}

fn upstream() -> Upstream {
    Upstream::new(Arc::new(Live::new(LiveSettings::default())))
}

fn request(stream: bool) -> Request {
    let messages = vec![Message::new(Role::User, vec![Part::text("Say something.")])];
    Request { model: "m".to_owned(), messages, stream, ..Request::default() }
}

/// What the bare socket asks: about as much as a small request.
const BARE: &[u8] = b"POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

fn whole() -> Vec<u8> {
    let body = serde_json::json!({
        "id": "a", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Something."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    });
    let body = body.to_string();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into()
}

fn stream(pieces: usize) -> Vec<u8> {
    let piece = |delta: serde_json::Value, end: Option<&str>| {
        let chunk = serde_json::json!({
            "id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": end}]
        });
        format!("data: {chunk}\n\n")
    };
    let mut body = String::new();
    (0..pieces).for_each(|_| body.push_str(&piece(serde_json::json!({"content": "some words "}), None)));
    body.push_str(&piece(serde_json::json!({}), Some("stop")));
    body.push_str("data: [DONE]\n\n");
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into()
}

/// What a server does with a request.
enum Does {
    /// Sends these bytes.
    Answers(Vec<u8>),
    /// Nothing, until the client leaves.
    Thinks,
}

struct Server {
    addr: SocketAddr,
    asked: Receiver<()>,
    gone: Receiver<Instant>,
}

impl Server {
    /// A server with a thread for each connection; it lives as long as the program.
    fn start(does: Does) -> Self {
        let listener =
            TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("no port to listen on: {error}"));
        let addr = listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}"));
        let (said, asked) = mpsc::channel();
        let (left, gone) = mpsc::channel();
        let does = Arc::new(does);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (does, said, left) = (Arc::clone(&does), said.clone(), left.clone());
                thread::spawn(move || serve(stream, &does, &said, &left));
            }
        });
        Self { addr, asked, gone }
    }

    fn plan(&self) -> Plan {
        let protocol = rail_wire::openai_chat::PROTOCOL.id;
        let provider = Provider::new("p", protocol, format!("http://{}/v1", self.addr));
        let profile = ModelProfile { tools: ToolStyle::Native, ..ModelProfile::default() };
        let attempt = Attempt {
            target: Target::new("p", "m"),
            provider: Arc::new(provider),
            profile: Arc::new(profile),
            why: String::new(),
        };
        Plan {
            asked: "m".to_owned(),
            virtual_model: None,
            why: String::new(),
            estimated: 0,
            attempts: vec![attempt],
            skipped: Vec::new(),
        }
    }
}

fn serve(mut stream: TcpStream, does: &Does, said: &Sender<()>, left: &Sender<Instant>) {
    let _ = stream.set_nodelay(true);
    let mut held = Vec::new();
    let mut buffer = [0; 1 << 16];
    loop {
        let Ok(read @ 1..) = stream.read(&mut buffer) else {
            let _ = left.send(Instant::now());
            return;
        };
        held.extend_from_slice(buffer.get(..read).unwrap_or_default());
        if !is_whole(&held) {
            continue;
        }
        held.clear();
        match does {
            Does::Answers(bytes) => drop(stream.write_all(bytes)),
            Does::Thinks => drop(said.send(())),
        }
    }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head
        .lines()
        .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0)
}
