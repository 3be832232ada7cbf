use rail_model::{
    Effort, Extras, Format, Json, Message, Request, Role, Thinking, ThinkingMode, ToolChoice, ToolDecl,
    ToolKind,
};
use rail_wire::{TargetSpec, ThinkingStyle, gemini};
use serde_json::{Value, json};

use super::requests::{call, foreign, given, paths, user};
use super::{body, decode, encode};

fn tool(name: &str, schema: Value) -> ToolDecl {
    let kind = ToolKind::Function { parameters: Some(Json::from(schema)) };
    ToolDecl { name: name.into(), description: None, kind, strict: None, cache: None, extras: Extras::NONE }
}

#[test]
fn trap_33_schemas_are_cleaned_and_data_is_not() {
    let mut request = foreign(vec![
        user("x"),
        Message::new(
            Role::Assistant,
            vec![call(given("1"), "f", r#"{"$schema":1,"additionalProperties":{"const":1.0}}"#)],
        ),
    ]);
    request.tools = vec![
        tool(
            "f",
            json!({"$schema": "s", "type": "object", "properties": {"a": {"type": "string", "x-y": 1}}, "additionalProperties": false}),
        ),
        tool("g", json!({"type": "object", "properties": {}})),
    ];
    let encoded = encode(&request);
    let body = body(&encoded);
    assert_eq!(
        body["tools"],
        json!([{"functionDeclarations": [
            {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}}, {"name": "g"}
        ]}])
    );
    assert_eq!(
        body["contents"][1]["parts"][0]["functionCall"]["args"],
        json!({"$schema": 1, "additionalProperties": {"const": serde_json::from_str::<Value>("1.0").unwrap()}})
    );
    let lost = [
        "tools[0].parameters.$schema",
        "tools[0].parameters.additionalProperties",
        "tools[0].parameters.properties.a.x-y",
    ];
    assert!(lost.iter().all(|path| paths(&encoded).contains(path)), "{:?}", encoded.losses);
}

#[test]
fn googles_schemas_are_json_schema_for_others() {
    let request = decode(
        &json!({"contents": [], "tools": [{"functionDeclarations": [{"name": "f", "parameters":
        {"type": "OBJECT", "properties": {"type": {"type": "STRING", "nullable": true}, "l": {"type": "ARRAY", "items": {"type": "INTEGER"}, "minItems": "2"}}}}]}]}),
    );
    let ToolKind::Function { parameters: Some(schema) } = &request.tools[0].kind else { panic!() };
    assert_eq!(
        schema.value(),
        json!({"type": "object", "properties": {"type": {"type": ["string", "null"]}, "l": {"type": "array", "items": {"type": "integer"}, "minItems": 2}}})
    );
}

#[test]
fn settings_of_others_are_said_in_googles_words() {
    let mut request = foreign(vec![user("x")]);
    request.sampling.stop = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).to_vec();
    request.sampling.max_output = Some(9);
    request.sampling.logprobs = Some(true);
    request.tools = vec![tool("f", json!({"type": "object", "properties": {"a": {"type": "string"}}}))];
    request.tool_choice = Some(ToolChoice::Among { names: vec!["f".into()], required: false });
    request.parallel_tools = Some(false);
    request.user = Some("u".into());
    request.format = Some(Format::JsonSchema {
        name: None,
        description: None,
        schema: Some(Json::from(json!({"type": "object"}))),
        strict: Some(true),
    });
    let encoded = encode(&request);
    let body = body(&encoded);
    assert_eq!(
        body["toolConfig"],
        json!({"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["f"]}})
    );
    assert_eq!(
        body["generationConfig"],
        json!({"maxOutputTokens": 9, "stopSequences": ["a", "b", "c", "d", "e"], "responseLogprobs": true,
        "responseMimeType": "application/json", "responseJsonSchema": {"type": "object"}})
    );
    assert_eq!(paths(&encoded), ["stop", "parallel_tools", "user"]);
}

#[test]
fn thinking_is_asked_for_as_the_target_takes_it() {
    use ThinkingStyle::{Adaptive, AsAsked, Budget, Effort as ByEffort, Never};
    let on = |budget| Thinking { mode: Some(ThinkingMode::On), budget: Some(budget), ..Thinking::default() };
    let effort = |effort| Thinking { effort: Some(effort), ..Thinking::default() };
    let off = Thinking { mode: Some(ThinkingMode::Off), ..Thinking::default() };
    let adaptive = Thinking { mode: Some(ThinkingMode::Adaptive), ..Thinking::default() };
    let table = [
        (on(2000), AsAsked, json!({"includeThoughts": true, "thinkingBudget": 2000})),
        (on(2000), ByEffort, json!({"includeThoughts": true, "thinkingLevel": "MEDIUM"})),
        (effort(Effort::XHigh), AsAsked, json!({"thinkingLevel": "HIGH"})),
        (effort(Effort::Low), Budget, json!({"thinkingBudget": 1024})),
        (adaptive.clone(), AsAsked, json!({"includeThoughts": true, "thinkingBudget": -1})),
        (adaptive, Budget, json!({"includeThoughts": true, "thinkingBudget": -1})),
        (off.clone(), Budget, json!({"thinkingBudget": 0})),
        (off, ByEffort, json!({"thinkingLevel": "MINIMAL"})),
        (effort(Effort::None), Adaptive, json!({"thinkingBudget": 0})),
        (on(5), Never, Value::Null),
    ];
    for (asked, style, expected) in table {
        let request = Request { thinking: Some(asked.clone()), ..foreign(vec![user("x")]) };
        let target = TargetSpec { thinking: style, ..TargetSpec::new("gemini-3-pro") };
        let body = body(&gemini::PROTOCOL.outbound.encode_request(&request, &target));
        assert_eq!(body["generationConfig"]["thinkingConfig"], expected, "{asked:?} {style:?}");
    }
}
