//! The binary, as a person would use it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use rail_wire::HttpCall;
use serde_json::{Value, json};

use crate::client::Client;

#[expect(clippy::disallowed_methods, reason = "the binary is what is tested, and this is no product code")]
fn binary(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_scripted-model"));
    command.args(arguments);
    command
}

/// Ends the process even when the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn refused(arguments: &[&str]) -> String {
    let Output { status, stderr, .. } = binary(arguments).output().unwrap();
    assert_eq!(status.code(), Some(2));
    String::from_utf8(stderr).unwrap()
}

#[test]
fn it_says_where_it_listens_and_what_it_serves() {
    let file = std::env::temp_dir().join(format!("rail-scripted-model-{}.json", std::process::id()));
    std::fs::write(&file, r#"[{"text": "Hello"}, {"echo": true, "repeat": true}]"#).unwrap();
    let mut command = binary(&["--listen=127.0.0.1:0", "--script", file.to_str().unwrap()]);
    let mut running = Running(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(running.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.next().unwrap().strip_prefix("listening on http://").unwrap().to_owned();
    let said: Vec<String> = lines.by_ref().take(5).collect();
    assert!(said[0].ends_with(&format!(": http://{url}")), "{said:?}");
    assert!(said[1].ends_with(&format!(": http://{url}/v1")), "{said:?}");

    let mut client = Client::to(url.parse().unwrap());
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Anybody?"}]});
    for text in ["Hello", "Anybody?", "Anybody?"] {
        let call = HttpCall::post("/v1/messages", body.to_string().into_bytes());
        let answer: Value = serde_json::from_slice(&client.call(&call).reply.body).unwrap();
        assert_eq!(answer["content"][0]["text"], text);
    }
    let line = "#0 POST /v1/messages (anthropic, Generate, 78 bytes) model m, 1 messages of 1 parts, 0 tools; turn 0";
    assert_eq!(lines.next().unwrap(), line);
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn it_names_what_is_wrong_with_its_arguments() {
    let help = binary(&["--help"]).output().unwrap();
    assert!(
        help.status.success() && String::from_utf8(help.stdout).unwrap().contains("Usage: scripted-model")
    );
    assert_eq!(
        refused(&["--port", "1"]),
        "scripted-model: unknown argument `--port`; `scripted-model --help` lists them\n"
    );
    assert_eq!(refused(&["--script"]), "scripted-model: --script needs a value\n");
    assert_eq!(
        refused(&["--listen", "8080"]),
        "scripted-model: --listen: `8080` is no address such as 127.0.0.1:8080\n"
    );
    assert!(refused(&["--script", "/nowhere.json"]).starts_with("scripted-model: /nowhere.json: "));
}
