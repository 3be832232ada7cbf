//! What the tests of calls in tags share: tools, and a row of text with what it becomes.

use std::sync::Arc;

use rail_model::{Delta, Event, Extras, PartKind};
use rail_repair::{Catalog, Stage, stages};
use serde_json::{Value, json};

use crate::decode::{Case, Decoded};

/// A text and what it becomes.
pub(crate) struct Row {
    pub(crate) why: &'static str,
    pub(crate) text: String,
    pub(crate) finish: &'static str,
    pub(crate) content: String,
    pub(crate) calls: Value,
    pub(crate) cut: &'static [&'static str],
}

/// A row of which only calls come.
pub(crate) fn calls(why: &'static str, text: impl Into<String>, calls: Value) -> Row {
    Row { why, text: text.into(), finish: "stop", content: String::new(), calls, cut: &[] }
}

/// A row in which there is nothing but text.
pub(crate) fn prose(why: &'static str, text: &str) -> Row {
    Row { content: text.to_owned(), ..calls(why, text, json!([])) }
}

/// A row whose text ends within a call.
pub(crate) fn cut(why: &'static str, text: impl Into<String>, cut: &'static [&'static str]) -> Row {
    Row { finish: "length", cut, ..calls(why, text, json!([])) }
}

impl Row {
    pub(crate) fn saying(self, content: &str) -> Self {
        Self { content: content.to_owned(), ..self }
    }

    pub(crate) fn and_calls(self, calls: Value) -> Self {
        Self { calls, ..self }
    }

    pub(crate) fn stopped(self) -> Self {
        Self { finish: "stop", ..self }
    }
}

/// A call as a value.
pub(crate) fn call(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments})
}

/// A call of a tool that nobody declared.
pub(crate) fn unknown(name: &str, arguments: Value) -> Value {
    json!({"name": name, "arguments": arguments, "unknown": true})
}

fn case(row: &Row) -> Case {
    let tool = |name: &str, properties: Value, required: Value| json!({"name": name, "parameters": {"type": "object", "properties": properties, "required": required}});
    let (text, whole, truth) =
        (json!({"type": "string"}), json!({"type": "integer"}), json!({"type": "boolean"}));
    let tools = json!([
        tool("read_file", json!({"file_path": text, "limit": whole}), json!(["file_path"])),
        tool("list_dir", json!({"path": text, "recursive": truth}), json!(["path"])),
        tool("write_file", json!({"file_path": text, "content": text}), json!(["file_path", "content"])),
        tool("edit_file", json!({"file_path": text, "old_string": text, "new_string": text}), json!([])),
        tool("run_command", json!({"command": text, "timeout": whole}), json!(["command"])),
        tool("search_text", json!({"pattern": text, "globs": {"type": "array"}}), json!(["pattern"])),
        tool("get_time", json!({}), json!([])),
    ]);
    Case(
        json!({"id": row.why, "kind": "text", "chunks": [row.text], "tools": tools, "options": {"finish_reason": row.finish}}),
    )
}

/// What a call that was cut becomes depends on who reads it; it must not be a call that can be run.
fn split(decoded: &Decoded) -> (Vec<Value>, Vec<String>) {
    let is_cut = |call: &&Value| call.get("fault").is_some();
    let cut = decoded.calls.iter().filter(is_cut).map(|call| call["name"].as_str().unwrap().to_owned());
    let whole = decoded.calls.iter().filter(|call| !is_cut(call)).cloned().collect();
    (whole, decoded.incomplete.iter().cloned().chain(cut).collect())
}

/// Reads each row whole, character by character and in pieces, and says which ones became something else.
pub(crate) fn check(rows: &[Row]) {
    let mut wrong = Vec::new();
    for row in rows {
        let case = case(row);
        for length in [usize::MAX, 1, 2, 3, 7] {
            let characters: Vec<char> = row.text.chars().collect();
            let pieces: Vec<String> = characters
                .chunks(length.min(characters.len().max(1)))
                .map(|piece| piece.iter().collect())
                .collect();
            let decoded = case.decode(pieces.iter().map(String::as_str));
            let (calls, cut) = split(&decoded);
            if decoded.content != row.content
                || Value::from(calls.clone()) != row.calls
                || cut != row.cut
                || !decoded.reasoning.is_empty()
            {
                wrong.push(format!(
                    "{} (pieces of {length})\n  text {:.600}\n  said {:?}\n  want {:?}\n  calls {:.900}\n  want  {:.900}\n  cut {cut:?}, want {:?}",
                    row.why,
                    row.text,
                    decoded.content,
                    row.content,
                    Value::from(calls).to_string(),
                    row.calls.to_string(),
                    row.cut,
                ));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows are wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Reads a text whole and in pieces; it must become the same.
pub(crate) fn alike_in_any_pieces(text: &str, finish: &'static str) {
    let row = Row { finish, ..calls("any", text, json!([])) };
    let case = case(&row);
    let whole = case.decode([text]);
    for length in [1, 2, 5] {
        let characters: Vec<char> = text.chars().collect();
        let pieces: Vec<String> = characters.chunks(length).map(|piece| piece.iter().collect()).collect();
        let other = case.decode(pieces.iter().map(String::as_str));
        assert_eq!(
            (&other.content, &other.reasoning, &other.calls, &other.incomplete, &other.ids),
            (&whole.content, &whole.reasoning, &whole.calls, &whole.incomplete, &whole.ids),
            "{text:?} in pieces of {length}"
        );
    }
}

/// How many bytes of arguments left while this text came and no end was in sight.
pub(crate) fn given_early(text: &str) -> usize {
    let row = calls("early", text, json!([]));
    let case = case(&row);
    let mut pipeline = stages(&case.profile(), &Arc::new(Catalog::new(&case.tools())));
    let mut out = Vec::new();
    let delta = Delta::Text(text.into());
    for event in [
        Event::Started { id: None, model: None, extras: Extras::NONE },
        Event::Opened { at: 0, kind: PartKind::Text, extras: Extras::NONE },
        Event::Delta { at: 0, delta, extras: Extras::NONE },
    ] {
        pipeline.event(event, &mut out);
    }
    let given = |event: &Event| {
        if let Event::Delta { delta: Delta::Arguments(text), .. } = event { text.len() } else { 0 }
    };
    out.iter().map(given).sum()
}
