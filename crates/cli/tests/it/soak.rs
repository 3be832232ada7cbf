//! Memory over many requests: `cargo run --release -p rail-bench -- gateway-memory` does the same a million times.
#![cfg(target_os = "linux")]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;

use crate::home::Home;
use crate::serve::Serving;

/// So many requests, in three rounds, by so many clients.
const REQUESTS: usize = 18_000;
const CLIENTS: usize = 8;
/// What the later rounds may add to the first: a leak of a few hundred bytes a request is more.
const MOST_KIB: u64 = 6 << 10;

#[test]
fn memory_does_not_grow_with_the_number_of_requests() {
    let model = model();
    let provider = |name: &str, protocol: &str| {
        format!(
            "[providers.{name}]\nprotocol = \"{protocol}\"\nbase_url = \"http://{model}/{name}/v1\"\nmodels = [\"{name}\"]\n"
        )
    };
    let providers = [
        provider("same", "anthropic"),
        provider("other", "openai-chat"),
        provider("refuses", "anthropic"),
        provider("slow", "openai-chat"),
    ];
    let gateway = "[gateway]\nlisten = \"127.0.0.1:0\"\nlog = \"quiet\"\n";
    let home = Home::with(&format!("{}{gateway}", providers.concat()));
    let mut serving = Serving::start(&home, &[]);
    // Each refusal of a provider is told.
    serving.ignores_log();
    let memory: Vec<u64> = (0..3)
        .map(|_| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|_| {
                    let addr = serving.addr.clone();
                    thread::spawn(move || {
                        (0..REQUESTS / 3 / CLIENTS).try_for_each(|number| ask(&addr, number))
                    })
                })
                .collect();
            clients.into_iter().for_each(|client| client.join().unwrap().unwrap());
            resident_kib(serving.child.id())
        })
        .collect();
    serving.signal("-TERM");
    assert_eq!(serving.end(), (Some(0), String::new()));
    let [first, .., last] = memory.as_slice() else { panic!("no rounds") };
    assert!(last.saturating_sub(*first) < MOST_KIB, "KiB after each third of the requests: {memory:?}");
}

fn resident_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// One request, by its number: whole answers, streams, errors of three kinds, and clients that leave.
fn ask(addr: &str, number: usize) -> io::Result<()> {
    let asks = |model: &str, stream: bool| {
        let content = "say something, please; ".repeat(5);
        format!(
            r#"{{"model":"{model}","max_tokens":99,"stream":{stream},"messages":[{{"role":"user","content":"{content}"}}]}}"#
        )
    };
    let (path, body, status) = match number % 10 {
        0 => ("/v1/messages", asks("same", true), "200"),
        1 => ("/v1/messages", asks("other", true), "200"),
        2 => ("/v1/messages", asks("refuses", false), "400"),
        3 => ("/v1/messages", "{".to_owned(), "400"),
        4 => ("/v1/nowhere", "{}".to_owned(), "404"),
        5 => ("/v1/messages", asks("slow", true), "left"),
        6 | 7 => ("/v1/messages", asks("same", false), "200"),
        _ => ("/v1/messages", asks("other", false), "200"),
    };
    let mut stream = TcpStream::connect(addr)?;
    let length = body.len();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )?;
    if status == "left" {
        // The head comes with the first content; then the model says nothing more.
        return stream.read_exact(&mut [0; 12]);
    }
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    assert_eq!(answer.split(' ').nth(1), Some(status), "request {number}: {answer}");
    Ok(())
}

/// A model's server, as short as it can be. It lives as long as the tests.
fn model() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            // A gateway that has left is no failure.
            thread::spawn(move || drop(stream.and_then(serve)));
        }
    });
    addr
}

fn serve(stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(&stream);
    loop {
        let (mut path, mut length) = (String::new(), 0);
        reader.read_line(&mut path)?;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            length =
                line.strip_prefix("content-length:").map_or(length, |length| length.trim().parse().unwrap());
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let streamed = String::from_utf8_lossy(&body).contains(r#""stream":true"#);
        let (status, kind, text) = match (path.split('/').nth(1), streamed) {
            (Some("refuses"), _) => (400, "application/json", REFUSED.to_owned()),
            (Some("same"), false) => (200, "application/json", SAME.to_owned()),
            (Some("same"), true) => (200, "text/event-stream", SAME_STREAM.to_owned()),
            (Some("other"), false) => (200, "application/json", OTHER.to_owned()),
            (Some("other"), true) => {
                (200, "text/event-stream", format!("{}{OTHER_END}", OTHER_PIECE.repeat(20)))
            }
            _ => {
                let head =
                    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
                (&stream).write_all(format!("{head}{OTHER_PIECE}").as_bytes())?;
                // Until the gateway leaves with its client.
                return reader.read_exact(&mut [0; 1]);
            }
        };
        let length = text.len();
        let head = format!("HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
        (&stream).write_all(format!("{head}{text}").as_bytes())?;
    }
}

const REFUSED: &str = r#"{"type":"error","error":{"type":"invalid_request_error","message":"no"}}"#;
const SAME: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"same","content":[{"type":"text","text":"Something."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":3}}"#;
const SAME_STREAM: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"same","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Something."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":3}}

event: message_stop
data: {"type":"message_stop"}

"#;
const OTHER: &str = r#"{"id":"a","object":"chat.completion","created":1,"model":"other","choices":[{"index":0,"message":{"role":"assistant","content":"Something."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}"#;
const OTHER_PIECE: &str = "data: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"other\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"some \"},\"finish_reason\":null}]}\n\n";
const OTHER_END: &str = "data: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"other\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
