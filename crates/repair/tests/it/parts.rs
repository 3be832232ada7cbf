//! What becomes of the parts of an answer: words, seals, citations and tokens, and calls said in two ways.

use std::sync::Arc;

use rail_model::{
    ApiError, Assembler, CallId, CallKind, Delta, ErrorKind, Event, Extras, Grammar, Logprob, Part, PartBody,
    PartKind, ProtocolId, Seal, Stop,
};
use rail_repair::{Catalog, Note, Profile, Stage, Tool, What, Written, stages};
use serde_json::{Value, json};

const ID: ProtocolId = ProtocolId::new("some-protocol");

fn catalog() -> Arc<Catalog> {
    let declared: Vec<Value> = serde_json::from_value(crate::rows::tools()).unwrap();
    let mut catalog = Catalog::default();
    for tool in declared {
        catalog.add(Tool::new(tool["name"].as_str().unwrap(), Some(tool["parameters"].clone())));
    }
    let mut patch = Tool::new("apply_patch", None);
    patch.free_text = true;
    catalog.add(patch);
    Arc::new(catalog)
}

fn seal_of(data: &str) -> Seal {
    Seal { issuer: "some-protocol".into(), data: data.into() }
}

fn open(at: usize, kind: PartKind) -> Event {
    Event::Opened { at, kind, extras: Extras::NONE }
}

fn more(at: usize, delta: Delta) -> Event {
    Event::Delta { at, delta, extras: Extras::NONE }
}

fn text(at: usize, text: &str) -> Event {
    more(at, Delta::Text(text.into()))
}

fn close(at: usize) -> Event {
    Event::Closed { at, extras: Extras::NONE }
}

/// A whole part of text.
fn said(at: usize, words: &str) -> Vec<Event> {
    vec![open(at, PartKind::Text), text(at, words), close(at)]
}

/// A whole part of reasoning.
fn thought(at: usize, words: &str, seal: Option<&str>) -> Vec<Event> {
    let mut events = vec![open(at, PartKind::Thinking), more(at, Delta::Thinking(words.into()))];
    events.extend(seal.map(|seal| more(at, Delta::Seal(seal_of(seal)))));
    events.push(close(at));
    events
}

/// A whole call.
fn called(at: usize, id: &str, name: &str, pieces: &[&str]) -> Vec<Event> {
    let id = CallId::Given(id.into());
    let mut events = vec![open(at, PartKind::ToolCall { id, name: name.into(), kind: CallKind::Function })];
    events.extend(pieces.iter().map(|piece| more(at, Delta::Arguments((*piece).into()))));
    events.push(close(at));
    events
}

struct Ran {
    parts: Vec<Part>,
    stop: Option<Stop>,
    notes: Vec<Note>,
}

fn run(events: Vec<Vec<Event>>, end: Option<Event>) -> Ran {
    run_as(&Profile::default(), events, end)
}

fn run_as(profile: &Profile, events: Vec<Vec<Event>>, end: Option<Event>) -> Ran {
    let mut all = vec![Event::Started { id: Some("a".into()), model: None, extras: Extras::NONE }];
    all.extend(events.into_iter().flatten());
    all.extend(end);
    let mut pipeline = stages(profile, &catalog());
    let (mut grammar, mut assembler, mut out) = (Grammar::default(), Assembler::default(), Vec::new());
    all.into_iter().for_each(|event| pipeline.event(event, &mut out));
    pipeline.finish(&mut out);
    let mut stop = None;
    for event in out {
        grammar.accept(&event).unwrap();
        if let Event::Finished { stop: end, .. } = &event {
            stop = Some(end.clone());
        }
        assembler.push(event);
    }
    Ran { parts: assembler.parts().to_vec(), stop, notes: pipeline.notes() }
}

fn finished(events: Vec<Vec<Event>>, stop: Stop) -> Ran {
    run(events, Some(Event::Finished { stop, extras: Extras::NONE }))
}

impl Ran {
    /// Each part in a line.
    fn lines(&self) -> Vec<String> {
        let line = |part: &Part| match &part.body {
            PartBody::Text(text) => format!("text {text}"),
            PartBody::Thinking(text) => format!("thought {text}"),
            PartBody::Refusal(text) => format!("refusal {text}"),
            PartBody::ToolCall(call) => match call.kind {
                CallKind::Function => format!("call {} {}", call.name, call.arguments),
                CallKind::Custom => format!("custom {} {}", call.name, call.arguments),
            },
            other => format!("{other:?}"),
        };
        self.parts.iter().map(line).collect()
    }

    fn incomplete(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for note in &self.notes {
            match note {
                Note::Incomplete { name, .. } => names.push(name.as_str()),
                Note::Repaired { .. } | Note::Unknown { .. } | Note::Invalid { .. } => {}
            }
        }
        names
    }
}

const HERMES: &str = r#"<tool_call>{"name": "list_dir", "arguments": {"path": "a"}}</tool_call>"#;

#[test]
fn parts_stay_parts_with_what_belongs_to_them() {
    let cite = |at, value: &str| more(at, Delta::Extra { origin: ID, key: "citations", value: json!(value) });
    let (one, two) = (
        vec![open(0, PartKind::Text), text(0, "The first. \n"), cite(0, "1"), close(0)],
        said(1, " The second."),
    );
    let mut three = said(2, "three");
    three.insert(2, cite(2, "3"));
    let ran = finished(vec![one, two, three], Stop::EndTurn);
    assert_eq!(ran.lines(), ["text The first. \n", "text  The second.", "text three"]);
    let cited: Vec<Value> = ran
        .parts
        .iter()
        .map(|part| part.extras.owned_by(ID).map_or(Value::Null, |own| own["citations"].clone()))
        .collect();
    assert_eq!(cited, [json!(["1"]), json!(null), json!(["3"])]);
}

#[test]
fn sealed_reasoning_goes_as_it_came() {
    let draft = format!("Try {HERMES} first. \n");
    let ran = finished(
        vec![
            thought(0, &draft, Some("s0")),
            thought(1, "", Some("s1")),
            thought(2, "third ", Some("s2")),
            vec![open(3, PartKind::Redacted(seal_of("r"))), close(3)],
            said(4, "so"),
        ],
        Stop::EndTurn,
    );
    assert_eq!(
        ran.lines()[..3],
        [format!("thought {draft}"), "thought ".to_owned(), "thought third ".to_owned()]
    );
    let seals: Vec<Option<Seal>> = ran.parts.iter().take(3).map(|part| part.seal.clone()).collect();
    assert_eq!(seals, ["s0", "s1", "s2"].map(|seal| Some(seal_of(seal))));
    assert_eq!(
        (ran.parts.len(), ran.lines().pop().unwrap().as_str(), ran.stop),
        (5, "text so", Some(Stop::EndTurn))
    );
}

#[test]
fn reasoning_before_anything_else_only_drafts() {
    let real = finished(vec![thought(0, &format!("hm {HERMES}"), None)], Stop::EndTurn);
    assert_eq!(real.lines(), ["thought hm", r#"call list_dir {"path": "a"}"#]);
    assert_eq!(real.stop, Some(Stop::ToolUse));
    let draft = format!("hm {HERMES}");
    let refusal = vec![open(1, PartKind::Refusal), text(1, "no"), close(1)];
    for rest in [said(1, "no"), refusal, called(1, "c", "get_time", &["{}"])] {
        let ran = finished(vec![thought(0, &draft, None), rest], Stop::EndTurn);
        assert_eq!(
            (ran.lines()[0].as_str(), ran.parts.len()),
            (format!("thought {draft}").as_str(), 2),
            "{:?}",
            ran.lines()
        );
    }
    let late = finished(vec![called(0, "c", "get_time", &["{}"]), thought(1, &draft, None)], Stop::ToolUse);
    assert_eq!(late.lines(), ["call get_time {}".to_owned(), format!("thought {draft}")]);
}

#[test]
fn tokens_go_with_their_words_and_not_with_calls() {
    let token = |at, token: &str| {
        let logprob: Logprob = Logprob {
            token: token.into(),
            logprob: serde_json::Number::from(-1),
            bytes: None,
            top: Vec::new(),
            extras: Extras::NONE,
        };
        more(at, Delta::Logprobs(vec![logprob]))
    };
    let mut events = vec![open(0, PartKind::Text)];
    for word in
        ["Let ", "me", " <", "b>\n", "<tool_call>", "{\"name\": \"get_time\"", "}", "</tool_call>", "ok"]
    {
        events.extend([text(0, word), token(0, word)]);
    }
    events.push(close(0));
    let ran = finished(vec![events], Stop::EndTurn);
    assert_eq!(ran.lines(), ["text Let me <b>", "call get_time {}", "text ok"]);
    let tokens = |part: &Part| part.logprobs.iter().map(|one| one.token.clone()).collect::<Vec<_>>().concat();
    let tokens: Vec<String> = ran.parts.iter().map(tokens).collect();
    assert_eq!(tokens, ["Let me <b>\n", "", "ok"]);
}

#[test]
fn a_call_said_in_two_ways_is_one_call() {
    let whole = r#"{"path":"a"}"#;
    let list = r#"call list_dir {"path":"a"}"#;
    let from_text = r#"call list_dir {"path": "a"}"#;
    let long = "x".repeat(3000);
    let written = format!(
        r#"<tool_call>{{"name": "write_file", "arguments": {{"file_path": "f", "content": "{long}"}}}}</tool_call>"#
    );
    let (begun, rest) = written.split_at(2500);
    let write = format!(r#"{{"content": "{long}", "file_path": "f"}}"#);
    type Row<'r> = (&'r str, Vec<Vec<Event>>, Vec<&'r str>);
    let table: Vec<Row<'_>> = vec![
        ("text first", vec![said(0, HERMES), called(1, "c", "list_dir", &[whole])], vec![from_text]),
        ("text last", vec![called(0, "c", "list_dir", &[whole]), said(1, HERMES)], vec![list]),
        (
            "other spellings",
            vec![called(0, "c", "ListDir", &[r#"{"path": "a", "depth": null}"#]), said(1, HERMES)],
            vec![from_text],
        ),
        (
            "pieces that grow",
            vec![called(0, "c", "list_dir", &["{\"path\":\"", whole]), said(1, HERMES)],
            vec![list],
        ),
        (
            "text first, other spelling",
            vec![said(0, HERMES), called(1, "c", "LS", &[r#"{"directory": "a"}"#])],
            vec![from_text],
        ),
        (
            "other arguments",
            vec![called(0, "c", "list_dir", &[r#"{"path":"b"}"#]), said(1, HERMES)],
            vec![r#"call list_dir {"path":"b"}"#, from_text],
        ),
        (
            "other arguments, text first",
            vec![said(0, HERMES), called(1, "c", "list_dir", &[r#"{"path":"b"}"#])],
            vec![from_text, r#"call list_dir {"path":"b"}"#],
        ),
        (
            "another tool",
            vec![called(0, "c", "get_time", &[""]), said(1, HERMES)],
            vec!["call get_time {}", from_text],
        ),
        (
            "words between",
            vec![said(0, &format!("a {HERMES} b")), called(1, "c", "list_dir", &[whole])],
            vec!["text a", from_text, "text b"],
        ),
        (
            "only an opener",
            vec![said(0, "a <tool_call>\n"), called(1, "c", "list_dir", &[whole])],
            vec!["text a", list],
        ),
        (
            "half an opener",
            vec![said(0, "a\n\n<｜DSML｜function_calls"), called(1, "c", "list_dir", &[whole])],
            vec!["text a", list],
        ),
        (
            "hardly an opener",
            vec![said(0, "a <t"), called(1, "c", "list_dir", &[whole])],
            vec!["text a", list, "text  <t"],
        ),
    ];
    for (what, events, expected) in table {
        assert_eq!(finished(events, Stop::ToolUse).lines(), expected, "{what}");
    }
    // The text is being given out already when the call comes, and ends after it.
    let mut text_part = vec![open(0, PartKind::Text), text(0, begun)];
    text_part.extend(called(1, "c", "write_file", &[&write]));
    text_part.extend([text(0, rest), close(0)]);
    let ran = finished(vec![text_part], Stop::ToolUse);
    assert_eq!(ran.parts.len(), 1, "{:?}", ran.lines());
}

#[test]
fn no_two_calls_have_one_id() {
    let kimi = "<|tool_call_begin|>functions.list_dir:0<|tool_call_argument_begin|>{\"path\": \"a\"}<|tool_call_end|>";
    for events in [
        vec![said(0, kimi), called(1, "functions.list_dir:0", "list_dir", &[r#"{"path":"b"}"#])],
        vec![called(0, "functions.list_dir:0", "list_dir", &[r#"{"path":"b"}"#]), said(1, kimi)],
    ] {
        let ran = finished(events, Stop::ToolUse);
        let id = |part: &Part| match &part.body {
            PartBody::ToolCall(call) => call.id.as_str().to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(ran.parts.len(), 2);
        assert_ne!(id(&ran.parts[0]), id(&ran.parts[1]));
    }
}

#[test]
fn free_text_tools_are_called_from_text_too() {
    let patch = "*** Begin Patch\n{\"a\": 1}\n*** End Patch";
    let input = json!({"input": patch}).to_string();
    let shapes = [
        format!(r#"<tool_call>{{"name": "apply_patch", "arguments": {input}}}</tool_call>"#),
        format!(r#"<tool_call>{{"name": "apply_patch", "arguments": {}}}</tool_call>"#, json!(patch)),
        format!(
            "<tool_call><function=apply_patch><parameter=input>\n{patch}\n</parameter></function></tool_call>"
        ),
        format!(
            "<function_calls><invoke name=\"ApplyPatch\"><parameter name=\"input\">{patch}</parameter></invoke></function_calls>"
        ),
        format!("[TOOL_CALLS]apply_patch[ARGS]{input}"),
    ];
    for shape in shapes {
        let ran = finished(vec![said(0, &format!("So:\n{shape}"))], Stop::EndTurn);
        assert_eq!(ran.lines(), ["text So:".to_owned(), format!("custom apply_patch {patch}")], "{shape}");
        let cut = &shape[..shape.find("End Patch").unwrap()];
        for stop in [Stop::MaxTokens, Stop::EndTurn] {
            let ran = finished(vec![said(0, cut)], stop.clone());
            let whole = ran.lines().iter().any(|line| line.starts_with("custom") && line.contains("Begin"));
            assert!(
                !whole || ran.incomplete() == ["apply_patch"],
                "{cut}: {:?} {:?}",
                ran.lines(),
                ran.notes
            );
        }
    }
    for number in ["5", "[1, 2]", "true"] {
        let shape = format!(
            "<tool_call><function=apply_patch><parameter=input>{number}</parameter></function></tool_call>"
        );
        let ran = finished(vec![said(0, &shape)], Stop::EndTurn);
        assert_eq!(ran.lines(), [format!("custom apply_patch {number}")]);
    }
}

#[test]
fn an_answer_that_fails_leaves_nothing_to_run() {
    let failed = Event::Failed(ApiError {
        status: 529,
        kind: ErrorKind::Overloaded,
        message: "busy".into(),
        code: None,
        param: None,
        retry_after: None,
        said: None,
    });
    let long = "x".repeat(3000);
    for written in [
        "<tool_call>{\"name\": \"run_command\", \"arguments\": {\"command\": \"rm -rf /tmp/x".to_owned(),
        "<tool_call><function=run_command><parameter=command>rm -rf /tmp/x</parameter>".to_owned(),
        format!(
            "<tool_call><function=write_file><parameter=file_path>f</parameter><parameter=content>{long}"
        ),
        format!("<tool_call><function=write_file><parameter=content>{long}</parameter>"),
        "[TOOL_CALLS]run_command[ARGS]{\"command\": \"ls\"".to_owned(),
    ] {
        for end in [Some(failed.clone()), None] {
            let events = vec![vec![open(0, PartKind::Text), text(0, &written)]];
            let ran = run(events, end);
            let calls = ran.lines().iter().filter(|line| line.starts_with("call")).count();
            assert_eq!(calls, ran.incomplete().len(), "{written}: {:?}", ran.lines());
        }
    }
}

#[test]
fn a_template_that_opens_reasoning_counts_only_where_the_server_does_not_tell_it_apart() {
    let profile = Profile { starts_in_reasoning: true, ..Profile::default() };
    let sealed = || vec![open(0, PartKind::Redacted(seal_of("s"))), close(0)];
    let blank = |at| said(at, "\n\n");
    for (why, events, expected) in [
        ("it is all in the text", vec![said(0, "hm</think>yes")], vec!["thought hm", "text yes"]),
        ("with an opener too", vec![said(0, "<think>hm</think>yes")], vec!["thought hm", "text yes"]),
        ("told apart", vec![thought(0, "hm", None), said(1, "yes")], vec!["thought hm", "text yes"]),
        (
            "told apart, after blanks",
            vec![blank(0), thought(1, "hm", None), said(2, "yes")],
            vec!["thought \n\n", "thought hm", "text yes"],
        ),
        (
            "told apart, and a closer left in the text",
            vec![thought(0, "hm", None), said(1, "</think>\n\nyes")],
            vec!["thought hm", "text yes"],
        ),
        (
            "told apart twice",
            vec![thought(0, "hm", None), said(1, "Yes, so."), thought(2, "hm?", None), said(3, "No.")],
            vec!["thought hm", "text Yes, so.", "thought hm?", "text No."],
        ),
    ] {
        let end = Event::Finished { stop: Stop::EndTurn, extras: Extras::NONE };
        assert_eq!(run_as(&profile, events, Some(end)).lines(), expected, "{why}");
    }
    let ran = run_as(&profile, vec![sealed(), said(1, "yes")], None);
    assert_eq!(ran.lines().last().map(String::as_str), Some("text yes"), "sealed");
}

/// The calls of which something was said, as the model wrote them.
fn written(events: Vec<Vec<Event>>) -> Vec<What> {
    let mut pipeline = stages(&Profile::default(), &catalog());
    let mut out = Vec::new();
    let finished = Event::Finished { stop: Stop::EndTurn, extras: Extras::NONE };
    let all = events.into_iter().flatten().chain([finished]);
    all.for_each(|event| pipeline.event(event, &mut out));
    pipeline.finish(&mut out);
    let mut first: Vec<Written> = Vec::new();
    for one in pipeline.written() {
        if !first.iter().any(|before| before.call == one.call) {
            first.push(one);
        }
    }
    first.into_iter().map(|one| one.what).collect()
}

#[test]
fn what_a_model_wrote_is_there_to_be_shown() {
    let as_text = |text: &str| What::Text(text.into());
    // A closer that is not needed to know the call's end belongs to nothing.
    let one = HERMES.trim_end_matches("</tool_call>");
    let two = format!("I look. {HERMES}\n\nand {HERMES}\n{HERMES} there");
    let letters: Vec<Event> = two.chars().map(|c| text(0, &c.to_string())).collect();
    for events in [vec![said(0, &two)], vec![vec![open(0, PartKind::Text)], letters, vec![close(0)]]] {
        assert_eq!(written(events), [as_text(one), as_text(one), as_text(one)]);
    }
    let call = called(0, "a", "ListDir", &["{\"path\": ", "\"a\""]);
    let what = What::Call { name: "ListDir".to_owned(), arguments: "{\"path\": \"a\"".to_owned() };
    assert_eq!(written(vec![call]), [what]);
    assert_eq!(written(vec![called(0, "a", "list_dir", &["{\"path\": \"a\"}"])]), []);
    let long = format!(
        "<tool_call>{{\"name\": \"list_dir\", \"arguments\": {{\"path\": \"{}\"}}}}</tool_call>",
        "x".repeat(5000)
    );
    let pieces: Vec<Event> =
        long.as_bytes().chunks(100).map(|piece| text(0, std::str::from_utf8(piece).unwrap())).collect();
    let found = written(vec![vec![open(0, PartKind::Text)], pieces, vec![close(0)]]);
    assert!(
        matches!(found.as_slice(), [What::Text(text)] if long.starts_with(&**text) && text.len() > 5000),
        "{found:?}"
    );
    let huge = "x".repeat(100_000);
    let found = written(vec![called(0, "a", "ListDir", &["{\"path\": \"", &huge, "\"}"])]);
    assert!(matches!(found.as_slice(), [What::Call { arguments, .. }] if arguments.len() == 64 << 10));
}
