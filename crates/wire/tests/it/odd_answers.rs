//! Answers that break their protocol's rules, or say what the client's protocol has no word for.

use rail_model::{ErrorKind, Event, Loss, Stop};
use rail_wire::{
    BodyKind, HttpReply, Protocol, WireErrorKind, anthropic, gemini, openai_chat, openai_responses,
};
use serde_json::{Value, json};

use crate::corpus::{events, frames, json as parse, write_answer};

const ANTHROPIC: &Protocol = &anthropic::PROTOCOL;
const CHAT: &Protocol = &openai_chat::PROTOCOL;
const RESPONSES: &Protocol = &openai_responses::PROTOCOL;
const GEMINI: &Protocol = &gemini::PROTOCOL;

fn sse(frames: &[Value]) -> Vec<u8> {
    frames.iter().flat_map(|frame| format!("data: {frame}\n\n").into_bytes()).collect()
}

/// A stream of `from` as a client of `to` sees it.
fn through(from: &Protocol, to: &Protocol, body: &[u8]) -> (Vec<Value>, Vec<Loss>) {
    let (written, losses) =
        write_answer(to, BodyKind::Stream, &events(from, BodyKind::Stream, body).unwrap());
    (frames(&written), losses)
}

fn block(block: Value, deltas: &[Value]) -> Vec<u8> {
    let mut list = vec![
        json!({"type": "message_start", "message": {"id": "m", "model": "c", "content": []}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ];
    list.extend(
        deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": 0, "delta": delta})),
    );
    list.push(json!({"type": "content_block_stop", "index": 0}));
    list.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}));
    list.push(json!({"type": "message_stop"}));
    sse(&list)
}

fn chunk(delta: Value, reason: Option<&str>) -> Value {
    json!({"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
}

#[test]
fn a_piece_of_the_wrong_type_is_an_error_and_an_empty_one_is_nothing() {
    let blocks = [
        ("text_delta", "text", json!({"type": "text", "text": ""})),
        ("thinking_delta", "thinking", json!({"type": "thinking", "thinking": "", "signature": ""})),
        (
            "input_json_delta",
            "partial_json",
            json!({"type": "tool_use", "id": "t", "name": "f", "input": {}}),
        ),
        ("", "", json!({"type": "redacted_thinking", "data": "x"})),
    ];
    for (own, _, start) in &blocks {
        for (kind, field, _) in blocks.iter().filter(|(kind, ..)| kind != own && !kind.is_empty()) {
            let wrong = |text: &str| block(start.clone(), &[json!({"type": kind, *field: text})]);
            let error = events(ANTHROPIC, BodyKind::Stream, &wrong("x")).unwrap_err();
            assert_eq!(
                (error.kind, error.path.as_str()),
                (WireErrorKind::Malformed, "delta.type"),
                "{error}"
            );
            assert!(events(ANTHROPIC, BodyKind::Stream, &wrong("")).is_ok(), "{kind} into {start}");
        }
    }
}

#[test]
fn one_json_document_instead_of_a_stream_is_read() {
    let table = [
        (ANTHROPIC, json!({"type": "error", "error": {"type": "overloaded_error", "message": "no"}})),
        (RESPONSES, json!({"error": {"code": "server_is_overloaded", "message": "no"}})),
        (CHAT, json!({"error": {"code": "server_is_overloaded", "message": "no"}})),
        (GEMINI, json!({"error": {"code": 503, "message": "no", "status": "UNAVAILABLE"}})),
    ];
    for (protocol, body) in table {
        let read = events(protocol, BodyKind::Stream, format!("{body:#}").as_bytes()).unwrap();
        let [Event::Failed(error)] = &read[..] else { panic!("{}: {read:?}", protocol.id) };
        assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Overloaded, "no"), "{}", protocol.id);
    }
    let text = json!({"type": "output_text", "text": "Hi", "annotations": []});
    let item = json!({"type": "message", "id": "i", "role": "assistant", "content": [text]});
    let table = [
        (ANTHROPIC, json!({"type": "message", "id": "m", "content": [{"type": "text", "text": "Hi"}]})),
        (RESPONSES, json!({"object": "response", "id": "r", "status": "completed", "output": [item]})),
    ];
    for (protocol, body) in table {
        let streamed = events(protocol, BodyKind::Stream, body.to_string().as_bytes()).unwrap();
        assert_eq!(streamed, events(protocol, BodyKind::Whole, body.to_string().as_bytes()).unwrap());
        assert!(matches!(streamed.last(), Some(Event::Finished { stop: Stop::EndTurn, .. })));
    }
}

#[test]
fn free_text_for_a_tool_becomes_json_piece_by_piece() {
    let piece = |input: &str| json!({"tool_calls": [{"index": 0, "custom": {"input": input}}]});
    let head = json!({"tool_calls": [{"index": 0, "id": "a", "type": "custom", "custom": {"name": "f", "input": ""}}]});
    let said = ["*** \"a\"\n", "\\b\u{1} ", "🚂"];
    let mut list = vec![chunk(head, None)];
    list.extend(said.iter().map(|text| chunk(piece(text), None)));
    list.push(chunk(json!({}), Some("tool_calls")));
    let (frames, losses) = through(CHAT, ANTHROPIC, &sse(&list));
    crate::anthropic::check(&frames);
    let json: String = frames.iter().filter_map(|frame| frame["delta"]["partial_json"].as_str()).collect();
    assert_eq!(parse(json.as_bytes()), json!({"_raw": said.concat()}));
    assert!(losses.iter().any(|loss| loss.path == "content[0]"), "{losses:?}");
}

#[test]
fn calls_are_to_be_run_whatever_the_reason_is_called() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}]});
    let body = sse(&[chunk(call, None), chunk(json!({}), Some("eos"))]);
    let (frames, losses) = through(CHAT, ANTHROPIC, &body);
    let end = frames.iter().find(|frame| frame["type"] == "message_delta").unwrap();
    assert_eq!(end["delta"]["stop_reason"], "tool_use");
    assert!(losses.iter().any(|loss| loss.reason.ends_with("said as tool_use")), "{losses:?}");
    let part = json!({"functionCall": {"name": "f", "args": {}}});
    let body = sse(&[json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "X_NEW"}]})]);
    let (frames, losses) = through(GEMINI, CHAT, &body);
    assert!(frames.iter().any(|frame| frame["choices"][0]["finish_reason"] == "tool_calls"), "{frames:?}");
    assert!(losses.iter().any(|loss| loss.reason.ends_with("said as tool_calls")), "{losses:?}");
}

#[test]
fn a_later_count_leaves_the_earlier_ones_standing() {
    let frame = |reason: Value, usage: Value| json!({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": reason}], "usageMetadata": usage});
    let body = sse(&[
        frame(Value::Null, json!({"promptTokenCount": 100})),
        frame(json!("STOP"), json!({"candidatesTokenCount": 5})),
    ]);
    let (frames, _) = through(GEMINI, ANTHROPIC, &body);
    let end = frames.iter().find(|frame| frame["type"] == "message_delta").unwrap();
    assert_eq!(end["usage"], json!({"input_tokens": 100, "output_tokens": 5}));
}

#[test]
fn an_answer_completed_as_failed_has_failed() {
    let error = json!({"code": "server_error", "message": "no"});
    let body = sse(&[
        json!({"type": "response.completed", "response": {"id": "r", "status": "failed", "error": error}}),
    ]);
    let read = events(RESPONSES, BodyKind::Stream, &body).unwrap();
    assert!(matches!(read.last(), Some(Event::Failed(error)) if error.message == "no"), "{read:?}");
}

#[test]
fn refusals_and_stop_strings_are_not_lost_in_silence() {
    let body = sse(&[chunk(json!({"refusal": "No."}), None), chunk(json!({}), Some("stop"))]);
    for to in [ANTHROPIC, GEMINI] {
        let (_, losses) = through(CHAT, to, &body);
        assert!(
            losses.iter().any(|loss| loss.reason.ends_with("no refusal part; said as text")),
            "{losses:?}"
        );
    }
    let body = json!({"type": "message", "id": "m", "content": [], "stop_reason": "stop_sequence", "stop_sequence": "END"});
    let read = events(ANTHROPIC, BodyKind::Whole, body.to_string().as_bytes()).unwrap();
    for to in [CHAT, RESPONSES, GEMINI] {
        for kind in [BodyKind::Whole, BodyKind::Stream] {
            let (_, losses) = write_answer(to, kind, &read);
            assert!(losses.iter().any(|loss| loss.path == "stop_sequence"), "{}: {losses:?}", to.id);
        }
    }
}

#[test]
fn the_end_marker_may_be_quoted_or_small() {
    for marker in ["[DONE]", "[done]", "\"[DONE]\"", " [DONE] "] {
        let mut body = sse(&[chunk(json!({"content": "a"}), None)]);
        body.extend(format!("data: {marker}\n\n").bytes());
        let read = events(CHAT, BodyKind::Stream, &body).unwrap();
        assert!(matches!(read.last(), Some(Event::Finished { .. })), "{marker}");
    }
}

#[test]
fn tokens_have_their_bytes_where_clients_demand_them() {
    let chosen = json!([{"token": "は", "logProbability": -1.5}]);
    let body = sse(&[
        json!({"candidates": [{"content": {"parts": [{"text": "は"}]}, "finishReason": "STOP", "logprobsResult": {"chosenCandidates": chosen}}]}),
    ]);
    let (frames, _) = through(GEMINI, RESPONSES, &body);
    let part = &frames.last().unwrap()["response"]["output"][0]["content"][0];
    assert_eq!(part["logprobs"][0]["bytes"], json!("は".as_bytes()));
    let (frames, _) = through(GEMINI, CHAT, &body);
    let said = frames.iter().find_map(|frame| frame.pointer("/choices/0/logprobs/content/0"));
    assert_eq!(said.unwrap()["bytes"], json!("は".as_bytes()));
}

#[test]
fn a_spent_budget_is_no_rate_limit() {
    let error = json!({"type": "rate_limit_error", "message": "Monthly usage threshold reached.", "details": {"error_code": "enforced_spend_limit_reached"}});
    let body = json!({"type": "error", "error": error});
    let reply = HttpReply::json(429, body.to_string().into_bytes());
    let error = ANTHROPIC.outbound.read_error(&reply);
    assert_eq!(error.kind, ErrorKind::Quota);
    let same = ANTHROPIC.inbound.write_error(&error);
    assert_eq!((same.status, parse(&same.body)), (429, body));
}

fn message(content: &Value) -> Value {
    json!({"type": "message", "id": "i", "status": "completed", "role": "assistant", "content": content})
}

fn response(output: &Value) -> Value {
    json!({"object": "response", "id": "r", "model": "m", "status": "completed", "output": output})
}

#[test]
fn citations_of_responses_reach_chat_clients() {
    let cite = |from: u64, to: u64| json!({"type": "url_citation", "start_index": from, "end_index": to, "title": "t", "url": "u"});
    let nested = |from: u64, to: u64| json!({"type": "url_citation", "url_citation": {"start_index": from, "end_index": to, "title": "t", "url": "u"}});
    let file = json!({"type": "file_citation", "file_id": "f", "filename": "n", "index": 1});
    let text = |text: &str, list: Value| json!({"type": "output_text", "text": text, "annotations": list});
    let parts = json!([text("Zürich🚂 ", json!([cite(0, 7)])), text("is near", json!([cite(3, 7), file]))]);
    let body = response(&json!([message(&parts)]));
    let said = json!([nested(0, 7), nested(11, 15)]);
    let read = events(RESPONSES, BodyKind::Whole, body.to_string().as_bytes()).unwrap();
    let (written, losses) = write_answer(CHAT, BodyKind::Whole, &read);
    let turn = &parse(&written)["choices"][0]["message"];
    assert_eq!((&turn["content"], &turn["annotations"]), (&json!("Zürich🚂 is near"), &said));
    let lost: Vec<_> = losses.iter().map(|loss| loss.path.as_str()).collect();
    assert_eq!(lost, ["parts[1].annotations"], "the file's citation only");

    // The same in pieces, and with the whole answer where a stream was expected.
    let mut list =
        vec![json!({"type": "response.output_item.added", "output_index": 0, "item": message(&json!([]))})];
    for (at, part) in parts.as_array().unwrap().iter().enumerate() {
        let spot = |kind: &str, rest: Value| {
            let mut frame =
                json!({"type": format!("response.{kind}"), "output_index": 0, "content_index": at});
            frame.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            frame
        };
        list.push(spot("content_part.added", json!({"part": text("", json!([]))})));
        list.push(spot("output_text.delta", json!({"delta": part["text"]})));
        let first = &part["annotations"][0];
        list.push(spot("output_text.annotation.added", json!({"annotation_index": 0, "annotation": first})));
        list.push(spot("content_part.done", json!({"part": part})));
    }
    list.push(json!({"type": "response.output_item.done", "output_index": 0, "item": message(&parts)}));
    list.push(json!({"type": "response.completed", "response": body}));
    for stream in [sse(&list), body.to_string().into_bytes()] {
        let (frames, losses) = through(RESPONSES, CHAT, &stream);
        let deltas = frames.iter().filter_map(|frame| frame.pointer("/choices/0/delta/annotations"));
        let all: Vec<Value> = deltas.flat_map(|list| list.as_array().unwrap().clone()).collect();
        assert_eq!(Value::Array(all), said);
        assert!(losses.iter().any(|loss| loss.path == "parts[1].annotations"), "{losses:?}");
        assert!(losses.iter().all(|loss| loss.path != "parts[0].annotations"), "{losses:?}");
    }
}

#[test]
fn texts_side_by_side_are_one_message_item() {
    let mut list =
        vec![json!({"type": "message_start", "message": {"id": "m", "model": "c", "content": []}})];
    let tool = json!({"type": "tool_use", "id": "t", "name": "f", "input": {}});
    let server = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    let blocks = [json!("a"), json!(""), json!("b"), server, json!("c"), tool, json!("d")];
    let mut content = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let start = if block.is_string() { json!({"type": "text", "text": ""}) } else { block.clone() };
        list.push(json!({"type": "content_block_start", "index": at, "content_block": start}));
        if let Some(text) = block.as_str() {
            let delta = json!({"type": "text_delta", "text": text});
            list.push(json!({"type": "content_block_delta", "index": at, "delta": delta}));
            content.push(json!({"type": "text", "text": text}));
        } else {
            content.push(block.clone());
        }
        list.push(json!({"type": "content_block_stop", "index": at}));
    }
    list.push(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    list.push(json!({"type": "message_stop"}));
    let whole = json!({"type": "message", "id": "m", "content": content, "stop_reason": "tool_use"});
    let read = events(ANTHROPIC, BodyKind::Whole, whole.to_string().as_bytes()).unwrap();
    let whole = parse(&write_answer(RESPONSES, BodyKind::Whole, &read).0);
    let (frames, _) = through(ANTHROPIC, RESPONSES, &sse(&list));
    let texts = |output: &Value| -> Vec<Vec<String>> {
        let text = |part: &Value| part["text"].as_str().unwrap().to_owned();
        let item = |item: &Value| item["content"].as_array().into_iter().flatten().map(text).collect();
        output.as_array().unwrap().iter().map(item).collect()
    };
    let wanted = [vec!["a", "b", "c"], vec![], vec!["d"]];
    assert_eq!(texts(&whole["output"]), wanted);
    assert_eq!(texts(&frames.last().unwrap()["response"]["output"]), wanted);
    let done = frames.iter().filter(|frame| frame["type"] == "response.output_item.done");
    assert_eq!(done.map(|frame| frame["output_index"].clone()).collect::<Vec<_>>(), [0, 1, 2]);
    let places = frames.iter().filter(|frame| frame["type"] == "response.content_part.done");
    let places: Vec<_> =
        places.map(|frame| (frame["output_index"].clone(), frame["content_index"].clone())).collect();
    assert_eq!(places, [(0, 0), (0, 1), (0, 2), (2, 0)].map(|(item, part)| (json!(item), json!(part))));

    // What was complete when the answer broke off is told so.
    let cut = list.iter().position(|frame| frame["type"] == "content_block_stop").unwrap();
    let mut list = list[..=cut].to_vec();
    list.push(json!({"type": "error", "error": {"type": "overloaded_error", "message": "no"}}));
    let (frames, _) = through(ANTHROPIC, RESPONSES, &sse(&list));
    let kinds: Vec<_> = frames.iter().rev().take(2).map(|frame| &frame["type"]).collect();
    assert_eq!(kinds, ["response.failed", "response.output_item.done"]);
}

#[test]
fn deltas_and_final_text_must_agree() {
    let item = |text: &str| message(&json!([{"type": "output_text", "text": text, "annotations": []}]));
    let call = |arguments: &str| json!({"type": "function_call", "id": "i", "call_id": "c", "name": "f", "arguments": arguments});
    let delta = |kind: &str, text: &str| json!({"type": format!("response.{kind}.delta"), "output_index": 0, "delta": text});
    let added = |item: Value| json!({"type": "response.output_item.added", "output_index": 0, "item": item});
    let read = |begin: [Value; 3], end: Value| {
        let mut list = begin.to_vec();
        list.push(end);
        list.push(json!({"type": "response.completed", "response": response(&json!([]))}));
        events(RESPONSES, BodyKind::Stream, &sse(&list))
    };
    let said = || [added(message(&json!([]))), delta("output_text", "Hel"), delta("output_text", "o")];
    let called = || {
        [added(call("")), delta("function_call_arguments", "{\"a\""), delta("function_call_arguments", "1}")]
    };
    let done = |text: &str| json!({"type": "response.output_text.done", "output_index": 0, "content_index": 0, "text": text});
    let part = |text: &str| json!({"type": "response.content_part.done", "output_index": 0, "content_index": 0, "part": {"type": "output_text", "text": text}});
    let complete =
        |item: Value| json!({"type": "response.output_item.done", "output_index": 0, "item": item});
    let arguments = |text: &str| json!({"type": "response.function_call_arguments.done", "output_index": 0, "arguments": text});
    let bad = [
        (said(), done("Hello")),
        (said(), done("Hel")),
        (said(), part("Hello")),
        (said(), complete(item("Hello"))),
        (called(), arguments("{\"a\":1}")),
        (called(), complete(call("{\"a\":1}"))),
    ];
    for (begin, end) in bad {
        let error = read(begin, end.clone()).unwrap_err();
        assert_eq!(error.kind, WireErrorKind::Malformed);
        assert!(error.to_string().contains("the deltas and the final text disagree"), "{end}: {error}");
    }
    for end in [done("Helo"), done("Helo!"), done(""), part("Helo you"), complete(item("Helo"))] {
        assert!(read(said(), end.clone()).is_ok(), "{end}");
    }
    let spaced = [
        added(call("")),
        delta("function_call_arguments", "{ \"a\":"),
        delta("function_call_arguments", " 1 }"),
    ];
    assert!(read(spaced, arguments("{\"a\":1}")).is_ok(), "the same JSON written anew");
}

#[test]
fn responses_clients_see_only_words_they_know() {
    let body = json!({"candidates": [{"content": {"parts": []}, "finishReason": "MALFORMED_FUNCTION_CALL"}]});
    for kind in [BodyKind::Whole, BodyKind::Stream] {
        let read = events(GEMINI, BodyKind::Whole, body.to_string().as_bytes()).unwrap();
        let (written, losses) = write_answer(RESPONSES, kind, &read);
        let whole = match kind {
            BodyKind::Whole => parse(&written),
            BodyKind::Stream | BodyKind::Array => frames(&written).last().unwrap()["response"].clone(),
        };
        assert_eq!((&whole["status"], &whole["incomplete_details"]), (&json!("completed"), &Value::Null));
        assert!(losses.iter().any(|loss| loss.path == "stop"), "{losses:?}");
    }
    let rival = json!({"token": "b", "logprob": -2.0, "bytes": null});
    let entry = json!({"token": "a", "logprob": -1.0, "bytes": null, "top_logprobs": [rival]});
    let choice = json!({"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop", "logprobs": {"content": [entry]}});
    let body = json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [choice]});
    let read = events(CHAT, BodyKind::Whole, body.to_string().as_bytes()).unwrap();
    let whole = parse(&write_answer(RESPONSES, BodyKind::Whole, &read).0);
    let said = &whole["output"][0]["content"][0]["logprobs"][0];
    assert_eq!((&said["bytes"], &said["top_logprobs"][0]["bytes"]), (&json!([]), &json!([])));
}

#[test]
fn a_thought_without_words_or_seal_is_no_block() {
    let text = json!({"type": "output_text", "text": "Hi", "annotations": []});
    let items = json!([{"type": "reasoning", "id": "rs", "summary": []}, message(&json!([text]))]);
    let read = events(RESPONSES, BodyKind::Whole, response(&items).to_string().as_bytes()).unwrap();
    let whole = parse(&write_answer(ANTHROPIC, BodyKind::Whole, &read).0);
    assert_eq!(whole["content"], json!([{"type": "text", "text": "Hi"}]));
    // Anthropic's own stay as they came.
    let own = json!({"type": "message", "id": "m", "content": [{"type": "thinking", "thinking": "", "signature": ""}], "stop_reason": "end_turn"});
    let read = events(ANTHROPIC, BodyKind::Whole, own.to_string().as_bytes()).unwrap();
    let whole = parse(&write_answer(ANTHROPIC, BodyKind::Whole, &read).0);
    assert_eq!(whole["content"], own["content"]);
}
