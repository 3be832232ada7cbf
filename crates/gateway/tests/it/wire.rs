//! A client that writes bytes and reads answers, and knows nothing of what we use.

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A request that every protocol's endpoint takes.
pub(crate) const HELLO: &str =
    r#"{"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}"#;

/// A connection.
pub(crate) struct Wire {
    stream: TcpStream,
    /// What came and was not looked at yet.
    seen: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// The error's message, in whatever protocol it is told.
    pub(crate) fn message(&self) -> String {
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"));
        body["error"]["message"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned()
    }
}

/// What a test waits for must come; a test that waits in vain must fail and not hang.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.unwrap_or_else(|_| panic!("it never came"))
}

impl Wire {
    pub(crate) async fn to(addr: SocketAddr) -> Self {
        Self::of(TcpStream::connect(addr).await.unwrap())
    }

    pub(crate) fn of(stream: TcpStream) -> Self {
        Self { stream, seen: Vec::new() }
    }

    /// Sends bytes; that the other side may be gone already, its answer tells.
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        let _ = self.stream.write_all(bytes.as_ref()).await;
    }

    /// Says that nothing more will be sent.
    pub(crate) async fn end(&mut self) {
        let _ = self.stream.shutdown().await;
    }

    /// The next answer; none when the connection ended instead.
    pub(crate) async fn answer(&mut self) -> Option<Answer> {
        soon(async {
            let head = loop {
                if let Some(at) = self.seen.windows(4).position(|four| four == b"\r\n\r\n") {
                    let rest = self.seen.split_off(at + 4);
                    break String::from_utf8(std::mem::replace(&mut self.seen, rest)).unwrap();
                }
                if !self.more().await {
                    assert_eq!(self.seen, b"", "half an answer");
                    return None;
                }
            };
            let status = head.split(' ').nth(1).unwrap().parse().unwrap();
            let mut answer = Answer { status, head, body: String::new() };
            assert_eq!(answer.header("transfer-encoding"), None, "these tests get whole answers");
            let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
            while self.seen.len() < length {
                assert!(self.more().await, "half a body of {answer:?}");
            }
            let rest = self.seen.split_off(length);
            answer.body = String::from_utf8(std::mem::replace(&mut self.seen, rest)).unwrap();
            Some(answer)
        })
        .await
    }

    /// Whether the other side ended the connection and sent nothing before.
    pub(crate) async fn is_over(&mut self) -> bool {
        soon(async { self.seen.is_empty() && !self.more().await }).await
    }

    async fn more(&mut self) -> bool {
        let mut buffer = [0; 4096];
        // A reset is an end too.
        let read = self.stream.read(&mut buffer).await.unwrap_or_default();
        self.seen.extend_from_slice(&buffer[..read]);
        read > 0
    }
}

/// The text of a request with a body, which may be empty.
pub(crate) fn request(line: &str, headers: &[&str], body: &str) -> String {
    let host =
        if headers.iter().any(|header| header.starts_with("host:")) { "" } else { "host: localhost\r\n" };
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    format!("{line} HTTP/1.1\r\n{host}{headers}content-length: {}\r\n\r\n{body}", body.len())
}

/// What is answered to a request on a connection of its own.
pub(crate) async fn ask(addr: SocketAddr, line: &str, headers: &[&str], body: &str) -> Answer {
    let mut wire = Wire::to(addr).await;
    wire.send(request(line, headers, body)).await;
    wire.answer().await.unwrap_or_else(|| panic!("no answer to {line}"))
}
