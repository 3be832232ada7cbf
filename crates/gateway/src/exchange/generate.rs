//! A request for an answer.

use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use rail_ledger::Ending;
use rail_model::{ApiError, Delta, ErrorKind, Event, Request};
use rail_route::{Target, estimate};
use rail_upstream::{NoAnswer, Original, Reply};
use rail_wire::{BodyKind, HttpReply, Operation, Protocol, ReplyTo, gemini, openai_responses};
use serde_json::Value;
use tokio::time::timeout;

use super::pieces::{self, Outlet};
use super::record::Open;
use super::talk::Talk;
use super::way::{self, Way};
use crate::Gateway;
use crate::arrival::Arrival;
use crate::body::Body;
use crate::serve::Room;

/// The most text that an answer may have which has to be put together before it can be given.
const MOST_WHOLE: usize = 256 << 20;
/// Clients are told no more often than this that they wait.
const LEAST_KEEP_ALIVE: Duration = Duration::from_millis(100);

/// A request on its way to its answer.
struct Job {
    open: Open,
    protocol: &'static Protocol,
    /// The request as it came. It is kept until somebody answers, who may be given it as it is.
    body: Bytes,
    /// The room that the request takes.
    room: Room,
    request: Request,
    way: Way,
    /// When the request came, in Unix seconds, and its id.
    came: (u64, String),
    kind: BodyKind,
}

/// Answers a request for an answer.
pub(super) async fn answer(gateway: &Gateway, arrival: Arrival) -> Response<Body> {
    let mut open = Open::new(gateway, &arrival);
    let inbound = arrival.protocol.inbound;
    let request = match inbound.decode_request(&arrival.call) {
        Ok(request) => request,
        Err(error) => return open.fail(inbound, &error, Ending::Refused),
    };
    let kind = layout(&arrival, &request);
    if kind != BodyKind::Whole {
        open.streams();
    }
    let estimated = estimate(&request).total();
    let way = match way::find(&mut open, &arrival, &request, estimated).await {
        Ok(way) => way,
        Err((error, ending)) => return open.fail(inbound, &error, ending),
    };
    let Arrival { protocol, call, room, at, id, .. } = arrival;
    let (body, came) = (Bytes::from(call.body), (at / 1000, id));
    let job = Job { open, protocol, body, room, request, way, came, kind };
    match kind {
        BodyKind::Whole => whole(job).await,
        BodyKind::Stream | BodyKind::Array => pieces::answer(|outlet| stream(job, outlet)).await,
    }
}

/// How the answer is to be laid out.
fn layout(arrival: &Arrival, request: &Request) -> BodyKind {
    match arrival.operation {
        Operation::GenerateStream => gemini::stream_body(&arrival.call),
        Operation::Generate if request.stream => BodyKind::Stream,
        Operation::Generate | Operation::Count | Operation::Embed | Operation::Models => BodyKind::Whole,
    }
}

/// What the answer must know of the request. Some protocols say much of the request again, which a whole answer that is passed on as
/// it came does not need.
fn reply_to(protocol: &Protocol, request: &Request, way: &Way, came: &(u64, String)) -> ReplyTo {
    let mut reply_to = protocol.inbound.reply_to(request);
    (reply_to.now, reply_to.seed) = came.clone();
    reply_to.model = asked(request);
    if way.for_codex && protocol.id == openai_responses::ID {
        reply_to.echo.insert(openai_responses::COMPLETE_ON_LENGTH.to_owned(), Value::Bool(true));
    }
    reply_to
}

/// The name that the client asked for, which it sees whoever answers.
fn asked(request: &Request) -> Option<String> {
    Some(request.model.clone()).filter(|model| !model.is_empty())
}

/// Where the target has the very name that was asked for, it knows best what to call itself: `m` may be `m-2026-01-01`.
fn named(mut asked: Option<String>, target: &Target) -> Option<String> {
    asked.take_if(|asked| *asked == target.model);
    asked
}

/// Gives the answer in pieces. Until there is content, or the client has waited long enough for it, a failure has a status of
/// its own; later it is said in the stream.
async fn stream(job: Job, outlet: Outlet) -> Option<Response<Body>> {
    // The record is declared before what asks, and so dropped after it.
    let Job { mut open, protocol, body, room, request, way, came, kind } = job;
    let (inbound, heard) = (protocol.inbound, open.heard());
    let upstream = open.gateway().upstream().clone();
    let original = Original { protocol: protocol.id, body: &body };
    let waits = &open.loaded().settings.gateway;
    let (hold, keep_alive) = (waits.hold.0, waits.keep_alive.0.max(LEAST_KEEP_ALIVE));
    let begin_talk = |reply_to: &ReplyTo| Talk::new(inbound, kind, reply_to, outlet.clone());
    let mut early = None;
    let answer = {
        let mut ask = pin!(upstream.relay(&way.plan, &request, &original, &*heard));
        match timeout(hold, ask.as_mut()).await {
            Ok(answer) => answer,
            Err(_late) => {
                let reply_to = reply_to(protocol, &request, &way, &came);
                let talk = early.insert(begin_talk(&reply_to));
                talk.start(&reply_to, &mut open).await;
                loop {
                    match timeout(keep_alive, ask.as_mut()).await {
                        Ok(answer) => break answer,
                        Err(_silent) => talk.keep_alive(&mut open).await,
                    }
                }
            }
        }
    };
    let reply = match answer {
        Ok(reply) => reply,
        Err(NoAnswer { error, .. }) => {
            let Some(talk) = early else { return Some(open.fail(inbound, &error, Ending::Failed)) };
            talk.fail(&error, Ending::Failed, open).await;
            return None;
        }
    };
    begin(&mut open, &reply);
    let model = named(asked(&request), reply.target());
    let relays = early.is_none() && kind == BodyKind::Stream && reply.relayable();
    let talk = early.unwrap_or_else(|| {
        let about = reply_to(protocol, &request, &way, &came);
        begin_talk(&ReplyTo { model: model.clone(), ..about })
    });
    // A stream may go on for long: what only the question needed is let go.
    drop((body, request, way, came, room));
    if relays {
        open.is_relayed(&reply);
        talk.relay(reply, model.as_deref(), keep_alive, open).await;
    } else {
        talk.pass(reply, keep_alive, open).await;
    }
    None
}

/// Gives the answer once all of it is here.
async fn whole(job: Job) -> Response<Body> {
    // The record is declared before what asks, and so dropped after it.
    let Job { mut open, protocol, body, room, request, way, came, kind } = job;
    let (inbound, heard) = (protocol.inbound, open.heard());
    let upstream = open.gateway().upstream().clone();
    let original = Original { protocol: protocol.id, body: &body };
    let answer = upstream.relay(&way.plan, &request, &original, &*heard).await;
    let mut reply = match answer {
        Ok(reply) => reply,
        Err(NoAnswer { error, .. }) => return open.fail(inbound, &error, Ending::Failed),
    };
    begin(&mut open, &reply);
    let model = named(asked(&request), reply.target());
    if reply.relayable() {
        drop((body, request, way, room));
        open.is_relayed(&reply);
        return match relayed(reply, model.as_deref(), &mut open).await {
            Ok(body) => {
                open.completes();
                open.answer(HttpReply::json(200, body))
            }
            Err(error) => open.fail(inbound, &error, Ending::Broken),
        };
    }
    let mut encoder = inbound.encoder(kind, &ReplyTo { model, ..reply_to(protocol, &request, &way, &came) });
    drop((body, request, way, room));
    let (mut out, mut size) = (Vec::new(), 0);
    while let Some(event) = reply.next().await {
        let event = match event {
            Ok(event) => event,
            Err(broken) => return open.fail(inbound, &broken.error, Ending::Broken),
        };
        size += length(&event);
        if size > MOST_WHOLE {
            return open.fail(inbound, &too_large(), Ending::Broken);
        }
        open.event(&event);
        encoder.push(&event, &mut out);
    }
    open.repaired(reply.repairs());
    encoder.finish(&mut out);
    open.lost_to_client(encoder.losses());
    open.completes();
    open.answer(HttpReply::json(200, out))
}

/// The target's own document.
async fn relayed(mut reply: Reply, model: Option<&str>, open: &mut Open) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::new();
    while let Some(piece) = reply.next_raw(model).await {
        open.hears(&mut reply);
        let piece = piece.map_err(|broken| broken.error)?;
        if body.len() + piece.len() > MOST_WHOLE {
            return Err(too_large());
        }
        body.extend_from_slice(&piece);
    }
    open.hears(&mut reply);
    Ok(body)
}

fn too_large() -> ApiError {
    let problem = format!("the answer has more than {MOST_WHOLE} bytes; ask for a stream");
    ApiError::new(ErrorKind::Server, problem)
}

/// A target answers.
fn begin(open: &mut Open, reply: &Reply) {
    open.answers(reply.target());
    open.lost_to_target(reply.losses());
}

/// How much an event adds to an answer.
fn length(event: &Event) -> usize {
    match event {
        Event::Delta {
            delta: Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments(text), ..
        } => text.len(),
        Event::Started { .. }
        | Event::Opened { .. }
        | Event::Delta { .. }
        | Event::Closed { .. }
        | Event::Usage(_)
        | Event::Finished { .. }
        | Event::Failed(_)
        | Event::Ping
        | Event::Opaque(_) => 0,
    }
}
