//! Requests per second, CPU and latency of each kind of request.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rail_wire::{anthropic, gemini, openai_chat, openai_responses};

use super::load::{Client, Clients, Limit, Met, percentile};
use super::model::{Manner, PIECES, STAMP, STAMP_DIGITS, now};
use super::options::Options;
use super::process::{Calls, Server};
use super::{Question, Stage, Via, request, table};
use crate::talk;

/// So many clients ask at once.
pub(super) const CLIENTS: [usize; 3] = [1, 16, 64];
/// CPU time is told of so many clients.
pub(super) const CPU_AT: usize = 16;
/// So many clients take paced streams.
const PACED_CLIENTS: [usize; 1] = [64];
/// The most requests of one figure.
const MOST: usize = 200_000;
/// So many paced streams are watched piece by piece.
const WATCHED: usize = 3;

/// One kind of request.
#[derive(Clone)]
pub(super) struct Row(pub(super) Question);

impl Row {
    pub(super) fn name(&self) -> String {
        let Question { from, to, calls, size, manner } = self.0;
        let mended = if calls == Calls::Mended && !self.is_translated() { " mended" } else { "" };
        format!("{} -> {}{mended}, {}, {}", from.id, to.id, size.name, manner.name())
    }

    pub(super) fn is_translated(&self) -> bool {
        self.0.from.id != self.0.to.id
    }
}

fn all() -> Vec<Row> {
    let pairs = [
        (&anthropic::PROTOCOL, &anthropic::PROTOCOL, Calls::Trusted),
        (&openai_chat::PROTOCOL, &openai_chat::PROTOCOL, Calls::Trusted),
        (&openai_chat::PROTOCOL, &openai_chat::PROTOCOL, Calls::Mended),
        (&anthropic::PROTOCOL, &openai_chat::PROTOCOL, Calls::Mended),
        (&openai_responses::PROTOCOL, &openai_chat::PROTOCOL, Calls::Mended),
        (&gemini::PROTOCOL, &anthropic::PROTOCOL, Calls::Trusted),
    ];
    let kinds = [
        (Manner::Whole, talk::SMALL),
        (Manner::Whole, talk::USUAL),
        (Manner::Whole, talk::LARGE),
        (Manner::Whole, talk::HUGE),
        (Manner::Burst, talk::USUAL),
        (Manner::Burst, talk::LARGE),
        (Manner::Paced, talk::USUAL),
    ];
    let row = |(manner, size)| pairs.map(|(from, to, calls)| Row(Question { from, to, calls, size, manner }));
    kinds.into_iter().flat_map(row).collect()
}

/// What one server showed in one row.
pub(super) struct Seen {
    /// By the number of clients.
    pub(super) met: Vec<Met>,
    /// CPU seconds for 1,000 requests, of the server alone.
    pub(super) cpu: f64,
    /// Nanoseconds of CPU for each byte of a request's body.
    pub(super) per_byte: f64,
    /// The way of a paced piece from the model to the client, the shortest first.
    pub(super) pieces: Vec<Duration>,
}

/// All that one row gave.
pub(super) struct Measured {
    pub(super) row: Row,
    pub(super) direct: Seen,
    pub(super) bare: Seen,
    pub(super) rail: Option<Seen>,
}

pub(super) async fn run(options: &Options) -> Result<(), String> {
    let stage = Stage::set(options)?;
    let idle = stage.rail.as_ref().map(Server::rss);
    let mut measured = Vec::new();
    for row in all().into_iter().filter(|row| row.name().contains(&options.only)) {
        eprintln!("{}", row.name());
        let one = measure(&stage, row, options.time).await?;
        table::progress(&one);
        measured.push(one);
    }
    table::print(&measured, idle, stage.bare.rss());
    Ok(())
}

async fn measure(stage: &Stage, row: Row, time: Duration) -> Result<Measured, String> {
    let question = row.0;
    let straight = |addr| request(Via::Straight, Question { to: question.from, ..question }, addr);
    let model = &stage.model;
    let clients: &[usize] = if question.manner == Manner::Paced { &PACED_CLIENTS } else { &CLIENTS };
    let direct = see(model, &straight(model.addr), &row, &[1], time).await?;
    let bare = see(&stage.bare, &straight(stage.bare.addr), &row, clients, time).await?;
    let rail = match &stage.rail {
        None => None,
        Some(rail) => {
            let request = request(Via::Gateway, question, rail.addr);
            let seen = see(rail, &request, &row, clients, time).await;
            Some(seen.map_err(|error| format!("{}: {error}\n{}", row.name(), rail.log()))?)
        }
    };
    Ok(Measured { row, direct, bare, rail })
}

async fn see(
    server: &Server,
    request: &Arc<[u8]>,
    row: &Row,
    clients: &[usize],
    time: Duration,
) -> Result<Seen, String> {
    let mut seen = Seen { met: Vec::new(), cpu: 0.0, per_byte: 0.0, pieces: Vec::new() };
    for count in clients {
        let mut clients = Clients::open(server.addr, request, *count).await?;
        // One more round of all of them is not measured: pools and caches fill.
        clients.run(Limit { time: time / 10, requests: MOST }).await;
        let before = server.cpu();
        let met = clients.run(Limit { time, requests: MOST }).await;
        let used = server.cpu().saturating_sub(before).as_secs_f64();
        if let Some(failure) = &met.failure {
            return Err(format!("{} of {} failed: {failure}", met.failed, met.times.len() + met.failed));
        }
        if *count == CPU_AT || row.0.manner == Manner::Paced {
            seen.cpu = used * 1e3 / met.count().max(1.0);
            seen.per_byte = seen.cpu * 1e6 / body_length(request);
        }
        seen.met.push(met);
    }
    if row.0.manner == Manner::Paced {
        seen.pieces = watch(server.addr, request).await?;
    }
    Ok(seen)
}

fn body_length(request: &[u8]) -> f64 {
    let head = memchr::memmem::find(request, b"\r\n\r\n").map_or(0, |at| at + 4);
    u32::try_from(request.len() - head).map_or(f64::MAX, f64::from)
}

/// How long each piece of a few paced streams was on its way, one stream after the other.
async fn watch(addr: SocketAddr, request: &Arc<[u8]>) -> Result<Vec<Duration>, String> {
    let mut client = Client::connect(addr).await.map_err(|error| error.to_string())?;
    let mut times = Vec::new();
    for _ in 0..WATCHED {
        let (mut held, mut count) = (Vec::new(), 0);
        let mut hear = |bytes: &[u8]| {
            let now = now();
            held.extend_from_slice(bytes);
            while let Some(written) = next_stamp(&mut held) {
                // What ends a stream may say all of the text again.
                if count < PIECES {
                    times.push(Duration::from_nanos(now.saturating_sub(written)));
                }
                count += 1;
            }
        };
        client.ask(request, &mut hear).await.map_err(|error| error.to_string())?;
    }
    times.sort_unstable();
    Ok(times)
}

/// Takes the next whole stamp off the text, with all before it.
fn next_stamp(held: &mut Vec<u8>) -> Option<u64> {
    let start = memchr::memmem::find(held, STAMP.as_bytes())? + STAMP.len();
    let digits = held.get(start..start + STAMP_DIGITS)?;
    let stamp = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or_default();
    held.drain(..start + STAMP_DIGITS);
    Some(stamp)
}

impl Seen {
    /// Half of the pieces, and 99 of a hundred, came within these times.
    pub(super) fn piece_times(&self) -> (Duration, Duration) {
        (percentile(&self.pieces, 50), percentile(&self.pieces, 99))
    }
}
