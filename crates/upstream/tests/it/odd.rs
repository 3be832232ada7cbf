//! Servers that do things their own way, and answers that hold something else than text.

use std::sync::Arc;

use rail_model::{ErrorKind, Event, Request, Stop};
use rail_route::Provider;
use rail_testkit::{Conversation, Peer, Step, chunk, http_head, http_whole, last_chunk, sse_head};
use rail_upstream::Reply;

use crate::over::{Over, over_both};
use crate::world::{ANTHROPIC, Frozen, attempt, plan, record, request, rest, text, upstream};

over_both! {
    answers_in_other_ways_of_http,
    a_server_that_ignores_how_it_was_asked,
    answers_without_text,
    what_is_no_content_yet,
    a_status_without_a_body,
}

const HELLO: &str =
    r#"data: {"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"hello"}}]}"#;
const STOP: &str = r#"data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const DONE: &str = "data: [DONE]";
const WHOLE: &str = r#"{"id":"1","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}"#;

fn body(frames: &[&str]) -> String {
    frames.iter().map(|frame| format!("{frame}\n\n")).collect()
}

async fn ask(over: &Over, answer: Vec<u8>, asked: &Request) -> Reply {
    let a = over.always([Step::Send(answer)]);
    let plan = plan([attempt(over.of("a", &a))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, asked).await.unwrap();
    assert_eq!(record(reply.sent()).last().map(String::as_str), Some("a 200 answered"));
    assert_eq!(text(&mut reply).await.unwrap(), "hello");
    reply
}

async fn answers_in_other_ways_of_http(over: &Over) {
    let stream = body(&[HELLO, STOP, DONE, DONE]);
    let old = [b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", stream.as_bytes()].concat();
    let unsized_body = [&http_head(200, &[("connection", "close")]), stream.as_bytes()].concat();
    let hints = [
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n".to_vec(),
        http_whole(200, "text/event-stream", &stream),
    ]
    .concat();
    let trailers = [
        http_head(200, &[("transfer-encoding", "chunked"), ("trailer", "x-sum"), ("connection", "close")]),
        chunk(&stream),
        b"0\r\nx-sum: 1\r\n\r\n".to_vec(),
    ]
    .concat();
    let created = http_whole(201, "text/event-stream", &stream);
    for answer in [old, unsized_body, hints, trailers] {
        ask(over, answer, &request()).await;
    }
    let a = over.always([Step::Send(created)]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan([attempt(over.of("a", &a))]), &request()).await.unwrap();
    assert_eq!(text(&mut reply).await.unwrap(), "hello");
}

async fn a_server_that_ignores_how_it_was_asked(over: &Over) {
    let whole = Request { stream: false, ..request() };
    ask(over, http_whole(200, "text/event-stream", body(&[HELLO, STOP, DONE])), &whole).await;
    ask(over, http_whole(200, "application/json", WHOLE), &request()).await;
}

/// The events of an answer to a plan of `a` alone.
async fn events(over: &Over, frames: &[&str]) -> Vec<Event> {
    let frames = frames.iter().flat_map(|frame| chunk(format!("{frame}\n\n")));
    let a = over.answers(sse_head().into_iter().chain(frames).chain(last_chunk()).collect());
    let plan = plan([attempt(over.of("a", &a))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    rest(&mut reply).await.unwrap()
}

fn stop(events: &[Event]) -> Option<&Stop> {
    events.iter().find_map(|event| if let Event::Finished { stop, .. } = event { Some(stop) } else { None })
}

async fn answers_without_text(over: &Over) {
    let call = r#"data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#;
    assert_eq!(stop(&events(over, &[call, DONE]).await), Some(&Stop::ToolUse));
    let refusal =
        r#"data: {"id":"1","choices":[{"index":0,"delta":{"refusal":"I will not"},"finish_reason":"stop"}]}"#;
    assert!(events(over, &[refusal, DONE]).await.iter().any(|event| matches!(event, Event::Delta { .. })));
    let filtered = r#"data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}"#;
    assert_eq!(stop(&events(over, &[filtered, DONE]).await), Some(&Stop::Refusal), "nobody else to ask");
    let usage = r#"data: {"id":"1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":0}}"#;
    let told = events(over, &[STOP, usage, DONE]).await;
    assert!(told.iter().any(|event| matches!(event, Event::Usage(_))), "{told:?}");
}

/// An answer of Anthropic's that begins so and then ends or fails, and `b` after it.
async fn after(over: &Over, frames: &[&str]) -> (Vec<String>, Result<String, String>) {
    let start = r#"{"type":"message_start","message":{"id":"1","model":"m","content":[],"usage":{}}}"#;
    let frames = std::iter::once(&start).chain(frames).flat_map(|frame| chunk(format!("data: {frame}\n\n")));
    let a = over.answers(sse_head().into_iter().chain(frames).chain(last_chunk()).collect());
    let b = over.good();
    let mut first = over.of("a", &a);
    (first.protocol, first.retry.tries) = (ANTHROPIC, 0);
    let plan = plan([attempt(first), attempt(over.b(&b))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    (record(reply.sent()), text(&mut reply).await.map_err(|broken| broken.error.message))
}

async fn what_is_no_content_yet(over: &Over) {
    let block = r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
    let thinks = r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#;
    let thought =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#;
    let busy = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let closed = r#"{"type":"content_block_stop","index":0}"#;
    let ends = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}"#;
    let over_and = r#"{"type":"message_stop"}"#;
    let ping = r#"{"type":"ping"}"#;
    for (frames, sent) in [
        (vec![block, ping, busy], "a 200 passing $"),
        (vec![thinks, ping, busy], "a 200 passing $"),
        (vec![block, closed, ends, over_and], "a 200 empty $"),
    ] {
        let (record, text) = after(over, &frames).await;
        assert_eq!(
            (record, text.as_deref()),
            (vec![sent.to_owned(), "b 200 answered".to_owned()], Ok("from b"))
        );
    }
    // What was thought was seen: no second answer after it.
    let (record, text) = after(over, &[thinks, thought, busy]).await;
    assert_eq!((record, text.unwrap_err()), (vec!["a 200 answered".to_owned()], "Overloaded".to_owned()));
}

async fn a_status_without_a_body(over: &Over) {
    for head in [http_head(204, &[]), http_head(200, &[("content-length", "0")])] {
        let a = over.peer(vec![Conversation::new([Step::ReadRequest, Step::Send(head)]).repeat()]);
        let b = over.good();
        let mut first = over.of("a", &a);
        first.retry.tries = 0;
        let plan = plan([attempt(first), attempt(over.b(&b))]);
        let mut world = Frozen::new();
        let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
        assert_eq!(text(&mut reply).await.unwrap(), "from b");
        assert!(record(reply.sent())[0].ends_with("passing $"), "{:?}", record(reply.sent()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_of_a_model_that_would_lead_to_another_address_is_not_sent() {
    let a = Peer::start(vec![]).unwrap();
    for model in ["../files", "..", "models/../../v1/keys", "./x", "a/../../b"] {
        let mut first = attempt(crate::world::provider("a", a.url("")));
        let provider =
            Provider { protocol: rail_wire::gemini::PROTOCOL.id, ..Provider::clone(&first.provider) };
        (first.provider, first.target.model) = (Arc::new(provider), model.to_owned());
        match Frozen::new().ask(&upstream(), &plan([first]), &request()).await {
            // It is one segment with its verb: `..:generateContent`.
            Err(none) if model == ".." => assert_eq!(record(&none.sent).len(), 2),
            Err(none) => {
                assert_eq!((none.sent.len(), none.error.kind), (0, ErrorKind::NotFound), "{model}");
                assert!(none.error.message.contains(model), "{}", none.error.message);
            }
            Ok(_) => panic!("nobody answers"),
        }
    }
    assert_eq!(a.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_name_of_a_model_stays_one_segment() {
    for (model, target) in [
        ("a?key=1#x", "/v1beta/models/a%3Fkey%3D1%23x:streamGenerateContent?alt=sse"),
        (
            "a%2e%2e b\r\nhost: c",
            "/v1beta/models/a%252e%252e%20b%0D%0Ahost%3A%20c:streamGenerateContent?alt=sse",
        ),
    ] {
        let a = Peer::start(vec![Conversation::new([Step::ReadRequest, Step::Close]).repeat()]).unwrap();
        let mut first = attempt(crate::world::provider("a", a.url("")));
        let provider =
            Provider { protocol: rail_wire::gemini::PROTOCOL.id, ..Provider::clone(&first.provider) };
        (first.provider, first.target.model) = (Arc::new(provider), model.to_owned());
        Frozen::new().ask(&upstream(), &plan([first]), &request()).await.unwrap_err();
        assert_eq!(a.requests()[0].target, target);
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_of_a_hundred_megabytes_is_read_once() {
    let long = "x".repeat(100 << 20);
    let frame = format!(r#"data: {{"id":"1","choices":[{{"index":0,"delta":{{"content":"{long}"}}}}]}}"#);
    let stream = body(&[&frame, STOP, DONE]);
    let answer = http_whole(200, "text/event-stream", stream);
    let a = Peer::start(vec![Conversation::new([Step::ReadRequest, Step::Send(answer)])]).unwrap();
    let plan = plan([attempt(crate::world::provider("a", a.url("/v1")))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(text(&mut reply).await.unwrap().len(), long.len());
}

#[test]
fn a_request_on_its_way_is_small_and_may_move_between_threads() {
    fn size_of<T: Send>(value: &T) -> usize {
        size_of_val(value)
    }
    let (upstream, plan, question) = (upstream(), plan([]), request());
    let size = size_of(&upstream.ask(&plan, &question, &()));
    assert!(size < 2048, "thousands of them wait at once: {size} bytes each");
}
