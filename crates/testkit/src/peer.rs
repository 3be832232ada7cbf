//! A TCP server that plays a script, for tests of clients.

pub(crate) mod bytes;
mod play;
pub(crate) mod request;
pub(crate) mod stage;

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

pub use bytes::{chunk, garbage, http_head, http_whole, last_chunk, sse_head};
pub use request::Recorded;
pub use stage::{Departure, Leaving};

use stage::Stage;

use crate::tls::ServerCert;

/// How long a wait may take before it panics; far more than a healthy test needs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// One thing that the peer does on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Reads one whole HTTP/1.1 request with its body and records it.
    ReadRequest,
    /// Sends the bytes.
    Send(Vec<u8>),
    /// Sends the bytes in pieces of these sizes, one write each, and what is left as a last piece.
    ///
    /// The kernel may still join pieces that the client is slow to read; where that matters, put a gate between.
    SendSplit {
        /// What is sent.
        bytes: Vec<u8>,
        /// The length of each piece.
        sizes: Vec<usize>,
    },
    /// Sends the bytes on the socket itself: over TLS they are no record that its key has sealed.
    SendRaw(Vec<u8>),
    /// Waits until the test opens the gate of this name; an open gate stays open.
    Gate(&'static str),
    /// Tells the test that the script came this far.
    Reached(&'static str),
    /// Sends nothing and holds the connection until the client leaves or the peer is dropped; the last step.
    Stall,
    /// Ends the connection with RST; the last step of a conversation.
    ///
    /// Bytes sent just before may be lost with it; where they matter, put a gate between.
    Reset,
    /// Ends the sending direction only; a client sees the end, and may go on sending.
    HalfClose,
    /// Sends that many pseudo-random bytes, the ones that [`garbage`] gives for this length and seed.
    Garbage(usize, u64),
    /// Ends the connection; the last step of a conversation.
    ///
    /// Bytes of the client that were not read turn this into a reset, as on any server.
    Close,
    /// Ends the connection as the end of a process does: over TLS without its goodbye; the last step of a conversation.
    Vanish,
}

/// The script for one accepted connection; its end is a [`Step::Close`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    steps: Vec<Step>,
    times: Times,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    Once,
    EveryFurther,
}

impl Conversation {
    /// A conversation for one connection.
    pub fn new(steps: impl IntoIterator<Item = Step>) -> Conversation {
        Conversation { steps: steps.into_iter().collect(), times: Times::Once }
    }

    /// Plays this conversation on every further connection too; only the last of a script may.
    pub fn repeat(self) -> Conversation {
        Conversation { times: Times::EveryFurther, ..self }
    }
}

/// A scripted server on a loopback port; dropping it ends its connections and joins its threads.
///
/// Dropping also panics, unless the test already does, when a conversation could not be played:
/// the client's request was no HTTP/1.1, or a wait of the script passed its deadline.
#[derive(Debug)]
pub struct Peer {
    addr: SocketAddr,
    scheme: &'static str,
    stage: Arc<Stage>,
    gates: BTreeSet<&'static str>,
    marks: BTreeSet<&'static str>,
    accepting: Option<JoinHandle<()>>,
}

impl Peer {
    /// Listens, and plays the conversations in the order in which connections are accepted.
    ///
    /// A connection beyond the script is closed and counted in [`Peer::unexpected`].
    /// A script with steps or conversations that could never be played is refused as invalid input.
    pub fn start(script: Vec<Conversation>) -> io::Result<Peer> {
        Peer::listen(script, None)
    }

    /// The same over TLS with this certificate; a client that refuses it is seen to leave.
    pub fn start_tls(script: Vec<Conversation>, cert: &ServerCert) -> io::Result<Peer> {
        Peer::listen(script, Some(cert.clone()))
    }

    fn listen(script: Vec<Conversation>, cert: Option<ServerCert>) -> io::Result<Peer> {
        if let Some(fault) = unplayable(&script) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, fault));
        }
        let steps = || script.iter().flat_map(|conversation| &conversation.steps);
        let gates = steps().filter_map(|step| if let Step::Gate(name) = step { Some(*name) } else { None });
        let marks =
            steps().filter_map(|step| if let Step::Reached(name) = step { Some(*name) } else { None });
        let (gates, marks) = (gates.collect(), marks.collect());

        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let addr = listener.local_addr()?;
        let stage = Arc::new(Stage::new(DEADLINE));
        let scheme = if cert.is_some() { "https" } else { "http" };
        let accepting = thread::Builder::new().name(format!("peer {}", addr.port())).spawn({
            let stage = Arc::clone(&stage);
            move || accept(&listener, &script, cert.as_ref(), &stage)
        })?;
        Ok(Peer { addr, scheme, stage, gates, marks, accepting: Some(accepting) })
    }

    /// The same peer with another deadline than 30 seconds, for connections and waits of the test from now on.
    pub fn with_deadline(self, deadline: Duration) -> Peer {
        self.stage.set_deadline(deadline);
        self
    }

    /// Where the peer listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The address of a path that starts with `/`.
    pub fn url(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.addr)
    }

    /// Opens a gate for every connection that waits at it or will.
    pub fn open(&self, gate: &'static str) {
        assert!(
            self.gates.contains(gate),
            "no conversation has a gate `{gate}`; the gates are {:?}",
            self.gates
        );
        self.stage.open(gate);
    }

    /// Waits until some connection has reached the mark of this name.
    pub fn wait_for(&self, mark: &'static str) {
        assert!(
            self.marks.contains(mark),
            "no conversation has a mark `{mark}`; the marks are {:?}",
            self.marks
        );
        self.stage.wait_for(mark);
    }

    /// Waits until the connection of this number was left by the client, and says where in the script that was seen.
    ///
    /// It is seen while the script reads or stalls, or when a send fails; put a [`Step::Stall`] where it is awaited.
    /// Connections are numbered from 0 as they are accepted.
    pub fn client_left(&self, connection: usize) -> Departure {
        self.stage.client_left(connection)
    }

    /// The requests read so far, in the order in which they were complete.
    pub fn requests(&self) -> Vec<Recorded> {
        self.stage.requests()
    }

    /// How many connections were accepted, the unexpected ones included.
    pub fn connections(&self) -> usize {
        self.stage.connections()
    }

    /// The numbers of the connections for which the script had no conversation.
    pub fn unexpected(&self) -> Vec<usize> {
        self.stage.unexpected()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stage.end();
        // Accepting blocks; a connection of our own wakes it to see that the stage has ended.
        let woken = TcpStream::connect_timeout(&self.addr, DEADLINE);
        if let Some(accepting) = self.accepting.take() {
            let joined = accepting.join();
            if !thread::panicking() {
                assert!(joined.is_ok(), "the peer at {} panicked; its message is above", self.addr);
            }
        }
        drop(woken);
        let faults = self.stage.faults();
        if !thread::panicking() {
            assert!(
                faults.is_empty(),
                "the peer at {} could not play its script: {}",
                self.addr,
                faults.join("; ")
            );
        }
    }
}

/// A loopback address that refuses connections for as long as the process lives.
pub fn refused_addr() -> io::Result<SocketAddr> {
    // Bound but not listening: the port refuses, and the kernel gives it to nobody else,
    // neither to a server nor as the near end of the very connection that should be refused.
    static HELD: Mutex<Option<Socket>> = Mutex::new(None);
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let socket = match held.take() {
        Some(socket) => socket,
        None => {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
            socket
        }
    };
    let addr = socket.local_addr();
    *held = Some(socket);
    addr?.as_socket().ok_or_else(|| io::Error::other("a socket bound to 127.0.0.1 has no IP address"))
}

/// What of a script could never be played, if anything: a test that says more than it does is a mistake.
fn unplayable(script: &[Conversation]) -> Option<String> {
    let (_, before) = script.split_last()?;
    if let Some(number) = before.iter().position(|conversation| conversation.times == Times::EveryFurther) {
        return Some(format!("conversation {number} repeats, so those after it would never be played"));
    }
    script.iter().enumerate().find_map(|(number, Conversation { steps, .. })| {
        let (_, before) = steps.split_last()?;
        let ends = before
            .iter()
            .position(|step| matches!(step, Step::Stall | Step::Reset | Step::Close | Step::Vanish));
        if let Some(end) = ends {
            return Some(format!(
                "conversation {number} ends with step {end}, so those after it would never be played"
            ));
        }
        let closed = steps.iter().position(|step| *step == Step::HalfClose)?;
        let sends = |step: &Step| {
            matches!(step, Step::Send(_) | Step::SendRaw(_) | Step::SendSplit { .. } | Step::Garbage(..))
        };
        let late = steps.iter().skip(closed).position(sends)?;
        Some(format!("conversation {number} sends in step {} after it closed that direction", closed + late))
    })
}

fn accept(listener: &TcpListener, script: &[Conversation], cert: Option<&ServerCert>, stage: &Arc<Stage>) {
    let mut playing = Vec::new();
    for number in 0.. {
        let stream = match listener.accept() {
            Ok((stream, _)) => Arc::new(stream),
            Err(error) => {
                stage.fault(format!("accepting connection {number} failed: {error}"));
                break;
            }
        };
        let conversation = script
            .get(number)
            .or_else(|| script.last().filter(|conversation| conversation.times == Times::EveryFurther));
        if !stage.enter(number, conversation.map(|_| &stream)) {
            break;
        }
        let Some(Conversation { steps, .. }) = conversation.cloned() else { continue };
        let thread = thread::Builder::new().name(format!("peer connection {number}")).spawn({
            let (stage, cert) = (Arc::clone(stage), cert.cloned());
            move || play::play(number, &steps, (stream, cert), &stage)
        });
        match thread {
            Ok(thread) => playing.push(thread),
            Err(error) => {
                stage.leave(number, None);
                stage.fault(format!("connection {number} got no thread: {error}"));
            }
        }
    }
    for thread in playing {
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}
