//! Errors of the Responses API, requests that are none, and token counts.

use std::time::Duration;

use rail_model::{ApiError, ErrorKind};
use rail_wire::{HttpCall, HttpReply, TargetSpec};
use serde_json::json;

use crate::corpus::{json as parse, read_request};
use crate::openai_responses::P;

#[test]
fn errors_are_read_and_written() {
    let reply = |status, body: &str| HttpReply {
        status,
        headers: vec![("retry-after".into(), "7".into())],
        body: body.into(),
    };
    let table = [
        (400, r#"{"error":{"code":"context_length_exceeded","message":"long"}}"#, ErrorKind::ContextLength),
        (429, r#"{"error":{"code":"insufficient_quota","message":"no"}}"#, ErrorKind::Quota),
        (429, r#"{"error":{"message":"Please try again in 3.2s"}}"#, ErrorKind::RateLimited),
        (503, r#"{"error":{"code":"slow_down","message":"no"}}"#, ErrorKind::Overloaded),
        (400, r#"{"error":{"code":"invalid_prompt","message":"no"}}"#, ErrorKind::Refused),
        (404, r#"{"error":{"code":"model_not_found","message":"no"}}"#, ErrorKind::NotFound),
        (500, r#"{"error":"plain"}"#, ErrorKind::Server),
        (502, "<html><title>Bad Gateway</title></html>", ErrorKind::Server),
        (503, "", ErrorKind::Overloaded),
        (401, "[1]", ErrorKind::Authentication),
    ];
    for (status, body, kind) in table {
        let error = P.outbound.read_error(&reply(status, body));
        assert_eq!(
            (error.kind, error.status, error.retry_after),
            (kind, status, Some(Duration::from_secs(7))),
            "{body}"
        );
        assert!(!error.message.is_empty());
        let written = P.inbound.write_error(&error);
        assert_eq!(written.header("retry-after"), Some("7"));
        assert!(parse(&written.body)["error"].is_object() || body.contains("plain"));
    }
    let foreign = P.inbound.write_error(&ApiError::new(ErrorKind::ContextLength, "prompt is too long"));
    let expected = json!({"error": {"message": "prompt is too long", "type": "invalid_request_error", "param": null, "code": "context_length_exceeded"}});
    assert_eq!((foreign.status, parse(&foreign.body)), (400, expected));
}

#[test]
fn bad_input_is_named_with_its_place() {
    let table = [
        ("{", "openai-responses: EOF"),
        ("[]", "openai-responses: invalid type: sequence, expected an object"),
        (r#"{"input":"x"}"#, "openai-responses, model: is missing"),
        (
            r#"{"model":"m","input":5}"#,
            "openai-responses, input: invalid type: integer `5`, expected a string or an array",
        ),
        (r#"{"model":"m","input":[5]}"#, "openai-responses, input[0]: invalid type: integer `5`"),
        (
            r#"{"model":"m","input":[{"type":"message","content":"x"}]}"#,
            "openai-responses, input[0].role: is missing",
        ),
        (r#"{"model":"m","input":[{"role":"user"}]}"#, "openai-responses, input[0].content: is missing"),
        (
            r#"{"model":"m","input":[{"role":"user","content":[{"type":"input_text"}]}]}"#,
            "openai-responses, input[0].content[0].text: is missing",
        ),
        (
            r#"{"model":"m","input":[{"role":"user","content":[{"text":"x"}]}]}"#,
            "openai-responses, input[0].content[0].type: is missing",
        ),
        (
            r#"{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":1}]}]}"#,
            "openai-responses, input[0].content[0].text: invalid type",
        ),
        (
            r#"{"model":"m","input":["a",{"role":"user","content":"x"}]}"#,
            "openai-responses, input[0]: invalid type: string",
        ),
        (
            r#"{"model":"m","input":[{"type":"function_call","name":"f","arguments":"{}"}]}"#,
            "openai-responses, input[0].call_id: is missing",
        ),
        (
            r#"{"model":"m","input":[{"type":"function_call","call_id":"c","name":"f","arguments":{}}]}"#,
            "openai-responses, input[0].arguments: invalid type: map",
        ),
        (
            r#"{"model":"m","input":[{"type":"function_call_output","call_id":"c"}]}"#,
            "openai-responses, input[0].output: is missing",
        ),
        (
            r#"{"model":"m","input":"x","tools":[{"type":"function"}]}"#,
            "openai-responses, tools[0].name: is missing",
        ),
        (
            r#"{"model":"m","input":"x","tools":[{"name":"f"}]}"#,
            "openai-responses, tools[0].type: is missing",
        ),
        (
            r#"{"model":"m","input":"x","tool_choice":{"name":"f"}}"#,
            "openai-responses, tool_choice.type: is missing",
        ),
        (
            r#"{"model":"m","input":"x","max_output_tokens":-1}"#,
            "openai-responses, max_output_tokens: a count below zero",
        ),
    ];
    for (body, expected) in table {
        let error = read_request(P, body.as_bytes()).expect_err(body);
        assert_eq!(error.kind, ErrorKind::InvalidRequest);
        assert!(error.message.starts_with(expected), "{body}\n  said {}\n  not  {expected}", error.message);
    }
}

#[test]
fn counts_are_the_identity_too() {
    for fixture in crate::corpus::fixtures(P, "count-request", ".json") {
        let request = P.inbound.decode_request(&HttpCall::post("", fixture.bytes.clone())).unwrap();
        let encoded = P.outbound.encode_count(&request, &TargetSpec::new(request.model.clone())).unwrap();
        assert_eq!(encoded.call.path, "/responses/input_tokens");
        assert_eq!(parse(&encoded.call.body), parse(&fixture.bytes), "{}", fixture.name);
    }
    for fixture in crate::corpus::fixtures(P, "count-response", ".json") {
        let count = P.outbound.read_count(&fixture.bytes).unwrap();
        let reply = P.inbound.write_count(&count).unwrap();
        assert_eq!(parse(&reply.body), parse(&fixture.bytes), "{}", fixture.name);
    }
}
