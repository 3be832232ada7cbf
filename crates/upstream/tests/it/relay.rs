//! A client's own bytes go to a target of its protocol, and the target's own bytes to the client.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use proptest::prelude::*;
use rail_model::{ErrorKind, Event, ProtocolId};
use rail_route::{ModelProfile, Provider, ToolStyle};
use rail_testkit::{
    Conversation, Models, Peer, Step, Turn, call, chunk, http_whole, last_chunk, sse_head, text as say,
    thinking,
};
use rail_upstream::{Body, BoxFuture, Incoming, Outgoing, Transport, TransportError, Upstream};
use rail_wire::{ALL, BodyKind};
use serde_json::{Value, json};

use crate::over::{Over, closing};
use crate::world::{
    ANTHROPIC, CHAT, Client, Frozen, attempt, attempt_as, plan, profile, provider, raw, record, rest, text,
    text_in, upstream,
};

const KINDS: [BodyKind; 2] = [BodyKind::Whole, BodyKind::Stream];

fn speaking(protocol: ProtocolId, models: &Models) -> Provider {
    Provider { protocol, ..provider("a", models.base_url(protocol)) }
}

/// What was last sent to these models.
fn sent(models: &Models) -> Vec<u8> {
    models.requests().last().unwrap().call.body.clone()
}

#[tokio::test(start_paused = true)]
async fn both_ways_for_every_protocol() {
    for protocol in ALL {
        for kind in KINDS {
            let models =
                Models::start(vec![Turn::reply(vec![say("hello"), call("f", json!({}))]).repeat()]).unwrap();
            let plan = plan([attempt(speaking(protocol.id, &models))]);
            let plain = Client::new(protocol.id, kind);
            // As no encoder of ours would write it.
            let body = String::from_utf8(plain.body.to_vec()).unwrap();
            let odd = body.replacen('{', "\n{ \"x_y\" : 1.50 ,\t", 1).replace("question", "qu\\u0065stion é");
            let client = Client::saying(protocol.id, kind, &odd);
            let mut world = Frozen::new();
            let mut reply = world.relay(&upstream(), &plan, &client).await.unwrap();
            assert!(reply.relayable(), "{} {kind:?}", protocol.id);
            let expected = odd.replace("\"model\":\"asked\"", "\"model\":\"m\"");
            assert_eq!(String::from_utf8(sent(&models)).unwrap(), expected, "{} {kind:?}", protocol.id);
            let (bytes, broken) = raw(&mut reply).await;
            assert_eq!(broken, None);
            assert_eq!(text_in(protocol, kind, &bytes), "hello");
            assert!(reply.next_raw(Some("asked")).await.is_none());

            let mut world = Frozen::new();
            let mut translated = world.ask(&upstream(), &plan, &client.request).await.unwrap();
            assert!(!translated.relayable());
            let events = rest(&mut translated).await.unwrap();
            assert_eq!(reply.usage(), translated.usage(), "{} {kind:?}", protocol.id);
            assert!(reply.usage().all_input() > 0);
            let model = |events: &[Event]| {
                events.iter().find_map(|event| {
                    if let Event::Started { model, .. } = event { model.clone() } else { None }
                })
            };
            assert_eq!(model(&events).as_deref(), Some("m"));
            let (mut decoder, mut read) = (protocol.outbound.decoder(kind), Vec::new());
            decoder.push(&bytes, &mut read).unwrap();
            decoder.finish(&mut read).unwrap();
            assert_eq!(model(&read).as_deref(), Some("asked"), "{} {kind:?}", protocol.id);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_may_still_choose_events() {
    let hello = "data: {\"id\":\"1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hel\"}}]}\n\n";
    let more = "data: {\"id\":\"1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (begun, late) = more.split_at(40);
    // Half a frame is here when the client chooses.
    let first = [sse_head(), chunk(format!("{hello}{begun}"))].concat();
    let rest = [chunk(late), last_chunk()].concat();
    let steps = [Step::ReadRequest, Step::Send(first), Step::Gate("chosen"), Step::Send(rest)];
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let plan = plan([attempt(provider("a", peer.url("/v1")))]);
    let mut world = Frozen::new();
    let mut reply = world.relay(&upstream(), &plan, &Client::new(CHAT, BodyKind::Stream)).await.unwrap();
    assert!(reply.relayable());
    let first = reply.next().await.unwrap().unwrap();
    assert!(matches!(first, Event::Started { .. }) && !reply.relayable());
    let broken = reply.next_raw(Some("asked")).await.unwrap().unwrap_err();
    assert_eq!(broken.error.message, "this answer can't be passed on as it came");
    peer.open("chosen");
    assert_eq!(text(&mut reply).await.unwrap(), "hello");
}

#[tokio::test(start_paused = true)]
async fn a_stall_breaks_an_answer_that_is_passed_on() {
    let hello = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n";
    let begun = [sse_head(), chunk(format!("{hello}data: {{\"id\":"))].concat();
    let peer =
        Peer::start(vec![Conversation::new([Step::ReadRequest, Step::Send(begun), Step::Stall])]).unwrap();
    let plan = plan([attempt(provider("a", peer.url("/v1")))]);
    let (upstream, mut world) = (upstream(), Frozen::new());
    let mut reply = world.relay(&upstream, &plan, &Client::new(CHAT, BodyKind::Stream)).await.unwrap();
    assert_eq!(reply.next_raw(Some("asked")).await.unwrap().unwrap(), hello);
    let (idle, late) = (Duration::from_secs(10), Duration::from_secs(9));
    {
        // Giving up the wait does not begin it anew.
        let mut waiting = Box::pin(reply.next_raw(Some("asked")));
        assert!(given_now(&mut waiting).await.is_none());
        tokio::time::advance(late).await;
        assert!(given_now(&mut waiting).await.is_none());
    }
    tokio::time::advance(idle - late).await;
    let broken = reply.next_raw(Some("asked")).await.unwrap().unwrap_err();
    assert_eq!(broken.error.kind, ErrorKind::Timeout, "{broken}");
    assert!(reply.next_raw(Some("asked")).await.is_none());
}

/// What a future gives now, if anything.
async fn given_now<T>(future: &mut Pin<Box<impl Future<Output = T>>>) -> Option<T> {
    std::future::poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(Some(value)),
        Poll::Pending => Poll::Ready(None),
    })
    .await
}

/// Whether the answer to this client can be passed on, and what was sent.
async fn passes(attempt: rail_route::Attempt, models: &Models, client: &Client) -> (bool, Value) {
    let mut world = Frozen::new();
    let mut reply = world.relay(&upstream(), &plan([attempt]), client).await.unwrap();
    let relayable = reply.relayable();
    if relayable {
        assert_eq!(raw(&mut reply).await.1, None);
    } else {
        rest(&mut reply).await.unwrap();
    }
    (relayable, serde_json::from_slice(&sent(models)).unwrap())
}

type Change = fn(ModelProfile) -> ModelProfile;

#[tokio::test(start_paused = true)]
async fn what_needs_any_change_is_not_passed_on() {
    let profiles: &[(&str, Change)] = &[
        ("calls are repaired", |profile| ModelProfile { tools: ToolStyle::Mixed, ..profile }),
        ("tools are prompted", |profile| ModelProfile { tools: ToolStyle::Prompted, ..profile }),
        ("told not to think", |profile| ModelProfile { no_think: true, ..profile }),
        ("samples as it likes", |profile| ModelProfile { fixed_sampling: true, ..profile }),
        ("less heat", |profile| ModelProfile { max_temperature: Some(0.5), ..profile }),
        ("less output", |profile| ModelProfile { max_output: Some(5), ..profile }),
    ];
    let body = json!({"model": "asked", "max_tokens": 9, "temperature": 1, "messages": [{"role": "user", "content": "question"}]});
    for (protocol, kind) in [(ANTHROPIC, BodyKind::Whole), (CHAT, BodyKind::Whole)] {
        let models = Models::start(vec![Turn::reply(vec![say("hello")]).repeat()]).unwrap();
        let client = Client::saying(protocol, kind, &body.to_string());
        let (relayed, _) = passes(attempt(speaking(protocol, &models)), &models, &client).await;
        assert!(relayed, "{protocol}");
        for (about, change) in profiles {
            let attempt = attempt_as(speaking(protocol, &models), change(profile()));
            let (relayed, _) = passes(attempt, &models, &client).await;
            assert!(!relayed, "{protocol} {about}");
        }
        let other = if protocol == CHAT { ANTHROPIC } else { CHAT };
        let (relayed, sent) = passes(attempt(speaking(other, &models)), &models, &client).await;
        assert!(!relayed && sent["model"] == "m", "{other}");
    }
}

#[tokio::test(start_paused = true)]
async fn seals_of_another_issuer_are_never_passed_on() {
    let thought = || vec![thinking("hm", Some("sealed")), say("hello")];
    for (about, turn, extra, expected) in [
        ("nobody thinks", vec![say("hello")], json!({}), true),
        ("not to think", vec![say("hello")], json!({"thinking": {"type": "disabled"}}), true),
        ("it was asked to think", vec![say("hello")], json!({"thinking": {"type": "adaptive"}}), false),
        ("it thinks unasked", thought(), json!({}), false),
    ] {
        for kind in KINDS {
            let models = Models::start(vec![Turn::reply(turn.clone()).repeat()]).unwrap();
            let mut body: Value = serde_json::from_slice(&Client::new(ANTHROPIC, kind).body).unwrap();
            body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            let client = Client::saying(ANTHROPIC, kind, &body.to_string());
            let (relayed, _) = passes(attempt(speaking(ANTHROPIC, &models)), &models, &client).await;
            assert_eq!(relayed, expected, "{about} {kind:?}");
        }
    }
}

const REFUSED: &str =
    r#"{"error":{"message":"Unsupported parameter: 'seed' is not supported with this model."}}"#;

#[tokio::test(start_paused = true)]
async fn a_refused_field_is_left_out_and_from_then_on_nothing_is_passed_on() {
    let refused = Turn::raw(closing(&http_whole(400, "application/json", REFUSED)));
    let models = Models::start(vec![refused, Turn::reply(vec![say("hello")]).repeat()]).unwrap();
    let body = json!({"model": "asked", "seed": 7, "messages": [{"role": "user", "content": "question"}]});
    let client = Client::saying(CHAT, BodyKind::Whole, &body.to_string());
    let (upstream, plan) = (upstream(), plan([attempt(speaking(CHAT, &models))]));
    for sends in [&["a 400 fixable", "a 200 answered"][..], &["a 200 answered"]] {
        let mut world = Frozen::new();
        let mut reply = world.relay(&upstream, &plan, &client).await.unwrap();
        assert_eq!(record(reply.sent()), sends);
        assert!(!reply.relayable());
        assert_eq!(text(&mut reply).await.unwrap(), "hello");
        let last: Value = serde_json::from_slice(&sent(&models)).unwrap();
        assert!(last.get("seed").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_that_changes_nothing_is_not_sent() {
    let models =
        Models::start(vec![Turn::raw(closing(&http_whole(400, "application/json", REFUSED)))]).unwrap();
    // The field is not there, and another spelling of the same is no change.
    let client = Client::saying(
        CHAT,
        BodyKind::Whole,
        r#"{"messages":[{"content":"q","role":"user"}],"model":"asked"}"#,
    );
    let plan = plan([attempt(speaking(CHAT, &models))]);
    let mut world = Frozen::new();
    let none = world.relay(&upstream(), &plan, &client).await.unwrap_err();
    assert_eq!(record(&none.sent), ["a 400 request"]);
}

#[tokio::test(start_paused = true)]
async fn headers_that_a_client_wants_come_with_the_answer() {
    let body = r#"{"id":"1","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}"#;
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nX-Request-Id: r1\r\nset-cookie: c\r\nx-ratelimit-remaining-tokens: 5\r\nopenai-version: v\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let steps = [Step::ReadRequest, Step::Send([head.as_bytes(), body.as_bytes()].concat())];
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let plan = plan([attempt(provider("a", peer.url("/v1")))]);
    let mut world = Frozen::new();
    let mut reply = world.relay(&upstream(), &plan, &Client::new(CHAT, BodyKind::Whole)).await.unwrap();
    let headers: Vec<String> =
        reply.headers().iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(headers, ["x-request-id: r1", "x-ratelimit-remaining-tokens: 5", "openai-version: v"]);
    assert_eq!(raw(&mut reply).await, (body.replace("\"m\"", "\"asked\"").into_bytes(), None));
}

#[tokio::test(start_paused = true)]
async fn what_an_api_says_of_an_error_reaches_its_own_clients_unchanged() {
    let said = r#"{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: too large","x_detail":[1.50,null]},"request_id":"req_1"}"#;
    let peer = Over::Plain.answers(http_whole(400, "application/json", said));
    let plan = plan([attempt(Provider { protocol: ANTHROPIC, ..provider("a", peer.url("/v1")) })]);
    let client = Client::new(ANTHROPIC, BodyKind::Whole);
    let mut world = Frozen::new();
    let relayed = world.relay(&upstream(), &plan, &client).await.unwrap_err();
    let mut world = Frozen::new();
    let translated = world.ask(&upstream(), &plan, &client.request).await.unwrap_err();
    assert_eq!(relayed.error, translated.error);
    let written = client.protocol.inbound.write_error(&relayed.error);
    let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    assert_eq!((written.status, read(&written.body)), (400, read(said.as_bytes())));
}

/// A transport whose answers come in these pieces.
struct Cut(Mutex<Vec<Bytes>>);

impl Transport for Cut {
    fn send<'a>(&'a self, _: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        let pieces = std::mem::take(&mut *self.0.lock().unwrap());
        Box::pin(async { Ok(Incoming { status: 200, headers: Vec::new(), body: Body::new(Pieces(pieces)) }) })
    }
}

/// Pieces, the last one first.
struct Pieces(Vec<Bytes>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        Poll::Ready(self.0.pop().map(|piece| Ok(Frame::data(piece))))
    }
}

const STREAM: &str = ": hi\r\n\r\nevent: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\r\n\r\n\
data: {\"type\":\"content_block_start\",\"index\":0,\ndata: \"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"the model \\\"model\\\":\\\"é\\\"\"}}\r\r\
data: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":2}}\n\n\
data: {\"type\":\"message_stop\"}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_split_is_passed_on_alike(cuts in prop::collection::vec(0..STREAM.len(), 0..40), closed: bool) {
        let body = format!("{STREAM}{}", if closed { "\n\nevent: x\ndata: after the end\n\n" } else { "" });
        let mut cuts = cuts;
        cuts.extend([0, body.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &body.as_bytes()[cut[0]..cut[1]]).collect();
        let pieces = pieces.into_iter().rev().map(Bytes::copy_from_slice).collect();
        let upstream = Upstream::new(Arc::new(Cut(Mutex::new(pieces))));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let (bytes, usage) = runtime.block_on(async {
            let plan = plan([attempt(Provider { protocol: ANTHROPIC, ..provider("a", "http://h/v1".to_owned()) })]);
            let client = Client::new(ANTHROPIC, BodyKind::Stream);
            let mut world = Frozen::new();
            let mut reply = world.relay(&upstream, &plan, &client).await.unwrap();
            let (bytes, broken) = raw(&mut reply).await;
            assert_eq!(broken, None);
            (bytes, reply.usage().clone())
        });
        // What lacks its closing gets it, and nothing is passed on after the end.
        prop_assert_eq!(String::from_utf8(bytes).unwrap(), format!("{}\n\n", STREAM.replace("\"model\":\"m\"", "\"model\":\"asked\"")));
        prop_assert_eq!((usage.input, usage.output), (Some(3), Some(2)));
    }
}

/// A small model writes calls ahead without waiting for results. Our own loop takes the first; a client has a loop of its own, and gets all.
#[tokio::test(start_paused = true)]
async fn a_client_gets_all_calls_of_a_small_model() {
    let two = || Turn::reply(vec![call("f", json!({})), call("f", json!({"x": 1}))]);
    let models = Models::start(vec![two().repeat()]).unwrap();
    let small = ModelProfile { small: true, tools: ToolStyle::Mixed, ..profile() };
    let plan = plan([attempt_as(speaking(CHAT, &models), small)]);
    let client = Client::new(ANTHROPIC, BodyKind::Stream);
    let calls = |events: Vec<Event>| {
        let is_call = |event: &Event| {
            matches!(event, Event::Opened { kind: rail_model::PartKind::ToolCall { .. }, .. })
        };
        events.iter().filter(|event| is_call(event)).count()
    };
    let mut reply = Frozen::new().relay(&upstream(), &plan, &client).await.unwrap();
    assert_eq!(calls(rest(&mut reply).await.unwrap()), 2);
    let mut reply = Frozen::new().ask(&upstream(), &plan, &client.request).await.unwrap();
    assert_eq!(calls(rest(&mut reply).await.unwrap()), 1);
}
