//! Serves one connection: HTTP/1.1 with keep-alive.

use std::io::{self, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rail_model::{ApiError, Loss};
use rail_wire::{BodyKind, HttpCall, HttpReply, Inbound, Operation, Protocol};

use super::answer::{self, Answer, Close};
use super::turn::Turn;
use super::{Asked, Question, Shared, route};
use crate::peer::bytes::{chunk, http_head, last_chunk};
use crate::peer::request::{self, ReadError, Recorded};
use crate::peer::stage::{Departure, Leaving, Waited};
use crate::tls::Wire;

pub(super) fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut serving = Vec::new();
    for number in 0.. {
        let stream = match listener.accept() {
            Ok((stream, _)) => Arc::new(stream),
            Err(error) => {
                shared.stage.fault(format!("accepting connection {number} failed: {error}"));
                break;
            }
        };
        if !shared.stage.enter(number, Some(&stream)) {
            break;
        }
        let thread = thread::Builder::new().name(format!("models connection {number}")).spawn({
            let shared = Arc::clone(shared);
            move || serve(number, stream, &shared)
        });
        match thread {
            Ok(thread) => serving.push(thread),
            Err(error) => {
                shared.stage.leave(number, None);
                shared.stage.fault(format!("connection {number} got no thread: {error}"));
            }
        }
        serving.retain(|thread| !thread.is_finished());
    }
    for thread in serving {
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

fn serve(number: usize, stream: Arc<TcpStream>, shared: &Shared) {
    let wire = match Wire::new(&stream, shared.cert.as_ref()) {
        Ok(wire) => wire,
        Err(error) => {
            shared.stage.fault(format!("connection {number} has no TLS: {error}"));
            return shared.stage.leave(number, None);
        }
    };
    let mut line = Line { number, shared, wire: &wire, input: BufReader::new(&wire), served: 0 };
    // A server that panics must not leave its client waiting for the deadline.
    let end = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| line.run()));
    let served = line.served;
    let departure = match end {
        Ok(End::Left(how)) if !shared.stage.ended() => Some(Departure { step: served, how }),
        Ok(End::Left(_)) => None,
        Ok(End::Closed) => {
            wire.say_goodbye();
            None
        }
        Ok(End::Failed(why)) => {
            shared.stage.fault(format!("connection {number}, request {served}: {why}"));
            None
        }
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            shared.stage.fault(format!("connection {number}, request {served}: {said}"));
            None
        }
    };
    shared.stage.leave(number, departure);
}

/// Why a connection goes no further.
enum End {
    Closed,
    Left(Leaving),
    Failed(String),
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> Self {
        End::Left(Leaving::Reset)
    }
}

/// How much of a body is sent.
enum Share {
    All,
    Half,
}

/// What a request became.
enum Served {
    Reply(HttpReply),
    Turn(Answer, Box<Turn>),
}

/// Which turn was told, and what of it could not be.
#[derive(Default)]
struct Told {
    turn: Option<usize>,
    losses: Vec<Loss>,
}

struct Line<'a> {
    number: usize,
    shared: &'a Shared,
    wire: &'a Wire<'a>,
    input: BufReader<&'a Wire<'a>>,
    served: usize,
}

impl Line<'_> {
    fn run(&mut self) -> End {
        if let Err(end) = self.wire.socket().set_nodelay(true) {
            return end.into();
        }
        loop {
            let call = match request::read(&mut self.input, self.number) {
                Ok(recorded) => to_call(recorded),
                Err(ReadError::Ended) => return End::Left(Leaving::Closed),
                Err(ReadError::Io(_)) => return End::Left(Leaving::Reset),
                Err(ReadError::Malformed(why)) => {
                    let reply =
                        HttpReply { status: 400, headers: Vec::new(), body: why.clone().into_bytes() };
                    // The fault is what matters; whether the client still hears of it does not.
                    let _ = self.whole(&reply, "GET", Share::All);
                    return End::Failed(why);
                }
            };
            self.served += 1;
            let shared = self.shared;
            let served = shared.answer(&call, self.number);
            let sent = match served {
                Served::Reply(reply) => self.whole(&reply, &call.method, Share::All),
                Served::Turn(answer, turn) => self.turn(answer, &turn, &call.method),
            };
            if let Err(end) = sent {
                return end;
            }
            if call.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
                return End::Closed;
            }
        }
    }

    fn turn(&mut self, answer: Answer, turn: &Turn, method: &str) -> Result<(), End> {
        self.gate(turn.before)?;
        match answer {
            Answer::Whole(reply) => {
                self.reach(turn);
                self.gate(turn.before_end)?;
                self.whole(&reply, method, Share::All)
            }
            Answer::Half(reply) => {
                self.whole(&reply, method, Share::Half)?;
                self.reach(turn);
                self.gate(turn.before_end)?;
                Err(End::Closed)
            }
            Answer::Raw(bytes) => {
                self.send(&bytes)?;
                self.reach(turn);
                self.gate(turn.before_end)?;
                self.wire.half_close()?;
                Err(End::Closed)
            }
            Answer::Silence => {
                self.reach(turn);
                Err(self.stall())
            }
            Answer::Pieces { content_type, first, last, close } => {
                let head = [
                    ("content-type", content_type),
                    ("cache-control", "no-cache"),
                    ("transfer-encoding", "chunked"),
                ];
                self.send(&http_head(200, &head))?;
                for piece in first {
                    self.send(&chunk(piece))?;
                }
                self.reach(turn);
                self.gate(turn.before_end)?;
                self.send(&chunk(last))?;
                match close {
                    Close::EndOfBody => Ok(self.send(&last_chunk())?),
                    Close::Cut => Err(End::Closed),
                    Close::Stall => Err(self.stall()),
                }
            }
        }
    }

    /// Sends an answer, or only this share of its body.
    fn whole(&mut self, reply: &HttpReply, method: &str, share: Share) -> Result<(), End> {
        let length = reply.body.len().to_string();
        let mut headers: Vec<(&str, &str)> =
            reply.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        headers.push(("content-length", &length));
        let mut bytes = http_head(reply.status, &headers);
        if method != "HEAD" {
            let sent = match share {
                Share::All => reply.body.len(),
                Share::Half => reply.body.len() / 2,
            };
            bytes.extend(reply.body.iter().take(sent));
        }
        Ok(self.send(&bytes)?)
    }

    fn send(&self, bytes: &[u8]) -> io::Result<()> {
        let mut wire = self.wire;
        wire.write_all(bytes)?;
        wire.flush()
    }

    fn gate(&self, gate: Option<&'static str>) -> Result<(), End> {
        let Some(gate) = gate else { return Ok(()) };
        let deadline = self.shared.stage.deadline();
        match self.shared.stage.wait_at(gate, deadline) {
            Waited::Opened => Ok(()),
            Waited::PeerEnded => Err(End::Closed),
            Waited::TooLong => {
                Err(End::Failed(format!("waited {deadline:?} for the test to open the gate `{gate}`")))
            }
        }
    }

    fn reach(&self, turn: &Turn) {
        turn.marks().for_each(|mark| self.shared.stage.reach(mark));
    }

    fn stall(&mut self) -> End {
        match io::copy(&mut self.input, &mut io::sink()) {
            Ok(_) => End::Left(Leaving::Closed),
            Err(_) => End::Left(Leaving::Reset),
        }
    }
}

impl Shared {
    /// Reads the request, records it, and finds its answer.
    fn answer(&self, call: &HttpCall, connection: usize) -> Served {
        let Some((protocol, operation)) = route::find(call) else {
            return Served::Reply(route::nowhere(call));
        };
        let inbound = protocol.inbound;
        let (question, told, served) = match operation {
            Operation::Models => (Question::Models, Told::default(), Served::Reply(route::models(protocol))),
            Operation::Embed => match inbound.decode_embed(call) {
                Ok(request) => {
                    let reply = answer::to_embed(protocol, &request);
                    (Question::Embed(request), Told::default(), Served::Reply(reply))
                }
                Err(error) => unreadable(error, inbound),
            },
            Operation::Count => match inbound.decode_request(call) {
                Ok(request) => (
                    Question::Request(Box::new(request)),
                    Told::default(),
                    Served::Reply(answer::to_count(protocol)),
                ),
                Err(error) => unreadable(error, inbound),
            },
            Operation::Generate | Operation::GenerateStream => match inbound.decode_request(call) {
                Ok(request) => {
                    let streamed = request.stream || operation == Operation::GenerateStream;
                    let (served, told) =
                        self.take_turn(protocol, body_kind(call, streamed, protocol), &request);
                    (Question::Request(Box::new(request)), told, served)
                }
                Err(error) => unreadable(error, inbound),
            },
        };
        let Told { turn, losses } = told;
        self.record(Asked {
            protocol: protocol.id,
            operation,
            call: call.clone(),
            question,
            turn,
            losses,
            connection,
        });
        served
    }

    fn take_turn(
        &self,
        protocol: &Protocol,
        kind: BodyKind,
        request: &rail_model::Request,
    ) -> (Served, Told) {
        match self.next_turn(request) {
            Some((number, turn)) => {
                let (answer, losses) = answer::to_request(protocol, kind, request, (number, &turn));
                (Served::Turn(answer, Box::new(turn)), Told { turn: Some(number - 1), losses })
            }
            None => {
                let error = answer::script_over(self.script.len());
                (Served::Reply(protocol.inbound.write_error(&error)), Told::default())
            }
        }
    }
}

fn unreadable(error: ApiError, inbound: &dyn Inbound) -> (Question, Told, Served) {
    let reply = inbound.write_error(&error);
    (Question::Unreadable(error), Told::default(), Served::Reply(reply))
}

/// Gemini streams are JSON arrays unless the address asks for events.
fn body_kind(call: &HttpCall, streamed: bool, protocol: &Protocol) -> BodyKind {
    let asks_events = call.query.split('&').any(|pair| pair == "alt=sse");
    match (streamed, protocol.id.name() == "gemini" && !asks_events) {
        (false, _) => BodyKind::Whole,
        (true, false) => BodyKind::Stream,
        (true, true) => BodyKind::Array,
    }
}

fn to_call(recorded: Recorded) -> HttpCall {
    let Recorded { method, target, headers, body, connection: _ } = recorded;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let headers = headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    HttpCall { method, path: path.to_owned(), query: query.to_owned(), headers, body }
}
