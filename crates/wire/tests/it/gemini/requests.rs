use rail_model::{
    CallId, CallKind, Media, MediaKind, MediaSource, Message, Part, PartBody, Request, Role, Seal, ToolCall,
    ToolChoice, ToolResult,
};
use rail_wire::{HttpCall, TargetSpec, gemini};
use serde_json::{Value, json};

use super::{body, decode, encode, post};

pub(crate) fn call(id: CallId, name: &str, arguments: &str) -> Part {
    Part::new(PartBody::ToolCall(ToolCall {
        id,
        name: name.into(),
        arguments: arguments.into(),
        kind: CallKind::Function,
    }))
}

fn result(id: CallId, text: &str, is_error: Option<bool>) -> Part {
    let content = vec![Part::text(text)];
    Part::new(PartBody::ToolResult(ToolResult {
        id,
        name: None,
        content,
        is_error,
        kind: CallKind::Function,
    }))
}

pub(crate) fn given(id: &str) -> CallId {
    CallId::Given(id.into())
}

pub(crate) fn foreign(messages: Vec<Message>) -> Request {
    Request { model: "m".into(), messages, ..Request::default() }
}

pub(crate) fn user(text: &str) -> Message {
    Message::new(Role::User, vec![Part::text(text)])
}

pub(crate) fn paths(encoded: &rail_wire::Encoded) -> Vec<&str> {
    encoded.losses.iter().map(|loss| loss.path.as_str()).collect()
}

#[test]
fn the_model_and_the_stream_are_in_the_path() {
    let simple = json!({"contents": [{"parts": [{"text": "Hi"}]}]});
    let read = |path: &str, body: &Value| gemini::PROTOCOL.inbound.decode_request(&post(path, body)).unwrap();
    let request = read("/v1beta/models/gemini-2.5-pro:streamGenerateContent", &simple);
    assert_eq!((request.model.as_str(), request.stream), ("gemini-2.5-pro", true));
    let encoded = gemini::PROTOCOL.outbound.encode_request(&request, &TargetSpec::new("gemini-3-pro"));
    assert_eq!(
        (encoded.call.path.as_str(), encoded.call.query.as_str()),
        ("/models/gemini-3-pro:streamGenerateContent", "alt=sse"),
        "trap 36"
    );
    assert_eq!(encode(&decode(&simple)).call.path, "/models/gemini-3-pro:generateContent");
    for (said, model) in [("models/x", "x"), ("x", "x"), ("tunedModels/x", "tunedModels/x")] {
        let body = json!({"model": said, "contents": []});
        assert_eq!(read("", &body).model, model);
        let request = read("/v1/models/y:generateContent", &body);
        assert_eq!(request.model, "y");
        let again = gemini::PROTOCOL.outbound.encode_request(&request, &TargetSpec::new("z"));
        let expected = if said.starts_with("models/") { "models/z" } else { "z" };
        assert_eq!(super::body(&again)["model"], expected);
    }
    assert_eq!(read("", &simple).model, "");
    let stream = |query: &str| HttpCall { query: query.into(), ..HttpCall::default() };
    assert_eq!(gemini::stream_body(&stream("key=x&alt=sse")), rail_wire::BodyKind::Stream);
    assert_eq!(gemini::stream_body(&stream("alt=json")), rail_wire::BodyKind::Array);
}

#[test]
fn trap_36_both_spellings_and_single_objects_are_read() {
    let body = json!({
        "system_instruction": {"parts": {"text": "S"}},
        "contents": {"role": "user", "parts": {"text": "Hi"}},
        "tools": {"function_declarations": {"name": "f"}},
        "generation_config": {"top_k": 3, "topP": 0.5, "top_p": 0.1},
        "tool_config": {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["f"]}}
    });
    let request = decode(&body);
    assert_eq!(
        request.tool_choice,
        Some(ToolChoice::Named("f".into())),
        "trap 36: mode ANY with one name forces it"
    );
    assert_eq!(request.sampling.top_p.as_ref().map(ToString::to_string).as_deref(), Some("0.5"));
    let again = super::body(&encode(&request));
    assert_eq!(again["systemInstruction"], body["system_instruction"]);
    assert_eq!(again["contents"], body["contents"]);
    assert_eq!(again["tools"], json!({"functionDeclarations": {"name": "f"}}));
    assert_eq!(again["generationConfig"], json!({"topK": 3, "topP": 0.5, "top_p": 0.1}));
}

#[test]
fn nulls_and_empty_things_come_back() {
    for body in [
        json!({"contents": [{"role": "user", "parts": [{}, {"text": ""}, {"text": null}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": null, "id": null}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}, {"role": "model"}, {"parts": []}],
               "tools": [], "generationConfig": {}, "toolConfig": {}, "systemInstruction": {"parts": []}, "safetySettings": null}),
        json!({"contents": [], "tools": [{}, {"functionDeclarations": []}, {"functionDeclarations": [{"name": "f", "parameters": null}], "googleSearch": {}}],
               "generationConfig": {"thinkingConfig": {}, "stopSequences": [], "temperature": null, "responseSchema": {"type": "STRING"}},
               "toolConfig": {"functionCallingConfig": {"allowedFunctionNames": []}}, "systemInstruction": null}),
        json!({"contents": [{"role": "user", "parts": [{"inlineData": {"mimeType": "image/png", "data": "-_8"}}]}],
               "generationConfig": {"thinkingConfig": {"thinkingLevel": "Low", "thinkingBudget": -5}, "responseMimeType": "application/json",
               "responseSchema": {"type": "string"}, "responseJsonSchema": {"type": "string"}}}),
    ] {
        assert_eq!(super::body(&encode(&decode(&body))), body);
    }
}

#[test]
fn media_of_the_python_sdk_is_plain_base64_for_others() {
    let request =
        decode(&json!({"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "-_8"}}]}]}));
    assert!(
        matches!(&request.messages[0].parts[0].body, PartBody::Media(Media { source: MediaSource::Base64(data), kind: MediaKind::Image, .. }) if data == "+/8=")
    );
}

#[test]
fn trap_35_results_find_their_calls_by_name_and_order() {
    let said =
        |name: &str, text: &str| json!({"functionResponse": {"name": name, "response": {"output": text}}});
    let request = decode(&json!({"contents": [
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "g", "args": {}}}, {"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [said("g", "1"), said("f", "2"), said("f", "3"), said("h", "4")]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "made-up", "name": "f", "response": {"error": "no"}}}]}
    ]}));
    let id = |message: usize, part: usize| match &request.messages[message].parts[part].body {
        PartBody::ToolCall(call) => call.id.clone(),
        PartBody::ToolResult(result) => result.id.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!([id(1, 0), id(1, 1), id(1, 2)], [id(0, 1), id(0, 0), id(0, 2)]);
    assert!(![id(0, 0), id(0, 1), id(0, 2)].contains(&id(1, 3)), "an orphan stays one");
    assert_eq!(id(3, 0), id(2, 0), "Gemini CLI makes ids up for calls that had none");
    let PartBody::ToolResult(failed) = &request.messages[3].parts[0].body else { panic!() };
    assert_eq!((failed.is_error, failed.content[0].as_text()), (Some(true), Some("no")));
    let again = body(&encode(&request));
    assert_eq!(again["contents"][3]["parts"][0]["functionResponse"]["id"], "made-up");
    assert!(again["contents"][0]["parts"][0]["functionCall"].get("id").is_none());
}

#[test]
fn results_are_text_inside_and_objects_outside() {
    let table = [
        (json!({"output": "a"}), "a", None),
        (json!({"result": "b"}), "b", None),
        (json!({"error": "c"}), "c", Some(true)),
        (json!({"error": {"code": 1}}), r#"{"error":{"code":1}}"#, Some(true)),
        (json!({"output": 1.0}), r#"{"output":1.0}"#, None),
        (json!({"a": 1, "output": "x"}), r#"{"a":1,"output":"x"}"#, None),
    ];
    for (response, text, is_error) in table {
        let body = json!({"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": response}}]}]});
        let request = decode(&body);
        let PartBody::ToolResult(result) = &request.messages[1].parts[0].body else { panic!() };
        assert_eq!((result.content[0].as_text(), result.is_error), (Some(text), is_error));
        assert_eq!(super::body(&encode(&request)), body);
    }
    let request = foreign(vec![
        user("go"),
        Message::new(
            Role::Assistant,
            vec![call(given("t1"), "f", "{\"x\": 1.0}"), call(CallId::Minted("rail_x_1".into()), "g", "")],
        ),
        Message::new(
            Role::User,
            vec![
                result(given("t1"), "4", None),
                result(CallId::Minted("rail_x_1".into()), "bad", Some(true)),
                Part::text("more"),
            ],
        ),
    ]);
    let again = body(&encode(&request));
    assert_eq!(again["contents"][1]["parts"][1]["functionCall"], json!({"name": "g", "args": {}}));
    let parts = &again["contents"][2]["parts"];
    assert_eq!(parts[0], json!({"functionResponse": {"id": "t1", "name": "f", "response": {"output": "4"}}}));
    assert_eq!(parts[1], json!({"functionResponse": {"name": "g", "response": {"error": "bad"}}}));
}

#[test]
fn what_a_result_holds_stands_where_the_api_takes_it() {
    let document = Media {
        kind: MediaKind::Document,
        mime: None,
        source: MediaSource::Text("pages".into()),
        name: None,
    };
    let image = Media {
        kind: MediaKind::Image,
        mime: None,
        source: MediaSource::Url("https://x.example/a.png?b".into()),
        name: None,
    };
    let content =
        vec![Part::text("see"), Part::new(PartBody::Media(image)), Part::new(PartBody::Media(document))];
    let result = ToolResult { id: given("1"), name: None, content, is_error: None, kind: CallKind::Function };
    let request = foreign(vec![
        user("go"),
        Message::new(
            Role::Assistant,
            vec![Part::new(PartBody::Thinking(String::new())), call(given("1"), "f", "{}")],
        ),
        Message::new(Role::User, vec![Part::new(PartBody::ToolResult(result))]),
    ]);
    let again = body(&encode(&request));
    assert_eq!(
        again["contents"][1]["parts"].as_array().map(Vec::len),
        Some(1),
        "empty reasoning of others says nothing"
    );
    let response = &again["contents"][2]["parts"][0]["functionResponse"];
    assert_eq!(response["response"], json!({"output": "see\npages"}));
    assert_eq!(
        response["parts"],
        json!([{"fileData": {"mimeType": "image/png", "fileUri": "https://x.example/a.png?b"}}])
    );
}

#[test]
fn trap_34_the_first_call_of_each_message_is_signed() {
    let own = Seal { issuer: "gemini".into(), data: "OWN=".into() };
    let messages = vec![
        user("before"),
        Message::new(Role::Assistant, vec![call(given("0"), "f", "{}")]),
        Message::new(Role::User, vec![result(given("0"), "x", None)]),
        Message::new(Role::Assistant, vec![Part::text("done")]),
        user("now"),
        Message::new(
            Role::Assistant,
            vec![Part::text("a"), call(given("1"), "f", "{}"), call(given("2"), "f", "{}")],
        ),
        Message::new(
            Role::User,
            vec![result(given("1"), "x", None), result(given("2"), "x", None), Part::text("hurry")],
        ),
        Message::new(
            Role::Assistant,
            vec![Part { seal: Some(own), ..call(given("3"), "f", "{}") }, call(given("4"), "f", "{}")],
        ),
        Message::new(Role::User, vec![result(given("3"), "x", None), result(given("4"), "x", None)]),
        Message::new(
            Role::Assistant,
            vec![Part {
                seal: Some(Seal { issuer: "anthropic".into(), data: "no".into() }),
                ..call(given("5"), "f", "{}")
            }],
        ),
        Message::new(Role::User, vec![result(given("5"), "x", None)]),
    ];
    let request = foreign(messages);
    let signed = |body: &Value, content: usize, part: usize| {
        body["contents"][content]["parts"][part].get("thoughtSignature").cloned()
    };
    let encoded = encode(&request);
    let body = body(&encoded);
    let dummy = Some(json!("skip_thought_signature_validator"));
    assert_eq!(
        [signed(&body, 1, 0), signed(&body, 5, 0), signed(&body, 5, 1), signed(&body, 5, 2)],
        [dummy.clone(), None, dummy.clone(), None],
        "also after the turn is over, so that the history keeps its bytes"
    );
    assert_eq!(
        [signed(&body, 7, 0), signed(&body, 7, 1), signed(&body, 9, 0)],
        [Some(json!("OWN=")), None, dummy]
    );
    let old = gemini::PROTOCOL.outbound.encode_request(&request, &TargetSpec::new("gemini-2.5-flash"));
    assert_eq!(signed(&super::body(&old), 5, 1), None);
    let same = json!({"contents": [{"role": "user", "parts": [{"text": "x"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}]});
    assert_eq!(super::body(&encode(&decode(&same))), same, "never for a client of this protocol");
}

#[test]
fn tokens_of_a_foreign_request_are_counted_with_its_tools() {
    let mut request = foreign(vec![user("x")]);
    let count = |request: &Request| {
        body(&gemini::PROTOCOL.outbound.encode_count(request, &TargetSpec::new("g")).unwrap())
    };
    assert_eq!(count(&request), json!({"contents": [{"role": "user", "parts": [{"text": "x"}]}]}));
    request.system = vec![Part::text("S")];
    let wrapped = count(&request);
    assert_eq!(wrapped["generateContentRequest"]["model"], "models/g");
    assert_eq!(wrapped["generateContentRequest"]["systemInstruction"], json!({"parts": [{"text": "S"}]}));
}

#[test]
fn bad_input_names_the_protocol_the_field_and_the_place() {
    let table = [
        ("{", "EOF while parsing an object"),
        ("[]", "gemini: invalid type: sequence, expected an object"),
        ("{}", "gemini, contents: is missing"),
        (r#"{"contents":"hi"}"#, "gemini, contents: invalid type: string \"hi\", expected an array"),
        (
            r#"{"contents":[{"role":1}]}"#,
            "gemini, contents[0].role: invalid type: integer `1`, expected a string",
        ),
        (
            r#"{"contents":[{"parts":[{"text":5}]}]}"#,
            "gemini, contents[0].parts[0].text: invalid type: integer `5`",
        ),
        (
            r#"{"contents":[{"parts":[{"functionCall":{"name":"f","args":[1]}}]}]}"#,
            "gemini, contents[0].parts[0].functionCall.args: must be an object",
        ),
        (
            r#"{"contents":[{"parts":[{"functionResponse":{"name":"f","response":"x"}}]}]}"#,
            "gemini, contents[0].parts[0].functionResponse.response: must be an object",
        ),
        (
            r#"{"contents":[],"tools":[{"functionDeclarations":[{"description":"d"}]}]}"#,
            "gemini, tools[0].functionDeclarations[0].name: is missing",
        ),
        (
            r#"{"contents":[],"generation_config":{"max_output_tokens":"many"}}"#,
            "gemini, generation_config.max_output_tokens: invalid type",
        ),
        (
            r#"{"generateContentRequest":{"contents":3}}"#,
            "gemini, generateContentRequest.contents: invalid type: integer",
        ),
    ];
    for (body, expected) in table {
        let error = gemini::PROTOCOL
            .inbound
            .decode_request(&HttpCall::post("/v1beta/models/x:generateContent", body.into()))
            .unwrap_err();
        assert!(error.message.contains(expected), "{body}: {} should say {expected}", error.message);
        assert_eq!(error.status, 400);
    }
    let error = gemini::PROTOCOL
        .inbound
        .decode_embed(&HttpCall::post("", br#"{"requests":[{}]}"#.to_vec()))
        .unwrap_err();
    assert_eq!(error.message, "gemini, requests[0].content: is missing");
}
