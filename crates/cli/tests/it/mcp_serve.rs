//! `rail mcp serve`, used by the official SDKs and spoken to by hand.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Output};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_testkit::judges::{Language, judge_of};
use rail_testkit::{Models, Turn, text};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::Home;

const ALLOW: [&str; 2] = ["--allow", "Edit(/open/**)"];
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn python_sdk_over_stdio() {
    over_stdio(Language::Python, 1);
}

#[test]
fn node_sdk_over_stdio() {
    over_stdio(Language::Node, 2);
}

#[test]
fn python_sdk_over_http() {
    over_http(Language::Python, 3);
}

#[test]
fn node_sdk_over_http() {
    over_http(Language::Node, 4);
}

fn over_stdio(language: Language, number: u32) {
    let home = workspace();
    let mark = mark(number);
    let Some(seen) = play(language, &home, "stdio", &mark) else { return };
    sees_all(&seen, &home);
    assert!(!runs(&format!("sleep 86402{mark}")), "what a session left in the background ends with it");
}

fn over_http(language: Language, number: u32) {
    let home = workspace();
    let mark = mark(number);
    let mut server = Server::start(&home, &[&["--listen", "127.0.0.1:0"][..], &ALLOW].concat());
    let Some(seen) = play(language, &home, &format!("http://{}/mcp", server.address), &mark) else { return };
    sees_all(&seen, &home);
    server.terminate();
    assert!(!runs(&format!("sleep 86402{mark}")), "what a session left in the background ends with it");
}

/// Tells the processes of one test from those of others.
fn mark(number: u32) -> String {
    format!("{}{number}", std::process::id())
}

fn workspace() -> Home {
    let home = Home::new();
    home.write("work/a.txt", "hello\n");
    for number in 0..10 {
        home.write(&format!("work/many/{number}.txt"), &format!("file {number}\n"));
    }
    rail_stdx::replace(
        &home.path("work/dot.png"),
        &STANDARD.decode(PIXEL).unwrap(),
        rail_stdx::Access::Owner,
    )
    .unwrap();
    home
}

/// What an SDK sees; none where it can't be had here.
fn play(language: Language, home: &Home, place: &str, mark: &str) -> Option<Vec<Value>> {
    let (script, list) = match language {
        Language::Python => ("mcp_serve.py", include_str!("../judges/mcp_serve.txt")),
        Language::Node => ("mcp_serve.mjs", include_str!("../judges/mcp_serve.json")),
    };
    let judge = judge_of(language, list, Path::new(env!("CARGO_TARGET_TMPDIR")))?;
    let mut command = judge.command(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges").join(script));
    command.arg(env!("CARGO_BIN_EXE_rail")).arg(home.path("work")).arg(judge.folder()).arg(place).arg(mark);
    command.args(ALLOW).envs(home.variables()).current_dir(home.path("work"));
    let Output { status, stdout, stderr } = command.output().unwrap();
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(status.success(), "{stdout}{stderr}");
    assert!(!stderr.contains("failed"), "{stderr}");
    Some(stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn sees_all(seen: &[Value], home: &Home) {
    let work = home.path("work").canonicalize().unwrap();
    let of = |key: &str| {
        seen.iter().find(|line| line.get(key).is_some()).unwrap_or_else(|| panic!("{key}: {seen:?}"))
    };
    assert_eq!(of("server")["server"], "switchrail");
    // The Python SDK would rather speak a version that has no sessions.
    assert!(of("server").get("protocol").is_none_or(|version| version == "2025-11-25"));
    let tools: Vec<&str> =
        of("tools")["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for (tool, listed) in [
        ("bash", true),
        ("grep", true),
        ("write_file", true),
        ("ask_user_question", false),
        ("plan_mode", false),
    ] {
        assert_eq!(tools.contains(&tool), listed, "{tool}");
    }
    let hints = json!({"hints": {"bash": [false, true], "read_file": [true, false]}, "described": true, "required": ["file_path"]});
    assert_eq!(of("hints"), &hints);
    assert_eq!(of("read")["read"], json!({"error": false, "text": "1\thello\n\n[1 line in all]"}));
    let refused = &of("refused")["refused"];
    assert!(
        refused["error"] == true && refused["text"].as_str().unwrap().contains("--allow 'Edit(/b.txt)'"),
        "{refused}"
    );
    assert!(!work.join("b.txt").exists());
    assert_eq!(of("allowed")["allowed"]["error"], false);
    assert_eq!(home.read("work/open/c.txt"), "c");
    assert_eq!(of("image")["image"], json!([["image/png", "PNG"]]));
    assert_eq!(of("unknown")["unknown"], json!([-32602, true]));
    let bad = &of("bad")["bad"];
    assert!(
        bad["error"] == true && bad["text"].as_str().unwrap().contains("`file_path` is missing"),
        "{bad}"
    );
    let ten: Vec<String> = (0..10).map(|number| format!("1\tfile {number}")).collect();
    assert_eq!(of("ten")["ten"], json!(ten));
    assert_eq!(of("progress"), &json!({"progress": "begun", "result": ["begun", "over"]}));
    assert_eq!(of("before")["before"], true);
    assert_eq!(of("cancelled"), &json!({"cancelled": true, "after": "after", "runs": false}));
    assert_eq!(of("background"), &json!({"background": false, "runs": true}));
    answers(seen, home);
}

/// What came of the questions.
fn answers(seen: &[Value], home: &Home) {
    let work = home.path("work").canonicalize().unwrap();
    let of = |key: &str| {
        seen.iter().find(|line| line.get(key).is_some()).unwrap_or_else(|| panic!("{key}: {seen:?}"))
    };
    assert_eq!(of("once")["once"]["error"], false, "{}", of("once"));
    assert_eq!(home.read("work/once.txt"), "the text of once.txt\n");
    let no = &of("no")["no"];
    assert!(no["error"] == true && no["text"].as_str().unwrap().contains("not that one"), "{no}");
    assert_eq!(of("declined")["declined"]["error"], true);
    assert!(!work.join("no.txt").exists() && !work.join("declined.txt").exists());
    let (asked, path) = (&of("asked")["asked"], work.join("once.txt"));
    let message = asked["message"].as_str().unwrap();
    assert!(message.contains(&format!("  write {}\n", path.display())), "{message}");
    assert!(message.contains("    the text of once.txt\n"), "{message}");
    let choices =
        ["Allow once", "Allow for this session: Edit(/once.txt)", "Allow for this session: Edit(/**)", "No"];
    assert_eq!(asked["choices"], json!(choices));
    let session: Vec<&Value> = seen.iter().filter(|line| line.get("session").is_some()).collect();
    // The second command is asked about no more.
    assert_eq!(session, [&json!({"session": false, "questions": 4}); 2]);
    assert!(work.join("one").is_dir() && work.join("two").is_dir());
}

#[test]
fn nothing_but_the_protocol_is_on_stdout_and_all_ends_with_stdin() {
    let home = workspace();
    let mark = mark(5);
    let bash = json!({"command": format!("sleep 86403{mark}"), "run_in_background": true});
    let requests = [
        initialize(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "bash", "arguments": bash}}),
    ];
    let input: String = requests.iter().map(|request| format!("{request}\n")).collect();
    let Output { status, stdout, stderr } = home.bounded(&["mcp", "serve"], &input);
    assert_eq!(status.code(), Some(0), "{}", String::from_utf8_lossy(&stderr));
    let stdout = String::from_utf8(stdout).unwrap();
    let answers: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.iter().map(|answer| &answer["id"]).collect::<Vec<_>>(), [1, 2], "{stdout}");
    assert_eq!(answers[1]["result"]["isError"], false, "{stdout}");
    assert!(!runs(&format!("sleep 86403{mark}")));
}

/// The answers to these requests behind the greeting.
fn asked(home: &Home, requests: &[Value]) -> Vec<Value> {
    let greeting = [initialize(), json!({"jsonrpc": "2.0", "method": "notifications/initialized"})];
    let input: String = greeting.iter().chain(requests).map(|request| format!("{request}\n")).collect();
    // The input stays open until the last answer is there: its end is the end of all calls.
    let mut child = home.start_bounded(&["mcp", "serve", "--generation", "gen4"]);
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    stdin.write_all(input.as_bytes()).unwrap();
    let answers = stdout.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap());
    let answers: Vec<Value> = answers.skip(1).take(requests.len()).collect();
    drop(stdin);
    child.wait().unwrap();
    answers
}

#[test]
fn tools_that_ask_models_ask_the_user_s_or_are_not_there() {
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let names = |answer: &Value| {
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let home = workspace();
    let without = names(&asked(&home, std::slice::from_ref(&list))[0]);
    assert!(without.iter().any(|name| name == "read_pdf"), "{without:?}");
    assert!(!without.iter().any(|name| name == "image" || name == "web_search"), "{without:?}");
    let models = Models::start(vec![Turn::reply(vec![text("A dot.")])]).unwrap();
    let config = format!(
        "[providers.eyes]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nkey = \"sk-eyes-0123456789\"\n[agent]\nimage_model = \"eyes,m\"\n",
        models.url("/v1")
    );
    home.write(".config/switchrail/config.toml", &config);
    let look = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "image", "arguments": {"image": "dot.png"}}});
    let answers = asked(&home, &[list, look]);
    assert!(names(&answers[0]).iter().any(|name| name == "image"), "{answers:?}");
    let said = answers[1]["result"]["content"].to_string();
    assert!(said.contains("A dot.") && said.contains("eyes/m"), "{answers:?}");
}

#[test]
fn it_ends_at_a_signal_with_all_that_runs() {
    let home = workspace();
    let mark = mark(6);
    let mut child = home.start_bounded(&["mcp", "serve"]);
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let command = format!("echo begun; sleep 86404{mark}");
    let params = json!({"name": "bash", "arguments": {"command": command}, "_meta": {"progressToken": 1}});
    writeln!(stdin, "{}", initialize()).unwrap();
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}))
        .unwrap();
    let mut line = String::new();
    while !line.contains("begun") {
        line.clear();
        assert!(stdout.read_line(&mut line).unwrap() > 0, "it has left");
    }
    terminate(&child);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!runs(&format!("sleep 86404{mark}")));
}

#[test]
fn others_than_this_machine_need_a_key() {
    let home = Home::new().set("RAIL_TEST_KEY", "right").set("RAIL_EMPTY_KEY", " ");
    let cases: [(&[&str], &str); 3] = [
        (&["--listen", "0.0.0.0:0"], "can be reached from other machines, and there is no key"),
        (&["--listen", "127.0.0.1:0", "--key", "right"], "--key: write `env:NAME`"),
        (
            &["--listen", "127.0.0.1:0", "--key", "env:RAIL_EMPTY_KEY"],
            "the variable RAIL_EMPTY_KEY is not set",
        ),
    ];
    for (flags, told) in cases {
        let said = home.said(&[&["mcp", "serve"][..], flags].concat(), "");
        assert!(said.contains(told) && said.ends_with("exit 2\n"), "{said}");
    }
    let mut server = Server::start(&home, &["--listen", "127.0.0.1:0", "--key", "env:RAIL_TEST_KEY"]);
    for (key, status) in
        [("", 401), ("Authorization: Bearer wrong\r\n", 401), ("Authorization: Bearer right\r\n", 200)]
    {
        assert_eq!(server.post(&format!("Host: localhost\r\n{key}")), status, "{key}");
    }
    server.terminate();
}

#[test]
fn no_page_reaches_it() {
    let home = Home::new();
    let mut server = Server::start(&home, &["--listen", "127.0.0.1:0", "--host", "dev.example"]);
    let cases = [
        ("Host: 127.0.0.1\r\n", 200),
        ("Host: dev.example\r\n", 200),
        ("Host: evil.example\r\n", 403),
        ("Host: localhost\r\nHost: evil.example\r\n", 400),
        ("", 400),
        ("Host: localhost\r\nOrigin: https://evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: null\r\n", 403),
    ];
    for (headers, status) in cases {
        assert_eq!(server.post(headers), status, "{headers}");
    }
    server.terminate();
}

fn initialize() -> Value {
    let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}

/// A server over HTTP.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(home: &Home, flags: &[&str]) -> Self {
        let mut child = home.start_bounded(&[&["mcp", "serve"][..], flags].concat());
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let told = lines.find_map(|line| Some(line.unwrap().split_once("http://")?.1.to_owned())).unwrap();
        Self { child, address: told.trim_end_matches("/mcp").to_owned() }
    }

    /// The status of a greeting with these headers.
    fn post(&self, headers: &str) -> u16 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = initialize().to_string();
        let length = body.len();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\n{headers}Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        std::str::from_utf8(&head[9..]).unwrap().parse().unwrap()
    }

    fn terminate(&mut self) {
        terminate(&self.child);
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

/// The child is `timeout`, which passes the signal on.
fn terminate(child: &Child) {
    kill_process(Pid::from_child(child), Signal::TERM).unwrap();
}

/// Whether a process of these words runs.
fn runs(words: &str) -> bool {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let of = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
    all.filter_map(of).any(|words_of| String::from_utf8_lossy(&words_of).replace('\0', " ").contains(words))
}
