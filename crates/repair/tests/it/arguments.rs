//! The cases of the corpus that are about arguments, as far as they need no reader of text formats.

use rail_model::ToolCall;
use rail_repair::{CallFault, Catalog, Effect, End, settle};
use serde_json::{Value, json};

use crate::settle::{call, tool};

/// The families whose calls stand in one plain envelope, and the native ones whose fragments need no thought.
fn is_about_arguments(case: &Value) -> bool {
    let id = case["id"].as_str().unwrap();
    let fragments = ["object-multi", "object-growing", "cumulative", "concatenated-distinct", "alias"];
    ["repair_json", "coerce"].contains(&case["family"].as_str().unwrap())
        || (id.starts_with("oa-args") && !fragments.iter().any(|word| id.contains(word)))
}

/// The call of a case, found by hand.
fn call_of(case: &Value) -> ToolCall {
    let chunks = case["chunks"].as_array().unwrap();
    if case["kind"] == "text" {
        let text: String = chunks.iter().map(|chunk| chunk.as_str().unwrap()).collect();
        let inside = text.trim().trim_start_matches("<tool_call>").trim_end_matches("</tool_call>").trim();
        let name = inside.split(['"', '\'']).find(|word| word.contains('_')).unwrap();
        let arguments = match inside.split_once("arguments") {
            // Every envelope of these families has the arguments last.
            Some((_, after)) => after.trim_start_matches(['"', '\'', ':', ' ']).to_owned(),
            None => String::new(),
        };
        let quoted = inside.contains("\"arguments\": \"");
        let arguments = if quoted { format!("\"{arguments}") } else { arguments };
        // A string's end is its quote; what follows is the envelope's.
        let end =
            if quoted { arguments.rfind('"').map_or(arguments.len(), |at| at + 1) } else { arguments.len() };
        return call(name, &arguments[..end]);
    }
    let calls: Vec<&Value> = chunks
        .iter()
        .flat_map(|chunk| chunk["tool_calls"].as_array().unwrap())
        .map(|call| &call["function"])
        .collect();
    let text = |call: &Value| match &call["arguments"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    call(calls[0]["name"].as_str().unwrap(), &calls.iter().map(|call| text(call)).collect::<String>())
}

#[test]
fn cases_about_arguments() {
    let text = include_str!("../corpus/cases.jsonl");
    let mut count = 0;
    for case in
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).filter(is_about_arguments)
    {
        count += 1;
        let mut catalog = Catalog::default();
        for declared in case["tools"].as_array().unwrap() {
            catalog.add(tool(
                declared["name"].as_str().unwrap(),
                Effect::Reads,
                declared["parameters"].clone(),
            ));
        }
        let end = if case["options"]["finish_reason"] == "length" { End::Cut } else { End::Stopped };
        let call = call_of(&case);
        let found = match settle(&call, &catalog, end) {
            Ok(settled) => json!([{"name": settled.call.name, "arguments": settled.arguments}]),
            Err(CallFault::Invalid { settled, .. }) => {
                json!([{"name": settled.call.name, "arguments": settled.arguments}])
            }
            Err(CallFault::Incomplete { .. }) => json!([]),
            Err(fault) => panic!("{}: {fault} in {}", case["id"], call.arguments),
        };
        assert_eq!(found, case["expect"]["calls"], "{}: {}", case["id"], call.arguments);
    }
    assert_eq!(count, 40);
}
