//! Routing against copying the same request, and against one pass over the same text.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rail_model::{
    CallId, CallKind, Extras, Message, Part, PartBody, ProtocolId, Request, Role, ToolCall, ToolDecl,
    ToolKind, ToolResult,
};
use rail_route::{Client, Facts, Health, PlanInput, Provider, Routing, classify, estimate, facts, plan};

use crate::timing::shortest;

/// Each candidate runs so often that the clock's own cost does not count.
const TIMES: u32 = 200;

pub(crate) fn run() {
    let bench = Bench::new();
    println!(
        "reference: copies the request, or counts a byte in all of its text; more than 1.0 is faster than that\n"
    );
    println!("{:<44} {:>10} {:>10} {:>7}", "route", "ref µs", "µs", "ratio");
    let talk = talk(100, 400);
    let client = Client { headers: &bench.headers, name: None };
    let known = facts(&talk, &client, 12_000);
    row("facts, 100 messages", &mut || drop(black_box(talk.clone())), &mut || {
        black_box(facts(&talk, &client, 12_000));
    });
    row("classify, 100 messages", &mut || drop(black_box(talk.clone())), &mut || {
        black_box(classify(&bench.routing, &known, None));
    });
    row("facts, classify and plan, 100 messages", &mut || drop(black_box(talk.clone())), &mut || {
        bench.plan(&facts(&talk, &client, 12_000));
    });
    let long = self::talk(100, 10_000);
    let pass = &mut || {
        black_box(count(&long));
    };
    row("estimate, facts, classify and plan, 1 MB", pass, &mut || {
        bench.plan(&facts(&long, &client, estimate(&long).total()));
    });
}

fn row(name: &str, reference: &mut dyn FnMut(), ours: &mut dyn FnMut()) {
    let times = shortest(&mut [
        Box::new(|| (0..TIMES).for_each(|_| reference())),
        Box::new(|| (0..TIMES).for_each(|_| ours())),
    ]);
    if let [reference, ours] = times.as_slice() {
        let micros = |time: &Duration| time.as_secs_f64() * 1e6 / f64::from(TIMES);
        let (reference, ours) = (micros(reference), micros(ours));
        println!("{name:<44} {reference:>10.2} {ours:>10.2} {:>7.2}", reference / ours);
    }
}

struct Bench {
    routing: Routing,
    health: Health,
    headers: Vec<(String, String)>,
    now: Instant,
}

impl Bench {
    /// Three providers, a chain for each virtual model, and the headers of a usual client.
    fn new() -> Self {
        let mut routing = Routing::default();
        for name in ["qwen", "modelscope", "gemini"] {
            let provider = Provider::new(name, ProtocolId::new("openai-chat"), "https://provider.test/v1");
            routing.providers.insert(name.to_owned(), Arc::new(provider));
        }
        for name in ["default", "coding", "imageProcessing", "longContext", "webSearch", "reasoning"] {
            if let Ok(chain) = "modelscope,qwen3-480b;qwen,qwen3-coder-plus;gemini,gemini-2.5-pro".parse() {
                routing.chains.insert(name.to_owned(), chain);
            }
        }
        let headers = [
            ("host", "127.0.0.1:4141"),
            ("user-agent", "claude-cli/2.1.5 (external, cli)"),
            ("anthropic-version", "2023-06-01"),
            ("x-claude-code-session-id", "0d3adb33-f000-4000-8000-000000000000"),
        ];
        Self {
            routing,
            health: Health::default(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            now: Instant::now(),
        }
    }

    fn plan(&self, facts: &Facts<'_>) {
        black_box(plan(&PlanInput {
            routing: &self.routing,
            facts,
            health: &self.health,
            session: None,
            now: self.now,
        }));
    }
}

/// Spaces in all text of the conversation.
fn count(request: &Request) -> usize {
    let spaces = |text: &str| memchr::memchr_iter(b' ', text.as_bytes()).count();
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    parts
        .map(|part| match &part.body {
            PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => spaces(text),
            PartBody::ToolCall(call) => spaces(&call.arguments),
            PartBody::ToolResult(result) => result.content.iter().filter_map(Part::as_text).map(spaces).sum(),
            PartBody::Redacted(_) | PartBody::Media(_) | PartBody::Opaque(_) => 0,
        })
        .sum()
}

/// A coding session: a question, then calls and their results, so many messages of about so many bytes.
fn talk(messages: usize, bytes: usize) -> Request {
    let text = "let total = items.iter().map(|item| item.price).sum::<u64>(); ".repeat(bytes / 62 + 1);
    let mut request = Request { model: "claude-opus-4".into(), ..Request::default() };
    request.system = vec![Part::text(text.repeat(20))];
    request.messages.push(Message::new(Role::User, vec![Part::text(text.as_str())]));
    for turn in 0..messages / 2 {
        let id = CallId::Given(format!("call_{turn}"));
        let arguments = format!(r#"{{"file_path":"/src/file_{turn}.rs"}}"#);
        let kind = CallKind::Function;
        let call = ToolCall { id: id.clone(), name: "Read".into(), arguments, kind };
        let said = vec![Part::text(text.as_str()), Part::new(PartBody::ToolCall(call))];
        request.messages.push(Message::new(Role::Assistant, said));
        let content = vec![Part::text(text.as_str())];
        let result = ToolResult { id, name: None, content, is_error: None, kind };
        request.messages.push(Message::new(Role::User, vec![Part::new(PartBody::ToolResult(result))]));
    }
    let names =
        ["Task", "Bash", "BashOutput", "KillBash", "Read", "Write", "Edit", "MultiEdit", "NotebookEdit"];
    let more = ["Glob", "Grep", "LS", "WebFetch", "WebSearch", "TodoWrite", "ExitPlanMode"];
    request.tools = names.iter().chain(&more).map(|name| tool(name)).collect();
    request
}

fn tool(name: &str) -> ToolDecl {
    let kind = ToolKind::Function { parameters: None };
    ToolDecl { name: name.into(), description: None, kind, strict: None, cache: None, extras: Extras::NONE }
}
