//! The faults that each protocol has its own form of, over plain HTTP and over TLS.

use std::time::Duration;

use rail_model::{ErrorKind, ProtocolId};
use rail_route::Provider;
use rail_testkit::{Peer, chunk, http_whole, last_chunk, sse_head};
use rail_wire::BodyKind;

use crate::over::{Over, over_both};
use crate::world::{Client, Frozen, attempt, plan, record, relayed, request, text, upstream};

over_both! {
    a_good_answer,
    cut_in_mid_event,
    an_empty_answer,
    duplicate_events,
    an_error_inside_200,
    an_error_inside_200_instead_of_a_stream,
}

/// How a protocol says `hello`, frame by frame.
struct Spoken {
    protocol: ProtocolId,
    /// Before content; without content and with the end, an empty answer.
    start: &'static [&'static str],
    /// The first of them shows content.
    content: &'static [&'static str],
    /// The last of them is the end.
    end: &'static [&'static str],
    /// Instead of any of them.
    error: &'static str,
}

const ALL: &[Spoken] = &[
    Spoken {
        protocol: rail_wire::anthropic::PROTOCOL.id,
        start: &[
            r#"{"type":"message_start","message":{"id":"1","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#,
            r#"{"type":"ping"}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        ],
        content: &[
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ],
        end: &[
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        error: r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    },
    Spoken {
        protocol: rail_wire::openai_chat::PROTOCOL.id,
        start: &[r#"{"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}"#],
        content: &[r#"{"id":"1","choices":[{"index":0,"delta":{"content":"hello"}}]}"#],
        end: &[r#"{"id":"1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#, "[DONE]"],
        error: r#"{"error":{"message":"Overloaded","code":503}}"#,
    },
    Spoken {
        protocol: rail_wire::openai_responses::PROTOCOL.id,
        start: &[
            r#"{"type":"response.created","sequence_number":0,"response":{"id":"1","object":"response","status":"in_progress","output":[]}}"#,
            r#"{"type":"response.in_progress","sequence_number":1,"response":{"id":"1","object":"response","status":"in_progress","output":[]}}"#,
            r#"{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"type":"message","id":"2","role":"assistant","status":"in_progress","content":[]}}"#,
            r#"{"type":"response.content_part.added","sequence_number":3,"output_index":0,"content_index":0,"item_id":"2","part":{"type":"output_text","text":"","annotations":[]}}"#,
        ],
        content: &[
            r#"{"type":"response.output_text.delta","sequence_number":4,"output_index":0,"content_index":0,"item_id":"2","delta":"hello"}"#,
            r#"{"type":"response.output_text.done","sequence_number":5,"output_index":0,"content_index":0,"item_id":"2","text":"hello"}"#,
            r#"{"type":"response.content_part.done","sequence_number":6,"output_index":0,"content_index":0,"item_id":"2","part":{"type":"output_text","text":"hello","annotations":[]}}"#,
            r#"{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"type":"message","id":"2","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hello","annotations":[]}]}}"#,
        ],
        end: &[
            r#"{"type":"response.completed","sequence_number":8,"response":{"id":"1","object":"response","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}"#,
        ],
        error: r#"{"type":"error","sequence_number":1,"code":"server_is_overloaded","message":"Overloaded"}"#,
    },
    Spoken {
        protocol: rail_wire::gemini::PROTOCOL.id,
        start: &[r#"{"usageMetadata":{"promptTokenCount":1},"modelVersion":"m"}"#],
        content: &[r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]}}]}"#],
        end: &[
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1}}"#,
        ],
        error: r#"{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}"#,
    },
];

impl Spoken {
    fn frames(&self) -> Vec<&'static str> {
        [self.start, self.content, self.end].concat()
    }

    fn provider(&self, over: &Over, peer: &Peer) -> Provider {
        Provider { protocol: self.protocol, ..over.of("a", peer) }
    }
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

/// How a stream stops.
#[derive(Clone, Copy, Debug)]
enum Stops {
    /// As HTTP wants it.
    Whole,
    /// With the connection.
    BreaksOff,
}

const STOPS: [Stops; 2] = [Stops::Whole, Stops::BreaksOff];

/// A server that streams this body, each event as a piece of its own.
fn streams(over: &Over, body: &str, stops: Stops) -> Peer {
    let pieces: Vec<u8> = body.split_inclusive("\n\n").flat_map(chunk).collect();
    let last = match stops {
        Stops::Whole => last_chunk(),
        Stops::BreaksOff => Vec::new(),
    };
    over.answers([sse_head(), pieces, last].concat())
}

/// What came of a question to the first server, with a good one behind it. Whether the answer is passed on as it came or not
/// can't matter.
async fn asked(over: &Over, spoken: &Spoken, peer: Peer) -> (Vec<String>, Result<String, ErrorKind>) {
    let b = over.good();
    let plan = plan([attempt(spoken.provider(over, &peer)), attempt(over.b(&b))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert!(world.elapsed() <= Duration::from_secs(1), "at most one pause");
    let translated = (record(reply.sent()), text(&mut reply).await.map_err(|broken| broken.error.kind));
    let client = Client::new(spoken.protocol, BodyKind::Stream);
    assert_eq!(relayed(&plan, &client).await, translated, "{}", spoken.protocol);
    translated
}

fn twice(line: &str) -> (Vec<String>, Result<String, ErrorKind>) {
    (vec![line.to_owned(), line.to_owned(), "b 200 answered".to_owned()], Ok("from b".to_owned()))
}

fn once(line: &str, text: Result<&str, ErrorKind>) -> (Vec<String>, Result<String, ErrorKind>) {
    (vec![line.to_owned()], text.map(str::to_owned))
}

async fn a_good_answer(over: &Over) {
    for spoken in ALL {
        let body: String = spoken.frames().into_iter().map(event).collect();
        let found = asked(over, spoken, streams(over, &body, Stops::Whole)).await;
        assert_eq!(found, once("a 200 answered", Ok("hello")), "{}", spoken.protocol);
    }
}

async fn cut_in_mid_event(over: &Over) {
    for spoken in ALL {
        let frames = spoken.frames();
        for (at, cut) in frames.iter().enumerate() {
            let whole: String = frames[..at].iter().map(|frame| event(frame)).collect();
            let body = format!("{whole}data: {}", &cut[..cut.len() / 2]);
            let expected = if at <= spoken.start.len() {
                twice("a 200 passing $")
            } else {
                once("a 200 answered", Err(ErrorKind::Server))
            };
            for stops in STOPS {
                let found = asked(over, spoken, streams(over, &body, stops)).await;
                assert_eq!(found, expected, "{} {stops:?} {body}", spoken.protocol);
            }
        }
    }
}

async fn an_empty_answer(over: &Over) {
    for spoken in ALL {
        let body: String = spoken.start.iter().chain(spoken.end).map(|frame| event(frame)).collect();
        let (record, text) = asked(over, spoken, streams(over, &body, Stops::Whole)).await;
        assert_eq!(record, ["a 200 empty $", "b 200 answered"], "{}", spoken.protocol);
        assert_eq!(text.unwrap(), "from b");
    }
}

async fn duplicate_events(over: &Over) {
    for spoken in ALL {
        let frames = spoken.frames();
        for (at, again) in frames.iter().enumerate().filter(|(_, frame)| !says_content(frame)) {
            let (before, after) = frames.split_at(at);
            let body: String = before.iter().chain([again]).chain(after).map(|frame| event(frame)).collect();
            let found = asked(over, spoken, streams(over, &body, Stops::Whole)).await;
            assert_eq!(found, once("a 200 answered", Ok("hello")), "{} {again}", spoken.protocol);
        }
    }
}

/// A piece of text that comes twice is text that was said twice: nobody can tell.
fn says_content(frame: &str) -> bool {
    frame.contains("hello") && !frame.contains("done")
}

async fn an_error_inside_200(over: &Over) {
    for spoken in ALL {
        let before = spoken.start.iter().map(|frame| event(frame));
        let content = spoken.content.iter().map(|frame| event(frame));
        let early: String = before.clone().chain([event(spoken.error)]).collect();
        let late: String = before.chain(content).chain([event(spoken.error)]).collect();
        for stops in STOPS {
            for body in [&event(spoken.error), &early] {
                let found = asked(over, spoken, streams(over, body, stops)).await;
                assert_eq!(found, twice("a 200 passing $"), "{} {stops:?} {body}", spoken.protocol);
            }
            let found = asked(over, spoken, streams(over, &late, stops)).await;
            assert_eq!(
                found,
                once("a 200 answered", Err(ErrorKind::Overloaded)),
                "{} {stops:?}",
                spoken.protocol
            );
        }
    }
}

async fn an_error_inside_200_instead_of_a_stream(over: &Over) {
    for spoken in ALL {
        let peer = over.answers(http_whole(200, "application/json", spoken.error));
        let found = asked(over, spoken, peer).await;
        assert_eq!(found, twice("a 200 passing $"), "{}", spoken.protocol);
    }
}
