//! Texts and schemas made to be slow. A reader that looks at a byte more than a few times does not come to an end here.

use rail_model::{PartBody, Stop};
use rail_repair::{Catalog, Effect, End, Profile, settle};
use serde_json::{Value, json};

use crate::settle::{call, catalog, tool};
use crate::stream::{Answer, by_chars, tools};

#[test]
fn texts_made_to_be_read_again_and_again_are_read_once() {
    const TIMES: usize = 10_000;
    let texts = [
        format!("{{\"a\": \"{}", "\"//".repeat(TIMES)),
        format!("{{\"a\": \"{}", "\"/*".repeat(TIMES)),
        format!("{{\"a\": \"{}\"}}", "x\", \"b".repeat(TIMES)),
        format!("{{\"a\": \"{}\"}}", "x \"y\" ".repeat(TIMES)),
        format!("{{\"a\": \"{}\"}}", "\" , ".repeat(TIMES)),
        format!("{{{}", "\"a\": \"x \"y\" z\", ".repeat(TIMES)),
        format!("{{\"a\": [{}", "'it's', ".repeat(TIMES)),
        format!("{{\"a\": \"{}\"}}", "\\".repeat(TIMES * 2 + 1)),
        format!("{{\"a\": {}", "],".repeat(TIMES)),
        format!("{{\"a\": 1{}", "}".repeat(TIMES)),
        format!("{{\"a\": {}", "\n".repeat(TIMES)),
        "{}".repeat(TIMES),
        "{\"a\":1}".repeat(TIMES),
        "[{".repeat(TIMES),
        "{\"a\":\"b\"\n".repeat(TIMES),
        format!("[{}]", "{\"a\": 1},".repeat(TIMES)),
        "\u{201c}".repeat(TIMES),
        "# ".repeat(TIMES),
        "```".repeat(TIMES),
    ];
    for text in texts {
        for end in [End::Closed, End::Stopped, End::Cut] {
            // What comes of it is not the question here.
            settle(&call("anything", &text), &catalog(), end).ok();
        }
    }
}

#[test]
fn schemas_made_to_be_followed_for_ever_end() {
    let many: Vec<Value> = (0..40).map(|_| json!({"$ref": "#/$defs/n"})).collect();
    let schemas = [
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": many.clone(), "properties": {"a": {"$ref": "#/$defs/n"}}}}}),
        json!({"$ref": "#/$defs/n", "$defs": {"n": {"allOf": many.clone(), "items": {"$ref": "#"}}}}),
        json!({"additionalProperties": {"$ref": "#"}, "required": ["never"], "oneOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        (0..120).fold(
            json!({"type": "integer"}),
            |inner, _| json!({"properties": {"a": inner}, "anyOf": [{}, {}]}),
        ),
    ];
    let deep = (0..500).fold("\"1\"".to_owned(), |inner, _| format!("{{\"a\": {inner}}}"));
    let wide =
        format!("{{{}}}", (0..500).map(|n| format!("\"k{n}\": [1, \"2\"]")).collect::<Vec<_>>().join(","));
    for schema in schemas {
        let mut catalog = Catalog::default();
        catalog.add(tool("t", Effect::Reads, schema));
        for text in [&deep, &wide] {
            settle(&call("t", text), &catalog, End::Closed).ok();
        }
    }
}

#[test]
fn answers_made_to_nest_or_to_be_read_again_are_text() {
    const TIMES: usize = 20_000;
    let texts = [
        "{\"function\":".repeat(TIMES) + &"}".repeat(TIMES),
        format!("<tool_call>{}{}", "{\"function\":".repeat(TIMES), "}".repeat(TIMES)),
        "{\"tool_calls\":[".repeat(TIMES) + &"]}".repeat(TIMES),
        "{\"name\":\"multi_tool_use.parallel\",\"arguments\":".repeat(TIMES) + &"}".repeat(TIMES),
        "<|recipient|>all\n<|content|>a<|channel|>final<|message|>".repeat(TIMES),
        "x <think> ".repeat(TIMES),
        "{\"name\": \"list_dir\"\n".repeat(TIMES / 10),
        "```json\n{\"name\": \"list_dir\",\n```\nso\n".repeat(TIMES / 10),
    ];
    let tools = tools();
    for (at, text) in texts.iter().enumerate() {
        let answer = Answer { text, tools: &tools, profile: Profile::default(), stop: Stop::EndTurn };
        let became = answer.in_pieces(by_chars(text, 4096));
        let calls = became.parts.iter().filter(|part| matches!(part.body, PartBody::ToolCall(_))).count();
        assert_eq!(calls, 0, "text {at}");
    }
}
