//! MCP servers and agents in a session, through the real program and a scripted model.

use std::io::{BufRead, BufReader, Read};

use rail_model::{Part, PartBody, Request, Role};
use rail_testkit::{Models, Turn, call, text};
use serde_json::{Value, json};

use crate::headless::{Driven, scene};
use crate::scratch::Home;
use crate::sessions::{calls, config, good, said};

/// A server that asks the person and the model, and has one more tool once `grow` was called.
pub(crate) const SERVER: &str = r#"
import json, sys
grown = False
def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def ask(method, params):
    send({"id": "ours", "method": method, "params": params})
    for line in sys.stdin:
        answer = json.loads(line)
        if answer.get("id") == "ours": return answer.get("result") or {"error": answer["error"]["message"]}
def tool(name, reads=False):
    return {"name": name, "description": "does " + name, "annotations": {"readOnlyHint": reads},
            "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}}
def result(name, given):
    global grown
    if name == "add": return str(given["a"] + given["b"])
    if name == "ask": return json.dumps(ask("elicitation/create", {"message": "Which?", "requestedSchema": {"type": "object", "properties": {"w": {"type": "string"}}, "required": ["w"]}}))
    if name == "think": return json.dumps(ask("sampling/createMessage", {"messages": [{"role": "user", "content": {"type": "text", "text": "Think of a word."}}], "maxTokens": 50, "stopSequences": ["."]}))
    if name == "grow":
        grown = True
        send({"method": "notifications/tools/list_changed"})
    return name + " is done"
for line in sys.stdin:
    m = json.loads(line)
    method, params = m.get("method"), m.get("params") or {}
    if "id" not in m or method is None: continue
    if method == "initialize": r = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}, "serverInfo": {"name": "small", "version": "1"}}
    elif method == "tools/list": r = {"tools": [tool("add", True), tool("ask"), tool("think"), tool("grow")] + ([tool("late")] if grown else [])}
    elif method == "tools/call": r = {"content": [{"type": "text", "text": result(params["name"], params.get("arguments") or {})}]}
    elif method == "prompts/list": r = {"prompts": [{"name": "greet", "description": "Greets.", "arguments": [{"name": "who", "required": True}]}]}
    elif method == "prompts/get": r = {"messages": [{"role": "user", "content": {"type": "text", "text": "Greet " + params["arguments"]["who"] + "."}}]}
    elif method == "resources/list": r = {"resources": [{"uri": "note://one", "name": "one"}]}
    elif method == "resources/read": r = {"contents": [{"uri": params["uri"], "text": "The note of " + params["uri"]}]}
    else: r = {}
    send({"id": m["id"], "result": r})
"#;

/// A home whose user has that server, and a model that plays these turns.
fn served(turns: Vec<Turn>) -> (Home, Models) {
    on(Models::start(turns).unwrap())
}

/// The same with this model.
fn on(models: Models) -> (Home, Models) {
    let home = Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    let server = home.path("server.py");
    let mcp = format!(
        "{}\n[mcp.servers.small]\ncommand = \"python3\"\nargs = [\"{}\"]\n",
        config(&models),
        server.display()
    );
    home.write("config/switchrail/config.toml", &mcp).write("server.py", SERVER).write("repo/a.txt", "1\n");
    (home, models)
}

fn requests(models: &Models) -> Vec<Request> {
    models.requests().iter().filter_map(|asked| asked.request().cloned()).collect()
}

fn tools(request: &Request) -> Vec<String> {
    request.tools.iter().map(|tool| tool.name.clone()).collect()
}

/// The text of the last result that a request brings.
fn result(request: &Request) -> String {
    let mut results =
        request.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match &part.body {
            PartBody::ToolResult(result) => Some(result),
            _ => None,
        });
    results
        .next_back()
        .map(|last| last.content.iter().filter_map(Part::as_text).collect())
        .unwrap_or_default()
}

fn add(a: u64, b: u64) -> Value {
    json!({"name": "mcp__small__add", "arguments": {"a": a, "b": b}})
}

#[test]
fn a_server_s_tool_is_found_called_and_known_the_next_time() {
    let (home, models) = served(vec![
        calls("mcp_search", json!({"query": "add"})),
        calls("mcp_call", add(2, 40)),
        said("42."),
        calls("mcp__small__add", json!({"a": 1, "b": 1})),
        said("2."),
    ]);
    let allow = ["--allow", "mcp__small__add"];
    assert_eq!(good(&home, &["-p", "add", allow[0], allow[1]]), "42.\n");
    let first = requests(&models);
    assert!(tools(&first[0]).contains(&"mcp_search".to_owned()), "{:?}", tools(&first[0]));
    assert!(result(&first[1]).contains("mcp__small__add"), "{}", result(&first[1]));
    assert_eq!(result(&first[2]), "42");
    // Whenever the server was ready: what providers cache stays as it is.
    assert!(first.iter().all(|request| tools(request) == tools(&first[0])));
    // The next session knows the tools before the server is there.
    assert_eq!(good(&home, &["-p", "add again", allow[0], allow[1]]), "2.\n");
    let second = requests(&models).split_off(3);
    assert!(tools(&second[0]).contains(&"mcp__small__add".to_owned()), "{:?}", tools(&second[0]));
    assert_eq!(result(&second[1]), "2");
}

#[test]
fn a_server_s_tool_needs_leave_under_its_own_name() {
    let (home, models) =
        served(vec![calls("mcp_call", json!({"name": "mcp__small__grow", "arguments": {}})), said("no")]);
    let run = home.rail(&["-p", "grow"], "");
    assert_eq!(run.code, Some(1), "{}", run.whole());
    let denied = result(&requests(&models)[1]);
    assert!(denied.contains("mcp__small__grow"), "{denied}");
    assert!(run.whole().contains("mcp__small__grow"), "{}", run.whole());
}

#[test]
fn tools_that_come_later_are_told_and_the_head_stays() {
    // How soon the list is read again is the client's affair: the model looks until the tool is there.
    let (home, models) = on(Models::answering(|request| {
        let turns = request.messages.iter().filter(|message| message.role == Role::Assistant).count();
        match result(request) {
            _ if turns == 0 => calls("mcp_call", json!({"name": "mcp__small__grow", "arguments": {}})),
            found if found.contains("mcp__small__late") => {
                calls("mcp_call", json!({"name": "mcp__small__late", "arguments": {}}))
            }
            late if late == "late is done" => said("done"),
            _ => calls("mcp_search", json!({"query": format!("late {turns}")})),
        }
    })
    .unwrap());
    assert_eq!(good(&home, &["-p", "grow", "--allow", "mcp__small__*", "--max-turns", "200"]), "done\n");
    let all = requests(&models);
    assert!(all.iter().all(|request| tools(request) == tools(&all[0]) && request.system == all[0].system));
    let told = format!("{:?}", all[all.len() - 1].messages);
    assert!(told.contains("tools that you were not told of"), "{told}");
}

#[test]
fn a_server_that_asks_the_person_hears_that_nobody_is_there() {
    let (home, models) =
        served(vec![calls("mcp_call", json!({"name": "mcp__small__ask", "arguments": {}})), said("ok")]);
    assert_eq!(good(&home, &["-p", "ask", "--allow", "mcp__small__ask"]), "ok\n");
    assert_eq!(result(&requests(&models)[1]), r#"{"action": "cancel"}"#);
}

#[test]
fn a_server_has_a_model_s_answer_only_by_leave_for_just_that() {
    let think = || calls("mcp_call", json!({"name": "mcp__small__think", "arguments": {}}));
    let (home, models) = served(vec![
        think(),
        said("first"),
        think(),
        said("second"),
        think(),
        said("third"),
        think(),
        said("a word. And more"),
        said("fourth"),
    ]);
    // Leave for its tools, one or all, is none for models.
    for (at, rule) in ["mcp__small__think", "mcp__small__*", "mcp__small"].iter().enumerate() {
        let run = home.rail(&["-p", "think", "--allow", rule], "");
        let refused = result(&requests(&models)[2 * at + 1]);
        assert!(
            refused.contains("error") && refused.contains("mcp__small__sampling"),
            "{refused} {}",
            run.whole()
        );
    }
    let rules = ["--allow", "mcp__small__think", "--allow", "mcp__small__sampling"];
    assert_eq!(good(&home, &[&["-p", "think"], &rules[..]].concat()), "fourth\n");
    let all = requests(&models);
    assert!(format!("{:?}", all[7].messages).contains("Think of a word."), "{:?}", all[7].messages);
    assert_eq!(all[7].sampling.stop, ["."]);
    let answer = result(&all[8]);
    assert!(answer.contains("\"a word\"") && answer.contains("\"stopReason\": \"stopSequence\""), "{answer}");
}

#[test]
fn prompts_are_commands_and_resources_can_be_named() {
    let (home, models) = served(vec![said("Hi."), said("Hello."), said("Read.")]);
    assert_eq!(good(&home, &["-p", "/small:greet (MCP) Ada"]), "Hi.\n");
    assert_eq!(good(&home, &["-p", "/mcp__small__greet who=Bob"]), "Hello.\n");
    assert_eq!(good(&home, &["-p", "what is in @small:note://one ?"]), "Read.\n");
    let asked: Vec<String> =
        requests(&models).iter().map(|request| format!("{:?}", request.messages)).collect();
    assert!(asked[0].contains("Greet Ada.") && asked[1].contains("Greet Bob."), "{asked:?}");
    assert!(asked[2].contains("The note of note://one"), "{asked:?}");
    let missing = home.rail(&["-p", "/small:greet (MCP)"], "");
    assert_eq!(missing.code, Some(2));
    assert!(missing.whole().contains("needs `who`"), "{}", missing.whole());
    let unknown = home.rail(&["-p", "/mcp__small__none"], "");
    assert!(unknown.whole().contains("there are: /small:greet (MCP)"), "{}", unknown.whole());
}

#[test]
fn what_an_agent_says_names_the_call_that_set_it_to_work() {
    let task = json!({"description": "look", "prompt": "look", "subagent_type": "general-purpose"});
    let (home, _models) = served(vec![
        Turn::reply(vec![call("task", task)]),
        calls("read_file", json!({"file_path": "a.txt"})),
        said("it is 1"),
        Turn::reply(vec![text("done")]),
    ]);
    let out = good(&home, &["-p", "go", "--output-format", "stream-json", "--verbose"]);
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(move |line| line["type"] == kind).collect::<Vec<_>>();
    let id = of("assistant")[0]["message"]["content"][0]["id"].as_str().unwrap().to_owned();
    let parents: Vec<&Value> = lines
        .iter()
        .filter(|line| line["type"] == "assistant" || line["type"] == "user")
        .map(|line| &line["parent_tool_use_id"])
        .collect();
    assert_eq!(parents, [&Value::Null, &json!(id), &json!(id), &json!(id), &Value::Null, &Value::Null]);
    let result = of("user").pop().unwrap()["message"]["content"][0]["content"].to_string();
    assert!(result.contains("it is 1") && result.contains("1 tool use"), "{result}");
}

/// A server whose tools are told when somebody has written to a pipe.
const SLOW: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    method, params = m.get("method"), m.get("params") or {}
    if "id" not in m or method is None: continue
    if method == "initialize": r = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "slow", "version": "1"}}
    elif method == "tools/list":
        open(sys.argv[1]).read()
        r = {"tools": [{"name": "add", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]}
    elif method == "tools/call": r = {"content": [{"type": "text", "text": "added"}]}
    else: r = {}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#;

#[test]
fn an_agent_that_begins_before_a_server_is_ready_finds_its_tools() {
    let home = Home::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    let (script, pipe) = (home.path("slow.py"), home.path("pipe"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let gate = pipe.clone();
    let task =
        json!({"description": "look", "prompt": "look with the server", "subagent_type": "code-reviewer"});
    let models = Models::answering(move |request| {
        let is_agent = format!("{:?}", request.messages[0]).contains("look with the server");
        let turns = request.messages.iter().filter(|message| message.role == Role::Assistant).count();
        match (is_agent, turns) {
            (false, 0) => calls("task", task.clone()),
            (false, _) => said("done"),
            (true, 0) => {
                // The server is not ready before the agent has begun.
                std::fs::write(&gate, "").unwrap();
                calls("mcp_search", json!({"query": "add"}))
            }
            (true, 1) => calls("mcp_call", json!({"name": "mcp__slow__add", "arguments": {}})),
            (true, _) => said(&result(request)),
        }
    })
    .unwrap();
    let server = format!("[mcp.servers.slow]\ncommand = \"python3\"\nargs = [{script:?}, {pipe:?}]\n");
    home.write("config/switchrail/config.toml", &format!("{}\n{server}", config(&models)))
        .write("slow.py", SLOW)
        .write("repo/a.txt", "1\n");
    assert_eq!(good(&home, &["-p", "go", "--allow", "mcp__slow__add"]), "done\n");
    let all = requests(&models);
    let names = tools(&all[1]);
    assert!(["mcp_search", "mcp_call"].iter().all(|tool| names.iter().any(|name| name == tool)), "{names:?}");
    assert_eq!(result(&all[3]), "added");
}

/// A server that asks the person, and is gone when somebody opens a pipe.
const LEAVES: &str = r#"
import json, os, sys
def send(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    method, params = m.get("method"), m.get("params") or {}
    if "id" not in m or method is None: continue
    if method == "initialize": r = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "leaves", "version": "1"}}
    elif method == "tools/list": r = {"tools": [{"name": "ask", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        os.mkfifo(sys.argv[1])
        send({"id": "ours", "method": "elicitation/create", "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}})
        open(sys.argv[1]).read()
        os._exit(1)
    else: r = {}
    send({"id": m["id"], "result": r})
"#;

#[test]
fn the_question_of_a_server_that_is_gone_is_taken_back() {
    let (_models, home) = scene(vec![calls("mcp__leaves__ask", json!({})), said("done")]);
    let home = home.set("PATH", "/usr/local/bin:/usr/bin:/bin");
    home.write("server.py", LEAVES);
    let (script, pipe) = (home.path("server.py"), home.path("pipe"));
    let config = home.read(".config/switchrail/config.toml");
    let server = format!("[mcp.servers.leaves]\ncommand = \"python3\"\nargs = [{script:?}, {pipe:?}]\n");
    home.write(".config/switchrail/config.toml", &format!("{config}\n{server}"));
    let more = ["--allow", "mcp__leaves__ask", "--permission-prompt-tool", "stdio"];
    let mut driven = Driven::start(&home, &more);
    driven.user("ask");
    let asked = driven.of_type("control_request");
    assert_eq!(asked["request"]["tool_name"], "AskUserQuestion", "{asked}");
    std::fs::write(&pipe, "").unwrap();
    let taken_back = driven.of_type("control_cancel_request");
    assert_eq!(taken_back["request_id"], asked["request_id"]);
    assert_eq!(driven.of_type("result")["result"], "done");
    assert_eq!(driven.end().1, Some(0));
}

/// A server that listens to nobody.
const DEAF: &str = r#"
import os, signal, sys, time
for deaf in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE): signal.signal(deaf, signal.SIG_IGN)
out = os.open(sys.argv[1], os.O_WRONLY)
os.write(out, b"%d\n" % os.getpid())
while True: time.sleep(1000)
"#;

#[test]
fn a_server_that_listens_to_nobody_is_gone_when_rail_is_killed() {
    let (_models, home) = scene(vec![Turn::stall(vec![text("I am ")])]);
    let home = home.set("PATH", "/usr/local/bin:/usr/bin:/bin");
    home.write("server.py", DEAF);
    let (script, pipe) = (home.path("server.py"), home.path("pipe"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let config = home.read(".config/switchrail/config.toml");
    let server = format!("[mcp.servers.deaf]\ncommand = \"python3\"\nargs = [{script:?}, {pipe:?}]\n");
    home.write(".config/switchrail/config.toml", &format!("{config}\n{server}"));
    let mut rail = home.start(&["-p", "wait"]);
    // What is piped in belongs to the task: it begins at the end of that.
    drop(rail.stdin.take());
    let mut server = BufReader::new(std::fs::File::open(&pipe).unwrap());
    let mut id = String::new();
    server.read_line(&mut id).unwrap();
    rail.kill().unwrap();
    rail.wait().unwrap();
    // The server holds its end of the pipe as long as it lives.
    let (gone, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || gone.send(server.read_to_end(&mut Vec::new()).is_ok()));
    let told = told.recv_timeout(std::time::Duration::from_secs(20));
    if told != Ok(true) {
        let id = id.trim().parse().ok().and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
        panic!("it outlives what started it");
    }
}
