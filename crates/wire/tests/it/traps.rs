//! Traps that belong to no single protocol.

use rail_model::{
    Assembler, CallId, CallKind, Delta, EmbedReply, EmbedRequest, ErrorKind, Event, Extras, PartKind, Reply,
    Request, Stop, TokenCount,
};
use rail_wire::{ALL, BodyKind, HttpCall, ReplyTo, TargetSpec, find};
use serde_json::json;

use crate::corpus::{events, events_split, frames, read_request, write_answer, write_request};

fn answer() -> Vec<Event> {
    let open = |at, kind| Event::Opened { at, kind, extras: Extras::NONE };
    let delta = |at, delta| Event::Delta { at, delta, extras: Extras::NONE };
    let close = |at| Event::Closed { at, extras: Extras::NONE };
    let call =
        PartKind::ToolCall { id: CallId::Given("c1".into()), name: "bash".into(), kind: CallKind::Function };
    vec![
        Event::Started { id: Some("a1".into()), model: Some("m".into()), extras: Extras::NONE },
        open(0, PartKind::Text),
        delta(0, Delta::Text("Let me ".into())),
        delta(0, Delta::Text("look.".into())),
        close(0),
        open(1, call),
        delta(1, Delta::Arguments("{\"command\":".into())),
        delta(1, Delta::Arguments("\"ls\"}".into())),
        close(1),
        Event::Finished { stop: Stop::ToolUse, extras: Extras::NONE },
    ]
}

fn assembled(events: Vec<Event>) -> Reply {
    let mut assembler = Assembler::default();
    events.into_iter().for_each(|event| assembler.push(event));
    assembler.finish().unwrap().unwrap()
}

#[test]
fn trap_13_a_client_that_falls_back_to_no_stream_gets_the_same_answer() {
    for protocol in ALL {
        let read = |kind| {
            let (body, _) = write_answer(protocol, kind, &answer());
            let reply = assembled(events(protocol, kind, &body).unwrap());
            let parts: Vec<_> = reply.parts.into_iter().map(|part| part.body).collect();
            (reply.id, reply.model, parts, reply.stop)
        };
        assert_eq!(read(BodyKind::Whole), read(BodyKind::Stream), "{}", protocol.id);
    }
}

#[test]
fn trap_32_arguments_that_do_not_parse_are_never_emptied() {
    let chat = find("openai-chat").unwrap();
    let broken = "{\"command\": \"ls";
    let call = json!({"id": "c1", "type": "function", "function": {"name": "bash", "arguments": broken}});
    let body = json!({"model": "m", "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": null, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "no"},
    ]});
    let request = read_request(chat, body.to_string().as_bytes()).unwrap();
    for to in ALL {
        let (sent, losses) = write_request(to, &request);
        let text = sent.to_string();
        assert!(text.contains("command") && text.contains("ls"), "{}: {text}", to.id);
        let wrapped = text.contains("_raw");
        assert_eq!(losses.iter().any(|loss| loss.reason.contains("_raw")), wrapped, "{}: {losses:?}", to.id);
    }
    let chunk =
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]});
    let stream = format!("data: {chunk}\n\ndata: [DONE]\n\n");
    let (body, _) = write_answer(
        find("anthropic").unwrap(),
        BodyKind::Stream,
        &events(chat, BodyKind::Stream, stream.as_bytes()).unwrap(),
    );
    let pieces: String = frames(&body)
        .iter()
        .filter_map(|frame| frame["delta"]["partial_json"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(pieces, broken);
}

#[test]
fn trap_44_lines_of_any_length_ending_and_spelling() {
    let chat = find("openai-chat").unwrap();
    let long = "é".repeat(1 << 20);
    let chunk = |text: &str| json!({"choices": [{"index": 0, "delta": {"content": text}}]}).to_string();
    let finish = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    let split_in_two = r#"{"choices":[{"index":0,"delta":
data: {"content":"c"}}]}"#;
    let body = format!(
        ": OPENROUTER PROCESSING\r\n\r\ndata:{}\r\n\r\nid: 7\ndata: {}\n\ndata: {split_in_two}\n\nretry: 5\n\ndata: {finish}\n\ndata:  [DONE]\n\ndata: {}\n\n",
        chunk("a"),
        chunk(&long),
        chunk("after the end"),
    );
    for read in [1000, 4097, body.len()] {
        let (events, error) =
            events_split(chat.outbound.decoder(BodyKind::Stream).as_mut(), body.as_bytes().chunks(read));
        assert_eq!(error, None);
        let text = assembled(events).parts[0].as_text().map(str::to_owned);
        assert_eq!(text, Some(format!("a{long}c")), "read by {read}");
    }
}

#[test]
fn trap_43_responses_are_served_over_plain_http_beside_the_model_list() {
    let endpoints = find("openai-responses").unwrap().inbound.endpoints();
    let paths: Vec<_> = endpoints.iter().map(|endpoint| (endpoint.method, endpoint.path)).collect();
    assert!(
        paths.contains(&("POST", "/v1/responses")) && paths.contains(&("GET", "/v1/models")),
        "{paths:?}"
    );
}

#[test]
fn trap_45_what_was_used_before_a_client_left_is_known() {
    let anthropic = find("anthropic").unwrap();
    let start = json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant", "model": "x",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": {"input_tokens": 10, "output_tokens": 1}}});
    let body = format!("event: message_start\ndata: {start}\n\n");
    let mut seen = Vec::new();
    anthropic.outbound.decoder(BodyKind::Stream).push(body.as_bytes(), &mut seen).unwrap();
    assert!(
        seen.iter().any(|event| matches!(event, Event::Usage(usage) if usage.input == Some(10))),
        "{seen:?}"
    );
}

#[test]
fn trap_46_every_answer_says_its_content_type() {
    let error = rail_model::ApiError::new(ErrorKind::Server, "no");
    for protocol in ALL {
        let reply = protocol.inbound.write_error(&error);
        assert_eq!(reply.header("content-type"), Some("application/json"), "{}", protocol.id);
        assert_eq!(reply.header("content-encoding"), None, "{}", protocol.id);
    }
}

#[test]
fn an_operation_that_a_protocol_lacks_is_refused_in_both_roles() {
    let texts = EmbedRequest { model: "m".to_owned(), ..EmbedRequest::default() };
    for protocol in ALL {
        let (to, from) = (protocol.outbound, protocol.inbound);
        let embeds = to.encode_embed(&texts, &TargetSpec::new("m")).is_some();
        assert_eq!(embeds, from.write_embed(&EmbedReply::default(), &ReplyTo::default()).is_some());
        assert_eq!(embeds, ["openai-chat", "gemini"].contains(&protocol.id.name()));
        if !embeds {
            assert!(to.read_embed(b"{}").unwrap_err().to_string().contains("no embeddings"));
            let refused = from.decode_embed(&HttpCall::post("", b"{}".to_vec())).unwrap_err();
            assert_eq!(refused.kind, ErrorKind::NotFound);
        }
        let counts = to.encode_count(&Request::default(), &TargetSpec::new("m")).is_some();
        assert_eq!(counts, from.write_count(&TokenCount::default()).is_some());
        assert_eq!(counts, protocol.id.name() != "openai-chat");
        if !counts {
            assert!(to.read_count(b"{}").unwrap_err().to_string().contains("no token counts"));
        }
    }
}
