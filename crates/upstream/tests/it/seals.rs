//! Seals go back to who issued them, through a client that knows nothing of issuers, and to nobody else.

use std::sync::Arc;

use rail_model::{Event, Part, Request};
use rail_route::Provider;
use rail_testkit::{Models, Turn, call, redacted, text as say, thinking};
use rail_upstream::{BoxFuture, Incoming, Live, LiveSettings, Outgoing, Transport, TransportError, Upstream};
use rail_wire::{BodyKind, HttpCall, Protocol, ReplyTo};
use serde_json::{Value, json};

use crate::world::{Frozen, attempt, plan, provider, rest};

/// The real transport, for hosts that are somewhere else than their names say.
struct Elsewhere {
    live: Live,
    hosts: Vec<(&'static str, String)>,
}

impl Transport for Elsewhere {
    fn send<'a>(&'a self, mut call: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        for (host, address) in &self.hosts {
            call.url = call.url.replace(host, address);
        }
        self.live.send(call)
    }
}

/// Two servers of one protocol: its maker's, and another's.
struct Servers {
    protocol: &'static Protocol,
    maker: Models,
    other: Models,
    upstream: Upstream,
}

const OTHER: &str = "https://api.other.test";

impl Servers {
    fn start(protocol: &'static Protocol, maker: &'static str, parts: fn(&str) -> Vec<Part>) -> Self {
        let models = |name| Models::start(vec![Turn::reply(parts(name)).repeat()]).unwrap();
        let (maker_server, other) = (models("maker"), models("other"));
        let hosts = vec![(maker, maker_server.url("")), (OTHER, other.url(""))];
        let transport = Elsewhere { live: Live::new(LiveSettings::default()), hosts };
        Self { protocol, maker: maker_server, other, upstream: Upstream::new(Arc::new(transport)) }
    }

    fn provider(&self, name: &str, host: &str) -> Provider {
        Provider { protocol: self.protocol.id, ..provider(name, format!("{host}/v1")) }
    }

    /// Asks as a client of this protocol, whole or streamed; what the client sees of it.
    async fn ask(&self, provider: Provider, call: &Value, kind: BodyKind) -> Value {
        let (path, body) = (self.protocol.inbound.endpoints()[0].path, call.to_string().into_bytes());
        let request: Request = self.protocol.inbound.decode_request(&HttpCall::post(path, body)).unwrap();
        let request = Request { stream: kind == BodyKind::Stream, ..request };
        let mut world = Frozen::new();
        let mut reply = world.ask(&self.upstream, &plan([attempt(provider)]), &request).await.unwrap();
        let events: Vec<Event> = rest(&mut reply).await.unwrap();
        let written = |kind| {
            let to = ReplyTo { model: Some("m".to_owned()), ..self.protocol.inbound.reply_to(&request) };
            let mut encoder = self.protocol.inbound.encoder(kind, &to);
            let mut body = Vec::new();
            events.iter().for_each(|event| encoder.push(event, &mut body));
            encoder.finish(&mut body);
            String::from_utf8(body).unwrap()
        };
        let whole: Value = serde_json::from_str(&written(BodyKind::Whole)).unwrap();
        let streamed = written(BodyKind::Stream);
        let frames = streamed.lines().filter_map(|line| line.strip_prefix("data: "));
        let frames: Vec<Value> = frames.map(|frame| serde_json::from_str(frame).unwrap()).collect();
        for key in ["signature", "data", "encrypted_content"] {
            let mut streamed = all(&Value::Array(frames.clone()), key);
            streamed.retain(|seal| !seal.is_empty());
            streamed.dedup();
            assert_eq!(streamed, all(&whole, key), "a client that streams sees the same seals");
        }
        whole
    }
}

/// What was last sent to these models.
fn sent(models: &Models) -> Value {
    serde_json::from_slice(&models.requests().last().unwrap().call.body).unwrap()
}

/// Every string under this key, in order.
fn all(value: &Value, key: &str) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().flat_map(|value| all(value, key)).collect(),
        Value::Object(map) => {
            let own = map.get(key).and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(map.values().flat_map(|value| all(value, key))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

const ANTHROPIC: &str = "https://api.anthropic.com";

fn thoughts(name: &str) -> Vec<Part> {
    vec![
        thinking("hm", Some(&format!("signed by {name}"))),
        redacted(&format!("hidden by {name}")),
        call("f", json!({})),
    ]
}

fn question() -> Value {
    let tool = json!({"name": "f", "input_schema": {"type": "object"}});
    json!({"model": "m", "max_tokens": 9, "tools": [tool], "messages": [{"role": "user", "content": "q"}]})
}

/// The conversation goes on: the answer as the client keeps it, and the results of its calls.
fn go_on(mut asked: Value, answer: &Value) -> Value {
    let content = answer["content"].clone();
    let id = all(&content, "id").pop().unwrap();
    let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "r"}]);
    let messages = asked["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": content}));
    messages.push(json!({"role": "user", "content": result}));
    asked
}

#[tokio::test(start_paused = true)]
async fn an_anthropic_client_with_the_maker_and_with_another() {
    for kind in [BodyKind::Whole, BodyKind::Stream] {
        let servers = Servers::start(&rail_wire::anthropic::PROTOCOL, ANTHROPIC, thoughts);
        let maker = || servers.provider("claude", ANTHROPIC);
        let other = || servers.provider("other", OTHER);

        // The maker's seals are the client's own, and go back to the maker only.
        let first = servers.ask(maker(), &question(), kind).await;
        assert_eq!(all(&first, "signature"), ["signed by maker"]);
        let second = go_on(question(), &first);
        servers.ask(maker(), &second, kind).await;
        assert_eq!(all(&sent(&servers.maker), "signature"), ["signed by maker"]);
        assert_eq!(all(&sent(&servers.maker), "data"), ["hidden by maker"]);

        // Another server sees none of them; what it seals itself comes back to it as it was.
        let answer = servers.ask(other(), &second, kind).await;
        assert_eq!(all(&sent(&servers.other), "signature"), [""; 0]);
        assert_eq!(all(&sent(&servers.other), "data"), [""; 0]);
        let third = go_on(second, &answer);
        servers.ask(other(), &third, kind).await;
        assert_eq!(all(&sent(&servers.other), "signature"), ["signed by other"]);
        assert_eq!(all(&sent(&servers.other), "data"), ["hidden by other"]);

        // And the maker gets his own again, of the same conversation.
        servers.ask(maker(), &third, kind).await;
        assert_eq!(all(&sent(&servers.maker), "signature"), ["signed by maker"]);
        assert_eq!(all(&sent(&servers.maker), "data"), ["hidden by maker"]);

        // Two providers at the same place are two.
        servers.ask(servers.provider("third", OTHER), &third, kind).await;
        assert_eq!(all(&sent(&servers.other), "signature"), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_responses_client_with_the_maker_and_with_another() {
    let sealed = |name: &str| vec![redacted(&format!("hidden by {name}")), say("so")];
    for kind in [BodyKind::Whole, BodyKind::Stream] {
        let servers =
            Servers::start(&rail_wire::openai_responses::PROTOCOL, "https://api.openai.com", sealed);
        let maker = || servers.provider("openai", "https://api.openai.com");
        let other = || servers.provider("other", OTHER);
        let go_on = |mut asked: Value, answer: &Value| {
            let input = asked["input"].as_array_mut().unwrap();
            input.extend(answer["output"].as_array().unwrap().clone());
            input.push(json!({"role": "user", "content": "and?"}));
            asked
        };
        let question = json!({"model": "m", "input": [{"role": "user", "content": "q"}], "store": false,
            "include": ["reasoning.encrypted_content"]});
        let seals = |models: &Models| all(&sent(models), "encrypted_content");

        let first = servers.ask(maker(), &question, kind).await;
        let second = go_on(question, &first);
        let answer = servers.ask(other(), &second, kind).await;
        assert_eq!(seals(&servers.other), [""; 0]);
        let third = go_on(second, &answer);
        servers.ask(other(), &third, kind).await;
        assert_eq!(seals(&servers.other), ["hidden by other"]);
        servers.ask(maker(), &third, kind).await;
        assert_eq!(seals(&servers.maker), ["hidden by maker"]);
    }
}
