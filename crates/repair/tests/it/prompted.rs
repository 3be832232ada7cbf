//! Requests for models that know no tools: what they are taught, and what becomes of the conversation.

use std::sync::Arc;

use proptest::prelude::*;
use rail_model::{
    Assembler, CacheMark, CallId, CallKind, Delta, Event, Extras, Json, Media, MediaKind, MediaSource,
    Message, Part, PartBody, PartKind, Request, Role, Stop, ToolCall, ToolChoice, ToolDecl, ToolKind,
    ToolResult,
};
use rail_repair::{Catalog, End, Profile, Stage, prompt, settle, stages};
use serde_json::{Value, json};

fn tool(name: &str, description: Option<&str>, schema: Value) -> ToolDecl {
    ToolDecl {
        name: name.into(),
        description: description.map(str::to_owned),
        kind: ToolKind::Function { parameters: Some(Json::from(schema)) },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    }
}

fn tools() -> Vec<ToolDecl> {
    vec![
        tool("get_time", Some("  Tells the time.\n"), json!({"type": "object", "properties": {}})),
        tool(
            "read_file",
            None,
            json!({"type": "object", "properties": {"file_path": {"type": "string"}, "limit": {"type": "integer"}}, "required": ["file_path"]}),
        ),
        ToolDecl {
            kind: ToolKind::Custom { format: None },
            ..tool("patch", Some("Changes files."), json!({}))
        },
    ]
}

fn call(id: &str, name: &str, arguments: &str) -> Part {
    let kind = if name == "patch" { CallKind::Custom } else { CallKind::Function };
    let call =
        ToolCall { id: CallId::Given(id.into()), name: name.into(), arguments: arguments.into(), kind };
    PartBody::ToolCall(call).into()
}

fn result(id: &str, content: Vec<Part>, is_error: Option<bool>) -> Part {
    let (id, kind) = (CallId::Given(id.into()), CallKind::Function);
    PartBody::ToolResult(ToolResult { id, name: None, content, is_error, kind }).into()
}

fn image() -> Part {
    let source = MediaSource::Base64("AAAA".into());
    PartBody::Media(Media { kind: MediaKind::Image, mime: Some("image/png".into()), source, name: None })
        .into()
}

/// The text that teaches the tools.
fn lesson(request: &Request) -> String {
    let system = prompt(request).system;
    system.last().and_then(Part::as_text).unwrap_or_default().to_owned()
}

#[test]
fn tools_are_taught_in_the_system_prompt() {
    let system = vec![Part::text("Be brief.")];
    let request =
        Request { system: system.clone(), tools: tools(), parallel_tools: Some(true), ..Request::default() };
    let prompted = prompt(&request);
    assert_eq!((&prompted.tools, &prompted.tool_choice, prompted.parallel_tools), (&Vec::new(), &None, None));
    assert_eq!(prompted.system.first(), system.first());
    let expected = r##"# Tools

You can call these tools. Their parameters are given as JSON Schema.

## get_time
Tells the time.
Parameters: {"type":"object","properties":{}}

## read_file
Parameters: {"type":"object","properties":{"file_path":{"type":"string"},"limit":{"type":"integer"}},"required":["file_path"]}

## patch
Changes files.
Parameters: {"type":"object","properties":{"input":{"type":"string"}},"required":["input"]}

# How to call

To call a tool, end your answer with one block of exactly this form, the values in it being only an example:

```json
{"tool_calls":[{"tool":"read_file","args":{"file_path":"<file_path>"}}]}
```

- `tool` is the name of a tool above, `args` an object that keeps its schema. Write valid JSON and no other keys.
- Calls that do not depend on each other may stand in one list.
- Call a tool only when you need what it gives or does. Otherwise answer in plain text, without such a block.
- Write nothing after the block. Stop there and wait: the results come in the next message.
- Never write a result yourself, and never say that you did something that no result shows."##;
    assert_eq!(lesson(&request), expected);
}

#[test]
fn the_choice_of_tools_is_respected() {
    let with = |tool_choice, parallel_tools| {
        lesson(&Request {
            tools: tools(),
            tool_choice: Some(tool_choice),
            parallel_tools,
            ..Request::default()
        })
    };
    assert_eq!(with(ToolChoice::None, None), "Do not write tool calls in this answer; answer in plain text.");
    assert!(
        with(ToolChoice::Any, Some(false))
            .contains("- Write exactly one call in the list.\n- You must call at least one tool")
    );
    let named = with(ToolChoice::Named("get_time".into()), None);
    assert!(
        named.contains("You must call the tool `get_time`")
            && named.contains(r#"{"tool":"get_time","args":{}}"#)
    );
    let among = with(ToolChoice::Among { names: vec!["patch".into()], required: true }, None);
    assert!(among.contains(r#"{"tool":"patch","args":{"input":"<input>"}}"#) && !among.contains("read_file"));
    assert_eq!(prompt(&Request::default()), Request::default());
}

#[test]
fn the_example_keeps_the_schema() {
    let schema = json!({
        "properties": {
            "mode": {"enum": ["fast", "slow"]},
            "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
            "note": {"type": ["null", "string"]},
            "later": {"type": "string"},
        },
        "required": ["mode", "items", "note"],
        "$defs": {"item": {"type": "OBJECT", "properties": {"n": {"type": "NUMBER"}, "on": {"type": "boolean"}}, "required": ["n", "on"]}},
    });
    let lesson = lesson(&Request { tools: vec![tool("x", None, schema)], ..Request::default() });
    let block = lesson.split("```json\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    let expected = json!({"mode": "fast", "items": [{"n": 1, "on": true}], "note": "<note>"});
    assert_eq!(
        serde_json::from_str::<Value>(block).unwrap(),
        json!({"tool_calls": [{"tool": "x", "args": expected}]})
    );
}

#[test]
fn a_recursive_schema_ends() {
    let schema = json!({"type": "object", "properties": {"again": {"$ref": "#"}}, "required": ["again"]});
    assert!(
        lesson(&Request { tools: vec![tool("x", None, schema)], ..Request::default() }).contains("again")
    );
}

#[test]
fn calls_and_results_become_text() {
    let mut marked = call("c3", "patch", "*** Begin\n\"x\"");
    marked.cache = Some(CacheMark::default());
    let request = Request {
        messages: vec![
            Message::new(Role::User, vec![Part::text("go")]),
            Message::new(
                Role::Assistant,
                vec![
                    Part::text("Reading."),
                    call("c1", "read_file", "{ \"file_path\": \"a\" }"),
                    call("c2", "get_time", ""),
                    marked,
                ],
            ),
            Message::new(
                Role::Tool,
                vec![result(
                    "c1",
                    vec![Part::text("one\n```\ntwo"), image(), Part::text("end\n")],
                    Some(false),
                )],
            ),
            Message::new(
                Role::User,
                vec![
                    result("c2", vec![], None),
                    result("c3", vec![Part::text("no")], Some(true)),
                    Part::text("and now?"),
                ],
            ),
            Message::new(Role::Assistant, vec![call("c4", "read_file", "{\"file_path\": \"b")]),
        ],
        ..Request::default()
    };
    let prompted = prompt(&request);
    let mut block = Part::text(
        "```json\n{\"tool_calls\":[{\"tool\":\"read_file\",\"args\":{ \"file_path\": \"a\" }},{\"tool\":\"get_time\",\"args\":{}},{\"tool\":\"patch\",\"args\":{\"input\":\"*** Begin\\n\\\"x\\\"\"}}]}\n```",
    );
    block.cache = Some(CacheMark::default());
    let expected = [
        Message::new(Role::User, vec![Part::text("go")]),
        Message::new(Role::Assistant, vec![Part::text("Reading."), block]),
        Message::new(
            Role::User,
            vec![
                Part::text("Result of `read_file` (call `c1`):\n````\none\n```\ntwo\n````"),
                image(),
                Part::text("```\nend\n```"),
            ],
        ),
        Message::new(
            Role::User,
            vec![
                Part::text("Result of `get_time` (call `c2`):\n(no output)"),
                Part::text("Error from `patch` (call `c3`):\n```\nno\n```"),
                Part::text("and now?"),
            ],
        ),
        Message::new(
            Role::Assistant,
            vec![Part::text(
                "```json\n{\"tool_calls\":[{\"tool\":\"read_file\",\"args\":\"{\\\"file_path\\\": \\\"b\"}]}\n```",
            )],
        ),
    ];
    assert_eq!(prompted.messages, expected);
    assert_eq!(prompt(&prompted), prompted);
}

/// What a prompted model's answer becomes: each part in a line.
fn answered(request: &Request, words: &str) -> Vec<String> {
    let catalog = Arc::new(Catalog::new(&request.tools));
    let profile = Profile { prompted: true, ..Profile::default() };
    let mut pipeline = stages(&profile, &catalog);
    let (mut out, mut assembler) = (Vec::new(), Assembler::default());
    for event in [
        Event::Started { id: None, model: None, extras: Extras::NONE },
        Event::Opened { at: 0, kind: PartKind::Text, extras: Extras::NONE },
        Event::Delta { at: 0, delta: Delta::Text(words.into()), extras: Extras::NONE },
        Event::Closed { at: 0, extras: Extras::NONE },
        Event::Finished { stop: Stop::EndTurn, extras: Extras::NONE },
    ] {
        pipeline.event(event, &mut out);
    }
    out.into_iter().for_each(|event| assembler.push(event));
    let line = |part: &Part| match &part.body {
        PartBody::Text(text) => format!("text {text}"),
        PartBody::ToolCall(call) => {
            assert_eq!(settle(call, &catalog, End::Closed).unwrap().call, *call);
            format!("{:?} {} {}", call.kind, call.name, call.arguments)
        }
        other => panic!("{other:?}"),
    };
    assembler.parts().iter().map(line).collect()
}

#[test]
fn what_was_taught_is_found_in_the_answer() {
    let request = Request { tools: tools(), ..Request::default() };
    let taught = lesson(&request);
    let from = taught.find("```json").unwrap();
    let block = &taught[from..from + taught[from..].find("\n```\n").unwrap() + 4];
    assert_eq!(answered(&request, block), [r#"Function read_file {"file_path":"<file_path>"}"#]);
    assert_eq!(
        answered(&request, &format!("I look.\n\n{block}\n")),
        ["text I look.", r#"Function read_file {"file_path":"<file_path>"}"#]
    );
    let patch = "*** Begin\n\"a\" ```json\n";
    let calls = Message::new(
        Role::Assistant,
        vec![
            call("1", "get_time", ""),
            call("2", "patch", patch),
            call("3", "read_file", "{\"file_path\": \"a\"}"),
        ],
    );
    let told = prompt(&Request { messages: vec![calls], ..request.clone() });
    let words = told.messages[0].parts[0].as_text().unwrap();
    assert_eq!(
        answered(&request, words),
        [
            "Function get_time {}".to_owned(),
            format!("Custom patch {patch}"),
            "Function read_file {\"file_path\": \"a\"}".to_owned()
        ]
    );
}

fn parts() -> impl Strategy<Value = Part> {
    prop_oneof![
        "[a-z`\n]{0,12}".prop_map(Part::text),
        ("c[0-3]", "[a-z{}\":`]{0,12}").prop_map(|(id, arguments)| call(&id, "read_file", &arguments)),
        ("c[0-3]", "[a-z`\n]{0,12}", any::<Option<bool>>()).prop_map(|(id, text, is_error)| result(
            &id,
            vec![Part::text(text), image()],
            is_error
        )),
        Just(image()),
    ]
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant), Just(Role::Tool), Just(Role::System)];
    let message =
        (role, proptest::collection::vec(parts(), 0..4)).prop_map(|(role, parts)| Message::new(role, parts));
    proptest::collection::vec(message, 0..6)
}

proptest! {
    #[test]
    fn a_growing_conversation_keeps_its_bytes(messages in messages(), cut in 0..6_usize) {
        let shorter = messages.iter().take(cut).cloned().collect();
        let whole = prompt(&Request { messages, tools: tools(), ..Request::default() });
        let part = prompt(&Request { messages: shorter, tools: tools(), ..Request::default() });
        prop_assert_eq!(&whole.system, &part.system);
        prop_assert!(whole.messages.starts_with(&part.messages));
    }

    #[test]
    fn no_call_and_no_result_is_left(messages in messages()) {
        let prompted = prompt(&Request { messages, tools: tools(), ..Request::default() });
        prop_assert!(prompted.messages.iter().all(|message| message.role != Role::Tool));
        for part in prompted.messages.iter().flat_map(|message| &message.parts) {
            prop_assert!(!matches!(part.body, PartBody::ToolCall(_) | PartBody::ToolResult(_)));
            let text = part.as_text().filter(|text| text.starts_with("```json\n{\"tool_calls\":"));
            if let Some(block) = text.and_then(|text| text.strip_prefix("```json\n")?.strip_suffix("\n```")) {
                prop_assert!(serde_json::from_str::<Value>(block).is_ok(), "{}", block);
            }
        }
    }
}
