use std::time::Duration;

use rail_ledger::Ending;
use rail_model::{ErrorKind, Json, Loss};
use rail_route::Explanation;
use rail_upstream::{Fix, Outcome};
use serde_json::Value;

use super::world::{AT, CONFIGURATION, Lines, came, entry, failed, loaded, observe, sending, sent};
use super::*;

fn explanation() -> Explanation {
    Explanation {
        asked: "claude-opus-4-5".to_owned(),
        virtual_model: Some("coding".to_owned()),
        why: "it has tools".to_owned(),
        facts: rail_route::FactsShown {
            tokens: 1,
            max_output: None,
            images: 0,
            last_images: 0,
            image_read: None,
            tools: 0,
            web_tools: 0,
            image_tools: 0,
            server_search: None,
            web_called: None,
            thinking: false,
            thinking_asked: "unsaid",
            in_tool_loop: false,
            purpose: "main",
            client: String::new(),
            session: String::new(),
        },
        attempts: Vec::new(),
        skipped: Vec::new(),
    }
}

/// Events as pairs of name and data.
fn read(coming: &mut tokio::sync::mpsc::Receiver<bytes::Bytes>) -> Vec<(String, Value)> {
    let event = |bytes: bytes::Bytes| {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
        (line("event: "), serde_json::from_str(&line("data: ")).unwrap())
    };
    std::iter::from_fn(|| coming.try_recv().ok()).map(event).collect()
}

/// All that a request may meet on its way.
fn adventures() -> Vec<Note> {
    let target = || "p,a".parse().unwrap();
    let because = || "it says \"no\"".to_owned();
    let fix = || Fix::Drop { path: "seed".to_owned() };
    vec![
        Note::Deferred { target: target() },
        Note::Probing { target: target() },
        sending("p,a"),
        failed("p,a", "HTTP 503: overloaded"),
        Note::CircuitOpened { target: target(), because: because() },
        Note::Retrying { target: target(), wait: Duration::from_millis(250) },
        Note::Fixing { target: target(), fix: fix(), because: because() },
        Note::Learned { target: target(), fix: fix(), because: because() },
        Note::Refused { target: target(), kind: ErrorKind::Authentication, because: because() },
        sending("p,b"),
        Note::NotKept { problem: "no space left".to_owned() },
        Note::Lost { target: target(), loss: Loss::new("top_k", "not known there") },
        sent("p,b", Outcome::Answered),
    ]
}

#[tokio::test]
async fn events_tell_a_request_in_order() {
    let (observe, _) = observe(CONFIGURATION);
    let mut reading = observe.events().read(None).unwrap();
    observe.came(&came("r1"));
    observe.routed("r1", &Json::of(&explanation()));
    adventures().iter().for_each(|note| observe.noted("r1", note));
    observe.ended(&entry("r1"));
    let events = read(&mut reading.coming);
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let notes = events.iter().filter(|(name, _)| name == "note");
    let kinds: Vec<&str> = notes.map(|(_, data)| data["kind"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["came", "routed"]);
    assert_eq!(names.last(), Some(&"ended"));
    assert_eq!(names.iter().filter(|name| **name == "health").count(), 1);
    insta::assert_snapshot!(kinds.join(" "), @"deferred probing sending sent circuit-opened retrying fixing learned refused sending not-kept lost sent");
    assert!(events.iter().all(|(name, data)| name == "health" || data["id"] == "r1"));
    let ended = &events.last().unwrap().1;
    assert_eq!((&ended["state"], &ended["cost_usd"]), (&"ended".into(), &serde_json::json!(0.0125)));
    assert_eq!(events[1].1["route"]["why"], "it has tools");
    assert_eq!(observe.flights().count(), 0);
}

#[tokio::test]
async fn nothing_is_made_for_nobody() {
    let observe = Observe::default();
    observe.came(&came("r1"));
    observe.routed("r1", &Json::of(&explanation()));
    observe.ended(&entry("r1"));
    assert!(!observe.events().are_wanted());
    observe.flush().await;
}

async fn logged(configuration: &str, tell: impl FnOnce(&Observe)) -> String {
    let (observe, lines): (Observe, Lines) = observe(configuration);
    tell(&observe);
    observe.flush().await;
    lines.text()
}

fn story(observe: &Observe) {
    observe.came(&came("r1"));
    adventures().iter().for_each(|note| observe.noted("r1", note));
    observe.ended(&entry("r1"));
    let problem = Some("no target could answer".to_owned());
    let broken = Entry {
        ending: Ending::Failed,
        status: 503,
        target: None,
        problem,
        repairs: Vec::new(),
        losses: Vec::new(),
        ..entry("r2")
    };
    observe.ended(&broken);
    let problem = Some("this key is not known here".to_owned());
    observe.ended(&Entry {
        ending: Ending::Refused,
        status: 401,
        total_ms: 1,
        problem,
        asked: String::new(),
        ..broken
    });
}

/// Remarks are told with the time of day, which is not the same in each run.
fn timeless(log: &str) -> String {
    let line = |line: &str| line.split_once("Z ").map_or(line.to_owned(), |(_, rest)| rest.to_owned());
    log.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn the_log_for_people() {
    let log = logged(CONFIGURATION, story).await;
    assert!(log.contains("12:34:58Z answered"), "{log}");
    insta::assert_snapshot!(timeless(&log));
}

#[tokio::test]
async fn the_quiet_log_tells_what_is_wrong() {
    let configuration = format!("{CONFIGURATION}\n[gateway]\nlog = \"quiet\"");
    insta::assert_snapshot!(timeless(&logged(&configuration, story).await));
}

#[tokio::test]
async fn the_log_as_json() {
    let configuration = format!("{CONFIGURATION}\n[gateway]\nlog = \"json\"");
    let log = logged(&configuration, story).await;
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let words: Vec<String> =
        lines.iter().map(|line| format!("{} {}", line["level"], line["event"])).collect();
    insta::assert_snapshot!(words.join("\n"));
    let request = log.lines().find(|line| line.contains("\"event\":\"request\"")).unwrap();
    insta::assert_snapshot!(request);
}

#[tokio::test]
async fn nobody_outside_can_write_lines_or_move_the_cursor() {
    let hostile = "x\r\n12:00:00Z answered 200 forged\u{1b}[2J\u{9b}31m\u{202e}\u{2028}\u{7f}";
    for how in ["text", "json"] {
        let configuration = format!("{CONFIGURATION}\n[gateway]\nlog = \"{how}\"");
        let log = logged(&configuration, |observe| {
            observe.came(&came("r1"));
            observe.noted("r1", &sending("p,a"));
            observe.noted("r1", &failed("p,a", hostile));
            observe.noted("r1", &sending("p,b"));
            let asked = hostile.to_owned();
            observe.ended(&Entry {
                asked: asked.clone(),
                client: asked.clone(),
                problem: Some(asked.clone()),
                target: Some(asked.clone()),
                id: asked.clone(),
                losses: vec![asked],
                ..entry("r1")
            });
        })
        .await;
        assert_eq!(log.lines().count(), 4, "{log}");
        let odd = |c: char| c != '\n' && (c.is_control() || ('\u{2028}'..='\u{202e}').contains(&c));
        assert!(!log.contains(odd), "{log:?}");
        assert!(log.contains("forged"));
    }
}

#[tokio::test]
async fn no_secret_is_told_to_anybody() {
    let secrets = ["configured-key-of-p", "sk-live-1234567890abcdef", "rail_0123456789ab_0123456789abcdef"];
    let said = secrets.join(" and ");
    let (observe, lines) = observe(CONFIGURATION);
    let mut reading = observe.events().read(None).unwrap();
    observe.came(&came("r1"));
    observe.noted("r1", &sending("p,a"));
    observe.noted("r1", &failed("p,a", &said));
    observe.noted("r1", &sending("p,b"));
    observe.noted(
        "r1",
        &Note::Refused {
            target: "p,a".parse().unwrap(),
            kind: ErrorKind::Authentication,
            because: said.clone(),
        },
    );
    observe.ended(&Entry {
        problem: Some(said.clone()),
        asked: said.clone(),
        losses: vec![said.clone()],
        ..entry("r1")
    });
    observe.flush().await;
    let events: Vec<String> = read(&mut reading.coming).iter().map(|(_, data)| data.to_string()).collect();
    let all = format!("{}\n{}", lines.text(), events.join("\n"));
    assert!(all.matches("*** and *** and ***").count() >= 6, "{all}");
    for secret in secrets {
        assert!(!all.contains(secret), "{all}");
    }
}

#[tokio::test]
async fn a_change_of_the_configuration_is_followed_and_told() {
    let (observe, lines) = observe(CONFIGURATION);
    let mut reading = observe.events().read(None).unwrap();
    let next = loaded(
        "[providers.n]\nprotocol = \"gemini\"\nbase_url = \"http://h/v1beta\"\nkey = \"the-next-secret\"\n[gateway]\nlog = \"json\"",
    );
    observe.changed(&Change::Loaded(Arc::new(next)));
    assert_eq!(observe.cover("the-next-secret configured-key-of-p"), "*** configured-key-of-p");
    observe.changed(&Change::Blind("too many watches".to_owned()));
    observe.flush().await;
    let events = read(&mut reading.coming);
    let told: Vec<(&str, &Value)> =
        events.iter().map(|(name, data)| (name.as_str(), &data["loaded"])).collect();
    assert_eq!(told, [("config-changed", &Value::Bool(true)), ("config-changed", &Value::Bool(false))]);
    let log = lines.text();
    assert!(log.lines().all(|line| line.starts_with('{')) && log.contains("too many watches"), "{log}");
}

#[tokio::test]
async fn a_log_that_nobody_reads_stops_no_request() {
    struct Stuck(std::sync::mpsc::Receiver<()>);
    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            // It comes back only when the test lets go.
            let _ = self.0.recv();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (let_go, stuck) = std::sync::mpsc::channel();
    let log = Log::start(Box::new(Stuck(stuck))).unwrap();
    let mask = Mask::default();
    for _ in 0..20_000 {
        log.ended(&entry("r1"), GatewayLog::Text, &mask);
    }
    assert!(log.lost() > 0);
    drop(let_go);
}

#[test]
fn the_time_of_records_is_theirs() {
    assert_eq!(crate::clock::written(AT), "2024-02-29T12:34:56.789Z");
}

#[tokio::test]
async fn a_quiet_log_tells_when_records_can_not_be_written() {
    let (observe, lines) = observe("[gateway]\nlog = \"quiet\"");
    observe.ledger(Some("the disk is full; make room on it"));
    observe.ledger(None);
    observe.flush().await;
    let told = lines.text();
    assert!(told.contains("records can't be written") && told.contains("the disk is full"), "{told}");
    assert_eq!(told.lines().count(), 1, "that it works again is nothing wrong: {told}");
}

#[test]
fn configured_secrets_are_covered_wherever_they_stand() {
    let loaded = loaded(
        r#"
        [providers.one]
        protocol = "openai-chat"
        base_url = "https://h/v1"
        key = "plain words and a \" quote"
        headers = { x-auth = "Basic in-a-header", x-title = "shown-here" }
        [gateway]
        ledger = "postgres://u:to-the-ledger@db/x"
        "#,
    );
    let mask = loaded.mask(["told-besides", "short"]);
    let text = r#"1 plain words and a " quote 2 plain words and a \" quote
        3 in-a-header 4 shown-here 5 to-the-ledger 6 told-besides 7 short"#;
    assert_eq!(mask.cover(text), "1 *** 2 ***\n        3 *** 4 shown-here 5 *** 6 *** 7 short");
}
