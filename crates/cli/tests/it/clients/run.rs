//! `rail run` with each client: its own configuration points elsewhere, and stays as it is.

use std::collections::BTreeMap;
use std::fs;

use super::person::{Person, check_ledger};
use super::table::{CLAUDE, CODEX, GEMINI, OPENCODE, QWEN, Tested};
use super::task::{Form, asked, good_model, provider};

/// The task through `rail run`, on a model of this protocol.
fn done_by_run(client: &'static Tested, protocol: &'static str) {
    let Some(person) = Person::with(client) else { return };
    let models = good_model(client, &person.files(), Form::Native);
    let person = person.configured(&[provider("p", protocol, &models)], "p,m");
    for (file, text) in client.own {
        person.write(file, text);
    }
    let own = || -> BTreeMap<&str, String> {
        client.own.iter().map(|(file, _)| (*file, fs::read_to_string(person.path(file)).unwrap())).collect()
    };
    let before = own();
    let mut command = person.rail(&["run", client.name, "--"]);
    command.args(client.args).arg("Make it blue in notes.txt");
    // What would lead it past the gateway.
    for name in
        ["ANTHROPIC_API_KEY", "CLAUDE_CODE_USE_BEDROCK", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_API_KEY"]
    {
        command.env(name, "1");
    }
    command.env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1").env("http_proxy", "http://127.0.0.1:9");
    let output = Person::outcome(command);
    person.check(&output);
    assert_eq!(asked(&models), [0, 1, 2, 3]);
    assert_eq!(own(), before);
    check_ledger(&person.ledger(), client, &["p,m"]);
    // Nothing is left of the folder with its files.
    let left = fs::read_dir(person.path("tmp")).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("rail-")).collect();
    assert_eq!(left, Vec::<std::ffi::OsString>::new());
}

#[test]
fn claude_code() {
    done_by_run(&CLAUDE, "gemini");
}

#[test]
fn codex() {
    done_by_run(&CODEX, "openai-chat");
}

#[test]
fn gemini_cli() {
    done_by_run(&GEMINI, "anthropic");
}

#[test]
fn qwen_code() {
    done_by_run(&QWEN, "openai-responses");
}

#[test]
fn opencode() {
    done_by_run(&OPENCODE, "gemini");
}
