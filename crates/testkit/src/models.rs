//! Scripted models: one server that speaks every protocol and answers turn by turn, for tests of clients.

mod answer;
mod file;
mod route;
mod serve;
mod turn;

use std::collections::BTreeSet;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rail_model::{ApiError, EmbedRequest, Loss, ProtocolId, Request};
use rail_wire::{HttpCall, Operation};

pub use answer::{COUNTED, NOW, vector};
pub use file::{ScriptError, read_script};
pub use route::SCRIPTED_MODEL;
pub use turn::{Turn, call, image, redacted, text, thinking};

use crate::peer::stage::Stage;
use crate::peer::{DEADLINE, Departure};
use crate::tls::ServerCert;

/// A request that arrived, and what it was read as.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The protocol of the endpoint it came to.
    pub protocol: ProtocolId,
    /// What is asked at that endpoint.
    pub operation: Operation,
    /// The request as it came over the wire.
    pub call: HttpCall,
    /// What it says.
    pub question: Question,
    /// The number, from 0, of the turn that it took; a repeated turn has a new number each time.
    pub turn: Option<usize>,
    /// What of the scripted turn the protocol had no words for.
    pub losses: Vec<Loss>,
    /// The number of the connection that it came on.
    pub connection: usize,
}

/// What a request says.
#[derive(Clone, Debug)]
pub enum Question {
    /// Asks for an answer, or for a token count.
    Request(Box<Request>),
    /// Asks for vectors.
    Embed(EmbedRequest),
    /// Asks which models there are.
    Models,
    /// Could not be read; the client was told so.
    Unreadable(ApiError),
}

impl Asked {
    /// The decoded request, if it asks for an answer or a token count.
    pub fn request(&self) -> Option<&Request> {
        if let Question::Request(request) = &self.question { Some(request) } else { None }
    }

    /// The decoded request for embeddings, if it is one.
    pub fn embed(&self) -> Option<&EmbedRequest> {
        if let Question::Embed(request) = &self.question { Some(request) } else { None }
    }
}

/// A server of scripted models on a loopback port; dropping it ends its connections and joins its threads.
///
/// It answers at the endpoints of every protocol that `rail_wire` speaks, each in its own protocol, whole or streamed as
/// asked. Every request for an answer takes the next turn of the script; counts, embeddings and lists take none.
/// Dropping panics, unless the test already does, when a request was no HTTP/1.1 or a gate was never opened.
#[derive(Debug)]
pub struct Models {
    addr: SocketAddr,
    shared: Arc<Shared>,
    gates: BTreeSet<&'static str>,
    marks: BTreeSet<&'static str>,
    accepting: Option<JoinHandle<()>>,
}

impl Models {
    /// Listens on a free loopback port and plays the turns strictly in order.
    ///
    /// A script with turns that could never be played is refused as invalid input.
    pub fn start(script: Vec<Turn>) -> io::Result<Models> {
        Models::listen(SocketAddr::from(([127, 0, 0, 1], 0)), script, |_| {})
    }

    /// The same over TLS with this certificate.
    pub fn start_tls(script: Vec<Turn>, cert: &ServerCert) -> io::Result<Models> {
        Models::serve(SocketAddr::from(([127, 0, 0, 1], 0)), script, Box::new(|_| {}), Some(cert.clone()))
    }

    /// The same on a given address, with somebody who is told of each request before it is answered.
    pub fn listen(
        addr: SocketAddr,
        script: Vec<Turn>,
        watch: impl Fn(&Asked) + Send + Sync + 'static,
    ) -> io::Result<Models> {
        Models::serve(addr, script, Box::new(watch), None)
    }

    /// The same on a free loopback port, where each turn depends on what is asked, and not on how much was asked before: for
    /// clients that ask several things at once.
    ///
    /// Its turns have no gates and no marks.
    pub fn answering(answer: impl Fn(&Request) -> Turn + Send + Sync + 'static) -> io::Result<Models> {
        let addr = SocketAddr::from(([127, 0, 0, 1], 0));
        Models::play(addr, Script::Answer(Box::new(answer)), Box::new(|_| {}), None)
    }

    fn serve(
        addr: SocketAddr,
        script: Vec<Turn>,
        watch: Watch,
        cert: Option<ServerCert>,
    ) -> io::Result<Models> {
        if let Some(at) = script.iter().rev().skip(1).rev().position(Turn::repeats) {
            let fault = format!("turn {at} repeats, so those after it would never be played");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, fault));
        }
        Models::play(addr, Script::Turns(script), watch, cert)
    }

    fn play(addr: SocketAddr, script: Script, watch: Watch, cert: Option<ServerCert>) -> io::Result<Models> {
        let turns = match &script {
            Script::Turns(turns) => &turns[..],
            Script::Answer(_) => &[],
        };
        let gates = turns.iter().flat_map(Turn::gates).collect();
        let marks = turns.iter().flat_map(Turn::marks).collect();
        let listener = TcpListener::bind(addr)?;
        let addr = listener.local_addr()?;
        let shared =
            Arc::new(Shared { stage: Stage::new(DEADLINE), script, progress: Mutex::default(), watch, cert });
        let accepting = thread::Builder::new().name(format!("models {}", addr.port())).spawn({
            let shared = Arc::clone(&shared);
            move || serve::accept(&listener, &shared)
        })?;
        Ok(Models { addr, shared, gates, marks, accepting: Some(accepting) })
    }

    /// The same server with another deadline than 30 seconds, for gates and waits of the test from now on.
    pub fn with_deadline(self, deadline: Duration) -> Models {
        self.shared.stage.set_deadline(deadline);
        self
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The address of a path that starts with `/`, or of the server for an empty one.
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.shared.cert.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.addr)
    }

    /// The base URL, version included, that the paths of `Outbound` of a protocol are appended to.
    pub fn base_url(&self, protocol: ProtocolId) -> String {
        self.url(if protocol.name() == "gemini" { "/v1beta" } else { "/v1" })
    }

    /// The requests read so far, in the order in which they were complete.
    pub fn requests(&self) -> Vec<Asked> {
        self.shared.progress().asked.clone()
    }

    /// How many turns of the script were taken; a repeated one counts each time.
    pub fn turns_taken(&self) -> usize {
        self.shared.progress().taken
    }

    /// How many connections were accepted.
    pub fn connections(&self) -> usize {
        self.shared.stage.connections()
    }

    /// Opens a gate for every turn that waits at it or will.
    pub fn open(&self, gate: &'static str) {
        assert!(self.gates.contains(gate), "no turn has a gate `{gate}`; the gates are {:?}", self.gates);
        self.shared.stage.open(gate);
    }

    /// Waits until some turn has reached the mark of this name.
    pub fn wait_for(&self, mark: &'static str) {
        assert!(self.marks.contains(mark), "no turn has a mark `{mark}`; the marks are {:?}", self.marks);
        self.shared.stage.wait_for(mark);
    }

    /// Waits until the connection of this number was left by the client; the step is the number of requests it had sent.
    ///
    /// It is seen while the server waits for a request or stalls, or when a send fails.
    pub fn client_left(&self, connection: usize) -> Departure {
        self.shared.stage.client_left(connection)
    }
}

impl Drop for Models {
    fn drop(&mut self) {
        self.shared.stage.end();
        // Accepting blocks; a connection of our own wakes it to see that the stage has ended.
        let woken = TcpStream::connect_timeout(&self.addr, DEADLINE);
        if let Some(accepting) = self.accepting.take() {
            let joined = accepting.join();
            if !thread::panicking() {
                assert!(joined.is_ok(), "the models at {} panicked; the message is above", self.addr);
            }
        }
        drop(woken);
        let faults = self.shared.stage.faults();
        if !thread::panicking() {
            assert!(faults.is_empty(), "the models at {} had trouble: {}", self.addr, faults.join("; "));
        }
    }
}

/// What the test and the connections' threads share.
struct Shared {
    stage: Stage,
    script: Script,
    progress: Mutex<Progress>,
    watch: Watch,
    cert: Option<ServerCert>,
}

type Watch = Box<dyn Fn(&Asked) + Send + Sync>;

/// Where turns come from.
enum Script {
    /// One after the other.
    Turns(Vec<Turn>),
    /// From what is asked.
    Answer(Box<dyn Fn(&Request) -> Turn + Send + Sync>),
}

impl Script {
    /// The turn of this number, from 0; None when the script is at its end.
    fn turn(&self, number: usize, request: &Request) -> Option<Turn> {
        match self {
            Script::Turns(turns) => {
                let last = turns.last().filter(|turn| turn.repeats());
                turns.get(number).or(last).cloned()
            }
            Script::Answer(answer) => Some(answer(request)),
        }
    }

    /// How many turns there are.
    fn len(&self) -> usize {
        match self {
            Script::Turns(turns) => turns.len(),
            Script::Answer(_) => usize::MAX,
        }
    }
}

#[derive(Debug, Default)]
struct Progress {
    asked: Vec<Asked>,
    taken: usize,
}

impl Shared {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next turn with its number, or None when the script is at its end.
    fn next_turn(&self, request: &Request) -> Option<(usize, Turn)> {
        let mut progress = self.progress();
        let turn = self.script.turn(progress.taken, request)?;
        progress.taken += 1;
        Some((progress.taken, turn))
    }

    fn record(&self, asked: Asked) {
        (self.watch)(&asked);
        self.progress().asked.push(asked);
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("stage", &self.stage).finish_non_exhaustive()
    }
}
