//! Servers over HTTP, played by a script: logins, streams that end early, pages.

use std::sync::{Arc, Mutex};

use rail_mcp::auth::{AuthError, Refusal};
use rail_mcp::{ServerSpec, State, Tokens, ToolFilter, Way};
use rail_stdx::Secret;
use rail_testkit::{Conversation, Peer, Step, http_whole};
use rail_tool::BoxFuture;
use serde_json::json;

use crate::bed::Bed;

/// Tokens that are given one after the other; what was refused is remembered.
struct Given {
    tokens: Mutex<Vec<&'static str>>,
    refused: Mutex<Vec<String>>,
}

impl Tokens for Given {
    fn token<'a>(&'a self, refused: Option<Refusal<'a>>) -> BoxFuture<'a, Result<Option<Secret>, AuthError>> {
        let mut tokens = self.tokens.lock().unwrap();
        if let Some(refused) = refused {
            let Refusal { status, www_authenticate, token } = refused;
            let token = token.map(Secret::reveal).unwrap_or_default();
            self.refused.lock().unwrap().push(format!("{status} {token}: {www_authenticate}"));
            tokens.remove(0);
        }
        let answer = tokens.first().map(|token| Some(Secret::new(*token)));
        let needed = || AuthError::LoginNeeded { server: "it".to_owned(), scope: None };
        Box::pin(std::future::ready(answer.ok_or_else(needed)))
    }
}

fn wants_login() -> Conversation {
    let head = "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Basic realm=\"r\"\r\nwww-authenticate: Bearer resource_metadata=\"x\"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    Conversation::new([Step::ReadRequest, Step::Send(head.as_bytes().to_vec())])
}

fn says(body: &serde_json::Value) -> Conversation {
    Conversation::new([Step::ReadRequest, Step::Send(http_whole(200, "application/json", body.to_string()))])
}

fn hello() -> serde_json::Value {
    json!({"jsonrpc": "2.0", "id": 0, "result": {
        "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "r", "version": "1"}}})
}

fn accepted() -> Conversation {
    let head = "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    Conversation::new([Step::ReadRequest, Step::Send(head.as_bytes().to_vec())])
}

fn streams(events: &str) -> Conversation {
    Conversation::new([Step::ReadRequest, Step::Send(http_whole(200, "text/event-stream", events))])
}

fn spec(peer: &Peer, tokens: Option<Arc<Given>>) -> ServerSpec {
    let headers = vec![("X-Team".to_owned(), Secret::new("blue"))];
    let mut spec = ServerSpec::new("remote", Way::Http { url: peer.url("/mcp"), headers });
    spec.tokens = tokens.map(|tokens| tokens as _);
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_wants_a_login_says_so() {
    let peer = Peer::start(vec![wants_login()]).unwrap();
    let bed = Bed::new(vec![spec(&peer, None)]);
    let state = bed.until("remote", |state| state.state != State::Connecting).await;
    assert_eq!(
        state.state,
        State::NeedsLogin {
            why: "the server wants a login (HTTP 401); log in with `rail mcp login remote`".to_owned(),
            challenge: "Basic realm=\"r\", Bearer resource_metadata=\"x\"".to_owned()
        }
    );
    let asked = bed.hub.read_resource("remote", "a:b").await.unwrap_err();
    assert_eq!(
        asked,
        "the MCP server `remote` can't be asked: it needs a login, which only the user can do: \
         the server wants a login (HTTP 401); log in with `rail mcp login remote`"
    );
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_refused_is_made_anew_once() {
    let tools = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}});
    // What nobody asked for and the list are asked for at once, in any order: both get the list's answer.
    let peer =
        Peer::start(vec![wants_login(), says(&hello()), accepted(), says(&tools), says(&tools).repeat()])
            .unwrap();
    let tokens = Arc::new(Given { tokens: Mutex::new(vec!["old", "new"]), refused: Mutex::default() });
    let bed = Bed::new(vec![spec(&peer, Some(Arc::clone(&tokens)))]);
    bed.ready("remote").await;
    assert_eq!(
        *tokens.refused.lock().unwrap(),
        ["401 old: Basic realm=\"r\", Bearer resource_metadata=\"x\""]
    );
    let sent = peer.requests();
    let headers =
        |at: usize| ["authorization", "x-team", "mcp-protocol-version"].map(|name| sent[at].header(name));
    assert_eq!(headers(0), [Some("Bearer old"), Some("blue"), None]);
    assert_eq!(headers(1), [Some("Bearer new"), Some("blue"), None]);
    assert_eq!(headers(2), [Some("Bearer new"), Some("blue"), Some("2025-06-18")]);
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_no_longer_counts_is_asked_for() {
    let peer = Peer::start(vec![wants_login()]).unwrap();
    let tokens = Arc::new(Given { tokens: Mutex::new(vec!["old"]), refused: Mutex::default() });
    let bed = Bed::new(vec![spec(&peer, Some(tokens))]);
    let state = bed.until("remote", |state| state.state != State::Connecting).await;
    assert_eq!(
        state.state.to_string(),
        "needs a login: the server wants a login; log in with `rail mcp login remote`"
    );
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_header_of_the_users_own_that_is_refused_is_the_users_to_correct() {
    let peer = Peer::start(vec![wants_login()]).unwrap();
    let headers = vec![("Authorization".to_owned(), Secret::new("Bearer k"))];
    let bed = Bed::new(vec![ServerSpec::new("remote", Way::Http { url: peer.url("/mcp"), headers })]);
    let state = bed.until("remote", |state| state.state != State::Connecting).await;
    assert_eq!(
        state.state.to_string(),
        "needs a login: the server refuses the header `Authorization` that is set for it (HTTP 401); correct it, or \
         take it out and log in with `rail mcp login remote`"
    );
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_forbidden_to_everybody_is_no_matter_of_logins() {
    let head = "HTTP/1.1 403 Forbidden\r\nwww-authenticate: Bearer error=\"other\"\r\ncontent-length: 4\r\nconnection: close\r\n\r\nnope";
    let forbids = Conversation::new([Step::ReadRequest, Step::Send(head.as_bytes().to_vec())]);
    let peer = Peer::start(vec![forbids.repeat()]).unwrap();
    let tokens = Arc::new(Given { tokens: Mutex::new(vec!["one"]), refused: Mutex::default() });
    let bed = Bed::new(vec![spec(&peer, Some(Arc::clone(&tokens)))]);
    let state = bed.until("remote", |state| matches!(state.state, State::Retrying { .. })).await;
    let State::Retrying { why, .. } = state.state else { panic!() };
    assert_eq!(why, "it refused the handshake: HTTP 403: nope");
    assert_eq!(*tokens.refused.lock().unwrap(), [""; 0]);
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_not_used_is_as_if_it_were_not_there() {
    let tools = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "read"}, {"name": "wipe"}]}});
    let script = || vec![says(&hello()), accepted(), says(&tools), says(&tools).repeat()];
    let names = |bed: &Bed| -> Vec<String> {
        bed.hub.tools().iter().map(|tool| tool.card().name.to_owned()).collect()
    };
    let only_reads = |peer: &Peer| {
        let tools = ToolFilter::new(|tool| tool == "read");
        ServerSpec { tools, ..spec(peer, None) }
    };
    let peer = Peer::start(script()).unwrap();
    let bed = Bed::new(vec![only_reads(&peer)]);
    let state = bed.ready("remote").await;
    assert!(matches!(state.state, State::Ready { tools: 1, .. }), "{state:?}");
    assert_eq!(names(&bed), ["mcp__remote__read"]);
    let called = bed.says("mcp__remote__wipe", &json!({})).await;
    assert!(called.starts_with("error: "), "{called}");
    assert!(peer.requests().iter().all(|request| !String::from_utf8_lossy(&request.body).contains("wipe")));
    bed.end().await;

    // Nor is it one that is known from the last time.
    let (peer, kept) = (Peer::start(script()).unwrap(), tempfile::tempdir().unwrap());
    let remembering = |spec| {
        Bed::with(vec![spec], Arc::new(crate::bed::Quiet::default()), |setup| {
            setup.cache = Some(kept.path().to_owned());
        })
    };
    let before = remembering(spec(&peer, None));
    before.ready("remote").await;
    assert_eq!(names(&before), ["mcp__remote__read", "mcp__remote__wipe"]);
    before.end().await;
    let after = remembering(only_reads(&peer));
    assert_eq!(names(&after), ["mcp__remote__read"]);
    after.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_with_a_page() {
    let page = http_whole(404, "text/html", "<h1>Not found</h1>");
    let peer = Peer::start(vec![Conversation::new([Step::ReadRequest, Step::Send(page)]).repeat()]).unwrap();
    let bed = Bed::new(vec![spec(&peer, None)]);
    let state = bed.until("remote", |state| matches!(state.state, State::Retrying { .. })).await;
    let State::Retrying { why, .. } = state.state else { panic!() };
    assert_eq!(why, "it refused the handshake: HTTP 404: <h1>Not found</h1>");
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_ends_before_its_answer_is_taken_up_again() {
    let tools = json!({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "late"}]}});
    let early = || streams("id: 7\ndata:\n\n");
    let answer = streams(&format!("id: 8\nevent: message\ndata: {tools}\n\n")).repeat();
    // The list and what nobody asked for begin at once, and both streams end early.
    let peer = Peer::start(vec![says(&hello()), accepted(), early(), early(), answer]).unwrap();
    let bed = Bed::new(vec![spec(&peer, None)]);
    bed.ready("remote").await;
    assert_eq!(bed.hub.tools()[0].card().name, "mcp__remote__late");
    // Which of the two is taken up first is nobody's concern.
    let resumed = peer.requests().iter().filter(|asked| asked.header("last-event-id") == Some("7")).count();
    assert!(resumed > 0, "{:?}", peer.requests());
    bed.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_events_that_names_another_host() {
    let peer =
        Peer::start(vec![streams("event: endpoint\ndata: http://a.test/messages\n\n").repeat()]).unwrap();
    let mut spec = spec(&peer, None);
    spec.way = Way::Sse { url: peer.url("/sse"), headers: vec![("X-Key".to_owned(), Secret::new("k"))] };
    let bed = Bed::new(vec![spec]);
    let state = bed.until("remote", |state| matches!(state.state, State::Retrying { .. })).await;
    let State::Retrying { why, .. } = state.state else { panic!() };
    assert_eq!(why, "it names an address on another host for messages, `http://a.test/messages`");
    bed.end().await;
}
