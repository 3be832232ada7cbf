//! The server, spoken to line by line.

use std::path::Path;
use std::sync::{Arc, Mutex};

use rail_mcp::serve::{Asked, Offer, Opened, Sessions, offered, serve_streams};
use rail_permit::{Mode, Policy, Rule, Rules};
use rail_tool::{BoxFuture, Confine, Dialect, Generation, Limits, NoHooks, Session};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Sessions in a scratch folder; it is kept who ended.
struct Scratch {
    folder: tempfile::TempDir,
    outputs: tempfile::TempDir,
    ended: Mutex<Vec<Arc<Session>>>,
}

impl Scratch {
    fn new() -> Arc<Self> {
        let folder = tempfile::tempdir().unwrap();
        Arc::new(Self { folder, outputs: tempfile::tempdir().unwrap(), ended: Mutex::default() })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn policy(&self) -> Policy {
        Policy { folders: vec![self.path().canonicalize().unwrap()], ..Policy::default() }
    }
}

impl Sessions for Scratch {
    fn open(&self) -> Result<Opened, String> {
        let mut session = Session::new(self.path().canonicalize().unwrap(), self.outputs.path().to_owned());
        session.confine = Confine::Off;
        session.env = vec![("PATH".into(), "/usr/bin:/bin".into())];
        Ok(Opened { session, hooks: Box::new(|_| Arc::new(NoHooks)) })
    }

    fn end(&self, session: Arc<Session>) -> BoxFuture<'static, ()> {
        self.ended.lock().unwrap().push(Arc::clone(&session));
        Box::pin(async move { rail_tools::end_commands(&session, std::time::Duration::ZERO).await })
    }
}

/// A client that speaks in lines.
struct Client {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    write: WriteHalf<DuplexStream>,
    serving: JoinSet<()>,
    stop: CancellationToken,
}

impl Client {
    fn of(scratch: &Arc<Scratch>, policy: Policy, asked: Asked) -> Self {
        let offer = Offer {
            registry: offered(&rail_tools::registry(), Generation::Gen4, &policy),
            dialect: Dialect::default(),
            limits: Limits::default(),
            policy,
            asked,
            version: "0".to_owned(),
            instructions: "Tools.".to_owned(),
        };
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (read, write) = tokio::io::split(ours);
        let (stop, mut serving) = (CancellationToken::new(), JoinSet::new());
        let sessions = Arc::clone(scratch) as Arc<dyn Sessions>;
        serving.spawn(serve_streams(offer, sessions, tokio::io::split(theirs), stop.clone()));
        Self { lines: BufReader::new(read).lines(), write, serving, stop }
    }

    /// A client that has said who it is, and what it can do.
    async fn greeted(scratch: &Arc<Scratch>, policy: Policy, capabilities: Value) -> Self {
        let mut client = Self::of(scratch, policy, Asked::Client);
        client.greet(capabilities).await;
        client
    }

    async fn greet(&mut self, capabilities: Value) -> Value {
        let params = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "0"}});
        let answer = self.ask("greeting", "initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer
    }

    async fn line(&mut self, line: &str) {
        self.write.write_all(line.as_bytes()).await.unwrap();
        self.write.write_all(b"\n").await.unwrap();
    }

    async fn send(&mut self, message: &Value) {
        self.line(&message.to_string()).await;
    }

    async fn begin(&mut self, id: &str, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    }

    async fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn ask(&mut self, id: &str, method: &str, params: Value) -> Value {
        self.begin(id, method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn call(&mut self, id: &str, tool: &str, arguments: Value) -> Value {
        self.ask(id, "tools/call", json!({"name": tool, "arguments": arguments})).await["result"].take()
    }

    /// Leaves, and waits until all that was begun has ended.
    async fn leave(mut self) {
        self.write.shutdown().await.unwrap();
        while self.serving.join_next().await.is_some() {}
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn what_is_no_request_is_told_or_passed_over_and_the_rest_goes_on() {
    let scratch = Scratch::new();
    let mut client = Client::of(&scratch, scratch.policy(), Asked::Client);
    client.line("{this is no json").await;
    client.line("").await;
    client.line("[1, 2]").await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    let early = client.ask("early", "tools/list", json!({})).await;
    assert_eq!(early["error"]["code"], -32602, "{early}");
    assert_eq!(client.ask("ping", "ping", json!({})).await["result"], json!({}));
    let greeted = client.greet(json!({})).await;
    assert_eq!(greeted["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(greeted["result"]["capabilities"], json!({"tools": {}}));
    assert_eq!(client.ask("odd", "no/such", json!({})).await["error"]["code"], -32601);
    assert_eq!(client.ask("none", "tools/call", json!({})).await["error"]["code"], -32601);
    // Longer than any message may be: nobody waits for more memory than that.
    client.line(&format!(r#"{{"jsonrpc":"2.0","id":"long","method":"{}"}}"#, "x".repeat(17 << 20))).await;
    assert_eq!(client.ask("after", "ping", json!({})).await["result"], json!({}));
    client.leave().await;
    assert!(scratch.ended.lock().unwrap().is_empty(), "no session was needed");
}

#[tokio::test]
async fn a_version_without_sessions_is_answered_by_the_newest_with_them() {
    let scratch = Scratch::new();
    let mut client = Client::of(&scratch, scratch.policy(), Asked::Client);
    let params = json!({"protocolVersion": "2026-07-28", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    let answer = client.ask("greeting", "initialize", params).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    client.leave().await;
}

#[tokio::test]
async fn what_can_t_be_done_is_not_listed() {
    let scratch = Scratch::new();
    let names = |policy: Policy, generation: Generation| -> Vec<String> {
        let offered = offered(&rail_tools::registry(), generation, &policy);
        offered.tools().iter().map(|tool| tool.card().name.to_owned()).collect()
    };
    let all = names(scratch.policy(), Generation::Gen8);
    for left_out in ["ask_user_question", "plan_mode", "exit_plan_mode", "task"] {
        assert!(!all.iter().any(|name| name == left_out), "{left_out}");
    }
    assert!(all.iter().any(|name| name == "grep"));
    assert!(!names(scratch.policy(), Generation::Gen1).iter().any(|name| name == "grep"));
    let plan = names(Policy { mode: Mode::Plan, ..scratch.policy() }, Generation::Gen8);
    assert!(!plan.iter().any(|name| name == "write_file") && plan.iter().any(|name| name == "read_file"));
    let deny = vec![Rule::parse("bash", "a test", &|name| Some(name.to_owned())).unwrap()];
    let denied = Policy { rules: Rules { deny, ..Rules::default() }, ..scratch.policy() };
    assert!(!names(denied, Generation::Gen8).iter().any(|name| name == "bash"));
}

#[tokio::test]
async fn a_file_is_changed_only_after_it_was_read_in_the_same_session() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path().join("a.txt"), "old\n").unwrap();
    let policy = || Policy { mode: Mode::AcceptEdits, ..scratch.policy() };
    let edit = json!({"file_path": "a.txt", "old_string": "old", "new_string": "new"});
    let mut reader = Client::greeted(&scratch, policy(), json!({})).await;
    let read = reader.call("1", "Read", json!({"file_path": "a.txt"})).await;
    assert!(text(&read).starts_with("1\told"), "{read}");
    let mut other = Client::greeted(&scratch, policy(), json!({})).await;
    let refused = other.call("1", "edit_file", edit.clone()).await;
    assert!(refused["isError"] == true && text(&refused).contains("read"), "{refused}");
    assert_eq!(reader.call("2", "edit_file", edit).await["isError"], false);
    assert_eq!(std::fs::read_to_string(scratch.path().join("a.txt")).unwrap(), "new\n");
    reader.leave().await;
    other.leave().await;
    assert_eq!(scratch.ended.lock().unwrap().len(), 2, "each session ended, once");
}

#[tokio::test]
async fn what_was_too_long_for_a_result_can_be_read() {
    let scratch = Scratch::new();
    let mut client = Client::greeted(&scratch, scratch.policy(), json!({})).await;
    let long = client.call("1", "bash", json!({"command": "seq 1 20000"})).await;
    let file = rail_tool::kept_in(text(&long)).unwrap().to_owned();
    let read = client.call("2", "read_file", json!({"file_path": file, "offset": 9000, "limit": 1})).await;
    assert!(text(&read).contains("9000"), "{read}");
    let beside = scratch.outputs.path().join("other.txt");
    std::fs::write(&beside, "other").unwrap();
    assert_eq!(client.call("3", "read_file", json!({"file_path": beside})).await["isError"], true);
    client.leave().await;
}

#[tokio::test]
async fn a_question_is_taken_back_with_its_call() {
    let scratch = Scratch::new();
    let mut client = Client::greeted(&scratch, scratch.policy(), json!({"elicitation": {}})).await;
    let write = json!({"name": "write_file", "arguments": {"file_path": "b.txt", "content": "b"}, "_meta": {"progressToken": 7}});
    client.begin("write", "tools/call", write).await;
    let (mut question, mut told) = (Value::Null, Value::Null);
    while question.is_null() || told.is_null() {
        let next = client.next().await;
        match next["method"].as_str() {
            Some("elicitation/create") => question = next,
            Some("notifications/progress") => told = next,
            _ => panic!("{next}"),
        }
    }
    assert!(told["params"]["message"].as_str().unwrap().starts_with("waits for leave"), "{told}");
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "write"}});
    client.send(&cancelled).await;
    let taken_back = client.next().await;
    assert_eq!(taken_back["method"], "notifications/cancelled", "{taken_back}");
    assert_eq!(taken_back["params"]["requestId"], question["id"]);
    // What comes late is of no use: the call is over, and the next one is asked about anew.
    let late = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"answer": "Allow once"}}});
    client.send(&late).await;
    assert_eq!(client.ask("ping", "ping", json!({})).await["result"], json!({}));
    assert!(!scratch.path().join("b.txt").exists());
    client.leave().await;
}

#[tokio::test]
async fn a_client_that_fails_to_ask_is_one_that_can_t() {
    let scratch = Scratch::new();
    let mut client = Client::greeted(&scratch, scratch.policy(), json!({"elicitation": {}})).await;
    let write = json!({"name": "write_file", "arguments": {"file_path": "b.txt", "content": "b"}});
    client.begin("write", "tools/call", write).await;
    let question = client.next().await;
    let error = json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -32601, "message": "no"}});
    client.send(&error).await;
    let answer = client.next().await;
    assert!(text(&answer["result"]).contains("--allow 'Edit(/b.txt)'"), "{answer}");
    client.leave().await;
}

#[tokio::test]
async fn nobody_is_asked_where_nobody_is_to_be() {
    let scratch = Scratch::new();
    let mut client = Client::of(&scratch, scratch.policy(), Asked::Nobody);
    client.greet(json!({"elicitation": {}})).await;
    let refused = client.call("1", "write_file", json!({"file_path": "b.txt", "content": "b"})).await;
    assert_eq!(refused["isError"], true);
    assert!(text(&refused).contains("there is nobody to ask"), "{refused}");
    client.leave().await;
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_ends_its_calls() {
    let scratch = Scratch::new();
    let mut client = Client::greeted(&scratch, scratch.policy(), json!({})).await;
    let bash = json!({"name": "bash", "arguments": {"command": "echo begun; sleep 86400"}, "_meta": {"progressToken": 1}});
    client.begin("1", "tools/call", bash).await;
    assert_eq!(client.next().await["params"]["message"], "begun");
    client.stop.cancel();
    while client.serving.join_next().await.is_some() {}
    assert_eq!(scratch.ended.lock().unwrap().len(), 1);
}
