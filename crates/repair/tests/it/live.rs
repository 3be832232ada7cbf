use std::sync::Arc;

use proptest::prelude::*;
use rail_model::{
    Assembler, CallId, CallKind, Delta, Event, Extras, Grammar, PartBody, PartKind, Reply, Stop, ToolCall,
};
use rail_repair::{CallFault, End, Note, Profile, SettleStage, Stage, settle};
use serde_json::{Value, json};

use crate::settle::{TOOLS, call, catalog, near_arguments, near_object};

fn started() -> Event {
    Event::Started { id: None, model: None, extras: Extras::NONE }
}

fn opened(at: usize, id: &str, name: &str) -> Event {
    let kind = PartKind::ToolCall {
        id: CallId::Given(id.to_owned()),
        name: name.to_owned(),
        kind: CallKind::Function,
    };
    Event::Opened { at, kind, extras: Extras::NONE }
}

fn piece(at: usize, text: &str) -> Event {
    Event::Delta { at, delta: Delta::Arguments(text.to_owned()), extras: Extras::NONE }
}

fn closed(at: usize) -> Event {
    Event::Closed { at, extras: Extras::NONE }
}

fn finished(stop: Stop) -> Event {
    Event::Finished { stop, extras: Extras::NONE }
}

/// What came out, event by event, and what was said.
struct Ran {
    events: Vec<Event>,
    notes: Vec<String>,
}

fn run(events: Vec<Event>) -> Ran {
    run_in(&mut SettleStage::new(Arc::new(catalog())), events)
}

fn run_in(stage: &mut SettleStage, events: Vec<Event>) -> Ran {
    let mut out = Vec::new();
    let mut notes = Vec::new();
    for event in events {
        stage.event(event, &mut out);
        notes.extend(stage.notes());
    }
    stage.finish(&mut out);
    notes.extend(stage.notes());
    let mut grammar = Grammar::default();
    for event in &out {
        grammar.accept(event).unwrap();
    }
    let notes = notes.iter().map(|note| match note {
        Note::Repaired { call, repair } => format!("{call}: {} {}", repair.step, repair.path),
        Note::Unknown { call, name, .. } => format!("{call}: unknown {name}"),
        Note::Incomplete { call, name } => format!("{call}: incomplete {name}"),
        Note::Invalid { call, problems } => {
            let problems: Vec<String> =
                problems.iter().map(|problem| format!("{} {}", problem.path, problem.what)).collect();
            format!("{call}: invalid {}", problems.join(", "))
        }
    });
    Ran { notes: notes.collect(), events: out }
}

impl Ran {
    fn reply(&self) -> Reply {
        let mut assembler = Assembler::default();
        self.events.iter().cloned().for_each(|event| assembler.push(event));
        assembler.finish().unwrap().unwrap()
    }

    fn calls(&self) -> Vec<ToolCall> {
        let bodies = self.reply().parts.into_iter().map(|part| part.body);
        bodies
            .filter_map(|body| match body {
                PartBody::ToolCall(call) => Some(call),
                PartBody::Text(_)
                | PartBody::Refusal(_)
                | PartBody::Thinking(_)
                | PartBody::Redacted(_)
                | PartBody::ToolResult(_)
                | PartBody::Media(_)
                | PartBody::Opaque(_) => None,
            })
            .collect()
    }

    /// `id name arguments` of each call.
    fn said(&self) -> Vec<String> {
        self.calls()
            .iter()
            .map(|call| format!("{} {} {}", call.id.as_str(), call.name, call.arguments))
            .collect()
    }

    fn pieces(&self) -> Vec<&str> {
        let text = self.events.iter().filter_map(|event| match event {
            Event::Delta { delta: Delta::Arguments(text), .. } => Some(text.as_str()),
            _ => None,
        });
        text.collect()
    }
}

/// One call whose arguments come in these pieces.
fn one(name: &str, pieces: &[&str], stop: Stop) -> Ran {
    let mut events = vec![started(), opened(0, "c1", name)];
    events.extend(pieces.iter().map(|text| piece(0, text)));
    events.extend([closed(0), finished(stop)]);
    run(events)
}

#[test]
fn strings_stream_and_the_rest_follows_mended() {
    let ran = one(
        "list_dir",
        &["{\"pa", "th\": \"s", "rc\\", "n/x", "\", \"depth\": ", "\"2\", \"recursive\": True", "}"],
        Stop::ToolUse,
    );
    assert_eq!(ran.pieces(), ["{\"path\": \"s", "rc", "\\n/x", "\",\"depth\":2,\"recursive\":true}"]);
    assert_eq!(ran.notes, ["c1: tolerant arguments", "c1: coerced arguments.depth"]);
}

#[test]
fn what_is_right_passes_byte_for_byte() {
    let text = " {\"path\" : \"a\", \"depth\": 2 }\n";
    let ran = one("list_dir", &[text], Stop::ToolUse);
    assert_eq!(ran.said(), [format!("c1 list_dir {text}")]);
    assert!(ran.notes.is_empty());
}

#[test]
fn a_quote_that_is_not_escaped_does_not_break_what_has_passed() {
    let ran = one("run_command", &["{\"command\": \"echo ", "\"hi\"", " && pwd\"}"], Stop::ToolUse);
    assert_eq!(ran.said(), ["c1 run_command {\"command\": \"echo \\\"hi\\\" && pwd\"}"]);
    assert_eq!(ran.pieces()[0], "{\"command\": \"echo ");
    let ran = one("list_dir", &["{\"path\": \"C:", "\\new\", 'depth': 1}"], Stop::ToolUse);
    assert_eq!(ran.said(), ["c1 list_dir {\"path\": \"C:\\\\new\",\"depth\":1}"]);
}

#[test]
fn a_cut_call_stays_visibly_cut_and_no_client_runs_it() {
    for (name, text, stop, kept) in [
        ("run_command", "{\"command\": \"rm -rf /tmp", Stop::ToolUse, "{\"command\": \"rm -rf /tmp"),
        ("run_command", "{\"command\": \"ls\"", Stop::ToolUse, "{\"command\": \"ls"),
        ("run_command", "{\"timeout_ms\": 1", Stop::MaxTokens, ""),
        ("list_dir", "{\"path\": \"x\"", Stop::MaxTokens, "{\"path\": \"x"),
        ("list_dir", "", Stop::MaxTokens, ""),
    ] {
        let ran = one(name, &[text], stop);
        assert_eq!(ran.said(), [format!("c1 {name} {kept}")], "{text}");
        assert_eq!(ran.reply().stop, Stop::MaxTokens, "{text}");
        assert_eq!(ran.notes, [format!("c1: incomplete {name}")], "{text}");
    }
    let ran = one("list_dir", &["{\"path\": \"x\""], Stop::ToolUse);
    assert_eq!(
        (ran.said(), ran.reply().stop),
        (vec!["c1 list_dir {\"path\": \"x\"}".to_owned()], Stop::ToolUse)
    );
    let ran = one("get_time", &[], Stop::EndTurn);
    assert_eq!((ran.said(), ran.notes), (vec!["c1 get_time {}".to_owned()], vec![]));
}

#[test]
fn a_further_part_says_that_the_call_before_it_was_not_cut() {
    let ran = run(vec![
        started(),
        opened(0, "c1", "list_dir"),
        piece(0, "{\"path\": \"x\""),
        closed(0),
        opened(1, "c2", "get_time"),
        closed(1),
        finished(Stop::MaxTokens),
    ]);
    assert_eq!(ran.said(), ["c1 list_dir {\"path\": \"x\"}", "c2 get_time "]);
    assert_eq!(ran.notes, ["c1: closed arguments", "c2: incomplete get_time"]);
}

#[test]
fn several_objects_in_one_slot_are_as_many_calls() {
    let ran = run(vec![
        started(),
        opened(0, "c1", "list_dir"),
        piece(0, "{\"path\": \"a\"}{\"path\": \"b\"}"),
        closed(0),
        opened(1, "c1_2", "list_dir"),
        piece(1, "{\"path\": \"c\"}{\"path\": \"d\"}{\"path\": \"c\"}"),
        closed(1),
        Event::Opened { at: 2, kind: PartKind::Text, extras: Extras::NONE },
        Event::Delta { at: 2, delta: Delta::Text("done".to_owned()), extras: Extras::NONE },
        closed(2),
        finished(Stop::ToolUse),
    ]);
    assert_eq!(
        ran.said(),
        [
            "c1 list_dir {\"path\": \"a\"}",
            "c1_2 list_dir {\"path\":\"b\"}",
            "c1_2_2 list_dir {\"path\": \"c\"}",
            "c1_2_2_2 list_dir {\"path\":\"d\"}",
        ]
    );
    assert_eq!(ran.reply().parts[4].body, PartBody::Text("done".to_owned()));
}

#[test]
fn a_placeholder_and_repetitions_are_left_out() {
    for text in ["{}{\"path\": \"x\"}", "{\"path\": \"x\"}{\"path\": \"x\"}"] {
        let ran = one("list_dir", &[text], Stop::ToolUse);
        let read: Value = serde_json::from_str(&ran.calls()[0].arguments).unwrap();
        assert_eq!((ran.calls().len(), read), (1, json!({"path": "x"})));
        assert_eq!(ran.notes, ["c1: fragments arguments"]);
    }
}

#[test]
fn what_is_not_ours_or_not_json_passes_as_it_is() {
    for (name, text, note) in [
        ("nope", "{'a': 1", "c1: unknown nope"),
        ("list_dir", "{\"path\" 1}", "c1: incomplete list_dir"),
        ("list_dir", "{\"path\": \"x\"} and so on", "c1: incomplete list_dir"),
    ] {
        let ran = one(name, &[text], Stop::ToolUse);
        assert_eq!(ran.said(), [format!("c1 {name} {text}")]);
        assert_eq!((ran.notes, ran.events.last()), (vec![note.to_owned()], Some(&finished(Stop::ToolUse))));
    }
    let ran = one("patch", &["*** ", "{'a': 1,}"], Stop::ToolUse);
    assert_eq!((ran.pieces(), ran.notes.len()), (vec!["*** ", "{'a': 1,}"], 0));
}

#[test]
fn free_text_comes_out_of_the_object_it_was_taught_in() {
    let unwrapped: &[&str] = &["c1: unwrapped arguments"];
    let cut: &[&str] = &["c1: incomplete patch"];
    let table: &[(&[&str], &str, Stop, &[&str])] = &[
        (&["{\"inp", "ut\": \"a\\n", "b\"}"], "a\nb", Stop::ToolUse, unwrapped),
        (&[r#"{"input": "a"}"#], "a", Stop::MaxTokens, unwrapped),
        (&[r#"{"other": "a"}"#], r#"{"other": "a"}"#, Stop::ToolUse, &[]),
        (&[r#"*** {"input": "a"}"#], r#"*** {"input": "a"}"#, Stop::ToolUse, &[]),
        // It changes files, so it is not completed.
        (&[r#"{"input": "a""#], "", Stop::ToolUse, cut),
        (&[r#"{"input": "a"#], "", Stop::ToolUse, cut),
        // Where text ends nobody knows after a cut.
        (&["*** a"], "*** a", Stop::MaxTokens, cut),
        (&["\"use strict\""], "use strict", Stop::ToolUse, unwrapped),
        (&["\"use strict\""], "", Stop::MaxTokens, cut),
        (&[""], "", Stop::MaxTokens, cut),
    ];
    for (pieces, expected, stop, notes) in table {
        let ran = one("patch", pieces, stop.clone());
        let call = ran.calls().remove(0);
        assert_eq!((call.arguments.as_str(), call.kind), (*expected, CallKind::Custom), "{pieces:?}");
        assert_eq!(ran.notes, *notes, "{pieces:?}");
        let stop = if *notes == cut { &Stop::MaxTokens } else { stop };
        assert_eq!(&ran.reply().stop, stop, "{pieces:?}");
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let ran = one("list_dir", &[r#"{"depth": "deep"}"#], Stop::ToolUse);
    assert_eq!(ran.said(), [r#"c1 list_dir {"depth": "deep"}"#]);
    let problems = "path is missing and must be a string, depth is a string, but must be an integer";
    assert_eq!(ran.notes, [format!("c1: invalid {problems}")]);
    let ran = one("list_dir", &[r#"{"path": "a"}{"deep": 1}"#], Stop::ToolUse);
    assert_eq!(ran.calls().len(), 2);
    assert_eq!(ran.notes.last().unwrap(), "c1_2: invalid path is missing and must be a string");
}

#[test]
fn entities_are_decoded_only_for_servers_that_escape_them() {
    let text = r#"{"command": "a &amp;&amp; b &lt; \u0026quot;c&quot;", "timeout_ms": 1}"#;
    assert_eq!(one("run_command", &[text], Stop::ToolUse).said(), [format!("c1 run_command {text}")]);
    let profile = Profile { escapes_entities: true, ..Profile::default() };
    for size in [1, 3, 100] {
        let mut stage = SettleStage::new(Arc::new(catalog())).knowing(&profile);
        let mut events = vec![started(), opened(0, "c1", "run_command")];
        events.extend(cut(text, &[size]).into_iter().map(|text| piece(0, text)));
        events.extend([closed(0), finished(Stop::ToolUse)]);
        let ran = run_in(&mut stage, events);
        assert_eq!(ran.pieces().concat(), r#"{"command": "a && b < \"c\"","timeout_ms":1}"#);
        assert_eq!(ran.notes, ["c1: entities arguments.command"]);
    }
}

#[test]
fn an_answer_that_breaks_off_leaves_its_calls_unfinished() {
    let ran = run(vec![
        started(),
        opened(0, "c1", "list_dir"),
        piece(0, "{\"path\": \"x\""),
        closed(0),
        opened(1, "c2", "list_dir"),
        piece(1, "{\"path\": \"x"),
    ]);
    assert_eq!(ran.notes, ["c1: closed arguments", "c2: incomplete list_dir"]);
}

/// The text in pieces that end after these many characters, in turn.
fn cut<'a>(text: &'a str, sizes: &[usize]) -> Vec<&'a str> {
    let mut sizes = sizes.iter().cycle();
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let size = *sizes.next().unwrap();
        let at = rest.char_indices().nth(size).map_or(rest.len(), |(at, _)| at);
        let (piece, more) = rest.split_at(at);
        pieces.push(piece);
        rest = more;
    }
    pieces
}

proptest! {
    #[test]
    fn any_split_gives_the_settled_call(
        text in prop_oneof![near_arguments(), near_object(), any::<String>()],
        name in prop::sample::select(TOOLS.to_vec()),
        sizes in prop::collection::vec(1..6usize, 1..5),
        stop in prop::sample::select(vec![Stop::ToolUse, Stop::MaxTokens, Stop::EndTurn]),
    ) {
        let whole = one(name, &[&text], stop.clone());
        let split = one(name, &cut(&text, &sizes), stop.clone());
        prop_assert_eq!(whole.calls(), split.calls());
        prop_assert_eq!(&whole.notes, &split.notes);
        let end = if stop == Stop::MaxTokens { End::Cut } else { End::Stopped };
        let first = &split.calls()[0];
        match settle(&call(name, &text), &catalog(), end) {
            Ok(done) => {
                if done.repairs.is_empty() {
                    prop_assert_eq!(&first.arguments, &done.call.arguments);
                } else if name == "patch" {
                    prop_assert_eq!(&first.arguments, &done.call.arguments);
                } else {
                    let read: Value = serde_json::from_str(&first.arguments).unwrap();
                    prop_assert_eq!(read, done.arguments);
                }
                // Free text alone does not show that it is whole.
                let end = if name == "patch" { End::Stopped } else { End::Cut };
                let again = settle(first, &catalog(), end).unwrap();
                prop_assert_eq!(&again.call, first);
                prop_assert!(again.repairs.is_empty());
            }
            Err(CallFault::Invalid { settled, .. }) => {
                let read: Value = serde_json::from_str(&first.arguments).unwrap();
                prop_assert_eq!(read, settled.arguments);
            }
            Err(CallFault::Incomplete { .. }) => {
                prop_assert!(text.starts_with(&first.arguments));
                prop_assert_eq!(&split.reply().stop, &Stop::MaxTokens);
            }
            Err(CallFault::Malformed { .. }) if split.calls().len() > 1 => {
                for each in split.calls() {
                    prop_assert!(serde_json::from_str::<Value>(&each.arguments).unwrap().is_object());
                }
            }
            Err(CallFault::Malformed { .. }) => prop_assert_eq!(&first.arguments, &text),
            Err(CallFault::Unknown { .. }) => prop_assert!(false, "all these tools are declared"),
        }
    }
}
