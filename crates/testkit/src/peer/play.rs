//! Plays one conversation on one connection.

use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use socket2::SockRef;

use super::request::{self, ReadError};
use super::stage::{Departure, Leaving, Stage, Waited};
use super::{Step, garbage};
use crate::tls::{ServerCert, Wire};

/// Plays the steps and closes the connection, which `stream` must be the only other hold on than the stage's.
pub(super) fn play(
    number: usize,
    steps: &[Step],
    (stream, cert): (Arc<TcpStream>, Option<ServerCert>),
    stage: &Stage,
) {
    let deadline = stage.deadline();
    let wire = match Wire::new(&stream, cert.as_ref()) {
        Ok(wire) => wire,
        Err(error) => {
            stage.fault(format!("connection {number} has no TLS: {error}"));
            return stage.leave(number, None);
        }
    };
    let mut line = Line { number, stage, deadline, wire: &wire, input: BufReader::new(&wire) };
    let ended = steps.iter().enumerate().find_map(|(index, step)| Some((index, line.step(step).err()?)));

    let broken = matches!(steps.last(), Some(Step::Reset | Step::Vanish));
    if !broken && matches!(ended, None | Some((_, End::Closed))) {
        wire.say_goodbye();
    }
    let mut departure = None;
    if let Some((index, end)) = ended {
        match end {
            End::Closed | End::PeerEnded => {}
            End::Left(how) => departure = Some(Departure { step: index, how }),
            End::Failed(why) => stage.fault(format!("connection {number}, step {index}: {why}")),
        }
    }
    // The stage lets go of the stream here, so that its drop right after closes the socket.
    stage.leave(number, departure);
}

/// Why a conversation goes no further.
enum End {
    Closed,
    Left(Leaving),
    PeerEnded,
    Failed(String),
}

struct Line<'a> {
    number: usize,
    stage: &'a Stage,
    deadline: Duration,
    wire: &'a Wire<'a>,
    input: BufReader<&'a Wire<'a>>,
}

impl Line<'_> {
    fn step(&mut self, step: &Step) -> Result<(), End> {
        match step {
            Step::ReadRequest => self.read_request(),
            Step::Send(bytes) => self.send(&[bytes]),
            Step::SendSplit { bytes, sizes } => self.send(&pieces(bytes, sizes)),
            Step::SendRaw(bytes) => {
                let sent = self.wire.socket().write_all(bytes);
                sent.map_err(|error| self.failed(error, "the client to take what is sent"))
            }
            Step::Garbage(length, seed) => self.send(&[&garbage(*length, *seed)]),
            Step::Gate(name) => match self.stage.wait_at(name, self.deadline) {
                Waited::Opened => Ok(()),
                Waited::PeerEnded => Err(End::PeerEnded),
                Waited::TooLong => {
                    let deadline = self.deadline;
                    Err(End::Failed(format!("waited {deadline:?} for the test to open the gate `{name}`")))
                }
            },
            Step::Reached(name) => {
                self.stage.reach(name);
                Ok(())
            }
            Step::Stall => Err(self.stall()),
            Step::HalfClose => {
                let ended = self.wire.half_close();
                ended.map_err(|error| self.failed(error, "the end of sending"))
            }
            Step::Reset => {
                // With no time to linger, closing the socket sends RST instead of FIN.
                let set = SockRef::from(self.wire.socket()).set_linger(Some(Duration::ZERO));
                set.map_err(|error| self.failed(error, "SO_LINGER"))?;
                Err(End::Closed)
            }
            Step::Close | Step::Vanish => Err(End::Closed),
        }
    }

    fn read_request(&mut self) -> Result<(), End> {
        const AWAITED: &str = "more of a request";
        let timed = self.wire.socket().set_read_timeout(Some(self.deadline));
        timed.map_err(|error| self.failed(error, AWAITED))?;
        match request::read(&mut self.input, self.number) {
            Ok(request) => {
                self.stage.record(request);
                Ok(())
            }
            Err(ReadError::Ended) => Err(self.left(Leaving::Closed)),
            Err(ReadError::Io(error)) => Err(self.failed(error, AWAITED)),
            Err(ReadError::Malformed(fault)) => Err(End::Failed(fault)),
        }
    }

    fn send(&mut self, pieces: &[&[u8]]) -> Result<(), End> {
        let send = || {
            let (socket, mut wire) = (self.wire.socket(), self.wire);
            socket.set_write_timeout(Some(self.deadline))?;
            // Otherwise the kernel would hold a small piece back to join it with the next.
            socket.set_nodelay(true)?;
            for piece in pieces {
                wire.write_all(piece)?;
                wire.flush()?;
            }
            Ok(())
        };
        send().map_err(|error| self.failed(error, "the client to take what is sent"))
    }

    fn stall(&mut self) -> End {
        // No deadline: holding on is the point, and the end of the peer ends it.
        if let Err(error) = self.wire.socket().set_read_timeout(None) {
            return self.failed(error, "the client to leave");
        }
        match io::copy(&mut self.input, &mut io::sink()) {
            Ok(_) => self.left(Leaving::Closed),
            Err(error) => self.failed(error, "the client to leave"),
        }
    }

    fn failed(&self, error: io::Error, awaited: &str) -> End {
        match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::NotConnected => self.left(Leaving::Reset),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                End::Failed(format!("waited {:?} for {awaited}", self.deadline))
            }
            _ => End::Failed(format!("{awaited}: {error}")),
        }
    }

    /// The peer's own end looks to a read like the client's leaving.
    fn left(&self, how: Leaving) -> End {
        if self.stage.ended() { End::PeerEnded } else { End::Left(how) }
    }
}

fn pieces<'a>(bytes: &'a [u8], sizes: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut pieces = Vec::with_capacity(sizes.len() + 1);
    for size in sizes {
        let (piece, after) = rest.split_at(rest.len().min(*size));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}
