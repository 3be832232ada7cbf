//! A model's server that costs next to nothing: all bytes are written beforehand.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rail_model::{Delta, Event, Extras, PartKind, Stop, Usage};
use rail_wire::{ALL, BodyKind, Protocol, ReplyTo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// As many pieces a stream has.
pub(crate) const PIECES: usize = 200;
/// The time between two pieces of a paced stream.
pub(crate) const PACE: Duration = Duration::from_millis(5);
/// What stands before the time at which a paced piece was written, in nanoseconds and so many digits.
pub(crate) const STAMP: &str = "at=";
pub(crate) const STAMP_DIGITS: usize = 19;

/// How the model answers; the first segment of the path says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Manner {
    /// One JSON document.
    Whole,
    /// A stream, all of it at once.
    Burst,
    /// A stream, one piece after the other.
    Paced,
    /// A stream that does not begin until somebody asks for `/release`.
    Silent,
    /// An error: the request is wrong.
    Refuse,
}

impl Manner {
    pub(crate) const ALL: [Self; 5] = [Self::Whole, Self::Burst, Self::Paced, Self::Silent, Self::Refuse];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Burst => "burst",
            Self::Paced => "paced",
            Self::Silent => "silent",
            Self::Refuse => "refuse",
        }
    }

    /// Whether a client asks for a stream.
    pub(crate) fn streams(self) -> bool {
        match self {
            Self::Whole | Self::Refuse => false,
            Self::Burst | Self::Paced | Self::Silent => true,
        }
    }
}

/// Nanoseconds on a clock that all processes of this machine share.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or_default()
}

/// Serves until the program ends.
pub(crate) fn run() -> io::Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        super::process::tell_address(listener.local_addr()?);
        let answers: Arc<[Answers]> = ALL.iter().map(|protocol| Answers::of(protocol)).collect();
        let released = watch::Sender::new(0);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let mut connection =
                Connection { stream, answers: Arc::clone(&answers), released: released.clone() };
            // A client may leave at any time.
            tokio::spawn(async move { drop(connection.serve().await) });
        }
    })
}

/// The bytes of one protocol's answers, HTTP heads and chunk sizes included.
struct Answers {
    protocol: &'static str,
    whole: Vec<u8>,
    burst: Vec<u8>,
    /// The head, then each piece with the place of its stamp.
    paced: Vec<(Vec<u8>, Option<usize>)>,
    refuse: Vec<u8>,
}

const STREAM_HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

impl Answers {
    fn of(protocol: &Protocol) -> Self {
        let mut paced: Vec<(Vec<u8>, Option<usize>)> = vec![(STREAM_HEAD.to_vec(), None)];
        let mut encoder = protocol.inbound.encoder(BodyKind::Stream, &ReplyTo::default());
        for event in script(PIECES) {
            let mut bytes = Vec::new();
            encoder.push(&event, &mut bytes);
            // What ends the stream may say the text again; only its pieces are stamped.
            let stamped = matches!(event, Event::Delta { .. });
            push_chunk(&mut paced, &bytes, stamped);
        }
        let mut end = Vec::new();
        encoder.finish(&mut end);
        push_chunk(&mut paced, &end, false);
        paced.push((b"0\r\n\r\n".to_vec(), None));
        let refuse = protocol.inbound.write_error(&rail_model::ApiError::new(
            rail_model::ErrorKind::InvalidRequest,
            "this model answers nobody",
        ));
        Self {
            protocol: protocol.id.name(),
            whole: json(200, &whole(protocol)),
            burst: paced.iter().flat_map(|(bytes, _)| bytes).copied().collect(),
            paced,
            refuse: json(refuse.status, &refuse.body),
        }
    }
}

fn push_chunk(chunks: &mut Vec<(Vec<u8>, Option<usize>)>, bytes: &[u8], stamped: bool) {
    if bytes.is_empty() {
        return;
    }
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    let stamp = memchr::memmem::find(&chunk, STAMP.as_bytes()).map(|at| at + STAMP.len());
    chunks.push((chunk, stamp.filter(|_| stamped)));
}

fn whole(protocol: &Protocol) -> Vec<u8> {
    let mut encoder = protocol.inbound.encoder(BodyKind::Whole, &ReplyTo::default());
    let mut bytes = Vec::new();
    script(20).iter().for_each(|event| encoder.push(event, &mut bytes));
    encoder.finish(&mut bytes);
    bytes
}

fn json(status: u16, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// An answer of text in so many pieces.
fn script(pieces: usize) -> Vec<Event> {
    let none = || Extras::NONE;
    let text = format!("{STAMP}{} so ", "0".repeat(STAMP_DIGITS));
    let mut events = vec![
        Event::Started { id: Some("answer_0123456789".into()), model: Some("m".into()), extras: none() },
        Event::Opened { at: 0, kind: PartKind::Text, extras: none() },
    ];
    events.extend((0..pieces).map(|_| Event::Delta {
        at: 0,
        delta: Delta::Text(text.clone()),
        extras: none(),
    }));
    events.push(Event::Closed { at: 0, extras: none() });
    events.push(Event::Usage(Usage { input: Some(3000), output: Some(200), ..Usage::default() }));
    events.push(Event::Finished { stop: Stop::EndTurn, extras: none() });
    events
}

struct Connection {
    stream: TcpStream,
    answers: Arc<[Answers]>,
    /// How often the silent were released.
    released: watch::Sender<u64>,
}

impl Connection {
    async fn serve(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; 16 << 10];
        let mut held = Vec::new();
        loop {
            held.clear();
            let (head, length) = loop {
                let read = self.stream.read(&mut buffer).await?;
                if read == 0 {
                    return Ok(());
                }
                held.extend_from_slice(buffer.get(..read).unwrap_or_default());
                if let Some(end) = memchr::memmem::find(&held, b"\r\n\r\n") {
                    break (end + 4, content_length(held.get(..end).unwrap_or_default()));
                }
            };
            let mut left = (head + length).saturating_sub(held.len());
            while left > 0 {
                let read = self.stream.read(&mut buffer).await?;
                if read == 0 {
                    return Ok(());
                }
                left = left.saturating_sub(read);
            }
            let path = held.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
            let path = String::from_utf8_lossy(path).into_owned();
            self.answer(&path).await?;
        }
    }

    async fn answer(&mut self, path: &str) -> io::Result<()> {
        if path == "/release" {
            self.released.send_modify(|count| *count += 1);
            return self.stream.write_all(&json(200, b"{}")).await;
        }
        if path == "/waiting" {
            return self
                .stream
                .write_all(&json(200, self.released.receiver_count().to_string().as_bytes()))
                .await;
        }
        let answers = Arc::clone(&self.answers);
        let manner =
            Manner::ALL.into_iter().find(|manner| path.trim_start_matches('/').starts_with(manner.name()));
        let protocol = protocol_of(path);
        let Some((manner, answers)) =
            manner.zip(answers.iter().find(|answers| Some(answers.protocol) == protocol))
        else {
            return self.stream.write_all(&json(404, b"{\"error\":{\"message\":\"no such path\"}}")).await;
        };
        match manner {
            Manner::Whole => self.stream.write_all(&answers.whole).await,
            Manner::Burst => self.stream.write_all(&answers.burst).await,
            Manner::Refuse => self.stream.write_all(&answers.refuse).await,
            Manner::Paced => self.pace(answers).await,
            Manner::Silent => {
                let mut released = self.released.subscribe();
                let mut byte = [0];
                tokio::select! {
                    _ = released.changed() => self.stream.write_all(&answers.burst).await,
                    _ = self.stream.read(&mut byte) => Err(io::ErrorKind::ConnectionAborted.into()),
                }
            }
        }
    }

    async fn pace(&mut self, answers: &Answers) -> io::Result<()> {
        let mut ticks = tokio::time::interval(PACE);
        for (chunk, stamp) in &answers.paced {
            let Some(stamp) = *stamp else {
                self.stream.write_all(chunk).await?;
                continue;
            };
            ticks.tick().await;
            let mut chunk = chunk.clone();
            if let Some(place) = chunk.get_mut(stamp..stamp + STAMP_DIGITS) {
                place.copy_from_slice(format!("{:0width$}", now(), width = STAMP_DIGITS).as_bytes());
            }
            self.stream.write_all(&chunk).await?;
        }
        Ok(())
    }
}

fn protocol_of(path: &str) -> Option<&'static str> {
    const ENDPOINTS: &[(&str, &str)] = &[
        ("/messages", "anthropic"),
        ("/chat/completions", "openai-chat"),
        ("/responses", "openai-responses"),
        (":generateContent", "gemini"),
        (":streamGenerateContent", "gemini"),
    ];
    ENDPOINTS.iter().find(|(end, _)| path.contains(end)).map(|(_, protocol)| *protocol)
}

fn content_length(head: &[u8]) -> usize {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    length.unwrap_or(0)
}
