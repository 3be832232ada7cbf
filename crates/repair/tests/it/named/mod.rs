//! Formats whose arguments are JSON after a header or in an envelope, and the protocols with channels.

mod any;
mod channels;
mod envelopes;
mod headers;

use serde_json::{Value, json};

use crate::decode::{Case, Decoded};

/// What a text should become.
#[derive(Default)]
struct Row {
    text: String,
    calls: Vec<Value>,
    incomplete: Vec<&'static str>,
    content: &'static str,
    reasoning: &'static str,
    options: Value,
}

fn row(text: &str) -> Row {
    Row { text: text.to_owned(), options: json!({}), ..Row::default() }
}

impl Row {
    fn call(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push(json!({"name": name, "arguments": arguments}));
        self
    }

    fn unknown(mut self, name: &str, arguments: Value) -> Self {
        self.calls.push(json!({"name": name, "arguments": arguments, "unknown": true}));
        self
    }

    fn cut(mut self, name: &'static str) -> Self {
        self.incomplete.push(name);
        self.options["finish_reason"] = json!("length");
        self
    }

    fn says(mut self, content: &'static str) -> Self {
        self.content = content;
        self
    }

    fn thinks(mut self, reasoning: &'static str) -> Self {
        self.reasoning = reasoning;
        self
    }

    fn hint(mut self, family: &str) -> Self {
        self.options["hint"] = json!(family);
        self
    }

    fn case(&self) -> Case {
        Case(json!({"chunks": [self.text], "tools": tools(), "options": self.options}))
    }
}

fn tools() -> Value {
    let tool = |name: &str, required: &[&str], optional: &[&str]| {
        let properties: serde_json::Map<String, Value> = required
            .iter()
            .chain(optional)
            .map(|key| ((*key).to_owned(), json!({"type": "string"})))
            .collect();
        json!({"name": name, "parameters": {"type": "object", "properties": properties, "required": required}})
    };
    json!([
        tool("list_dir", &["path"], &[]),
        tool("read-file", &["file_path"], &[]),
        tool("write_file", &["file_path", "content"], &[]),
        tool("get_time", &[], &[]),
        tool("python", &["code"], &[]),
    ])
}

/// The answer without what this table does not compare; a call that can't be read because it was cut counts as incomplete.
fn answer(got: &Decoded) -> (Vec<Value>, Vec<String>, String, String) {
    let (cut, calls): (Vec<Value>, Vec<Value>) =
        got.calls.iter().cloned().partition(|call| call.get("fault").is_some());
    let mut incomplete = got.incomplete.clone();
    incomplete.extend(cut.iter().map(|call| call["name"].as_str().unwrap().to_owned()));
    (calls, incomplete, got.content.clone(), got.reasoning.clone())
}

fn pieces(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// Checks rows whole and in pieces of every size.
fn check(rows: Vec<Row>) {
    let mut wrong = Vec::new();
    for row in rows {
        let case = row.case();
        let incomplete: Vec<String> = row.incomplete.iter().map(|name| (*name).to_owned()).collect();
        let want = (row.calls.clone(), incomplete, row.content.to_owned(), row.reasoning.to_owned());
        let short: String = row.text.chars().take(300).collect();
        let whole = answer(&case.decode([row.text.as_str()]));
        if whole != want {
            wrong.push(format!("{short:?}\n   got {whole:?}\n  want {want:?}"));
            continue;
        }
        for size in [1, 2, 3, 7] {
            let pieces = pieces(&row.text, size);
            let got = answer(&case.decode(pieces.iter().map(String::as_str)));
            if got != want {
                wrong.push(format!("in pieces of {size}: {short:?}\n   got {got:?}\n  want {want:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn dir(path: &str) -> Value {
    json!({ "path": path })
}
