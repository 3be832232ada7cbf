//! A request as a client sends it.

use rail_model::{CallId, Extras, Map, Message, Part, PartBody, Request, Role};
use serde_json::Value;

use super::parts_in::{self, From, keep};
use super::path::{self, missing};
use super::types::{Call, Content, Many};
use super::{
    ALONE, ALONE_CONTENTS, ALONE_SYSTEM, FUNCTION, ID, ID_NOTE, MODEL_BARE, MODEL_IN_BODY, NO_ID, NO_PARTS,
    NO_ROLE, TOP, WRAPPED, config_in,
};
use crate::error::{WireError, parse};
use crate::ids;
use crate::protocol::HttpCall;

pub(super) fn decode(http: &HttpCall) -> Result<Request, WireError> {
    let mut call: Call<'_> = parse(ID, &http.body)?;
    let place = path::read(&http.path);
    let Some(inner) = call.generate_content_request.take() else { return read(call, place) };
    // A token count may be asked for with the whole request inside.
    let inside = |error: WireError| error.under("generateContentRequest");
    let request: Call<'_> = parse(ID, inner.text().as_bytes()).map_err(inside)?;
    let mut request = read(request, place).map_err(inside)?;
    request.extras.mark(ID, WRAPPED);
    keep(&mut request.extras, TOP, call.leftovers());
    Ok(request)
}

fn read(mut call: Call<'_>, (model, stream): (Option<String>, bool)) -> Result<Request, WireError> {
    let mut request = Request { stream, origin: Some(ID), ..Request::default() };
    let mut extras = Extras::NONE;
    let said = call.model.take();
    if let Some(said) = &said {
        extras.mark(ID, if said.starts_with("models/") { MODEL_IN_BODY } else { MODEL_BARE });
    }
    let bare = |said: String| said.strip_prefix("models/").map(str::to_owned).unwrap_or(said);
    request.model = model.or(said.map(bare)).unwrap_or_default();
    let contents = call.contents.take().ok_or_else(|| missing("contents"))?;
    if contents.is_one() {
        extras.mark(ID, ALONE_CONTENTS);
    }
    request.messages = messages(contents)?;
    request.system = system(&mut call, &mut extras)?;
    config_in::tools(&mut call, &mut request, &mut extras)?;
    config_in::tool_config(&mut call, &mut request, &mut extras);
    config_in::generation(&mut call, &mut request, &mut extras);
    request.extras = Extras::rest(ID, call.leftovers());
    request.extras.merge(extras);
    Ok(request)
}

fn system(call: &mut Call<'_>, extras: &mut Extras) -> Result<Vec<Part>, WireError> {
    let Some(mut content) = call.system_instruction.take() else { return Ok(Vec::new()) };
    let parts = content.parts.take_if(|parts| !matches!(parts, Many::List(list) if list.is_empty()));
    let Some(parts) = parts else {
        call.system_instruction = Some(content);
        return Ok(Vec::new());
    };
    if parts.is_one() {
        extras.mark(ID, ALONE_SYSTEM);
    }
    keep(extras, "systemInstruction", content.leftovers());
    let path = "systemInstruction.parts";
    parts
        .into_vec()
        .into_iter()
        .enumerate()
        .map(|(at, piece)| parts_in::part(piece, From::Client, &format!("{path}[{at}]")))
        .collect()
}

fn messages(contents: Many<Content<'_>>) -> Result<Vec<Message>, WireError> {
    let mut pairing = Pairing::default();
    let mut messages = Vec::new();
    let mut foreign = false;
    for (at, content) in contents.into_vec().into_iter().enumerate() {
        let mut message = message(at, content)?;
        pairing.settle(at, &mut message);
        foreign |= message.parts.iter().any(is_foreign_thought);
        messages.push(message);
    }
    if foreign {
        rejoin(&mut messages);
    }
    Ok(messages)
}

fn message(at: usize, mut content: Content<'_>) -> Result<Message, WireError> {
    let path = format!("contents[{at}]");
    let mut extras = Extras::NONE;
    let mut parts = Vec::new();
    match content.parts.take() {
        None => extras.mark(ID, NO_PARTS),
        Some(list) => {
            if list.is_one() {
                extras.mark(ID, ALONE);
            }
            for (at, piece) in list.into_vec().into_iter().enumerate() {
                parts.push(parts_in::part(piece, From::Client, &format!("{path}.parts[{at}]"))?);
            }
        }
    }
    let results_only =
        !parts.is_empty() && parts.iter().all(|part| matches!(part.body, PartBody::ToolResult(_)));
    let role = match content.role.as_deref() {
        Some("model") => Some(Role::Assistant),
        Some("user") => Some(Role::User),
        Some("system") => Some(Role::System),
        Some("function") => {
            extras.mark(ID, FUNCTION);
            Some(if results_only { Role::Tool } else { Role::User })
        }
        None => {
            extras.mark(ID, NO_ROLE);
            Some(Role::User)
        }
        // A role from the future stays under its own name.
        Some(_) => None,
    };
    if role.is_some() {
        content.role = None;
    }
    let mut kept = Extras::rest(ID, content.leftovers());
    kept.merge(extras);
    Ok(Message { role: role.unwrap_or(Role::User), parts, extras: kept })
}

/// Pairs results with calls: by id, else by name and order, because most calls have no id.
#[derive(Default)]
struct Pairing {
    open: Vec<(CallId, String)>,
    answering: bool,
}

impl Pairing {
    fn settle(&mut self, at: usize, message: &mut Message) {
        let speaks = message.role == Role::Assistant;
        if speaks && std::mem::replace(&mut self.answering, !speaks) {
            // A new turn of the model: calls that nobody answered are past.
            self.open.clear();
        }
        self.answering = !speaks;
        for (index, part) in message.parts.iter_mut().enumerate() {
            let place = format!("contents[{at}]");
            match &mut part.body {
                PartBody::ToolCall(call) => {
                    if call.id.as_str().is_empty() {
                        call.id = ids::mint(&place, index);
                    }
                    self.open.push((call.id.clone(), call.name.clone()));
                }
                PartBody::ToolResult(result) => {
                    let said = std::mem::replace(&mut result.id, ids::mint(&place, index));
                    result.id = self
                        .answer(&said, result.name.as_deref(), &mut part.extras)
                        .unwrap_or(result.id.clone());
                }
                PartBody::Text(_)
                | PartBody::Refusal(_)
                | PartBody::Thinking(_)
                | PartBody::Redacted(_)
                | PartBody::Media(_)
                | PartBody::Opaque(_) => {}
            }
        }
    }

    fn answer(&mut self, said: &CallId, name: Option<&str>, extras: &mut Extras) -> Option<CallId> {
        if let Some(at) = self.open.iter().position(|(id, _)| id == said) {
            return Some(self.open.remove(at).0);
        }
        let named = |(id, called): &(CallId, String)| {
            // An id that we never saw belongs to a call that had none; Gemini CLI makes them up.
            Some(called.as_str()) == name && (said.as_str().is_empty() || matches!(id, CallId::Minted(_)))
        };
        let found = self.open.iter().position(named).map(|at| self.open.remove(at).0);
        match (found, said.as_str()) {
            (Some(id), "") => {
                extras.mark(ID, NO_ID);
                Some(id)
            }
            (Some(id), said) => {
                extras.insert(ID, ID_NOTE, Value::from(said));
                Some(id)
            }
            (None, "") => None,
            (None, _) => Some(said.clone()),
        }
    }
}

fn is_foreign_thought(part: &Part) -> bool {
    matches!(part.body, PartBody::Thinking(_))
        && part.seal.as_ref().is_some_and(|seal| seal.issuer != ID.name())
}

/// Clients keep a streamed thought in the pieces it came in, and its seal on the last. The issuer wants the whole.
fn rejoin(messages: &mut Vec<Message>) {
    let mut carried = String::new();
    for message in messages.iter_mut() {
        if message.role != Role::Assistant {
            carried.clear();
            continue;
        }
        let mut kept: Vec<Part> = Vec::with_capacity(message.parts.len());
        for mut part in std::mem::take(&mut message.parts) {
            if is_foreign_thought(&part) {
                while let Some(before) = kept.pop_if(|before| is_open_thought(before)) {
                    if let PartBody::Thinking(text) = before.body {
                        carried.insert_str(0, &text);
                    }
                }
                if let PartBody::Thinking(text) = &mut part.body {
                    text.insert_str(0, &std::mem::take(&mut carried));
                }
            }
            kept.push(part);
        }
        if kept.iter().all(is_open_thought) {
            for part in std::mem::take(&mut kept) {
                if let PartBody::Thinking(text) = part.body {
                    carried.push_str(&text);
                }
            }
        } else {
            carried.clear();
        }
        message.parts = kept;
    }
    messages.retain(|message| !message.parts.is_empty() || message.role != Role::Assistant);
}

fn is_open_thought(part: &Part) -> bool {
    matches!(part.body, PartBody::Thinking(_)) && part.seal.is_none()
}

/// What is left of the outer body of a token count.
pub(super) fn outer(extras: &Extras) -> Option<&Map> {
    extras.get(ID, TOP).and_then(Value::as_object)
}
