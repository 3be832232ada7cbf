//! A request that goes to the API as its client wrote it.

use rail_model::{CallKind, PartBody, Request};

use super::{DEVELOPER, EMPTY, ID, MAX_COMPLETION, NO_USAGE, RULES, USAGE, request_out};
use crate::forward::as_said;
use crate::protocol::{HttpCall, MaxTokensKey, ReasoningBack, TargetSpec, ThinkingStyle};
use crate::splice;

pub(super) fn forward(request: &Request, target: &TargetSpec, body: &[u8]) -> Option<HttpCall> {
    let thinks = request.thinking.is_none() || target.thinking != ThinkingStyle::Never;
    if !(thinks
        && says_arguments(request)
        && keeps_quirks(request, target)
        && as_said(request, target, &RULES, body))
    {
        return None;
    }
    Some(request_out::post(splice::with_model(body, &target.model)?, request))
}

/// Whether every call says its arguments: servers' templates choke on one that does not.
fn says_arguments(request: &Request) -> bool {
    let mut parts = request.messages.iter().flat_map(|message| &message.parts);
    parts.all(|part| {
        let PartBody::ToolCall(call) = &part.body else { return true };
        call.kind == CallKind::Custom || !call.arguments.is_empty() || part.extras.marked(ID, EMPTY)
    })
}

/// Whether the target takes the client's own spelling.
fn keeps_quirks(request: &Request, target: &TargetSpec) -> bool {
    let quirks = &target.quirks;
    let marked = |mark| request.extras.marked(ID, mark);
    let says_developer = || {
        let system = request.system.iter().map(|part| &part.extras);
        let messages = request.messages.iter().map(|message| &message.extras);
        system.chain(messages).any(|extras| extras.marked(ID, DEVELOPER))
    };
    let limit = match quirks.max_tokens_key {
        MaxTokensKey::MaxTokens => true,
        MaxTokensKey::MaxCompletionTokens => request.sampling.max_output.is_none() || marked(MAX_COMPLETION),
    };
    let usage = match request.stream && target.count_usage && quirks.stream_usage {
        true => marked(USAGE),
        false => quirks.stream_usage || !(marked(USAGE) || marked(NO_USAGE)),
    };
    let reasoning = match quirks.reasoning_back {
        ReasoningBack::Never | ReasoningBack::WhereThereIs => true,
        ReasoningBack::Always => false,
    };
    limit && usage && reasoning && (quirks.developer_role || !says_developer())
}
