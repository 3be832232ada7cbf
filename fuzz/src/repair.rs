//! What must hold of repair for any text, arguments and fragments at all.

use std::sync::Arc;

use rail_model::{
    Assembler, CallId, CallKind, Delta, Event, Extras, Grammar, Json, Part, PartBody, PartKind, Stop,
    ToolCall, ToolDecl, ToolKind,
};
use rail_repair::{CallFault, Catalog, End, Note, Profile, Stage, settle, stages};
use rail_wire::{BodyKind, openai_chat};
use serde_json::{Value, json};

use crate::split;

/// Families that change how a text is read; other values of the input's first bits mean none.
const FAMILIES: &[&str] = &["functionary_v3.2", "harmony", "hunyuan", "ernie"];

/// Takes the input for the text of an answer: in pieces it becomes the same as whole, in a legal order of events.
pub fn extract(input: &[u8]) {
    let Some((pieces, body)) = split(input) else { return };
    let text = String::from_utf8_lossy(body);
    let how = input.first().copied().unwrap_or_default();
    let profile = Profile {
        family: FAMILIES.get(usize::from(how & 0x07)).map(|family| (*family).to_owned()),
        starts_in_reasoning: how & 0x10 != 0,
        prompted: how & 0x20 != 0,
        escapes_entities: false,
        one_call: false,
    };
    let stop = if how & 0x40 == 0 { Stop::EndTurn } else { Stop::MaxTokens };
    for tools in [tools(), Vec::new()] {
        let mut whole = became(&tools, &profile, answer([text.as_ref()], &stop));
        let size = pieces.first().map_or(1, |piece| piece.len());
        let mut cut = became(&tools, &profile, answer(cut(&text, size), &stop));
        // What was mended in a broken call is noted as it is found, which depends on the pieces; that all of it is noted does not.
        whole.1.sort_by_key(|note| format!("{note:?}"));
        cut.1.sort_by_key(|note| format!("{note:?}"));
        assert_eq!(cut, whole, "left: in pieces, right: whole");
        let calls = whole.0.iter().filter(|part| matches!(part.body, PartBody::ToolCall(_))).count();
        assert!(calls == 0 || !tools.is_empty(), "a call where no tools are declared");
    }
}

/// Takes the input for the deltas of a stream, one a line, read by the codec: the calls have ids of their own.
pub fn native(input: &[u8]) {
    let Some((_, body)) = split(input) else { return };
    let deltas =
        body.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut decoder = openai_chat::PROTOCOL.outbound.decoder(BodyKind::Stream);
    let mut events = Vec::new();
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
    let frames = deltas.map(|delta| json!({"choices": [{"index": 0, "delta": delta}]})).chain([end]);
    for frame in frames {
        if decoder.push(format!("data: {frame}\n\n").as_bytes(), &mut events).is_err() {
            return;
        }
    }
    if decoder.push(b"data: [DONE]\n\n", &mut events).and_then(|()| decoder.finish(&mut events)).is_ok() {
        became(&tools(), &Profile::default(), events);
    }
}

/// Takes the input for the arguments of a call of a tool with a rich schema.
pub fn arguments(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let catalog = Catalog::new(&tools());
    for end in [End::Closed, End::Stopped, End::Cut] {
        for name in ["everything", "list_dir", "free"] {
            settled(&call(name, &text), &catalog, end);
        }
    }
}

/// Takes the input for a value in arguments that are well-formed around it: what strict JSON accepts stays as it is.
pub fn tolerant_json(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    // Any object is what `anything` takes, so nothing but reading can change it.
    let catalog = Catalog::new(&tools());
    let strict: Option<Value> = serde_json::from_str(&text).ok();
    let call = call("anything", &format!("{{\"value\": {text}}}"));
    let read = settle(&call, &catalog, End::Closed);
    if let Some(value) = strict {
        let settled = read.expect("strict JSON is read");
        assert_eq!(settled.arguments["value"], value, "a value that JSON itself accepts is never changed");
    }
    settled(&call, &catalog, End::Closed);
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId::Given("c".into()),
        name: name.into(),
        arguments: arguments.into(),
        kind: CallKind::Function,
    }
}

/// A settled call has one JSON object, or free text where its tool takes that, and settles to itself.
fn settled(call: &ToolCall, catalog: &Catalog, end: End) {
    let settled = match settle(call, catalog, end) {
        Ok(settled) => settled,
        Err(CallFault::Invalid { settled, .. }) => *settled,
        Err(CallFault::Unknown { .. } | CallFault::Incomplete { .. } | CallFault::Malformed { .. }) => return,
    };
    let is_free_text = catalog.get(&settled.call.name).is_some_and(|tool| tool.free_text);
    assert!(settled.arguments.is_object() != is_free_text, "{:?}", settled.arguments);
    // Free text that came out of an object is whole, but only that object showed it.
    let end = if is_free_text { End::Closed } else { end };
    let again = match settle(&settled.call, catalog, end) {
        Ok(again) => again,
        Err(CallFault::Invalid { settled, .. }) => *settled,
        Err(fault) => panic!("a settled call is refused: {fault}"),
    };
    assert_eq!(again.arguments, settled.arguments, "left: settled again, right: once");
    assert_eq!(again.repairs, [], "a settled call needs no repair");
}

/// What the events become; it must be legal, and each call must have an id of its own.
fn became(tools: &[ToolDecl], profile: &Profile, events: Vec<Event>) -> (Vec<Part>, Vec<Note>) {
    let catalog = Arc::new(Catalog::new(tools));
    let mut pipeline = stages(profile, &catalog);
    let (mut out, mut notes) = (Vec::new(), Vec::new());
    for event in events {
        pipeline.event(event, &mut out);
        notes.append(&mut pipeline.notes());
    }
    pipeline.finish(&mut out);
    let (mut grammar, mut assembler) = (Grammar::default(), Assembler::default());
    for event in out {
        grammar.accept(&event).expect("a legal order");
        assembler.push(event);
    }
    grammar.end().expect("an end");
    // Stages speak of calls when they are asked, so only the order of what is said of one call is theirs.
    notes.sort_by(|one, other| one.call().cmp(other.call()));
    let parts = assembler.parts().to_vec();
    let ids = parts.iter().filter_map(|part| match &part.body {
        PartBody::ToolCall(call) => Some(call),
        _ => None,
    });
    let mut seen = Vec::new();
    for call in ids {
        assert!(!call.id.as_str().is_empty() && !seen.contains(&call.id.as_str()), "{:?} twice", call.id);
        seen.push(call.id.as_str());
        settled(call, &catalog, End::Closed);
    }
    (parts, notes)
}

fn answer<'a>(pieces: impl IntoIterator<Item = &'a str>, stop: &Stop) -> Vec<Event> {
    let mut events = vec![
        Event::Started { id: Some("a".into()), model: None, extras: Extras::NONE },
        Event::Opened { at: 0, kind: PartKind::Text, extras: Extras::NONE },
    ];
    events.extend(pieces.into_iter().map(|piece| Event::Delta {
        at: 0,
        delta: Delta::Text(piece.into()),
        extras: Extras::NONE,
    }));
    events.push(Event::Closed { at: 0, extras: Extras::NONE });
    events.push(Event::Finished { stop: stop.clone(), extras: Extras::NONE });
    events
}

/// The text in pieces of about this many bytes.
fn cut(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let size = rest.char_indices().map(|(at, c)| at + c.len_utf8()).find(|end| *end >= size);
        let (piece, after) = rest.split_at(size.unwrap_or(rest.len()));
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Tools that have some of everything a schema can ask for. Those of the corpus are among them.
fn tools() -> Vec<ToolDecl> {
    let everything = json!({
        "type": "object",
        "properties": {
            "text": {"type": "string"}, "count": {"type": "integer"}, "ratio": {"type": "number"},
            "flag": {"type": "boolean"}, "nothing": {"type": "null"}, "maybe": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"type": "integer"}}]},
            "word": {"enum": ["one", "two"]},
            "tree": {"$ref": "#/$defs/tree"},
        },
        "required": ["text"],
        "$defs": {"tree": {"type": "object", "properties": {
            "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        }}},
        "additionalProperties": false,
    });
    let strings = |names: &[&str]| {
        let properties: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": properties, "required": names})
    };
    let tool = |name: &str, kind: ToolKind| ToolDecl {
        name: name.to_owned(),
        description: None,
        kind,
        strict: None,
        cache: None,
        extras: Extras::NONE,
    };
    let function =
        |name: &str, schema: Value| tool(name, ToolKind::Function { parameters: Some(Json::from(schema)) });
    vec![
        function("everything", everything),
        function("list_dir", strings(&["path"])),
        function("edit_file", strings(&["file_path", "old_string", "new_string"])),
        function("get_time", strings(&[])),
        tool("anything", ToolKind::Function { parameters: None }),
        tool("free", ToolKind::Custom { format: None }),
    ]
}
