//! All that the binary prints of one small task, in each format: an answer, an edit, a command that is not allowed, a target that fails.

use rail_model::{ApiError, ErrorKind, ProtocolId};
use rail_testkit::{Models, Turn, call, text};
use serde_json::{Value, json};

use crate::headless::lines;
use crate::home::Home;

const HI: &str = "fn main() {\n    println!(\"hi\");\n}\n";

/// A target that always fails in front of one that answers.
fn scene() -> (Home, [Models; 2]) {
    let broken = Models::start(vec![Turn::error(ApiError::new(ErrorKind::Server, "out of order")).repeat()]);
    let good = Models::start(vec![
        Turn::reply(vec![text("I look first."), call("Read", json!({"file_path": "main.rs"}))]),
        Turn::reply(vec![call(
            "Edit",
            json!({"file_path": "main.rs", "old_string": "\"hi\"", "new_string": "\"hello\""}),
        )]),
        Turn::reply(vec![call("Bash", json!({"command": "touch made.txt"}))]),
        Turn::reply(vec![text("It says hello now. I was not allowed to touch a file.")]),
    ]);
    let (broken, good) = (broken.unwrap(), good.unwrap());
    let provider = |name: &str, models: &Models| {
        let url = models.base_url(ProtocolId::new("anthropic"));
        format!(
            "[providers.{name}]\nprotocol = \"anthropic\"\nbase_url = \"{url}\"\nkey = \"k\"\nretry = {{ tries = 0 }}\nmodels = [\"m\"]\n"
        )
    };
    let config = format!(
        "{}{}[router]\ndefault = \"broken,m;good,m\"\ncoding = \"broken,m;good,m\"\n",
        provider("broken", &broken),
        provider("good", &good)
    );
    let home = Home::with(&config).set("PATH", "/usr/local/bin:/usr/bin:/bin");
    home.write("work/main.rs", HI);
    (home, [broken, good])
}

/// What differs from run to run is told by its name; an answer comes in as many pieces as the network made of it.
fn printed(format: &str) -> String {
    let (home, models) = scene();
    let args = ["-p", "Say hello.", "--permission-mode", "accept-edits", "--output-format", format];
    let output = home.bounded(&args, "");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(home.read("work/main.rs"), HI.replace("hi", "hello"));
    let mut printed = lines(&output.stdout);
    let session = session(&printed);
    let folder = home.path("").canonicalize().unwrap();
    let folder = folder.to_str().unwrap().trim_end_matches('/').to_owned();
    let mut names = vec![(folder, "HOME"), (session, "SESSION")];
    names.extend(
        models.iter().zip(["BROKEN", "GOOD"]).map(|(models, name)| (models.addr().to_string(), name)),
    );
    printed.iter_mut().for_each(|value| masked(value, &names));
    join_pieces(&mut printed);
    let shown = |value: &Value| if format == "json" { format!("{value:#}") } else { value.to_string() };
    printed.iter().map(shown).collect::<Vec<_>>().join("\n")
}

fn session(printed: &[Value]) -> String {
    let first = &printed[0];
    let id = first["session_id"].as_str().or_else(|| first["data"]["id"].as_str());
    id.unwrap_or_else(|| panic!("{first}")).to_owned()
}

/// Figures that depend on the clock, or on how long the path of the scratch folder is.
const FIGURES: [&str; 5] = ["duration_ms", "duration_api_ms", "api_ms", "tokens", "seq"];

fn masked(value: &mut Value, names: &[(String, &str)]) {
    match value {
        Value::String(text) => {
            for (what, name) in names {
                *text = text.replace(what, name);
            }
            if text.starts_with("msg_") {
                *text = "MESSAGE".to_owned();
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|value| masked(value, names)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match key.as_str() {
                    "uuid" => *value = "UUID".into(),
                    "rail_version" => *value = "VERSION".into(),
                    key if FIGURES.contains(&key) && value.is_number() => *value = "N".into(),
                    _ => masked(value, names),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Pieces of one text become one.
fn join_pieces(printed: &mut Vec<Value>) {
    let is_text = |value: &Value| value["type"] == "text" && value["data"]["text"].is_string();
    let mut joined: Vec<Value> = Vec::new();
    for value in printed.drain(..) {
        match joined.last_mut() {
            Some(last) if is_text(last) && is_text(&value) => {
                let text =
                    [&*last, &value].map(|value| value["data"]["text"].as_str().unwrap().to_owned()).concat();
                last["data"]["text"] = text.into();
            }
            Some(_) | None => joined.push(value),
        }
    }
    *printed = joined;
}

#[test]
fn golden_json() {
    insta::assert_snapshot!("golden_json", printed("json"));
}

#[test]
fn golden_stream_json() {
    insta::assert_snapshot!("golden_stream_json", printed("stream-json"));
}

#[test]
fn golden_events() {
    insta::assert_snapshot!("golden_events", printed("events"));
}

#[test]
fn what_is_piped_in_stands_behind_the_prompt() {
    for (prompt, piped, expected) in [
        (Some("review this"), "+ a line\n", "review this\n\n+ a line\n"),
        (None, "do it\n", "do it\n"),
        (Some("just this"), " \n", "just this"),
    ] {
        let (models, home) = crate::headless::scene(vec![crate::headless::say("Seen.")]);
        let args: Vec<&str> = ["-p"].into_iter().chain(prompt).collect();
        assert!(home.bounded(&args, piped).status.success());
        let asked = models.requests().remove(0);
        let body: Value = serde_json::from_slice(&asked.call.body).unwrap();
        let said = body["messages"].as_array().unwrap();
        assert_eq!(said.len(), 1, "{body}");
        let content = &said[0]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str()).unwrap();
        assert_eq!((said[0]["role"].as_str(), text), (Some("user"), expected));
    }
}
