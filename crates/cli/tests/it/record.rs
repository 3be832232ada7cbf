//! `rail record` and `rail replay`: what was answered once is answered again, with nobody there.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;

use rail_model::ProtocolId;
use rail_testkit::{Models, Turn, text};

use crate::home::Home;
use crate::scratch::is_private;

const KEY: &str = "sk-0123456789abcdef";

/// A program that asks an Anthropic API as its SDK would find it, for what it is given.
const PROGRAM: &str = r#"
address=${ANTHROPIC_BASE_URL#http://}
body='{"model": "any", "max_tokens": 9, "messages": [{"role": "user", "content": "'$1'"}]}'
exec 3<>/dev/tcp/${address%:*}/${address#*:}
printf 'POST /v1/messages HTTP/1.1\r\nhost: %s\r\nx-api-key: %s\r\nanthropic-version: 2023-06-01\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s' "$address" "$ANTHROPIC_API_KEY" ${#body} "$body" >&3
grep -o '"type":"text","text":"[^"]*"\|"message":"[^"]*"' <&3
exit $2
"#;

/// A home whose only model answers what these turns say.
fn home(turns: Vec<Turn>) -> (Home, Models) {
    let models = Models::start(turns).unwrap();
    let config = format!(
        "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nkey = \"{KEY}\"\nmodels = [\"m\"]\n[router]\ndefault = \"p,m\"\n",
        models.base_url(ProtocolId::new("openai-chat"))
    );
    let home = Home::with(&config).set("PATH", "/usr/bin:/bin");
    home.write("ask.sh", PROGRAM);
    (home, models)
}

/// What `rail` says when it runs the program with these arguments.
fn asked(home: &Home, rail: &[&str], what: &str, code: &str) -> String {
    let args = [rail, &["--", "bash", "../ask.sh", what, code]].concat();
    home.said(&args, "")
}

#[test]
fn what_was_recorded_is_played_again_with_nobody_there() {
    let (home, models) = home(vec![Turn::reply(vec![text(format!("Hello. {KEY}"))])]);
    insta::assert_snapshot!(asked(&home, &["record", "--out", "c.jsonl"], "hi", "0"), @r#"
    "type":"text","text":"Hello. sk-0123456789abcdef"
    rail: 1 exchange in c.jsonl
    "#);
    drop(models);
    assert!(!home.read("work/c.jsonl").contains(KEY));
    assert!(is_private(&home.path("work/c.jsonl")));
    // Nothing else is left in the folder.
    assert_eq!(fs::read_dir(home.path("work")).unwrap().count(), 1);
    insta::assert_snapshot!(asked(&home, &["replay", "c.jsonl"], "hi", "3"), @r#"
    "type":"text","text":"Hello. *******************"
    exit 3
    "#);
    let missing = asked(&home, &["replay", "c.jsonl"], "ho", "0");
    let expected = "has no answer left for POST /chat/completions: exchange 0 comes nearest, and differs in $.messages[0].content";
    assert!(missing.contains(expected), "{missing}");
    insta::assert_snapshot!(asked(&home, &["replay", "--in-order", "c.jsonl"], "ho", "0"), @r#"
    "type":"text","text":"Hello. *******************"
    "#);
}

#[test]
fn a_recording_replaces_no_file_and_leaves_none_without_need() {
    let (home, _models) = home(Vec::new());
    home.write("work/there.jsonl", "mine");
    insta::assert_snapshot!(asked(&home, &["record", "--out", "there.jsonl"], "hi", "0"), @"
    rail: there.jsonl is there already, and a recording never replaces a file
    exit 2
    ");
    assert_eq!(home.read("work/there.jsonl"), "mine");
    insta::assert_snapshot!(home.said(&["record", "--", "true"], ""), @"rail: no provider was asked, so there is no cassette");
    insta::assert_snapshot!(home.said(&["record", "--", "no-such-program"], ""), @"
    rail: `no-such-program` can't be started: No such file or directory (os error 2)
    exit 2
    ");
    assert_eq!(fs::read_dir(home.path("work")).unwrap().count(), 1);
}

#[test]
fn what_is_no_cassette_is_told_at_once() {
    let (home, _models) = home(Vec::new());
    home.write("work/c.jsonl", "{}\n");
    insta::assert_snapshot!(home.said(&["replay", "c.jsonl"], ""), @"
    rail: the cassette c.jsonl is damaged in line 1: it is no head of a cassette: missing field `cassette` at line 1 column 2
    exit 2
    ");
    insta::assert_snapshot!(home.said(&["replay", "none.jsonl"], ""), @"
    rail: the cassette none.jsonl can't be read: No such file or directory (os error 2)
    exit 2
    ");
}

#[test]
fn a_cassette_is_served_until_ctrl_c() {
    let (home, models) = home(vec![Turn::reply(vec![text("Hello.")])]);
    asked(&home, &["record", "--out", "c.jsonl"], "hi", "0");
    drop(models);
    let mut child = home.start(&["replay", "c.jsonl", "--listen", "127.0.0.1:0"]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let at = line.find("http://").unwrap() + "http://".len();
    let address = line[at..].split(": ").next().unwrap();
    let body = r#"{"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "generationConfig": {"maxOutputTokens": 9}}"#;
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /v1beta/models/any:generateContent HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("Hello."), "{answer}");
    #[expect(clippy::disallowed_methods, reason = "a signal is sent by another process, as a terminal does")]
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
