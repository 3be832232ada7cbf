//! Linear cost, shown by counted work: four times the text allocates four times, not sixteen times, as much. And nothing is
//! held back longer than it must be.

use std::sync::Arc;

use rail_model::{CallId, CallKind, Delta, Event, Extras, PartBody, PartKind, Stop};
use rail_repair::{Catalog, Profile, Stage, stages};
use serde_json::{Value, json};

use crate::stream::{Answer, by_chars, tools};

/// A text of any length, by how often something is repeated.
type Text = fn(usize) -> String;

/// Texts that hold something to be read in vain, or very much of it.
const LARGE: &[(&str, Text)] = &[
    ("prose", |n| "The parser reads a line, then checks it.\n".repeat(n)),
    ("angles", |n| "if a < b && c <d <to <tool <tool_ ".repeat(n)),
    ("unclosed openers", |n| "<tool_call>{".repeat(n)),
    ("unclosed names", |n| "<tool_call>\n{\"name\": \"list_dir\", ".repeat(n)),
    ("unclosed strings", |n| {
        "<tool_call>{\"name\": \"edit_file\", \"arguments\": {\"old_string\": \"x ".repeat(n)
    }),
    ("unclosed parameters", |n| "<function=edit_file>\n<parameter=old_string>\n".repeat(n)),
    ("unclosed tags", |n| "<invoke name=\"list_dir\"><parameter name=\"path\">".repeat(n)),
    ("unclosed keys", |n| "<tool_call>edit_file<arg_key>".repeat(n)),
    ("unclosed python", |n| "<|python_start|>[list_dir(path=\"".repeat(n)),
    ("unclosed sections", |n| "<|tool_calls_section_begin|><|tool_call_begin|>".repeat(n)),
    ("wrong closers", |n| "</tool_call></function>}]".repeat(n)),
    ("fences", |n| "```json\n````\n```\n~~~\n".repeat(n)),
    ("open fences", |n| "```json\n{\"name\": ".repeat(n)),
    ("names", |n| "{\"name\":".repeat(n)),
    ("weak calls", |n| "{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\"}}\n".repeat(n)),
    ("weak calls and prose", |n| {
        "{\"name\": \"list_dir\", \"arguments\": {\"path\": \".\"}}\nso\n".repeat(n)
    }),
    ("lists", |n| "[".repeat(n)),
    ("nested lists in a call", |n| {
        format!("<tool_call>{{\"name\": \"list_dir\", \"arguments\": {{\"path\": {}", "[".repeat(n))
    }),
    ("blanks", |n| " ".repeat(n)),
    ("empty lines", |n| format!("a{}b", "\n".repeat(n))),
    ("blanks in a call", |n| {
        format!("<tool_call>{}{{\"name\": \"get_time\", \"arguments\": {{}}}}</tool_call>", " \n".repeat(n))
    }),
    ("thoughts", |n| "<think>a</think>b".repeat(n)),
    ("open thoughts", |n| "<think>".repeat(n)),
    ("drafts", |n| {
        format!("<think>{}", "<tool_call>{\"name\": \"get_time\", \"arguments\": {}}</tool_call>".repeat(n))
    }),
    ("backticks", |n| "`".repeat(n)),
    ("actions", |n| "Action: list_dir\nAction Input: ".repeat(n)),
    ("channels", |n| "<|channel|>commentary to=functions.list_dir ".repeat(n)),
    ("calls", |n| {
        "<tool_call>\n{\"name\": \"list_dir\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>\n".repeat(n)
    }),
    ("a long argument", |n| {
        format!(
            "<tool_call>{{\"name\": \"list_dir\", \"arguments\": {{\"path\": \"{}\"}}}}</tool_call>",
            "abc\\n".repeat(n)
        )
    }),
    ("a long parameter", |n| {
        format!(
            "<tool_call>\n<function=edit_file>\n<parameter=old_string>\n{}\n</parameter>\n</function>\n</tool_call>",
            "abc <b>\n".repeat(n)
        )
    }),
];

/// Bytes allocated while the text is read in pieces of this many characters.
fn work(text: &str, size: usize) -> u64 {
    let tools = tools();
    let answer = Answer { text, tools: &tools, profile: Profile::default(), stop: Stop::EndTurn };
    let pieces = by_chars(text, size);
    allocation_counter::measure(|| {
        answer.in_pieces(pieces);
    })
    .bytes_total
}

/// Whether four times the input costs more than four times the work, and some more for the ways in which buffers grow.
fn grows(text: Text, size: usize, n: usize) -> Option<String> {
    let [small, large] = [n, 4 * n].map(|n| work(&text(n), size));
    (large > small * 6 + (64 << 10)).then(|| format!("{small} bytes of work for a quarter of {large}"))
}

#[test]
fn large_texts_cost_linear_work() {
    let mut wrong = Vec::new();
    for (name, text) in LARGE {
        for size in [4, 4096] {
            // A reader may give up at some length, and then what it had held is read as text: a step, not a slope.
            if grows(*text, size, 1 << 9).is_some()
                && let Some(how) = grows(*text, size, 5 << 9)
            {
                wrong.push(format!("{name} in pieces of {size}: {how}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_megabyte_of_argument_arrives_as_it_was_sent() {
    let content = "let x = \"<b>\";\n".repeat(70_000);
    let call = json!({"name": "edit_file", "arguments": {"file_path": "a.rs", "old_string": content}});
    let text = format!("Here.\n<tool_call>\n{call}\n</tool_call>");
    let tools = tools();
    let answer = Answer { text: &text, tools: &tools, profile: Profile::default(), stop: Stop::EndTurn };
    let became = answer.in_pieces(by_chars(&text, 4));
    let calls: Vec<Value> = became
        .parts
        .iter()
        .filter_map(|part| match &part.body {
            PartBody::ToolCall(call) => Some(serde_json::from_str(&call.arguments).unwrap()),
            _ => None,
        })
        .collect();
    assert_eq!(became.content(), "Here.");
    assert!(calls == [call["arguments"].clone()], "{} calls", calls.len());
}

/// A call that came as a call: its arguments in pieces of 4 bytes.
fn native_work(pieces: usize) -> u64 {
    let kind = PartKind::ToolCall {
        id: CallId::Given("call_1".into()),
        name: "edit_file".into(),
        kind: CallKind::Function,
    };
    let delta =
        |text: &str| Event::Delta { at: 0, delta: Delta::Arguments(text.into()), extras: Extras::NONE };
    let mut events = vec![
        Event::Started { id: Some("a".into()), model: None, extras: Extras::NONE },
        Event::Opened { at: 0, kind, extras: Extras::NONE },
        delta("{\"old_string\": \""),
    ];
    events.extend((0..pieces).map(|_| delta("abc ")));
    events.extend([
        delta("\"}"),
        Event::Closed { at: 0, extras: Extras::NONE },
        Event::Finished { stop: Stop::ToolUse, extras: Extras::NONE },
    ]);
    let mut pipeline = stages(&Profile::default(), &Arc::new(Catalog::new(&tools())));
    let mut out = Vec::new();
    let info = allocation_counter::measure(|| {
        for event in events {
            pipeline.event(event, &mut out);
            out.clear();
        }
        pipeline.finish(&mut out);
    });
    info.bytes_total
}

#[test]
fn a_long_argument_of_a_native_call_costs_linear_work() {
    let [small, large] = [1 << 14, 1 << 16].map(native_work);
    assert!(large < small * 6, "{small} bytes of work for a quarter of {large}");
}

/// What can't be the start of anything is given out at once.
#[test]
fn prose_is_not_held_back() {
    let prose = "If a < b, then `x` is [1, 2]: see {this} and \"that\".\n\n- one (two)\n- Vec<u8>\n\nso it is; 切替, and more of it. ";
    let text = prose.repeat(20);
    let tools = tools();
    let answer = Answer { text: &text, tools: &tools, profile: Profile::default(), stop: Stop::EndTurn };
    let became = answer.in_pieces(by_chars(&text, 1));
    assert_eq!(became.content(), text);
    assert!(became.held.0 <= 24, "{} bytes were held", became.held.0);
}

/// A long argument is given out while it comes.
#[test]
fn a_long_argument_is_not_held_back() {
    let content = "let x = 1;\n".repeat(5_000);
    let call = json!({"name": "edit_file", "arguments": {"file_path": "a.rs", "old_string": content}});
    let json = format!("<tool_call>\n{call}\n</tool_call>");
    let xml = format!(
        "<tool_call>\n<function=edit_file>\n<parameter=old_string>\n{content}\n</parameter>\n</function>\n</tool_call>"
    );
    let tools = tools();
    for text in [json, xml] {
        let answer = Answer { text: &text, tools: &tools, profile: Profile::default(), stop: Stop::EndTurn };
        let became = answer.in_pieces(by_chars(&text, 4));
        assert!(became.held.0 <= 2048, "{} bytes were held of {:?}", became.held.0, &text[..40]);
    }
}
