//! OpenAI Chat: requests of other protocols for it, its own requests for others, embeddings, and bad input.

use rail_model::{
    CallId, CallKind, Effort, EmbedInput, EmbedRequest, Extras, Format, Media, MediaKind, MediaSource,
    Message, Part, PartBody, ProtocolId, Request, Role, Seal, Thinking, ThinkingMode, ToolCall, ToolChoice,
    ToolDecl, ToolKind, ToolResult,
};
use rail_wire::openai_chat::{ID, PROTOCOL};
use rail_wire::{
    HttpCall, MaxTokensKey, Quirks, ReasoningBack, ReplyTo, TargetSpec, ThinkingStyle, VectorSpelling,
};
use serde_json::{Value, json};

use crate::corpus::{fixtures, json as parsed, read_request, write_request};

const ANTHROPIC: ProtocolId = ProtocolId::new("anthropic");
const RESPONSES: ProtocolId = ProtocolId::new("openai-responses");

fn foreign(messages: Vec<Message>) -> Request {
    Request { model: "m".into(), messages, origin: Some(ANTHROPIC), ..Request::default() }
}

fn said(text: &str) -> Message {
    Message::new(Role::User, vec![Part::text(text)])
}

fn call(id: &str, arguments: &str) -> Part {
    let id = CallId::Given(id.into());
    let call = ToolCall { id, name: "bell".into(), arguments: arguments.into(), kind: CallKind::Function };
    PartBody::ToolCall(call).into()
}

fn result(id: &str, content: Vec<Part>, is_error: Option<bool>) -> Part {
    let id = CallId::Given(id.into());
    PartBody::ToolResult(ToolResult { id, name: None, content, is_error, kind: CallKind::Function }).into()
}

fn note() -> ToolDecl {
    let kind = ToolKind::Custom { format: None };
    ToolDecl { name: "note".into(), description: None, kind, strict: None, cache: None, extras: Extras::NONE }
}

fn written(request: &Request) -> Value {
    write_request(&PROTOCOL, request).0
}

fn with_quirks(request: &Request, quirks: Quirks) -> Value {
    let target = TargetSpec { quirks, ..TargetSpec::new("m") };
    parsed(&PROTOCOL.outbound.encode_request(request, &target).call.body)
}

fn read(body: Value) -> Request {
    read_request(&PROTOCOL, body.to_string().as_bytes()).unwrap()
}

#[test]
fn trap_12_several_texts_of_an_assistant_become_one_string() {
    let parts = vec![Part::text("One "), Part::text("sentence."), call("c1", "{}"), Part::text("Then more.")];
    let body = written(&foreign(vec![said("a"), Message::new(Role::Assistant, parts)]));
    assert_eq!(body["messages"][1]["content"], "One sentence.\n\nThen more.");
}

#[test]
fn trap_14_results_come_first_and_text_and_calls_share_a_message() {
    let assistant =
        Message::new(Role::Assistant, vec![Part::text("On it."), call("c1", "{\"n\": 1.0}"), call("c2", "")]);
    let user = vec![
        Part::text("And?"),
        result("c1", vec![Part::text("x"), Part::text("y")], None),
        result("c2", vec![], None),
    ];
    let body = written(&foreign(vec![said("Go."), assistant, Message::new(Role::User, user)]));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": "On it.", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "bell", "arguments": "{\"n\": 1.0}"}},
                {"id": "c2", "type": "function", "function": {"name": "bell", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "x\n\ny"},
            {"role": "tool", "tool_call_id": "c2", "content": ""},
            {"role": "user", "content": "And?"}
        ])
    );
}

#[test]
fn trap_15_a_failed_result_says_so_in_its_text() {
    let text = |text: &str| {
        let list = if text.is_empty() { vec![] } else { vec![Part::text(text)] };
        let message = Message::new(Role::Tool, vec![result("c1", list, Some(true))]);
        let body = written(&foreign(vec![
            said("a"),
            Message::new(Role::Assistant, vec![call("c1", "{}")]),
            message,
        ]));
        assert!(!body.to_string().contains("is_error"));
        body["messages"][2]["content"].clone()
    };
    assert_eq!(text("no such file"), "Error: no such file");
    assert_eq!(text("IOError: no such file"), "IOError: no such file");
    assert_eq!(text(""), "Error: the tool failed.");
}

#[test]
fn trap_21_thinking_becomes_an_effort() {
    let asked = |mode, budget, effort| Thinking { mode, budget, effort, ..Thinking::default() };
    let table = [
        (asked(Some(ThinkingMode::On), Some(1024), None), ThinkingStyle::AsAsked, json!("low")),
        (asked(Some(ThinkingMode::On), Some(8192), None), ThinkingStyle::AsAsked, json!("medium")),
        (asked(Some(ThinkingMode::On), Some(8193), None), ThinkingStyle::AsAsked, json!("high")),
        (asked(Some(ThinkingMode::Adaptive), None, None), ThinkingStyle::AsAsked, Value::Null),
        (asked(Some(ThinkingMode::Adaptive), None, Some(Effort::Max)), ThinkingStyle::AsAsked, json!("max")),
        (asked(Some(ThinkingMode::Off), None, None), ThinkingStyle::AsAsked, Value::Null),
        (asked(Some(ThinkingMode::Off), None, None), ThinkingStyle::Effort, json!("none")),
        (asked(None, None, Some(Effort::High)), ThinkingStyle::Never, Value::Null),
    ];
    for (thinking, style, expected) in table {
        let request = Request { thinking: Some(thinking.clone()), ..foreign(vec![said("a")]) };
        let target = TargetSpec { thinking: style, ..TargetSpec::new("m") };
        let body = parsed(&PROTOCOL.outbound.encode_request(&request, &target).call.body);
        assert_eq!(body["reasoning_effort"], expected, "{thinking:?} {style:?}");
    }
}

#[test]
fn trap_26_the_output_limit_goes_under_the_key_the_target_reads() {
    let newer = Quirks { max_tokens_key: MaxTokensKey::MaxCompletionTokens, ..Quirks::default() };
    let mut request = foreign(vec![said("a")]);
    request.sampling.max_output = Some(9);
    assert_eq!(with_quirks(&request, Quirks::default())["max_tokens"], 9);
    assert_eq!(with_quirks(&request, newer.clone())["max_completion_tokens"], 9);
    let own = read(json!({"model": "m", "max_tokens": 9, "messages": []}));
    assert_eq!(with_quirks(&own, newer), json!({"model": "m", "max_completion_tokens": 9, "messages": []}));
}

#[test]
fn trap_27_usage_is_asked_for_in_streams() {
    let request = Request { stream: true, ..foreign(vec![said("a")]) };
    assert_eq!(written(&request)["stream_options"], json!({"include_usage": true}));
    let never = Quirks { stream_usage: false, ..Quirks::default() };
    assert_eq!(with_quirks(&request, never.clone()).get("stream_options"), None);
    let own =
        json!({"model": "m", "messages": [], "stream": true, "stream_options": {"include_usage": true}});
    assert_eq!(with_quirks(&read(own.clone()), Quirks::default()), own);
    assert_eq!(with_quirks(&read(own.clone()), never).get("stream_options"), None);
    assert_eq!(PROTOCOL.inbound.reply_to(&read(own)).include_usage, Some(true));
    let silent = read(json!({"model": "m", "messages": [], "stream": true}));
    assert_eq!(PROTOCOL.inbound.reply_to(&silent).include_usage, Some(false));
    assert_eq!(PROTOCOL.inbound.reply_to(&request).include_usage, None);
}

#[test]
fn trap_29_reasoning_goes_back_only_where_it_is_wanted() {
    let thought = Part::new(PartBody::Thinking("Hm.".into()));
    let assistant = |parts| Message::new(Role::Assistant, parts);
    let history =
        vec![said("a"), assistant(vec![thought, Part::text("b")]), assistant(vec![Part::text("c")])];
    let reasoning = |back| {
        let quirks = Quirks { reasoning_back: back, ..Quirks::default() };
        let body = with_quirks(&foreign(history.clone()), quirks);
        [1, 2].map(|at| body["messages"][at].get("reasoning_content").cloned())
    };
    assert_eq!(reasoning(ReasoningBack::Never), [None, None]);
    assert_eq!(reasoning(ReasoningBack::WhereThereIs), [Some(json!("Hm.")), None]);
    assert_eq!(reasoning(ReasoningBack::Always), [Some(json!("Hm.")), Some(json!(""))]);
    let (_, losses) = write_request(&PROTOCOL, &foreign(history.clone()));
    assert_eq!(losses[0].path, "messages[1].content[0]");
}

#[test]
fn trap_31_roles_stop_and_choice_as_most_servers_know_them() {
    let own = read(json!({"model": "m", "stop": ["a"], "messages": [
        {"role": "developer", "content": "x"}, {"role": "user", "content": "y"}, {"role": "developer", "content": "z"}]}));
    let body = with_quirks(&own, Quirks { developer_role: false, ..Quirks::default() });
    assert_eq!([&body["messages"][0]["role"], &body["messages"][2]["role"]], ["system", "system"]);
    let mut request = foreign(vec![said("a")]);
    request.system = vec![Part::text("one"), Part::text("two")];
    request.sampling.stop = vec!["END".into()];
    request.tools = vec![note()];
    request.tool_choice = Some(ToolChoice::Any);
    let body = written(&request);
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "one\n\ntwo"}));
    assert_eq!([&body["stop"], &body["tool_choice"]], [&json!(["END"]), &json!("required")]);
}

#[test]
fn images_and_documents_become_parts_and_the_rest_is_named() {
    let media = |kind, mime: &str, source| {
        PartBody::Media(Media { kind, mime: Some(mime.into()), source, name: None }).into()
    };
    let parts = vec![
        Part::text("See:"),
        media(MediaKind::Image, "image/webp", MediaSource::Base64("AAEC".into())),
        media(MediaKind::Document, "application/pdf", MediaSource::Base64("AAEC".into())),
        media(MediaKind::Document, "text/plain", MediaSource::Text("words".into())),
        media(MediaKind::Audio, "audio/mpeg", MediaSource::Base64("AAEC".into())),
        media(MediaKind::Video, "video/mp4", MediaSource::Url("https://x.example/v".into())),
        media(MediaKind::Document, "application/pdf", MediaSource::FileId("file_1".into())),
    ];
    let (body, losses) = write_request(&PROTOCOL, &foreign(vec![Message::new(Role::User, parts)]));
    assert_eq!(
        body["messages"][0]["content"],
        json!([
            {"type": "text", "text": "See:"},
            {"type": "image_url", "image_url": {"url": "data:image/webp;base64,AAEC"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAEC", "filename": "document.pdf"}},
            {"type": "text", "text": "words"},
            {"type": "input_audio", "input_audio": {"data": "AAEC", "format": "mp3"}},
            {"type": "text", "text": "[film left out, it is at https://x.example/v]"},
            {"type": "text", "text": "[document left out: it was uploaded elsewhere]"}
        ])
    );
    let paths: Vec<_> = losses.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(paths, ["messages[0].content[6]", "messages[0].content[5]"]);
}

#[test]
fn what_the_vendors_other_protocol_shares_is_carried() {
    let mut request = Request { origin: Some(RESPONSES), ..foreign(vec![said("a")]) };
    for (key, value) in
        [("metadata", json!({"a": "b"})), ("store", json!(false)), ("text", json!({"verbosity": "low"}))]
    {
        request.extras.insert(RESPONSES, key, value);
    }
    request.extras.insert(RESPONSES, "truncation", json!("auto"));
    let body = written(&request);
    assert_eq!(
        [&body["metadata"], &body["store"], &body["verbosity"]],
        [&json!({"a": "b"}), &json!(false), &json!("low")]
    );
    assert_eq!([body.get("text"), body.get("truncation")], [None, None]);
}

#[test]
fn foreign_settings_are_said_or_named() {
    let mut request = foreign(vec![said("a")]);
    request.sampling.top_k = Some(4.into());
    request.format = Some(Format::JsonSchema { name: None, description: None, schema: None, strict: None });
    request.tools = vec![note()];
    request.tool_choice = Some(ToolChoice::Named("note".into()));
    let (body, losses) = write_request(&PROTOCOL, &request);
    assert_eq!(body["response_format"], json!({"type": "json_schema", "json_schema": {"name": "answer"}}));
    assert_eq!(body["tool_choice"], json!({"type": "custom", "custom": {"name": "note"}}));
    assert_eq!(losses.iter().map(|loss| loss.path.as_str()).collect::<Vec<_>>(), ["top_k"]);
}

#[test]
fn seals_come_back_from_ids_and_from_googles_field() {
    let body = |id: &str, extra: Value| {
        json!({"model": "m", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "bell", "arguments": "{}"}, "extra_content": extra}]},
            {"role": "tool", "tool_call_id": id, "content": "ok"}]})
    };
    let google = body("c1", json!({"google": {"thought_signature": "U2ln", "x": 1}}));
    let request = read(google.clone());
    let seal = Seal { issuer: "gemini".into(), data: "U2ln".into() };
    assert_eq!(request.messages[1].parts[0].seal, Some(seal.clone()));
    assert_eq!(written(&request), google);
    // A client that forgets unknown fields still brings the id back.
    let folded = read(body("rail-c1-gemini-VTJsbg", Value::Null));
    let PartBody::ToolCall(call) = &folded.messages[1].parts[0].body else { panic!("a call") };
    assert_eq!((call.id.as_str(), &folded.messages[1].parts[0].seal), ("c1", &Some(seal)));
    let PartBody::ToolResult(result) = &folded.messages[2].parts[0].body else { panic!("a result") };
    assert_eq!(result.id, call.id);
    let target = TargetSpec { issuer: Some("gemini".into()), ..TargetSpec::new("m") };
    let sent = parsed(&PROTOCOL.outbound.encode_request(&folded, &target).call.body);
    assert_eq!(
        sent["messages"][1]["tool_calls"][0]["extra_content"],
        json!({"google": {"thought_signature": "U2ln"}})
    );
}

#[test]
fn the_old_functions_translate_as_tools() {
    let request = read(parsed(&fixtures(&PROTOCOL, "request", "legacy_functions.json")[0].bytes));
    assert_eq!(request.tools.len(), 2);
    assert_eq!(request.tool_choice, Some(ToolChoice::Named("bell".into())));
    let PartBody::ToolCall(call) = &request.messages[1].parts[0].body else { panic!("a call") };
    let PartBody::ToolResult(result) = &request.messages[2].parts[0].body else { panic!("a result") };
    assert_eq!((&call.id, call.name.as_str()), (&result.id, "bell"));
}

#[test]
fn reading_marks_what_is_at_the_head_and_what_is_midway() {
    let request = read(json!({"model": "m", "messages": [
        {"role": "system", "content": "a"}, {"role": "developer", "content": [{"type": "text", "text": "b"}]},
        {"role": "user", "content": "c"}, {"role": "system", "content": "d"}]}));
    assert_eq!(request.system.iter().filter_map(Part::as_text).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(
        request.messages.iter().map(|message| message.role).collect::<Vec<_>>(),
        [Role::User, Role::System]
    );
}

#[test]
fn bad_input_names_protocol_field_and_place() {
    let table = [
        ("{", "openai-chat", "EOF"),
        ("[]", "openai-chat", "an object"),
        (r#"{"messages":[]}"#, "openai-chat, model", "is missing"),
        (r#"{"model":"m"}"#, "openai-chat, messages", "is missing"),
        (r#"{"model":"m","messages":[{"content":"x"}]}"#, "messages[0].role", "is missing"),
        (r#"{"model":"m","messages":[{"role":"user"}]}"#, "messages[0].content", "is missing"),
        (
            r#"{"model":"m","messages":[{"role":"user","content":7}]}"#,
            "messages[0].content",
            "a string or an array",
        ),
        (
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text"}]}]}"#,
            "messages[0].content[0].text",
            "is missing",
        ),
        (
            r#"{"model":"m","messages":[{"role":"user","content":[{"text":"x"}]}]}"#,
            "messages[0].content[0].type",
            "is missing",
        ),
        (
            r#"{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]}]}"#,
            "content[0].image_url.url",
            "is missing",
        ),
        (
            r#"{"model":"m","messages":[{"role":"tool","content":"x"}]}"#,
            "messages[0].tool_call_id",
            "is missing",
        ),
        (
            r#"{"model":"m","messages":[{"role":"assistant","tool_calls":[{"id":"a","type":"function"}]}]}"#,
            "tool_calls[0].function",
            "is missing",
        ),
        (
            r#"{"model":"m","messages":[{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"x"}}]}]}"#,
            "tool_calls[0].id",
            "is missing",
        ),
        (r#"{"model":"m","messages":[],"max_tokens":-1}"#, "max_tokens", "below zero"),
        (
            r#"{"model":"m","messages":[],"tools":[{"type":"function","function":{}}]}"#,
            "tools[0].function.name",
            "is missing",
        ),
    ];
    for (body, place, problem) in table {
        let error = read_request(&PROTOCOL, body.as_bytes()).unwrap_err();
        assert_eq!(error.status, 400);
        assert!(
            error.message.contains(place) && error.message.contains(problem),
            "{body}: {}",
            error.message
        );
    }
    let embed =
        PROTOCOL.inbound.decode_embed(&HttpCall::post("", br#"{"model":"m","input":["a",{}]}"#.to_vec()));
    assert!(embed.unwrap_err().message.contains("openai-chat, input[1]"));
}

#[test]
fn embeddings_are_the_identity() {
    for fixture in fixtures(&PROTOCOL, "embed-request", ".json") {
        let call = HttpCall::post("", fixture.bytes.clone());
        let request = PROTOCOL.inbound.decode_embed(&call).unwrap();
        let target = TargetSpec::new(request.model.clone());
        let encoded = PROTOCOL.outbound.encode_embed(&request, &target).unwrap();
        assert_eq!(
            (parsed(&encoded.call.body), encoded.call.path.as_str()),
            (parsed(&fixture.bytes), "/embeddings")
        );
        assert_eq!(encoded.losses, [], "{}", fixture.name);
    }
    for fixture in fixtures(&PROTOCOL, "embed-response", ".json") {
        let reply = PROTOCOL.outbound.read_embed(&fixture.bytes).unwrap();
        let vectors = if fixture.name == "base64" { VectorSpelling::Base64 } else { VectorSpelling::Numbers };
        let written =
            PROTOCOL.inbound.write_embed(&reply, &ReplyTo { vectors, ..ReplyTo::default() }).unwrap();
        assert_eq!(parsed(&written.body), parsed(&fixture.bytes), "{}", fixture.name);
    }
}

#[test]
fn foreign_embeddings_go_out_as_a_list_and_their_losses_are_named() {
    let inputs = vec![EmbedInput::Text("a".into())];
    let request = EmbedRequest { inputs, task: Some("RETRIEVAL_QUERY".into()), ..EmbedRequest::default() };
    let encoded = PROTOCOL.outbound.encode_embed(&request, &TargetSpec::new("e")).unwrap();
    assert_eq!(parsed(&encoded.call.body), json!({"model": "e", "input": ["a"]}));
    assert_eq!(encoded.losses[0].path, "task");
    assert_eq!(ID.name(), "openai-chat");
}
