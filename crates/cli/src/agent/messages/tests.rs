//! Scripted events, and the messages that come of them.

use rail_model::{
    CallId, CallKind, Media, MediaKind, MediaSource, Message, Opaque, Part, PartBody, ProtocolId, Role, Seal,
    ToolCall, ToolResult, Usage,
};
use rail_proto::{
    Compacted, Done, Finish, Mode, NoteKind, Opened, Prompt, Reason, Routed, SessionEvent, Spent, ToolEnd,
    ToolStart, Window,
};
use serde_json::{Value, json};

use super::{Messages, Sources, Telling};

const CALL: &str = "call_1";

fn messages(telling: Telling) -> Messages {
    let mut next = 0;
    let ids = move || {
        next += 1;
        format!("id-{next}")
    };
    let naming = |name: &str| if name == "bash" { "Bash".to_owned() } else { name.to_owned() };
    let servers = vec!["calc".to_owned()];
    Messages::new(telling, Sources { ids: Box::new(ids), naming: Box::new(naming), servers })
}

/// All messages of these events, one a line.
fn told(telling: Telling, events: &[SessionEvent]) -> String {
    let mut messages = messages(telling);
    let lines: Vec<String> =
        events.iter().flat_map(|event| messages.event(event)).map(|line| line.to_string()).collect();
    lines
        .join("\n")
        .replace(concat!("\"rail_version\":\"", env!("CARGO_PKG_VERSION"), "\""), "\"rail_version\":\"0\"")
}

fn opened() -> SessionEvent {
    SessionEvent::Opened(Opened {
        id: "s-1".to_owned(),
        cwd: "/w".to_owned(),
        tools: vec!["bash".to_owned(), "mcp__calc__add".to_owned()],
        commands: vec!["compact".to_owned()],
        ..Opened::default()
    })
}

fn routed(step: u64) -> [SessionEvent; 2] {
    let routed = Routed { step, target: "one,big".to_owned(), ..Routed::default() };
    [SessionEvent::Asking { step }, SessionEvent::Routed(routed)]
}

fn spent(step: u64) -> SessionEvent {
    let usage = Usage {
        input: Some(10),
        cache_read: Some(5),
        output: Some(3),
        reasoning: Some(1),
        ..Usage::default()
    };
    let window = Window { tokens: 18, limit: Some(1000) };
    SessionEvent::Spent(Spent {
        step,
        target: "one,big".to_owned(),
        usage,
        cost_usd: Some(0.5),
        window,
        duration_ms: 7,
        aside: None,
    })
}

fn said(step: u64, parts: Vec<Part>) -> SessionEvent {
    SessionEvent::Said { step, message: Message::new(Role::Assistant, parts) }
}

fn call() -> Part {
    Part::new(PartBody::ToolCall(ToolCall {
        id: CallId::Given(CALL.to_owned()),
        name: "bash".to_owned(),
        arguments: r#"{"command":"ls"}"#.to_owned(),
        kind: CallKind::Function,
    }))
}

fn thought() -> Part {
    let seal = Some(Seal { issuer: "anthropic".to_owned(), data: "sig".to_owned() });
    Part { seal, ..Part::new(PartBody::Thinking("Hm.".to_owned())) }
}

fn image() -> Part {
    Part::new(PartBody::Media(Media {
        kind: MediaKind::Image,
        mime: Some("image/png".to_owned()),
        source: MediaSource::Base64("AA==".to_owned()),
        name: None,
    }))
}

fn ended(end: Finish, content: Vec<Part>) -> [SessionEvent; 2] {
    let start = ToolStart {
        step: 1,
        id: CALL.to_owned(),
        name: "bash".to_owned(),
        title: "Bash".to_owned(),
        input: json!({"command": "ls"}),
    };
    let success = end == Finish::Done;
    let result = ToolResult {
        id: CallId::Given(CALL.to_owned()),
        name: None,
        content,
        is_error: Some(!success),
        kind: CallKind::Function,
    };
    let end = ToolEnd { step: 1, result, success, end, shown: None, duration_ms: 4 };
    [SessionEvent::ToolStart(start), SessionEvent::ToolEnd(end)]
}

fn done(reason: Reason, text: &str, denials: Vec<(String, String)>) -> SessionEvent {
    SessionEvent::Done(Done {
        reason,
        text: text.to_owned(),
        turns: 2,
        cost_usd: 1.0,
        duration_ms: 20,
        api_ms: 14,
        denials,
    })
}

fn piece(text: &str) -> SessionEvent {
    SessionEvent::Text { step: 1, text: text.to_owned() }
}

fn thinking(text: &str) -> SessionEvent {
    SessionEvent::Thinking { step: 1, text: text.to_owned() }
}

#[test]
fn a_task_with_a_call() {
    let mut events = vec![opened()];
    events.extend(routed(1));
    events.extend([
        piece("I lo"),
        piece("ok."),
        said(1, vec![thought(), Part::text("I look."), call()]),
        spent(1),
    ]);
    events.extend(ended(Finish::Done, vec![Part::text("a.txt")]));
    events.extend(routed(2));
    events.extend([
        said(2, vec![Part::text("One file.")]),
        spent(2),
        done(Reason::Answered, "One file.", Vec::new()),
    ]);
    insta::assert_snapshot!(told(Telling::default(), &events));
}

#[test]
fn answers_while_they_are_written() {
    let mut events = vec![opened()];
    events.extend(routed(1));
    events.extend([piece("Wrong"), SessionEvent::Restarted { step: 1, why: "it broke".to_owned() }]);
    events.extend([
        thinking("H"),
        thinking("m."),
        piece("I look."),
        said(1, vec![thought(), Part::text("I look."), call()]),
        spent(1),
    ]);
    events.extend(routed(2));
    events.extend([said(2, vec![Part::text("Not streamed.")]), spent(2)]);
    insta::assert_snapshot!(told(Telling { partial: true, replay: false }, &events));
}

#[test]
fn what_is_denied_and_what_is_an_image() {
    let mut events = vec![opened()];
    events.extend(ended(Finish::Denied, vec![Part::text("not allowed")]));
    events.extend(ended(Finish::Done, vec![Part::text("see"), image()]));
    events.extend(ended(Finish::Done, Vec::new()));
    events.push(done(
        Reason::Answered,
        "No.",
        vec![("bash".to_owned(), "allow it by `--allow 'Bash(ls:*)'`".to_owned())],
    ));
    insta::assert_snapshot!(told(Telling::default(), &events));
}

#[test]
fn every_end_has_its_subtype() {
    let all = [
        Reason::Answered,
        Reason::TurnLimit,
        Reason::Budget,
        Reason::Refused,
        Reason::Interrupted,
        Reason::Failed,
    ];
    let mut messages = messages(Telling::default());
    let results = all.map(|reason| {
        let result: Value = messages.event(&done(reason, "words", Vec::new())).remove(0);
        let keys = ["reason", "subtype", "is_error", "result", "errors", "total_cost_usd"];
        keys.map(|key| result.get(key).map_or("-".to_owned(), Value::to_string)).join(" ")
    });
    insta::assert_snapshot!(results.join("\n"), @r#"
    "answered" "success" false "words" - 1.0
    "turn_limit" "error_max_turns" true "words" ["words"] 2.0
    "budget" "error_max_budget_usd" true "words" ["words"] 3.0
    "refused" "error_during_execution" true "words" ["words"] 4.0
    "interrupted" "error_during_execution" true "words" ["words"] 5.0
    "failed" "error_during_execution" true "words" ["words"] 6.0
    "#);
}

#[test]
fn what_else_is_told() {
    let prompt = Prompt { id: Some("own".to_owned()), parts: vec![Part::text("Look."), image()] };
    let opaque = |value| Part::new(PartBody::Opaque(Opaque { origin: ProtocolId::new("gemini"), value }));
    let events = [
        opened(),
        SessionEvent::Prompted(prompt),
        SessionEvent::Note { kind: NoteKind::Loop, text: "not told".to_owned() },
        SessionEvent::Mode(Mode::AcceptEdits),
        SessionEvent::Compacted(Compacted { before: 9, after: 3, by: None, asked_for: true }),
        said(
            3,
            vec![
                opaque(json!({"type": "own", "a": 1})),
                opaque(json!({"executableCode": 1})),
                Part::new(PartBody::Redacted(Seal {
                    issuer: "anthropic".to_owned(),
                    data: "xyz".to_owned(),
                })),
                Part::new(PartBody::ToolCall(ToolCall {
                    id: CallId::Minted("m".to_owned()),
                    name: "patch".to_owned(),
                    arguments: "*** free text".to_owned(),
                    kind: CallKind::Custom,
                })),
            ],
        ),
        // An answer without its costs is told all the same.
        SessionEvent::Closed,
    ];
    insta::assert_snapshot!(told(Telling { partial: false, replay: true }, &events));
}
