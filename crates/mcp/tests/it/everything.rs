//! The reference server, over all transports: each thing that a server can do is done.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rail_mcp::{Answer, Ask, Host, Offers, Sample, Sampled, ServerSpec, State, Way};
use rail_model::{MediaSource, Part, PartBody};
use rail_tool::{BoxFuture, ToolEvent};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::bed::{Bed, call, stdio};
use crate::servers::{Started, node};

/// Somebody who answers all that is asked, and remembers it.
#[derive(Default)]
struct Person(Mutex<Vec<String>>);

impl Host for Person {
    fn offers(&self) -> Offers {
        Offers { elicitation: true, sampling: true, roots: true }
    }

    fn elicit<'a>(&'a self, server: &'a str, ask: Ask) -> BoxFuture<'a, Answer> {
        let (told, answer) = match ask {
            Ask::Form { message, schema } => {
                let fields: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
                (format!("{message} {fields:?}"), json!({"name": "Ada", "check": true, "integer": 7}))
            }
            Ask::Url { message, url } => (format!("{message} {url}"), Value::Null),
        };
        self.0.lock().unwrap().push(format!("{server}: {told}"));
        Box::pin(std::future::ready(Answer::Accept(answer)))
    }

    fn sample<'a>(&'a self, server: &'a str, ask: Sample) -> BoxFuture<'a, Result<Sampled, String>> {
        let Sample { messages, system, max_tokens, .. } = ask;
        let said = format!("{server}: {messages:?} {system:?} {max_tokens}");
        self.0.lock().unwrap().push(said);
        let sampled = Sampled {
            text: "forty-two".to_owned(),
            model: "tiny".to_owned(),
            stop_reason: "endTurn".to_owned(),
        };
        Box::pin(std::future::ready(Ok(sampled)))
    }

    fn roots(&self) -> Vec<PathBuf> {
        vec![PathBuf::from("/some/where")]
    }
}

/// A part in short.
fn short(part: &Part) -> String {
    match &part.body {
        PartBody::Text(text) => timeless(text),
        PartBody::Media(media) => {
            let MediaSource::Base64(data) = &media.source else { panic!("{media:?}") };
            format!("<{:?} {} of {} characters>", media.kind, media.mime.as_deref().unwrap(), data.len())
        }
        other => panic!("{other:?}"),
    }
}

/// A text without the time in it.
fn timeless(text: &str) -> String {
    match text.split_once(" created at ") {
        Some((before, _)) => format!("{before} created at {{time}}"),
        None => text.to_owned(),
    }
}

async fn everything(spec: ServerSpec) -> String {
    let person = Arc::new(Person::default());
    let bed = Bed::with(vec![spec], Arc::clone(&person) as _, |_| {});
    // Some tools come once the server knows what we offer.
    let wanted = [
        "get-roots-list",
        "trigger-elicitation-request",
        "trigger-url-elicitation",
        "trigger-sampling-request",
    ];
    bed.until("e", |_| {
        let tools = bed.hub.tools();
        wanted.iter().all(|name| tools.iter().any(|tool| tool.card().name == format!("mcp__e__{name}")))
    })
    .await;
    let mut told = Vec::new();
    let state = bed.ready("e").await;
    told.push(format!("{} {:?}", state.calls_itself.unwrap(), state.notes));
    for tool in bed.hub.tools() {
        let card = tool.card();
        told.push(format!("{} {:?} {:?} {}", card.name, card.level, card.lane, tool.schema()));
    }
    for (tool, input) in [
        ("echo", json!({"message": "hello"})),
        ("get-sum", json!({"a": 2, "b": 3.5})),
        ("get-sum", json!({"a": 2})),
        ("get-tiny-image", json!({})),
        ("get-structured-content", json!({"location": "Chicago"})),
        ("get-resource-links", json!({"count": 2})),
        ("get-resource-reference", json!({"resourceType": "Text", "resourceId": 1})),
        ("get-resource-reference", json!({"resourceType": "Blob", "resourceId": 2})),
        ("get-annotated-message", json!({"messageType": "error", "includeImage": true})),
        (
            "gzip-file-as-resource",
            json!({"name": "a.gz", "data": "data:text/plain,hi", "outputType": "resource"}),
        ),
        ("get-roots-list", json!({})),
        ("trigger-elicitation-request", json!({})),
        ("trigger-url-elicitation", json!({"url": "https://a.test/login", "elicitationId": "id-1"})),
        ("trigger-sampling-request", json!({"prompt": "what is it?", "maxTokens": 9})),
    ] {
        let outcome = bed.run(&format!("mcp__e__{tool}"), &input).await;
        let parts: Vec<String> = outcome.parts.iter().map(short).collect();
        told.push(format!("{tool} {input}: {:?}\n{}", outcome.end, parts.join("\n")));
    }
    told.push(format!("asked of us:\n{}", person.0.lock().unwrap().join("\n")));
    told.push(progress(&bed).await);
    for prompt in bed.hub.prompts() {
        told.push(format!("{prompt:?}"));
    }
    let place = [("city".to_owned(), "Paris".to_owned())];
    for (role, parts) in bed.hub.get_prompt("e", "args-prompt", &place).await.unwrap() {
        told.push(format!("{role:?}: {}", parts.iter().map(short).collect::<Vec<_>>().join(" ")));
    }
    told.push(bed.hub.get_prompt("e", "no-such-prompt", &[]).await.unwrap_err());
    for resource in bed.hub.resources().iter().take(2) {
        told.push(format!("{} {} {:?}", resource.uri, resource.name, resource.mime));
        let parts = bed.hub.read_resource("e", &resource.uri).await.unwrap();
        let first: String = short(&parts[0]).lines().next().unwrap().to_owned();
        told.push(format!("{} parts: {first}", parts.len()));
    }
    for template in bed.hub.templates() {
        told.push(format!("{} {} {:?}", template.uri_template, template.name, template.mime));
    }
    told.push(bed.hub.read_resource("e", "no:where").await.unwrap_err());
    bed.end().await;
    told.join("\n")
}

async fn progress(bed: &Bed) -> String {
    let (executor, mut events) = bed.executor();
    let input = json!({"duration": 1.5, "steps": 3});
    let calls = vec![call("mcp__e__trigger-long-running-operation", &input)];
    let outcome = executor.run(calls, &CancellationToken::new()).await.remove(0);
    let mut heard = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let ToolEvent::Progress { text, .. } = event {
            heard.push(text);
        }
    }
    format!("{heard:?} {}", outcome.text())
}

#[tokio::test(flavor = "multi_thread")]
async fn over_stdio() {
    let Some(command) = node("mcp-server-everything") else { return };
    insta::assert_snapshot!("everything", everything(stdio("e", &command, &["stdio"])).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn over_streamable_http() {
    let Some(command) = node("mcp-server-everything") else { return };
    let started = Started::everything(&command, "streamableHttp", None);
    let url = format!("http://127.0.0.1:{}/mcp", started.port);
    let spec = ServerSpec::new("e", Way::Http { url, headers: Vec::new() });
    insta::assert_snapshot!("everything", everything(spec).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn over_sse() {
    let Some(command) = node("mcp-server-everything") else { return };
    let started = Started::everything(&command, "sse", None);
    let url = format!("http://127.0.0.1:{}/sse", started.port);
    let spec = ServerSpec::new("e", Way::Sse { url, headers: Vec::new() });
    insta::assert_snapshot!("everything", everything(spec).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_comes_back_is_connected_again() {
    let Some(command) = node("mcp-server-everything") else { return };
    for (transport, path) in [("streamableHttp", "mcp"), ("sse", "sse")] {
        let started = Started::everything(&command, transport, None);
        let port = started.port;
        let url = format!("http://127.0.0.1:{port}/{path}");
        let way = match transport {
            "sse" => Way::Sse { url, headers: Vec::new() },
            _ => Way::Http { url, headers: Vec::new() },
        };
        let bed = Bed::new(vec![ServerSpec::new("e", way)]);
        bed.ready("e").await;
        let hello = json!({"message": "hello"});
        assert_eq!(bed.says("mcp__e__echo", &hello).await, "ok: Echo: hello");
        drop(started);
        // A stream that breaks or a call that fails tells it.
        let failed = bed.says("mcp__e__echo", &hello).await;
        assert!(failed.starts_with("error: the MCP server `e`"), "{failed}");
        bed.until("e", |state| matches!(state.state, State::Retrying { .. } | State::Connecting)).await;
        let _again = Started::everything(&command, transport, Some(port));
        bed.ready("e").await;
        assert_eq!(bed.says("mcp__e__echo", &hello).await, "ok: Echo: hello");
        bed.end().await;
    }
}
