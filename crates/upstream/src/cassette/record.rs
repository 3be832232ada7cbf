use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::Frame;
use serde::Serialize;
use tokio::time::Instant;

use super::line::{Answered, Asked, Content, End, Exchange, HeadLine, Piece};
use super::scrub::Scrub;
use super::{CassetteError, CassetteHead, VERSION};
use crate::{Body, BoxFuture, Incoming, Outgoing, Transport, TransportError};

/// A transport that writes down what goes through it, without the secrets. What is sent and received stays as it is.
pub struct Record<T> {
    inner: T,
    tape: Arc<Tape>,
}

impl<T: Transport> Record<T> {
    /// Makes the file, which only its owner may read, and writes its head. A file that is there is never replaced.
    pub fn create(path: &Path, head: &CassetteHead, inner: T) -> Result<Self, CassetteError> {
        let unwritable = |error: std::io::Error| CassetteError::Unwritable {
            path: path.to_owned(),
            why: error.to_string(),
        };
        let mut options = OpenOptions::new();
        options.append(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(unwritable)?;
        let CassetteHead { protocol, provider, model, recorded } = head.clone();
        let line =
            HeadLine { cassette: VERSION, protocol: protocol.name().to_owned(), provider, model, recorded };
        file.write_all(&to_line(&line).map_err(|error| unwritable(error.into()))?).map_err(unwritable)?;
        let protocol = protocol.name();
        let tape =
            Tape { file: Mutex::new(file), begun: AtomicU64::new(0), protocol, trouble: Mutex::default() };
        Ok(Self { inner, tape: Arc::new(tape) })
    }

    /// Why an exchange could not be written, if one could not: a full disk must not fail requests.
    pub fn trouble(&self) -> Option<String> {
        self.tape.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn exchange(&self, call: Outgoing) -> Result<Incoming, TransportError> {
        let mut taking = Taking::new(&self.tape, &call);
        match self.inner.send(call).await {
            Err(error) => {
                taking.end(End::broken(&error));
                Err(error)
            }
            Ok(Incoming { status, headers, body }) => {
                taking.answered(status, &headers);
                Ok(Incoming { status, headers, body: Body::new(Taped { body, taking }) })
            }
        }
    }
}

impl<T: Transport> Transport for Record<T> {
    fn send<'a>(&'a self, call: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        Box::pin(self.exchange(call))
    }
}

/// The file that all exchanges go to.
struct Tape {
    file: Mutex<File>,
    begun: AtomicU64,
    protocol: &'static str,
    trouble: Mutex<Option<String>>,
}

impl Tape {
    /// Writes a line with one call, so that lines of exchanges that end together do not mix.
    fn write(&self, exchange: &Exchange) {
        let written = to_line(exchange)
            .map_err(std::io::Error::from)
            .and_then(|line| self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line));
        if let Err(error) = written {
            self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error.to_string());
        }
    }
}

fn to_line(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// An exchange that is going on. It is written when it ends, at the latest when nobody waits for it any more.
struct Taking {
    tape: Arc<Tape>,
    scrub: Scrub,
    /// None once it is written.
    exchange: Option<Exchange>,
    pieces: Vec<(u64, Vec<u8>)>,
    last: Instant,
}

impl Taking {
    fn new(tape: &Arc<Tape>, call: &Outgoing) -> Self {
        let scrub = Scrub::new(call);
        let mut body = call.body.to_vec();
        scrub.mask(&mut body);
        let headers = call.headers.iter().map(|(name, value)| (name.as_str(), value.reveal()));
        let request = Asked {
            method: call.method.clone(),
            path: scrub.path(call),
            headers: scrub.headers(headers),
            body: Content::of(&body),
        };
        let protocol = call.provider.protocol.name();
        let exchange = Exchange {
            n: tape.begun.fetch_add(1, Ordering::Relaxed),
            provider: call.provider.name.clone(),
            protocol: (protocol != tape.protocol).then(|| protocol.to_owned()),
            request,
            response: None,
            end: End::Left,
        };
        Self {
            tape: Arc::clone(tape),
            scrub,
            exchange: Some(exchange),
            pieces: Vec::new(),
            last: Instant::now(),
        }
    }

    /// Milliseconds since this was last asked.
    fn lap(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.last, Instant::now());
        u64::try_from(self.last.duration_since(before).as_millis()).unwrap_or(u64::MAX)
    }

    fn answered(&mut self, status: u16, headers: &[(String, String)]) {
        let ms = self.lap();
        let headers = self.scrub.headers(headers.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        if let Some(exchange) = &mut self.exchange {
            exchange.response = Some(Answered { ms, status, headers, pieces: Vec::new() });
        }
    }

    fn piece(&mut self, bytes: &[u8]) {
        let ms = self.lap();
        self.pieces.push((ms, bytes.to_vec()));
    }

    fn end(&mut self, end: End) {
        let Some(mut exchange) = self.exchange.take() else { return };
        exchange.end = match end {
            End::Broken { kind, problem } => End::Broken { kind, problem: self.scrub.text(&problem) },
            End::Complete | End::Left => end,
        };
        let (times, mut pieces): (Vec<u64>, Vec<Vec<u8>>) =
            std::mem::take(&mut self.pieces).into_iter().unzip();
        self.scrub.mask_pieces(&mut pieces);
        if let Some(response) = &mut exchange.response {
            response.pieces = times.iter().zip(&pieces).map(|(ms, bytes)| Piece::of(*ms, bytes)).collect();
        }
        self.tape.write(&exchange);
    }
}

impl Drop for Taking {
    fn drop(&mut self) {
        self.end(End::Left);
    }
}

/// A body that is written down as it is read.
struct Taped {
    body: Body,
    taking: Taking,
}

impl http_body::Body for Taped {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            None => self.taking.end(End::Complete),
            Some(Err(error)) => self.taking.end(End::broken(error)),
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.taking.piece(data);
                }
            }
        }
        Poll::Ready(frame)
    }
}
