//! Native calls, put together from pieces.

use std::sync::Arc;

use proptest::prelude::*;
use rail_model::{
    Assembler, CallId, CallKind, Delta, Event, Extras, Grammar, PartBody, PartKind, ProtocolId, Stop, mark,
};
use rail_repair::{Catalog, NativeStage, Note, Repair, Stage, Step, Tool};
use serde_json::{Map, Value, json};

const ID: ProtocolId = ProtocolId::new("some-protocol");

fn catalog() -> Arc<Catalog> {
    let mut catalog = Catalog::default();
    for (name, schema) in [
        ("list_dir", json!({"properties": {"path": {}}, "required": ["path"]})),
        ("get_time", json!({"type": "object"})),
    ] {
        catalog.add(Tool::new(name, Some(schema)));
    }
    Arc::new(catalog)
}

fn started() -> Event {
    Event::Started { id: Some("a".into()), model: None, extras: Extras::NONE }
}

fn opened(at: usize, id: &str, name: &str) -> Event {
    let kind =
        PartKind::ToolCall { id: CallId::Given(id.into()), name: name.into(), kind: CallKind::Function };
    Event::Opened { at, kind, extras: Extras::NONE }
}

fn more(at: usize, text: &str) -> Event {
    Event::Delta { at, delta: Delta::Arguments(text.into()), extras: Extras::NONE }
}

fn closed(at: usize) -> Event {
    Event::Closed { at, extras: Extras::NONE }
}

fn finished() -> Event {
    Event::Finished { stop: Stop::ToolUse, extras: Extras::NONE }
}

fn call(pieces: impl IntoIterator<Item = impl AsRef<str>>) -> Vec<Event> {
    let mut events = vec![started(), opened(0, "c", "list_dir")];
    events.extend(pieces.into_iter().map(|piece| more(0, piece.as_ref())));
    events.extend([closed(0), finished()]);
    events
}

/// The events that come out, which keep the grammar, and what was noted.
fn run(events: Vec<Event>) -> (Vec<Event>, Vec<Note>) {
    let mut stage = NativeStage::new(catalog());
    let mut out = Vec::new();
    events.into_iter().for_each(|event| stage.event(event, &mut out));
    stage.finish(&mut out);
    let mut grammar = Grammar::default();
    out.iter().for_each(|event| grammar.accept(event).unwrap());
    grammar.end().unwrap();
    (out, stage.notes())
}

/// The arguments of the only call.
fn arguments(events: Vec<Event>) -> String {
    let mut assembler = Assembler::default();
    events.into_iter().for_each(|event| assembler.push(event));
    match &assembler.parts() {
        [part] => match &part.body {
            PartBody::ToolCall(call) => call.arguments.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_ordinary_answer_passes_untouched() {
    let text = |at, text: &str| Event::Delta { at, delta: Delta::Text(text.into()), extras: Extras::NONE };
    let events = vec![
        Event::Ping,
        started(),
        Event::Opened { at: 0, kind: PartKind::Text, extras: Extras::NONE },
        text(0, "{} {} "),
        closed(0),
        opened(1, "c1", "list_dir"),
        opened(2, "c2", "get_time"),
        more(1, "{\"path\": "),
        more(2, ""),
        Event::Ping,
        more(1, "\"p\"}"),
        closed(1),
        Event::Usage(rail_model::Usage::default()),
        closed(2),
        finished(),
    ];
    assert_eq!(run(events.clone()), (events, Vec::new()));
}

#[test]
fn free_text_passes_untouched() {
    let kind =
        PartKind::ToolCall { id: CallId::Given("c".into()), name: "patch".into(), kind: CallKind::Custom };
    let mut events = vec![started(), Event::Opened { at: 0, kind, extras: Extras::NONE }];
    events.extend(["{}", "{}", "{\"a", "{\"a\":1}"].map(|text| more(0, text)));
    events.extend([closed(0), finished()]);
    assert_eq!(run(events.clone()), (events, Vec::new()));
}

#[test]
fn what_was_mended_is_said() {
    let (events, notes) = run(call(["{}", "{\"path\":", "{\"path\":\"p\"}"]));
    assert_eq!(arguments(events), "{\"path\":\"p\"}");
    let repair = Repair::new(Step::Fragments, "arguments");
    assert_eq!(notes, [Note::Repaired { call: "c".into(), repair }]);
}

#[test]
fn a_call_that_broke_off_gives_back_what_was_held() {
    let mut stage = NativeStage::new(catalog());
    let mut out = Vec::new();
    for event in [started(), opened(0, "c", "list"), opened(1, "d", "get_time"), more(1, "{}")] {
        stage.event(event, &mut out);
    }
    assert_eq!(out, [started(), opened(0, "c", "list"), opened(1, "d", "get_time")]);
    stage.finish(&mut out);
    assert_eq!(out.last(), Some(&more(1, "{}")));
}

#[test]
fn fields_of_frames_that_are_held_are_kept() {
    let mut extras = Extras::NONE;
    extras.insert(ID, "field", json!(1));
    let mut events = call(["{}", "{\"path\":1}"]);
    events[2] = Event::Delta { at: 0, delta: Delta::Arguments("{}".into()), extras: extras.clone() };
    let (out, _) = run(events);
    assert_eq!(
        out[2],
        Event::Delta { at: 0, delta: Delta::Arguments("{\"path\":1}".into()), extras: extras.clone() }
    );
    let mut repeated = call(["{\"path\":1}", "{\"path\":1}"]);
    repeated[3] =
        Event::Delta { at: 0, delta: Delta::Arguments("{\"path\":1}".into()), extras: extras.clone() };
    let (out, _) = run(repeated);
    assert_eq!(out[3], Event::Delta { at: 0, delta: Delta::Arguments(String::new()), extras });
}

/// Bytes allocated by the stage.
fn work(events: Vec<Event>) -> u64 {
    let mut stage = NativeStage::new(catalog());
    let mut out = Vec::with_capacity(8);
    let info = allocation_counter::measure(|| {
        for event in events {
            stage.event(event, &mut out);
            out.clear();
        }
    });
    info.bytes_total
}

#[test]
fn a_long_argument_in_small_pieces_costs_linear_work() {
    let long = |first: &[&str], pieces: usize, last: &[&str]| {
        let middle = std::iter::repeat_n("abc ", pieces);
        call(first.iter().copied().chain(middle).chain(last.iter().copied()))
    };
    let table: &[(&str, &[&str], &[&str])] = &[
        ("joined", &["{\"path\": \""], &["\"}"]),
        ("behind a placeholder", &["{}", "{\"path\": \""], &["\"}"]),
        ("in two readings to the end", &["{\"a\":", "{\"a\":", "\""], &["\"}}"]),
        ("said again", &["{\"a\":1}", "{\"a\":\""], &["\"}"]),
        ("no JSON", &["}"], &[]),
        ("blanks", &["    "], &["{\"a\": \"", "\"}"]),
    ];
    for (what, first, last) in table {
        let [small, large] = [64 << 10, 256 << 10].map(|pieces| work(long(first, pieces, last)));
        assert!(large < small * 5 + 4096, "{what}: {small} bytes of work for a quarter of {large}");
    }
    let through = work(long(&["{\"path\": \""], 256 << 10, &["\"}"]));
    assert!(through < 16 << 10, "ordinary pieces are not copied: {through}");
}

#[test]
fn pieces_that_grow_cost_what_they_bring() {
    let grown = |pieces: usize| {
        let text = format!("{{\"path\": \"{}\"}}", "abc ".repeat(pieces));
        let ends = (1..=pieces).map(|at| at * 4 + 10).chain([text.len()]);
        call(ends.map(|end| text[..end].to_owned()).collect::<Vec<_>>())
    };
    // The input itself is quadratic in the number of pieces, what comes of it is not.
    let [small, large] = [256, 1024].map(|pieces| work(grown(pieces)));
    assert!(large < small * 5 + 4096, "{small} bytes of work for a quarter of {large}");
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        r#"[ a{}\[\]",:\\'n]{0,6}"#,
        ".{0,4}",
        Just("{\"a\":1}".to_owned()),
        Just("null".to_owned())
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            object(inner).prop_map(Value::Object),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec(("[ab]|path", inner), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

/// An object as text, with or without blanks.
fn written() -> impl Strategy<Value = (Value, String)> {
    (object(value()), any::<bool>()).prop_map(|(map, pretty)| {
        let value = Value::Object(map);
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        (value, text.unwrap())
    })
}

/// The text in pieces.
fn cut(text: &str, cuts: &[prop::sample::Index]) -> Vec<String> {
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).filter(|at| *at > 0).collect();
    if !ends.is_empty() {
        let wanted: Vec<usize> = cuts.iter().map(|cut| *cut.get(&ends)).collect();
        ends.retain(|at| wanted.contains(at));
    }
    ends.push(text.len());
    let starts = std::iter::once(0).chain(ends.clone());
    starts.zip(ends.iter()).map(|(start, end)| text[start..*end].to_owned()).collect()
}

/// The pieces, each with all before it.
fn grown(pieces: &[String]) -> Vec<String> {
    (1..=pieces.len()).map(|count| pieces[..count].concat()).collect()
}

fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..8)
}

fn read(pieces: &[String]) -> Result<Value, TestCaseError> {
    let text = arguments(run(call(pieces)).0);
    serde_json::from_str(&text).map_err(|why| TestCaseError::fail(format!("{why}: {text}")))
}

#[test]
fn blank_pieces_are_joined() {
    for pieces in [&[" ", " "][..], &["\n", "\n", "{\"path\": \"a\"}"]] {
        let pieces: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
        let (events, notes) = run(call(&pieces));
        assert_eq!((arguments(events), notes), (pieces.concat(), Vec::new()));
    }
}

proptest! {
    #[test]
    fn any_way_of_sending_gives_the_object((value, text) in written(), cuts in cuts(), again in cuts(), null in any::<bool>()) {
        let pieces = cut(&text, &cuts);
        prop_assert_eq!(arguments(run(call(&pieces)).0), text.clone(), "joined: the very text");
        prop_assert_eq!(read(&grown(&pieces))?, value.clone(), "grown");
        let mut last = grown(&pieces);
        last.extend([text.clone(), text.clone()]);
        prop_assert_eq!(read(&last)?, value.clone(), "grown, and the last several times");
        let placeholder = if null { "null" } else { "{}" }.to_owned();
        let behind: Vec<String> = std::iter::once(placeholder.clone()).chain(pieces.clone()).collect();
        prop_assert_eq!(read(&behind)?, value.clone(), "behind a placeholder");
        let behind: Vec<String> = std::iter::once(placeholder).chain(grown(&pieces)).collect();
        prop_assert_eq!(read(&behind)?, value.clone(), "grown behind a placeholder");
        let repeated: Vec<String> = pieces.iter().cloned().chain(cut(&text, &again)).collect();
        prop_assert_eq!(read(&repeated)?, value, "said twice");
    }

    #[test]
    fn what_was_not_mended_is_what_came(pieces in prop::collection::vec(r#"[{}\[\]":,a1n '\\]{0,6}|null|\{\}|é"#, 0..8)) {
        let (events, notes) = run(call(&pieces));
        if notes.is_empty() {
            prop_assert_eq!(arguments(events), pieces.concat());
        }
    }

    #[test]
    fn any_events_keep_the_grammar(
        heads in prop::collection::vec((0..4_usize, any::<bool>(), 0..4_usize), 1..5),
        deltas in prop::collection::vec((any::<prop::sample::Index>(), r#"\{"path":|"p"\}|\{\}|\{"path":"p"\}|"#, 0..3_usize), 0..12),
    ) {
        let mut events = vec![started()];
        for (at, (name, given, said)) in heads.iter().enumerate() {
            let name = ["list_dir", "list", "_dir", "unknown_tool"][*name].to_owned();
            let id = format!("c{at}");
            let id = if *given { CallId::Given(id) } else { CallId::Minted(id) };
            let mut extras = Extras::NONE;
            match said {
                0 => extras.mark(ID, mark::NAMELESS),
                1 => extras.mark(ID, mark::AGAIN),
                _ => {}
            }
            events.push(Event::Opened { at, kind: PartKind::ToolCall { id, name, kind: CallKind::Function }, extras });
            for (to, text, said) in deltas.iter().skip(at).step_by(heads.len()) {
                let mut extras = Extras::NONE;
                match said {
                    0 if !text.is_empty() => extras.mark(ID, mark::OBJECT),
                    1 => extras.insert(ID, mark::NAMES, json!(["_dir"])),
                    _ => {}
                }
                events.push(Event::Delta { at: to.index(at + 1), delta: Delta::Arguments(text.clone()), extras });
            }
        }
        events.extend((0..heads.len()).map(closed));
        events.push(finished());
        run(events);
    }
}
