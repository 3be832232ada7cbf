//! Faults that only HTTP/2 has: a server that ends one answer, or says that it will go away.

use std::sync::Arc;
use std::time::Duration;

use rail_model::ErrorKind;
use rail_route::Provider;
use rail_testkit::Authority;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::world::{Frozen, attempt, plan, provider, record, request, text, upstream};

const START: &[u8] =
    b"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n";
const HELLO: &[u8] =
    b"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n";
const END: &[u8] = b"data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// What the server does once a request is here.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Status 200.
    Head,
    Data(&'static [u8]),
    /// The last data.
    Last(&'static [u8]),
    /// `RST_STREAM` with this code.
    Reset(u8),
    /// `GOAWAY` with the last stream that will be answered, and this code; then the connection ends.
    GoAway(u8, u8),
    /// `GOAWAY` that lets the stream come to its end.
    LastOne,
}

const NO_ERROR: u8 = 0;
const INTERNAL_ERROR: u8 = 2;
const REFUSED_STREAM: u8 = 7;
const ENHANCE_YOUR_CALM: u8 = 11;

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

impl Act {
    fn frame(self, stream: u8) -> Vec<u8> {
        match self {
            // One byte says `:status: 200`.
            Self::Head => frame(1, 4, stream, &[0x88]),
            Self::Data(data) => frame(0, 0, stream, data),
            Self::Last(data) => frame(0, 1, stream, data),
            Self::Reset(code) => frame(3, 0, stream, &[0, 0, 0, code]),
            Self::GoAway(last, code) => frame(7, 0, 0, &[0, 0, 0, last, 0, 0, 0, code]),
            Self::LastOne => frame(7, 0, 0, &[0, 0, 0, stream, 0, 0, 0, NO_ERROR]),
        }
    }
}

/// A server of HTTP/2 that does the same with every request.
struct Server {
    base_url: String,
    folder: tempfile::TempDir,
    _connections: JoinSet<()>,
}

impl Server {
    async fn start(acts: &'static [Act]) -> Self {
        let (authority, folder) = (Authority::new().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join("ca.pem"), authority.pem()).unwrap();
        let mut config = rustls::ServerConfig::clone(&authority.server().unwrap().config());
        config.alpn_protocols = vec![b"h2".to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("https://{}/v1", listener.local_addr().unwrap());
        let mut connections = JoinSet::new();
        connections.spawn(async move {
            let mut each = JoinSet::new();
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let acceptor = acceptor.clone();
                each.spawn(async move {
                    // A client that leaves ends its connection.
                    let _ = serve(acceptor.accept(socket).await.unwrap(), acts).await;
                });
            }
        });
        Self { base_url, folder, _connections: connections }
    }

    fn provider(&self, name: &str) -> Provider {
        Provider { ca: Some(self.folder.path().join("ca.pem")), ..provider(name, self.base_url.clone()) }
    }
}

async fn serve(mut line: TlsStream<TcpStream>, acts: &[Act]) -> std::io::Result<()> {
    line.read_exact(&mut [0; 24]).await?;
    line.write_all(&frame(4, 0, 0, &[])).await?;
    loop {
        let mut head = [0; 9];
        line.read_exact(&mut head).await?;
        let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
        line.read_exact(&mut payload).await?;
        let (kind, flags, stream) = (head[3], head[4], head[8]);
        match kind {
            // Settings that want to be acknowledged.
            4 if flags & 1 == 0 => line.write_all(&frame(4, 1, 0, &[])).await?,
            // A ping; answers to it are how flow and life are measured.
            6 if flags & 1 == 0 => line.write_all(&frame(6, 1, 0, &payload)).await?,
            // The end of a request's body.
            0 if flags & 1 == 1 => {
                for act in acts {
                    line.write_all(&act.frame(stream)).await?;
                    line.flush().await?;
                    if let Act::GoAway(..) = act {
                        return line.shutdown().await;
                    }
                }
            }
            _ => {}
        }
    }
}

/// Asks a server that does this, and then a good one.
async fn asked(acts: &'static [Act]) -> (Vec<String>, Result<String, ErrorKind>) {
    let (a, b) = (Server::start(acts).await, Server::start(GOOD).await);
    let plan = plan([attempt(a.provider("a")), attempt(b.provider("b"))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert!(world.elapsed() <= Duration::from_secs(1), "at most one pause");
    (record(reply.sent()), text(&mut reply).await.map_err(|broken| broken.error.kind))
}

const GOOD: &[Act] = &[Act::Head, Act::Data(START), Act::Data(HELLO), Act::Last(END)];

#[tokio::test(start_paused = true)]
async fn a_good_answer() {
    assert_eq!(asked(GOOD).await, (vec!["a 200 answered".to_owned()], Ok("hello".to_owned())));
    let last_one = &[Act::Head, Act::LastOne, Act::Data(HELLO), Act::Last(END)];
    assert_eq!(asked(last_one).await, (vec!["a 200 answered".to_owned()], Ok("hello".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn ends_before_content() {
    let table: &[(&'static [Act], &str)] = &[
        (&[Act::Reset(INTERNAL_ERROR)], "a - passing $"),
        (&[Act::Reset(REFUSED_STREAM)], "a - passing $"),
        (&[Act::Reset(ENHANCE_YOUR_CALM)], "a - passing $"),
        (&[Act::GoAway(1, INTERNAL_ERROR)], "a - passing $"),
        (&[Act::GoAway(1, NO_ERROR)], "a - passing $"),
        (&[Act::GoAway(0, NO_ERROR)], "a - passing $"),
        (&[Act::Head, Act::Reset(INTERNAL_ERROR)], "a 200 passing $"),
        (&[Act::Head, Act::Data(START), Act::Reset(INTERNAL_ERROR)], "a 200 passing $"),
        (&[Act::Head, Act::Data(START), Act::Reset(NO_ERROR)], "a 200 passing $"),
        (&[Act::Head, Act::Data(START), Act::GoAway(1, INTERNAL_ERROR)], "a 200 passing $"),
        (&[Act::Head, Act::Data(START), Act::GoAway(1, NO_ERROR)], "a 200 passing $"),
        (&[Act::Head, Act::Last(START)], "a 200 passing $"),
    ];
    for (acts, line) in table {
        let lines = vec![(*line).to_owned(), (*line).to_owned(), "b 200 answered".to_owned()];
        assert_eq!(asked(acts).await, (lines, Ok("hello".to_owned())), "{acts:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn ends_after_content() {
    let table: &[&'static [Act]] = &[
        &[Act::Head, Act::Data(HELLO), Act::Reset(INTERNAL_ERROR)],
        &[Act::Head, Act::Data(HELLO), Act::GoAway(1, INTERNAL_ERROR)],
        &[Act::Head, Act::Data(HELLO), Act::GoAway(1, NO_ERROR)],
        &[Act::Head, Act::Last(HELLO)],
    ];
    for acts in table {
        let found = asked(acts).await;
        assert_eq!(found, (vec!["a 200 answered".to_owned()], Err(ErrorKind::Server)), "{acts:?}");
    }
}
