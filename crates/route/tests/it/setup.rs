//! The configuration of the first design, and short ways to write requests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rail_model::{ProtocolId, Request};
use rail_route::{
    Client, Health, Plan, PlanInput, Price, ProfilePatch, Profiles, Provider, Routing, Session, Target,
    ToolStyle, facts, plan,
};
use rail_wire::HttpCall;
use serde_json::{Value, json};

/// The example of the seed: its chains as they stand there, and a provider for each name in them.
pub(crate) fn seed() -> Routing {
    let mut routing = Routing::default();
    let chains = [
        ("default", "qwen,qwen3-coder-plus;modelscope,qwen3-480b;shuaihong,gemini-2.5-pro"),
        ("coding", "modelscope,qwen3-480b;qwen,qwen3-coder-plus"),
        ("imageProcessing", "shuaihong,gemini-2.5-pro;qwen,qwen3-coder-plus"),
        ("longContext", "shuaihong,gemini-2.5-pro;qwen,qwen3-coder-plus"),
        ("webSearch", "modelscope,qwen3-480b;qwen,qwen3-coder-plus"),
        ("reasoning", "qwen,qwen3-coder-plus;modelscope,qwen3-480b"),
    ];
    let security = [
        ("coding", "shuaihong,gemini-2.5-pro"),
        ("imageProcessing", "lmstudio,gpt-oss-20b-mlx"),
        ("longContext", "lmstudio,gpt-oss-20b-mlx"),
    ];
    routing.chains = chains.map(|(name, chain)| (name.to_owned(), chain.parse().unwrap())).into();
    routing.security = security.map(|(name, chain)| (name.to_owned(), chain.parse().unwrap())).into();
    for (name, model) in [
        ("qwen", "qwen3-coder-plus"),
        ("modelscope", "qwen3-480b"),
        ("shuaihong", "gemini-2.5-pro"),
        ("lmstudio", "gpt-oss-20b-mlx"),
    ] {
        add_provider(&mut routing, name, &[model]);
    }
    routing
}

pub(crate) fn add_provider(routing: &mut Routing, name: &str, models: &[&str]) {
    let mut provider = Provider::new(name, ProtocolId::new("openai-chat"), format!("https://{name}.test/v1"));
    provider.models = models.iter().map(|model| ((*model).to_owned(), Default::default())).collect();
    routing.providers.insert(name.to_owned(), Arc::new(provider));
}

/// Models that can do everything, until a test says what one of them lacks.
pub(crate) fn profiles(lacks: &[(&str, Lack)]) -> Profiles {
    let models = ["qwen3-coder-plus", "qwen3-480b", "gemini-2.5-pro", "gpt-oss-20b-mlx"];
    let patches = models.map(|model| {
        let mut patch = ProfilePatch {
            window: Some(1 << 60),
            max_input: Some(1 << 60),
            max_output: Some(1 << 50),
            vision: Some(true),
            tools: Some(ToolStyle::Native),
            ..ProfilePatch::default()
        };
        lacks.iter().filter(|(of, _)| *of == model).for_each(|(_, lack)| lack.apply(&mut patch));
        (model.to_owned(), patch)
    });
    Profiles::with(patches.into())
}

/// What a model lacks or costs.
#[derive(Clone, Copy)]
pub(crate) enum Lack {
    Window(u64),
    MaxOutput(u64),
    Vision,
    Tools,
    /// Input, cached input, output.
    Price(f64, f64, f64),
}

impl Lack {
    fn apply(self, patch: &mut ProfilePatch) {
        match self {
            Self::Window(tokens) => patch.window = Some(tokens),
            Self::MaxOutput(tokens) => patch.max_output = Some(tokens),
            Self::Vision => patch.vision = Some(false),
            Self::Tools => patch.tools = Some(ToolStyle::None),
            Self::Price(input, cache_read, output) => {
                let cache_read = Some(cache_read);
                patch.price = Some(Price { input, output, cache_read, ..Price::default() });
            }
        }
    }
}

/// Reads a request as the gateway does.
pub(crate) fn read(protocol: &str, body: &Value) -> Request {
    let path = match protocol {
        "anthropic" => "/v1/messages",
        "openai-chat" => "/v1/chat/completions",
        "openai-responses" => "/v1/responses",
        _ => "/v1beta/models/some:generateContent",
    };
    let inbound = rail_wire::find(protocol).unwrap().inbound;
    inbound.decode_request(&HttpCall::post(path, body.to_string().into_bytes())).unwrap()
}

/// An Anthropic request with these fields beside a model and one message.
pub(crate) fn request(fields: Value) -> Request {
    let mut body = json!({
        "model": "some", "max_tokens": 1000,
        "messages": [{"role": "user", "content": "hi"}],
    });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    read("anthropic", &body)
}

/// Tools by their names alone.
pub(crate) fn tools(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"name": name, "input_schema": {"type": "object"}})).collect()
}

pub(crate) fn image() -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}})
}

/// A turn in which the model called a tool, and the results that came back.
pub(crate) fn called(tool: &str, input: Value, result: Value) -> Value {
    json!([
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": tool, "input": input}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": result}]},
    ])
}

#[expect(
    clippy::disallowed_methods,
    reason = "a moment can be had in no other way; no test waits for the next"
)]
pub(crate) fn start() -> Instant {
    Instant::now()
}

pub(crate) fn seconds(number: u64) -> Duration {
    Duration::from_secs(number)
}

pub(crate) fn target(text: &str) -> Target {
    text.parse().unwrap()
}

/// All that a plan depends on, with nothing said where a test says nothing.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) routing: Routing,
    pub(crate) health: Health,
    pub(crate) session: Option<Session>,
    pub(crate) request: Request,
    pub(crate) tokens: u64,
    pub(crate) now: Instant,
}

impl Case {
    pub(crate) fn new(fields: Value) -> Self {
        Self {
            routing: Routing { profiles: profiles(&[]), ..seed() },
            health: Health::default(),
            session: None,
            request: request(fields),
            tokens: 100,
            now: start(),
        }
    }

    pub(crate) fn plan(&self) -> Plan {
        self.with_input(plan)
    }

    pub(crate) fn with_input<T>(&self, see: impl FnOnce(&PlanInput<'_>) -> T) -> T {
        let facts = facts(&self.request, &Client::default(), self.tokens);
        see(&PlanInput {
            routing: &self.routing,
            facts: &facts,
            health: &self.health,
            session: self.session.as_ref(),
            now: self.now,
        })
    }

    /// The plan in short: each attempt and each skipped target on a line.
    pub(crate) fn lines(&self) -> String {
        lines(&self.plan())
    }
}

pub(crate) fn lines(plan: &Plan) -> String {
    let mut out = format!("{}: {}\n", plan.virtual_model.as_deref().unwrap_or("-"), plan.why);
    plan.attempts.iter().for_each(|one| out += &format!("+ {}: {}\n", one.target, one.why));
    plan.skipped.iter().for_each(|one| out += &format!("- {}: {}\n", one.target, one.why));
    out
}

/// The order of the attempts.
pub(crate) fn order(plan: &Plan) -> Vec<String> {
    plan.attempts.iter().map(|attempt| attempt.target.to_string()).collect()
}
