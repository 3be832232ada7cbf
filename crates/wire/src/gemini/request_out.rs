//! A request as the API takes it.

use std::collections::BTreeMap;

use rail_model::{CallId, Loss, Map, Message, PartBody, Request, Role, Seal};
use serde_json::Value;

use super::parts_out::{Reader, owned, piece};
use super::types::{Call, Content, Many};
use super::{
    ALONE, ALONE_CONTENTS, ALONE_SYSTEM, FUNCTION, ID, MODEL_BARE, MODEL_IN_BODY, NO_PARTS, NO_ROLE, RULES,
    TOP, WRAPPED, config_out, path, request_in, seal,
};
use crate::fit::{Fitted, fit};
use crate::protocol::{Encoded, HttpCall, TargetSpec};

pub(super) fn encode(request: &Request, target: &TargetSpec) -> Encoded {
    let mut fitted = fit(request, target, &RULES);
    let mut losses = std::mem::take(&mut fitted.losses);
    let mut unsaid = Vec::new();
    let call = write(&fitted, target, &mut unsaid);
    fitted.at_origin(&mut unsaid);
    losses.append(&mut unsaid);
    let http = post(serde_json::to_vec(&call).unwrap_or_default(), &fitted.request, target);
    drop(call);
    Encoded { call: http, losses, restore: fitted.restore }
}

pub(super) fn post(body: Vec<u8>, request: &Request, target: &TargetSpec) -> HttpCall {
    let verb = if request.stream { "streamGenerateContent" } else { "generateContent" };
    let mut call = HttpCall::post(path::write(&target.model, verb), body);
    if request.stream {
        // Without it the API sends a growing array.
        "alt=sse".clone_into(&mut call.query);
    }
    call
}

pub(super) fn encode_count(request: &Request, target: &TargetSpec) -> Encoded {
    let mut fitted = fit(request, target, &RULES);
    let mut losses = std::mem::take(&mut fitted.losses);
    let mut unsaid = Vec::new();
    let mut call = write(&fitted, target, &mut unsaid);
    fitted.at_origin(&mut unsaid);
    losses.append(&mut unsaid);
    let asked = &fitted.request;
    let own = asked.origin == Some(ID);
    // Only contents can be counted by themselves; instructions and tools count inside a whole request.
    let wrapped = asked.extras.marked(ID, WRAPPED)
        || (!own && (call.system_instruction.is_some() || call.tools.is_some()));
    let body = if wrapped {
        if !own {
            call.model = Some(path::resource(&target.model));
        }
        let mut body = request_in::outer(&asked.extras).cloned().unwrap_or_default();
        body.insert("generateContentRequest".to_owned(), Value::Object(call.leftovers()));
        body
    } else if own {
        call.leftovers()
    } else {
        call.leftovers().into_iter().filter(|(key, _)| key == "contents").collect()
    };
    let http = HttpCall::post(
        path::write(&target.model, "countTokens"),
        serde_json::to_vec(&body).unwrap_or_default(),
    );
    Encoded { call: http, losses, restore: fitted.restore }
}

fn write<'a>(fitted: &'a Fitted, target: &'a TargetSpec, losses: &mut Vec<Loss>) -> Call<'a> {
    let request = &fitted.request;
    let reader = Target { target, own: request.origin == Some(ID), names: names(&request.messages) };
    let model = if request.extras.marked(ID, MODEL_IN_BODY) {
        Some(path::resource(&target.model))
    } else {
        request.extras.marked(ID, MODEL_BARE).then(|| target.model.clone())
    };
    let signed = !reader.own && wants_signatures(target);
    let contents = request.messages.iter().enumerate();
    let contents = contents.map(|(at, message)| content(at, message, signed, &reader, losses)).collect();
    let call = Call {
        model,
        system_instruction: system(request, &reader, losses),
        contents: Some(Many::spelled(contents, request.extras.marked(ID, ALONE_CONTENTS))),
        tools: config_out::tools(request, losses),
        tool_config: config_out::tool_config(request, losses),
        generation_config: config_out::generation(request, target, losses),
        ..Call::default()
    };
    config_out::unsaid(request, losses);
    call.with_rest(unnested(request).as_ref())
}

/// The kept fields of a request, without those that stand inside its objects.
fn unnested(request: &Request) -> Option<Map> {
    let mut kept = config_out::without_notes(&request.extras)?;
    for key in ["generationConfig", "toolConfig", TOP] {
        kept.shift_remove(key);
    }
    if !request.system.is_empty() {
        kept.shift_remove("systemInstruction");
    }
    Some(kept)
}

fn system<'a>(request: &'a Request, reader: &Target<'_>, losses: &mut Vec<Loss>) -> Option<Content<'a>> {
    if request.system.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    for (at, part) in request.system.iter().enumerate() {
        parts.extend(piece(part, reader, &format!("system[{at}]"), losses));
    }
    let kept = request.extras.get(ID, "systemInstruction").and_then(Value::as_object);
    let parts = Some(Many::spelled(parts, request.extras.marked(ID, ALONE_SYSTEM)));
    Some(Content { role: None, parts, rest: None }.with_rest(kept))
}

fn content<'a>(
    at: usize,
    message: &'a Message,
    signed: bool,
    reader: &Target<'_>,
    losses: &mut Vec<Loss>,
) -> Content<'a> {
    let kept = message.extras.owned_by(ID);
    let role = match message.role {
        _ if message.extras.marked(ID, FUNCTION) => Some("function"),
        _ if message.extras.marked(ID, NO_ROLE) || kept.is_some_and(|kept| kept.contains_key("role")) => None,
        Role::Assistant => Some("model"),
        Role::User | Role::Tool => Some("user"),
        // `fit` has made marked user text of instructions in the middle; one of our own clients keeps its word.
        Role::System => Some(if reader.own { "system" } else { "user" }),
    };
    let mut unsigned = signed && message.role == Role::Assistant;
    let mut pieces = Vec::with_capacity(message.parts.len());
    for (index, part) in message.parts.iter().enumerate() {
        let Some(mut piece) = piece(part, reader, &format!("messages[{at}].content[{index}]"), losses) else {
            continue;
        };
        if matches!(part.body, PartBody::ToolCall(_))
            && std::mem::take(&mut unsigned)
            && piece.thought_signature.is_none()
        {
            piece.thought_signature = Some(owned(seal::DUMMY.to_owned()));
        }
        pieces.push(piece);
    }
    let bare = pieces.is_empty() && message.extras.marked(ID, NO_PARTS);
    let parts = (!bare).then(|| Many::spelled(pieces, message.extras.marked(ID, ALONE)));
    Content { role: role.map(str::to_owned), parts, rest: None }.with_rest(kept)
}

/// Whether each first call of a model's message must carry a signature; one that came from another model gets the
/// documented stand-in. The API asks only for those of the running turn, but a history that loses them when the turn is
/// over would miss its cache. Models known to be older than that rule are left alone; an unknown name is taken for a
/// newer one, because the stand-in does no harm and its lack ends the conversation.
fn wants_signatures(target: &TargetSpec) -> bool {
    let name = target.model.rsplit('/').next().unwrap_or_default();
    !OLDER.iter().any(|older| name.starts_with(older))
}

const OLDER: &[&str] = &["gemini-1.", "gemini-2.", "gemini-pro", "gemma"];

/// The API: it sees its own seals only, and only ids that somebody gave.
struct Target<'a> {
    target: &'a TargetSpec,
    own: bool,
    names: BTreeMap<String, String>,
}

impl Reader for Target<'_> {
    fn seal(&self, seal: &Seal) -> Option<String> {
        self.target.issued(ID, &seal.issuer).then(|| seal.data.clone())
    }

    fn id(&self, id: &CallId) -> Option<String> {
        match id {
            CallId::Given(id) => Some(id.clone()),
            CallId::Minted(_) => None,
        }
    }

    fn name(&self, id: &CallId) -> Option<String> {
        self.names.get(id.as_str()).cloned()
    }

    fn is_own(&self) -> bool {
        self.own
    }
}

fn names(messages: &[Message]) -> BTreeMap<String, String> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match &part.body {
            PartBody::ToolCall(call) => Some((call.id.as_str().to_owned(), call.name.clone())),
            PartBody::Text(_)
            | PartBody::Refusal(_)
            | PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::ToolResult(_)
            | PartBody::Media(_)
            | PartBody::Opaque(_) => None,
        })
        .collect()
}
