use std::collections::VecDeque;
use std::sync::Mutex;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use rail_ledger::Ending;
use rail_stdx::Secret;
use rail_testkit::{Conversation, Peer, Step, http_whole};
use rail_upstream::{Body, BoxFuture, Incoming, Live, LiveSettings, Outgoing, TransportError};
use serde_json::{Value, json};

use super::*;
use crate::observe::judge::judge;
use crate::observe::world::{CONFIGURATION, Lines, came, entry, observe_with};
use crate::observe::{Came, Observe};

fn otlp(endpoint: String) -> Otlp {
    let url = format!("{}/v1/traces", endpoint.trim_end_matches('/'));
    let headers = vec![("x-collector-key".to_owned(), Secret::new("collector-secret"))];
    Otlp { url, headers, service: "mine".to_owned() }
}

fn collector(answers: usize) -> Peer {
    let answer = http_whole(200, "application/x-protobuf", b"");
    let steps = (0..answers).flat_map(|_| [Step::ReadRequest, Step::Send(answer.clone())]);
    Peer::start(vec![Conversation::new(steps.chain([Step::Stall]))]).unwrap()
}

fn watched(endpoint: String) -> (Observe, Lines) {
    let transport = Arc::new(Live::new(LiveSettings::default()));
    observe_with(CONFIGURATION, Some(otlp(endpoint)), transport)
}

/// The attributes of a span as one object.
fn attributes(span: &Value) -> Value {
    let all = span["attributes"].as_array().unwrap();
    let value = |any: &Value| any.as_object().unwrap().values().next().unwrap().clone();
    all.iter().map(|pair| (pair["key"].as_str().unwrap().to_owned(), value(&pair["value"]))).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_reads_a_request_and_its_sends() {
    let Some(judge) = judge() else { return };
    let peer = collector(1);
    let (observe, _) = watched(peer.url("/"));
    let traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    observe.came(&Came { traceparent, ..came("r1") });
    observe.ended(&entry("r1"));
    observe.came(&came("r2"));
    let problem = Some("configured-key-of-p was wrong".to_owned());
    observe.ended(&Entry {
        ending: Ending::Failed,
        status: 502,
        target: None,
        problem,
        sent: Vec::new(),
        ..entry("r2")
    });
    observe.flush().await;

    let requests = peer.requests();
    assert_eq!((requests.len(), requests[0].target.as_str()), (1, "/v1/traces"), "one batch");
    assert_eq!(requests[0].header("content-type"), Some("application/x-protobuf"));
    assert_eq!(requests[0].header("x-collector-key"), Some("collector-secret"));
    let read = judge.traces(&requests[0].body);
    let resource = &read["resourceSpans"][0];
    assert_eq!(attributes(&resource["resource"])["service.name"], "mine");
    let scope = &resource["scopeSpans"][0];
    assert_eq!(scope["scope"]["name"], "switchrail");
    let spans = scope["spans"].as_array().unwrap();
    assert_eq!(spans.len(), 4);

    let [request, first, second, other] = [&spans[0], &spans[1], &spans[2], &spans[3]];
    assert_eq!(text(request, "traceId"), "CvdlGRbNQ92ESOshHIAxnA==", "the client's trace goes on");
    assert_eq!(text(request, "parentSpanId"), "t61rcWkgMzE=");
    for sent in [first, second] {
        assert_eq!(text(sent, "traceId"), text(request, "traceId"));
        assert_eq!(text(sent, "parentSpanId"), text(request, "spanId"));
        assert_eq!(text(sent, "kind"), "SPAN_KIND_CLIENT");
        assert_ne!(text(sent, "spanId"), text(request, "spanId"));
    }
    assert_ne!(text(other, "traceId"), text(request, "traceId"));
    assert_eq!(text(other, "parentSpanId"), "");
    let told = json!([shown(request), shown(first), shown(second), shown(other)]);
    insta::assert_snapshot!(format!("{told:#}"));
}

/// What of a span is the same in each run.
fn shown(span: &Value) -> Value {
    json!({
        "name": span["name"],
        "kind": span["kind"],
        "start": span["startTimeUnixNano"],
        "end": span["endTimeUnixNano"],
        "flags": span["flags"],
        "status": span["status"],
        "attributes": attributes(span),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_trace_is_not_traced() {
    let peer = collector(1);
    let (observe, _) = watched(peer.url(""));
    let traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
    observe.came(&Came { traceparent, ..came("r1") });
    observe.ended(&entry("r1"));
    observe.flush().await;
    assert_eq!(peer.requests().len(), 0);
}

/// A collector that answers with these statuses, one after the other; the last one for ever.
struct Answers(Mutex<VecDeque<u16>>, Mutex<Vec<Bytes>>);

impl Answers {
    fn new(statuses: &[u16]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(statuses.iter().copied().collect()), Mutex::default()))
    }

    fn sent(&self) -> usize {
        self.1.lock().unwrap().len()
    }
}

impl Transport for Answers {
    fn send<'a>(&'a self, call: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        self.1.lock().unwrap().push(call.body);
        let mut statuses = self.0.lock().unwrap();
        let status = if statuses.len() > 1 { statuses.pop_front() } else { statuses.front().copied() };
        let body = Body::new(Full::new(Bytes::new()).map_err(|never| match never {}));
        Box::pin(std::future::ready(Ok(Incoming { status: status.unwrap(), headers: Vec::new(), body })))
    }
}

fn watched_by(answers: &Arc<Answers>) -> (Observe, Lines) {
    let transport = Arc::clone(answers) as Arc<dyn Transport>;
    observe_with(CONFIGURATION, Some(otlp("http://c:4318".to_owned())), transport)
}

fn lost(observe: &Observe) -> u64 {
    let metrics = observe.metrics(&[], 0);
    let line = metrics.lines().find(|line| line.starts_with("switchrail_dropped_total{what=\"spans\"}"));
    line.unwrap().rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_will_pass_is_tried_again_with_the_same_spans() {
    let answers = Answers::new(&[503, 429, 200]);
    let (observe, lines) = watched_by(&answers);
    observe.ended(&entry("r1"));
    observe.flush().await;
    let sent = answers.1.lock().unwrap().clone();
    assert!(sent.len() == 3 && sent.iter().all(|body| *body == sent[0]));
    assert_eq!(lost(&observe), 0);
    assert!(!lines.text().contains("traces"), "{}", lines.text());
}

#[tokio::test]
async fn what_is_lost_is_counted_and_told_once() {
    let answers = Answers::new(&[400]);
    let (observe, lines) = watched_by(&answers);
    for id in ["r1", "r2"] {
        observe.ended(&entry(id));
        observe.flush().await;
    }
    assert_eq!((answers.sent(), lost(&observe)), (2, 6));
    let log = lines.text();
    let told: Vec<&str> = log.lines().filter(|line| line.contains("traces can't be sent")).collect();
    assert_eq!(told.len(), 1, "{log}");
    assert!(told[0].contains("to http://c:4318/v1/traces: HTTP 400; 3 spans are lost"), "{log}");
}

#[tokio::test(start_paused = true)]
async fn a_collector_that_does_not_answer_fills_no_memory() {
    struct Never;
    impl Transport for Never {
        fn send<'a>(&'a self, _: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
            Box::pin(std::future::pending())
        }
    }
    let (observe, _) = observe_with(CONFIGURATION, Some(otlp("http://c".to_owned())), Arc::new(Never));
    for at in 0..MOST_WAITING + 10 {
        observe.ended(&entry(&at.to_string()));
    }
    assert_eq!(lost(&observe), 30, "three spans each");
    // It comes back although nothing is answered.
    observe.flush().await;
}
