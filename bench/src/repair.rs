//! The stages of repair against copying the same text and looking for `<` in it.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use rail_model::{CallId, CallKind, Delta, Event, Extras, Json, PartKind, Stop, ToolDecl, ToolKind};
use rail_repair::{Catalog, Profile, Stage, stages};
use serde_json::json;

use crate::timing::shortest;

/// The size of a piece as a model's server sends it, and as a whole answer or a slow reader brings it.
const TOKEN: usize = 4;
const READ: usize = 1 << 10;

/// One line of the table: a text, how it comes, and in what.
struct Row {
    name: &'static str,
    piece: usize,
    carrier: Carrier,
    /// The text, once or twice as long.
    text: fn(usize) -> String,
}

#[derive(Clone, Copy)]
enum Carrier {
    /// Text of the answer.
    Text,
    /// Arguments of a call that came as a call.
    Arguments,
}

const ROWS: &[Row] = &[
    Row { name: "prose, 1 KiB pieces", piece: READ, carrier: Carrier::Text, text: prose },
    Row { name: "prose, 4 B pieces", piece: TOKEN, carrier: Carrier::Text, text: prose },
    Row { name: "prose full of <, 1 KiB pieces", piece: READ, carrier: Carrier::Text, text: angles },
    Row { name: "prose full of <, 4 B pieces", piece: TOKEN, carrier: Carrier::Text, text: angles },
    Row { name: "argument in hermes, 4 B", piece: TOKEN, carrier: Carrier::Text, text: hermes },
    Row { name: "argument in qwen xml, 4 B", piece: TOKEN, carrier: Carrier::Text, text: qwen },
    Row {
        name: "argument of a native call, 4 B",
        piece: TOKEN,
        carrier: Carrier::Arguments,
        text: arguments,
    },
    Row { name: "50 parallel calls, 4 B", piece: TOKEN, carrier: Carrier::Text, text: parallel },
];

pub(crate) fn run() {
    println!("reference: copies the same pieces and looks for `<` in them; 2x: time for twice the text\n");
    println!("{:<32} {:>6} {:>10} {:>8} {:>7} {:>6}", "repair", "KiB", "ref MB/s", "MB/s", "ratio", "2x");
    ROWS.iter().for_each(row);
}

fn row(row: &Row) {
    let catalog = Arc::new(Catalog::new(&tools()));
    let (once, twice) = ((row.text)(1), (row.text)(2));
    let times = shortest(&mut [
        Box::new(|| copy(&once, row.piece)),
        Box::new(|| repair(&catalog, row, &once)),
        Box::new(|| repair(&catalog, row, &twice)),
    ]);
    if let [reference, ours, double] = times.as_slice() {
        let (ratio, growth) = (quotient(*reference, *ours), quotient(*double, *ours));
        let (size, reference, ours) =
            (once.len() >> 10, speed(once.len(), *reference), speed(once.len(), *ours));
        println!("{:<32} {size:>6} {reference:>10.0} {ours:>8.0} {ratio:>7.3} {growth:>6.2}", row.name);
    }
}

fn copy(text: &str, piece: usize) {
    let mut all = String::new();
    for piece in pieces(text, piece) {
        let piece = piece.to_owned();
        black_box(memchr::memchr(b'<', piece.as_bytes()));
        all.push_str(&piece);
    }
    black_box(all);
}

fn repair(catalog: &Arc<Catalog>, row: &Row, text: &str) {
    let mut stages = stages(&Profile::default(), catalog);
    let mut out = Vec::new();
    let kind = match row.carrier {
        Carrier::Text => PartKind::Text,
        Carrier::Arguments => PartKind::ToolCall {
            id: CallId::Given("call_1".into()),
            name: "write_file".into(),
            kind: CallKind::Function,
        },
    };
    stages.event(Event::Started { id: Some("a".into()), model: None, extras: Extras::NONE }, &mut out);
    stages.event(Event::Opened { at: 0, kind, extras: Extras::NONE }, &mut out);
    for piece in pieces(text, row.piece) {
        let delta = match row.carrier {
            Carrier::Text => Delta::Text(piece.to_owned()),
            Carrier::Arguments => Delta::Arguments(piece.to_owned()),
        };
        stages.event(Event::Delta { at: 0, delta, extras: Extras::NONE }, &mut out);
        black_box(&out);
        out.clear();
    }
    stages.event(Event::Closed { at: 0, extras: Extras::NONE }, &mut out);
    stages.event(Event::Finished { stop: Stop::ToolUse, extras: Extras::NONE }, &mut out);
    stages.finish(&mut out);
    black_box((&out, stages.notes()));
}

/// The texts are ASCII, so that every cut is between characters.
fn pieces(text: &str, size: usize) -> impl Iterator<Item = &str> {
    text.as_bytes().chunks(size).map(|piece| std::str::from_utf8(piece).unwrap_or_default())
}

fn tools() -> Vec<ToolDecl> {
    let tool = |name: &str, parameters: serde_json::Value| ToolDecl {
        name: name.to_owned(),
        description: None,
        kind: ToolKind::Function { parameters: Some(Json::from(parameters)) },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    };
    let strings = |names: &[&str]| {
        let properties: serde_json::Map<_, _> =
            names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": properties, "required": names})
    };
    vec![
        tool("list_dir", strings(&["path"])),
        tool("read_file", strings(&["file_path"])),
        tool("write_file", strings(&["file_path", "content"])),
        tool("run_command", strings(&["command"])),
    ]
}

fn prose(times: usize) -> String {
    const LINE: &str = "The parser reads a line, then checks it; if a value is missing (see below), it says so and goes on.\n\n\
        - `fn main()` starts the loop, and 3 of 4 readers wait for it: each one \"holds\" what may still change.\n";
    LINE.repeat(times * (1 << 20) / LINE.len())
}

fn angles(times: usize) -> String {
    const LINE: &str = "if a < b && c <d then Vec<tool> and <to or <b>bold</b> <tool_ x << 2 ";
    LINE.repeat(times * (100 << 10) / LINE.len())
}

/// The content of a file, as JSON writes it.
fn content(times: usize) -> String {
    const LINE: &str = "    let value = read(&text, \\\"<b>\\\")?; // and so on\\n";
    LINE.repeat(times * (1 << 20) / LINE.len())
}

fn arguments(times: usize) -> String {
    format!("{{\"file_path\": \"src/main.rs\", \"content\": \"{}\"}}", content(times))
}

fn hermes(times: usize) -> String {
    format!("<tool_call>\n{{\"name\": \"write_file\", \"arguments\": {}}}\n</tool_call>", arguments(times))
}

fn qwen(times: usize) -> String {
    format!(
        "<tool_call>\n<function=write_file>\n<parameter=file_path>\nsrc/main.rs\n</parameter>\n<parameter=content>\n{}\n\
         </parameter>\n</function>\n</tool_call>",
        content(times).replace("\\n", "\n").replace('\\', "")
    )
}

fn parallel(times: usize) -> String {
    let call = |n: usize| {
        format!(
            "<tool_call>\n{{\"name\": \"list_dir\", \"arguments\": {{\"path\": \"src/{n}\"}}}}\n</tool_call>\n"
        )
    };
    (0..50 * times).map(call).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn speed(bytes: usize, time: Duration) -> f64 {
    bytes as f64 / time.as_secs_f64() / 1e6
}

fn quotient(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}
