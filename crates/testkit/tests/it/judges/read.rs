//! What the SDKs sent: read without loss, and as what was meant.

use rail_model::{
    CallId, Format, Loss, Map, MediaSource, Message, Part, PartBody, Request, Role, ThinkingMode, ToolDecl,
    ToolKind,
};
use rail_testkit::{Asked, Question};
use rail_wire::{Encoded, Operation, Protocol, TargetSpec};
use serde_json::Value;

use super::{Scenario, shapes};

/// Names what of the requests of a scenario was not read as it was sent.
pub(super) fn check(protocol: &Protocol, scenario: &Scenario, asked: &[Asked], failures: &mut Vec<String>) {
    let loops = scenario.mode.starts_with("loop");
    if asked.len() != if loops { 2 } else { 1 } {
        failures.push(format!("{} requests were sent", asked.len()));
    }
    if let (Some(expected), Some(Question::Request(request))) =
        (&scenario.sent_back, asked.get(1).map(|asked| &asked.question))
    {
        sent_back(protocol, expected, request, failures);
    }
    // A second request has ids in it that we made up and seals of others, which do not go back to the protocol.
    asked.iter().take(1).for_each(|asked| one(protocol, scenario, asked, failures));
}

/// The answer that the client got is in its next request: same words, same ids, same seals.
fn sent_back(protocol: &Protocol, expected: &[Part], request: &Request, failures: &mut Vec<String>) {
    let mut calls = 0;
    let expected = expected.iter().map(|part| {
        let mut part = part.clone();
        part.seal.iter_mut().filter(|seal| seal.issuer.is_empty()).for_each(|seal| {
            seal.issuer = protocol.id.name().to_owned();
        });
        if let PartBody::ToolCall(call) = &mut part.body {
            calls += 1;
            call.id = CallId::Given(format!("call_1_{calls}"));
        }
        part
    });
    let expected: Vec<Part> = expected.collect();
    let target = TargetSpec::new(request.model.clone());
    let Encoded { call, .. } = protocol.outbound.encode_request(request, &target);
    let body = String::from_utf8_lossy(&call.body);
    let mut foreign = expected.iter().filter_map(|part| part.seal.as_ref());
    if foreign.any(|seal| seal.issuer != protocol.id.name() && body.contains(&seal.data)) {
        failures.push(format!("a seal of another issuer would go out: {body}"));
    }
    let with_seal = |part: Part| format!("{} {:?}", self::part(&part), part.seal);
    let expected: Vec<String> = expected.into_iter().map(with_seal).collect();
    let answers = request.messages.iter().filter(|message| message.role == Role::Assistant);
    let got = joined(answers.flat_map(|message| message.parts.clone()));
    let got: Vec<String> = got.into_iter().map(with_seal).collect();
    if expected != got {
        failures.push(format!("sent back\n  {}\nshould be\n  {}", got.join("\n  "), expected.join("\n  ")));
    }
    let results =
        request.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match &part.body {
            PartBody::ToolResult(result) => Some(result.id.as_str().to_owned()),
            _ => None,
        });
    let results: Vec<String> = results.collect();
    let ids: Vec<String> = (1..=calls).map(|at| format!("call_1_{at}")).collect();
    if results != ids {
        failures.push(format!("results for {results:?}, calls were {ids:?}"));
    }
}

/// Google's SDKs keep a streamed answer as they got it: the seal of a thought after it, and an empty text at the end.
fn joined(parts: impl Iterator<Item = Part>) -> Vec<Part> {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (&part.body, joined.last_mut()) {
            (PartBody::Text(text), _) if text.is_empty() => {}
            (PartBody::Thinking(text), Some(last @ Part { seal: None, body: PartBody::Thinking(_), .. }))
                if text.is_empty() =>
            {
                last.seal = part.seal;
            }
            _ => joined.push(part),
        }
    }
    joined
}

fn one(protocol: &Protocol, scenario: &Scenario, asked: &Asked, failures: &mut Vec<String>) {
    if asked.protocol != protocol.id {
        failures.push(format!("the request came to {}", asked.protocol));
    }
    let encoded = match &asked.question {
        Question::Request(request) => {
            shape(protocol, scenario, request, failures);
            let target = TargetSpec::new(request.model.clone());
            match asked.operation {
                Operation::Count => protocol.outbound.encode_count(request, &target),
                _ => Some(protocol.outbound.encode_request(request, &target)),
            }
        }
        Question::Embed(request) => {
            let target = TargetSpec::new(request.model.clone());
            protocol.outbound.encode_embed(request, &target)
        }
        Question::Models => return,
        Question::Unreadable(error) => {
            failures.push(format!("the request was not read: {error}"));
            return;
        }
    };
    let Some(Encoded { call, losses, .. }) = encoded else {
        failures.push("the request could be read but not be written".to_owned());
        return;
    };
    // OpenAI's chat takes an image from the user only, so the validator moves it there and says so.
    if (protocol.id.name(), scenario.ask) == ("openai-chat", "image") {
        let moved: Vec<&str> = losses.iter().map(|loss| loss.reason.as_str()).collect();
        if moved != ["image moved to the user message that follows"] {
            failures.push(format!("the image of the result should be moved: {losses:?}"));
        }
        return;
    }
    failures.extend(losses.iter().map(|Loss { path, reason }| format!("lost {path}: {reason}")));
    let (sent, written) = (json(&asked.call.body), json(&call.body));
    let keys = if protocol.id.name() == "gemini" { Keys::Proto } else { Keys::Exact };
    differences(&sent, &written, ("body", keys), failures);
    if !asked.call.path.ends_with(&call.path) {
        failures.push(format!("sent to {}, but it would be written to {}", asked.call.path, call.path));
    }
    failures
        .extend(asked.losses.iter().map(|Loss { path, reason }| format!("could not say {path}: {reason}")));
}

fn shape(protocol: &Protocol, scenario: &Scenario, request: &Request, failures: &mut Vec<String>) {
    let streamed = matches!(scenario.mode, "stream" | "helper" | "loop");
    if request.stream != streamed {
        failures.push(format!("stream was read as {}", request.stream));
    }
    let Some(expected) = shapes::of(protocol.id.name(), scenario.ask) else { return };
    let read = lines(request);
    if read.join("\n") != expected.trim() {
        failures.push(format!("read as\n{}\nshould be\n{}", read.join("\n"), expected.trim()));
    }
}

/// What a request says, in short.
fn lines(request: &Request) -> Vec<String> {
    let mut lines = vec![format!("system: {}", parts(&request.system))];
    lines.extend(request.messages.iter().map(message));
    // Google's Python SDK changes their order.
    let mut tools: Vec<String> = request.tools.iter().map(tool).collect();
    tools.sort();
    lines.push(format!("tools: {}", list(tools.into_iter())));
    let mut said =
        |name: &str, value: Option<String>| lines.extend(value.map(|value| format!("{name}: {value}")));
    said("choice", request.tool_choice.as_ref().map(|choice| format!("{choice:?}")));
    said("parallel", request.parallel_tools.map(|parallel| parallel.to_string()));
    said(
        "thinking",
        request.thinking.as_ref().map(|thinking| {
            let mode = match thinking.mode {
                Some(ThinkingMode::On) => "on",
                Some(ThinkingMode::Off) => "off",
                Some(ThinkingMode::Adaptive) => "adaptive",
                None => "-",
            };
            let effort = thinking.effort.as_ref().map(|effort| effort.word().to_owned());
            format!("{mode} budget {:?} effort {effort:?} show {:?}", thinking.budget, thinking.show)
        }),
    );
    said("format", request.format.as_ref().map(format));
    let sampling = &request.sampling;
    let numbers = [
        ("temperature", &sampling.temperature),
        ("top_p", &sampling.top_p),
        ("top_k", &sampling.top_k),
        ("seed", &sampling.seed),
        ("frequency", &sampling.frequency_penalty),
        ("presence", &sampling.presence_penalty),
    ];
    let numbers =
        numbers.iter().filter_map(|(name, number)| Some(format!("{name} {}", number.as_ref()?.as_f64()?)));
    let counts =
        [("max", sampling.max_output), ("count", sampling.count), ("top_logprobs", sampling.top_logprobs)];
    let counts = counts.iter().filter_map(|(name, count)| Some(format!("{name} {}", (*count)?)));
    let stops = sampling.stop.iter().map(|stop| format!("stop {stop:?}"));
    let logprobs = sampling.logprobs.map(|on| format!("logprobs {on}"));
    said("sampling", Some(list(numbers.chain(counts).chain(stops).chain(logprobs))));
    said("user", request.user.clone());
    lines
}

fn message(message: &Message) -> String {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    format!("{role}: {}", parts(&message.parts))
}

fn parts(parts: &[Part]) -> String {
    list(parts.iter().map(part))
}

fn part(part: &Part) -> String {
    let body = match &part.body {
        PartBody::Text(text) => format!("{:?}", compact(text)),
        PartBody::Refusal(text) => format!("refusal {text:?}"),
        PartBody::Thinking(text) => format!("thinking {text:?}"),
        PartBody::Redacted(_) => "redacted".to_owned(),
        PartBody::ToolCall(call) => {
            let id = if call.id.as_str().starts_with("rail_") { "(minted)" } else { call.id.as_str() };
            format!("call {id} {} {}", call.name, compact(&call.arguments))
        }
        PartBody::ToolResult(result) => {
            let id = if result.id.as_str().starts_with("rail_") { "(minted)" } else { result.id.as_str() };
            let failed = if result.is_error == Some(true) { " failed" } else { "" };
            format!("result {id}{failed} [{}]", parts(&result.content))
        }
        PartBody::Media(media) => {
            let source = match &media.source {
                MediaSource::Base64(data) if data.contains(['-', '_']) => "IN NO STANDARD BASE64".to_owned(),
                MediaSource::Base64(data) => format!("{} letters", data.len()),
                MediaSource::Text(text) => format!("{text:?}"),
                MediaSource::Url(url) => url.clone(),
                MediaSource::FileId(id) => format!("file {id}"),
            };
            let name = media.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
            format!("{:?} {} {source}{name}", media.kind, media.mime.as_deref().unwrap_or("-"))
        }
        PartBody::Opaque(opaque) => format!("opaque {}", opaque.value["type"]),
    };
    let sealed = if part.seal.is_some() { " sealed" } else { "" };
    let cached = if part.cache.is_some() { " cached" } else { "" };
    format!("{body}{sealed}{cached}")
}

fn tool(tool: &ToolDecl) -> String {
    let kind = match &tool.kind {
        ToolKind::Function { parameters: Some(schema) } => {
            format!("function of {} letters", compact(schema.text()).len())
        }
        ToolKind::Function { parameters: None } => "function".to_owned(),
        ToolKind::Custom { format } => {
            format!("custom{}", if format.is_some() { " with a format" } else { "" })
        }
        ToolKind::Server(_) => "server".to_owned(),
    };
    let strict = tool.strict.map(|strict| format!(" strict {strict}")).unwrap_or_default();
    let cached = if tool.cache.is_some() { " cached" } else { "" };
    format!("{} {kind}{strict}{cached}", tool.name)
}

fn format(format: &Format) -> String {
    match format {
        Format::Text => "text".to_owned(),
        Format::JsonObject => "json".to_owned(),
        Format::JsonSchema { name, description, schema, strict } => {
            let schema = schema.as_ref().map(|schema| compact(schema.text()).len());
            format!("schema {name:?} {description:?} {schema:?} {strict:?}")
        }
        Format::Opaque(_) => "opaque".to_owned(),
    }
}

/// JSON without its blanks, which each language sets in its own way; any other text as it is.
fn compact(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value.to_string(),
        Ok(_) | Err(_) => text.to_owned(),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "-".to_owned() } else { items.join(", ") }
}

fn json(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|error| panic!("a body that is no JSON: {error}"))
}

/// How keys are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Exact,
    /// As in protocol buffers: `top_k` is `topK`. And bytes are base64 in either alphabet.
    Proto,
}

impl Keys {
    fn of<'a>(self, map: &'a Map, key: &str) -> Option<&'a Value> {
        map.get(key).or_else(|| map.get(&camel(key)).filter(|_| self == Keys::Proto))
    }

    /// Data of the user and schemas keep their keys.
    fn below(self, key: &str) -> Keys {
        let data = ["args", "response", "parameters"].contains(&key) || camel(key).ends_with("Schema");
        if data { Keys::Exact } else { self }
    }
}

fn camel(key: &str) -> String {
    let mut words = key.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |key, word| {
        let mut letters = word.chars();
        let initial = letters.next().map(|letter| letter.to_ascii_uppercase());
        key + &initial.into_iter().chain(letters).collect::<String>()
    })
}

fn differences(sent: &Value, written: &Value, (path, keys): (&str, Keys), failures: &mut Vec<String>) {
    match (sent, written) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, a) in a {
                match keys.of(b, key) {
                    Some(b) => differences(a, b, (&format!("{path}.{key}"), keys.below(key)), failures),
                    None => failures.push(format!("{path}.{key}: {a} was left out")),
                }
            }
            if b.len() > a.len() {
                let added: Vec<&String> = b.keys().filter(|key| !a.contains_key(*key)).collect();
                failures.push(format!("{path}: {added:?} were added"));
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differences(a, b, (&format!("{path}[{at}]"), keys), failures);
            }
        }
        (Value::String(a), Value::String(b))
            if keys == Keys::Proto && a.replace('-', "+").replace('_', "/") == *b => {}
        _ if sent != written => failures.push(format!("{path}: {sent} became {written}")),
        _ => {}
    }
}
