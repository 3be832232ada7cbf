//! A `rail serve` that runs, and raw clients of each protocol.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStdout, Command};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::home::Home;

/// Whoever waits longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// The protocols that clients speak.
pub(crate) const PROTOCOLS: [&str; 4] = ["anthropic", "openai-chat", "openai-responses", "gemini"];

/// A gateway that runs; it is ended with the test.
pub(crate) struct Serving {
    child: Child,
    out: BufReader<ChildStdout>,
    told: Mutex<Receiver<String>>,
    pub(crate) addr: String,
}

impl Serving {
    pub(crate) fn start(home: &Home) -> Self {
        let mut child = home.start(&["serve", "--listen", "127.0.0.1:0"]);
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let err = BufReader::new(child.stderr.take().unwrap());
        let (say, told) = channel();
        // Somebody must read, or the gateway would wait for it.
        thread::spawn(move || {
            for line in err.lines().map_while(Result::ok) {
                let _ = say.send(line);
            }
        });
        let mut greeting = String::new();
        out.read_line(&mut greeting).unwrap();
        let Some(addr) = greeting.split_once("http://").and_then(|(_, rest)| rest.split(": ").next()) else {
            panic!("{greeting}{}", told.iter().collect::<String>());
        };
        let addr = addr.to_owned();
        Self { child, out, told: Mutex::new(told), addr }
    }

    /// Waits for a line of its log with these words.
    pub(crate) fn tells(&self, words: &str) -> String {
        loop {
            let line = self.told.lock().unwrap().recv_timeout(PATIENCE).unwrap();
            if line.contains(words) {
                return line;
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a signal is sent by another process, as a terminal does")]
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits until it says that it stops.
    pub(crate) fn is_stopping(&self) {
        until_it_stops(&self.addr);
    }

    /// Its exit code once it has ended.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.out.read_to_string(&mut String::new()).unwrap();
        self.child.wait().unwrap().code()
    }

    /// Tells it to stop, and waits for that.
    pub(crate) fn stop(self) {
        self.signal("-TERM");
        assert_eq!(self.end(), Some(0));
    }

    /// Asks a question.
    pub(crate) fn ask(&self, question: &Question) -> Answer {
        self.send(question).answer()
    }

    /// Asks a question, and reads nothing yet.
    pub(crate) fn send(&self, question: &Question) -> Asking {
        let mut stream = TcpStream::connect(&self.addr).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(question.request().as_bytes()).unwrap();
        Asking { stream, heard: Vec::new() }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a gateway says that it stops.
pub(crate) fn until_it_stops(addr: &str) {
    let mut said = String::new();
    while !said.contains("stopping") {
        said.clear();
        let mut stream = TcpStream::connect(addr).unwrap();
        stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        // One that it took just before it heard is closed without a word.
        let _ = stream.read_to_string(&mut said);
    }
}

/// What a client asks.
#[derive(Clone)]
pub(crate) struct Question {
    pub(crate) protocol: &'static str,
    pub(crate) model: String,
    pub(crate) layout: Layout,
    pub(crate) key: Option<String>,
}

/// How the answer shall come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    Stream,
    Whole,
}

impl Question {
    pub(crate) fn stream(protocol: &'static str, model: impl Into<String>) -> Self {
        Self { protocol, model: model.into(), layout: Layout::Stream, key: None }
    }

    pub(crate) fn whole(protocol: &'static str, model: impl Into<String>) -> Self {
        Self { layout: Layout::Whole, ..Self::stream(protocol, model) }
    }

    fn request(&self) -> String {
        let (model, stream) = (&self.model, self.layout == Layout::Stream);
        // Each asks something else, so that none of them belongs to another's session.
        let text = format!("Who is {model}, as {} has it?", self.protocol);
        let messages = json!([{"role": "user", "content": text}]);
        let (path, body) = match self.protocol {
            "anthropic" => (
                "/v1/messages".to_owned(),
                json!({"model": model, "max_tokens": 50, "stream": stream, "messages": messages}),
            ),
            "openai-chat" => {
                let mut body = json!({"model": model, "max_tokens": 50, "messages": messages});
                if stream {
                    // Who wants no usage can't be given the target's own bytes, which have it.
                    body["stream_options"] = json!({"include_usage": true});
                    body["stream"] = json!(true);
                }
                ("/v1/chat/completions".to_owned(), body)
            }
            "openai-responses" => (
                "/v1/responses".to_owned(),
                json!({"model": model, "max_output_tokens": 50, "stream": stream, "input": text}),
            ),
            "gemini" => {
                let way = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
                let contents = json!([{"role": "user", "parts": [{"text": text}]}]);
                let limits = json!({"maxOutputTokens": 50});
                (
                    format!("/v1beta/models/{model}:{way}"),
                    json!({"contents": contents, "generationConfig": limits}),
                )
            }
            other => panic!("no protocol {other}"),
        };
        let body = body.to_string();
        let key = self.key.as_ref().map_or(String::new(), |key| format!("authorization: Bearer {key}\r\n"));
        format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n{key}content-length: {}\r\n\r\n{body}",
            body.len()
        )
    }
}

/// A client that waits.
pub(crate) struct Asking {
    stream: TcpStream,
    heard: Vec<u8>,
}

impl Asking {
    /// Reads until these words have come.
    pub(crate) fn until(&mut self, words: &str) {
        while !String::from_utf8_lossy(&self.heard).contains(words) {
            let mut piece = [0; 4096];
            let length = self.stream.read(&mut piece).unwrap();
            let heard = String::from_utf8_lossy(&self.heard);
            assert!(length > 0, "`{words}` did not come: {heard}");
            self.heard.extend_from_slice(piece.get(..length).unwrap());
        }
    }

    /// Goes away.
    pub(crate) fn leave(self) {
        self.stream.shutdown(Shutdown::Both).unwrap();
    }

    /// Whether the connection ends without a word.
    pub(crate) fn ends_without_a_word(mut self) -> bool {
        let _ = self.stream.read_to_end(&mut self.heard);
        self.heard.is_empty()
    }

    /// The answer to its end.
    pub(crate) fn answer(mut self) -> Answer {
        // A connection that is reset has given what it has given.
        let reset = self.stream.read_to_end(&mut self.heard).err();
        if let Some(error) = reset {
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "the gateway hangs");
        }
        Answer::read(&self.heard)
    }
}

/// What a client was answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// HTTP has seen the end of the body.
    whole: bool,
}

impl Answer {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let (head, rest) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).unwrap();
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let chunked = headers.iter().any(|(name, _)| name == "transfer-encoding");
        let (body, whole) = if chunked { dechunked(rest) } else { (rest.to_owned(), true) };
        Self { status, headers, body, whole }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(at, _)| at == name).map(|(_, value)| value.as_str())
    }

    /// All of it that is the same in every run.
    pub(crate) fn told(&self) -> String {
        let mut told = self.status.to_string();
        if let Some(wait) = self.header("retry-after") {
            told += &format!(", retry after {wait}");
        }
        let mut frames: Vec<String> = Vec::new();
        for frame in self.body.replace("\r\n", "\n").split("\n\n").filter(|frame| !frame.trim().is_empty()) {
            let lines = frame.lines().map(|line| match line.split_once("data: ") {
                Some(("", data)) => format!("data: {}", masked(data)),
                _ => masked(line),
            });
            let frame = lines.collect::<Vec<_>>().join("\n  ");
            // How often a client is told to wait depends on the machine.
            let waits = ["\"ping\"", "\"keepalive\"", ": keep-alive"].iter().any(|sign| frame.contains(sign));
            if !(waits && frames.last() == Some(&frame)) {
                frames.push(frame);
            }
        }
        let end = if self.whole { "" } else { "\n  (cut off)" };
        format!("{told}\n  {}{end}", frames.join("\n  "))
    }
}

fn dechunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body += after.get(..size).unwrap_or(after);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    (body, false)
}

/// JSON without what differs from run to run.
fn masked(text: &str) -> String {
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return text.to_owned() };
    mask(&mut value);
    value.to_string()
}

fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let changes =
                    ["id", "item_id", "request_id", "created", "created_at", "completed_at", "responseId"];
                if changes.contains(&name.as_str()) && !value.is_null() {
                    *value = json!("*");
                } else {
                    mask(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
