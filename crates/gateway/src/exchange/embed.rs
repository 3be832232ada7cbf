//! A request for embeddings.

use http::Response;
use rail_ledger::Ending;
use rail_model::{ApiError, EmbedInput, EmbedRequest, ErrorKind, Event, Request, Sampling};
use rail_route::tokens;
use rail_wire::{ReplyTo, VectorSpelling, openai_chat};

use super::record::Open;
use super::way;
use crate::Gateway;
use crate::arrival::Arrival;
use crate::body::Body;

/// Answers a request for embeddings.
pub(super) async fn answer(gateway: &Gateway, arrival: Arrival) -> Response<Body> {
    let mut open = Open::new(gateway, &arrival);
    let inbound = arrival.protocol.inbound;
    let request = match inbound.decode_embed(&arrival.call) {
        Ok(request) => request,
        Err(error) => return open.fail(inbound, &error, Ending::Refused),
    };
    // Routing knows requests by their model and their size, keys by all models named; nothing else would say anything to them.
    let shape = Request {
        model: request.model.clone(),
        user: request.user.clone(),
        sampling: Sampling { max_output: Some(0), ..Sampling::default() },
        extras: request.extras.clone(),
        ..Request::default()
    };
    let way = match way::find(&mut open, &arrival, &shape, size(&request)).await {
        Ok(way) => way,
        Err((error, ending)) => return open.fail(inbound, &error, ending),
    };
    let heard = open.heard();
    let embedded = match gateway.upstream().embed(&way.plan, &request, &*heard).await {
        Ok(embedded) => embedded,
        Err(none) => return open.fail(inbound, &none.error, Ending::Failed),
    };
    open.answers(&embedded.target);
    open.lost_to_target(&embedded.losses);
    if let Some(usage) = &embedded.reply.usage {
        open.event(&Event::Usage(usage.clone()));
    }
    match inbound.write_embed(&embedded.reply, &reply_to(&arrival, &request)) {
        Some(reply) => open.answer(reply),
        None => {
            let problem = format!("{} has no embeddings", arrival.protocol.id);
            open.fail(inbound, &ApiError::new(ErrorKind::NotFound, problem), Ending::Refused)
        }
    }
}

fn size(request: &EmbedRequest) -> u64 {
    let of = |input: &EmbedInput| match input {
        EmbedInput::Text(text) => tokens(text),
        EmbedInput::Tokens(tokens) => tokens.len() as u64,
    };
    request.inputs.iter().map(of).sum()
}

fn reply_to(arrival: &Arrival, request: &EmbedRequest) -> ReplyTo {
    let spelling = request.extras.get(openai_chat::ID, "encoding_format").and_then(|word| word.as_str());
    let vectors = if spelling == Some("base64") { VectorSpelling::Base64 } else { VectorSpelling::Numbers };
    let model = Some(request.model.clone()).filter(|model| !model.is_empty());
    ReplyTo { model, now: arrival.at / 1000, seed: arrival.id.clone(), vectors, ..ReplyTo::default() }
}
