//! A closed loop of clients over kept connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::reply::Reply;

/// How long clients go on.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) time: Duration,
    pub(crate) requests: usize,
}

/// What a load met.
#[derive(Default)]
pub(crate) struct Met {
    /// How long each request took, the shortest first.
    pub(crate) times: Vec<Duration>,
    /// How long all of them took.
    pub(crate) wall: Duration,
    /// Answers that were none, and the first of them.
    pub(crate) failed: usize,
    pub(crate) failure: Option<String>,
}

impl Met {
    pub(crate) fn per_second(&self) -> f64 {
        self.count() / self.wall.as_secs_f64().max(1e-9)
    }

    /// How many answers came.
    pub(crate) fn count(&self) -> f64 {
        u32::try_from(self.times.len()).map_or(f64::MAX, f64::from)
    }

    /// The time within which so many of a hundred were answered.
    pub(crate) fn percentile(&self, share: usize) -> Duration {
        percentile(&self.times, share)
    }
}

/// The value that so many of a hundred do not exceed; the values are in order.
pub(crate) fn percentile(sorted: &[Duration], share: usize) -> Duration {
    sorted.get(sorted.len().saturating_sub(1) * share / 100).copied().unwrap_or_default()
}

/// Clients with open connections, the first of which has been answered once.
pub(crate) struct Clients {
    clients: Vec<Client>,
    request: Arc<[u8]>,
}

impl Clients {
    /// Connects so many clients that all send this request.
    pub(crate) async fn open(addr: SocketAddr, request: &Arc<[u8]>, count: usize) -> Result<Self, String> {
        let mut clients = Vec::new();
        for number in 0..count {
            let mut client = Client::connect(addr).await.map_err(|error| format!("{addr}: {error}"))?;
            if number == 0 {
                client.warm(request).await?;
            }
            clients.push(client);
        }
        Ok(Self { clients, request: Arc::clone(request) })
    }

    /// Each asks, and asks again as soon as it is answered, until the limit.
    pub(crate) async fn run(&mut self, limit: Limit) -> Met {
        let start = Instant::now();
        let left = Arc::new(AtomicUsize::new(limit.requests));
        let mut tasks = JoinSet::new();
        for client in self.clients.drain(..) {
            tasks.spawn(go_on(client, Arc::clone(&self.request), Arc::clone(&left), start + limit.time));
        }
        let mut met = Met::default();
        while let Some(done) = tasks.join_next().await {
            let Ok((client, times, failure)) = done else { continue };
            met.times.extend(times);
            match failure {
                None => self.clients.push(client),
                Some(failure) => {
                    met.failed += 1;
                    met.failure.get_or_insert(failure);
                }
            }
        }
        met.wall = start.elapsed();
        met.times.sort_unstable();
        met
    }
}

async fn go_on(
    mut client: Client,
    request: Arc<[u8]>,
    left: Arc<AtomicUsize>,
    end: Instant,
) -> (Client, Vec<Duration>, Option<String>) {
    let mut times = Vec::new();
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
        let start = Instant::now();
        match client.ask(&request, &mut |_| {}).await {
            Ok(200) => times.push(start.elapsed()),
            Ok(status) => return (client, times, Some(format!("status {status}"))),
            Err(error) => return (client, times, Some(error.to_string())),
        }
        if Instant::now() >= end {
            break;
        }
    }
    (client, times, None)
}

/// One connection.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Box<[u8]>,
}

impl Client {
    pub(crate) async fn connect(addr: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(addr).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 64 << 10].into_boxed_slice() })
    }

    /// Sends a request, reads the answer to its end, and gives its status.
    pub(crate) async fn ask(
        &mut self,
        request: &[u8],
        body: &mut (dyn FnMut(&[u8]) + Send),
    ) -> io::Result<u16> {
        self.send(request).await?;
        let mut reply = Reply::default();
        while !reply.is_done() {
            let read = self.stream.read(&mut self.buffer).await?;
            if read == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    "the connection ended within an answer",
                ));
            }
            reply.push(self.buffer.get(..read).unwrap_or_default(), body).map_err(io::Error::other)?;
        }
        Ok(reply.status)
    }

    pub(crate) async fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request).await
    }

    /// Waits for the first bytes of an answer, and leaves: the other side sees the connection cut.
    pub(crate) async fn leave(mut self) -> io::Result<()> {
        if self.stream.read(&mut self.buffer).await? == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the connection ended before an answer",
            ));
        }
        self.stream.set_zero_linger()
    }

    /// Asks once, and tells all of an answer that is none.
    async fn warm(&mut self, request: &[u8]) -> Result<(), String> {
        let mut said = Vec::new();
        match self.ask(request, &mut |bytes| said.extend_from_slice(bytes)).await {
            Ok(200) => Ok(()),
            Ok(status) => Err(format!("status {status}: {}", String::from_utf8_lossy(&said))),
            Err(error) => Err(error.to_string()),
        }
    }
}
