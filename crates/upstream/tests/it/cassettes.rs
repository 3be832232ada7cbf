//! What was recorded is what is played, without the secrets.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use rail_model::ProtocolId;
use rail_route::Provider;
use rail_stdx::Secret;
use rail_testkit::{
    Conversation, Models, Peer, Step, Turn, chunk, http_head, http_whole, last_chunk, refused_addr, sse_head,
    text,
};
use rail_upstream::{
    CassetteHead, Incoming, Matching, Outgoing, Pace, Record, Replay, Transport, TransportErrorKind,
    Transports, cassette_protocol,
};

use crate::calls::{CHAT, KEY, ask, hello, live, pieces, problem, provider, told};

fn head() -> CassetteHead {
    let recorded = "2026-01-02T03:04:05Z".to_owned();
    CassetteHead { protocol: CHAT, provider: "test".to_owned(), model: Some("m".to_owned()), recorded }
}

/// What one exchange gave: status, headers, pieces, and its failure.
type Seen = (u16, Vec<(String, String)>, Vec<Bytes>, Option<String>);

async fn seen(answer: Incoming) -> Seen {
    let (status, headers) = (answer.status, answer.headers.clone());
    let (pieces, error) = pieces(answer).await;
    (status, headers, pieces, error.map(|error| format!("{:?} {error}", error.kind)))
}

/// The same request at the same path of a provider that plays the cassette.
fn again(call: &Outgoing, cassette: &Path) -> Outgoing {
    let mut provider = Provider::new("replayed", ProtocolId::new("replay"), "");
    provider.cassette = Some(cassette.to_owned());
    let url = call.url.strip_prefix(&call.provider.base_url).unwrap().to_owned();
    Outgoing { provider: Arc::new(provider), url, ..call.clone() }
}

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cassette.jsonl");
    (folder, path)
}

#[tokio::test]
async fn a_recording_is_played_byte_for_byte() {
    let (_folder, path) = file();
    let models = Models::start(vec![
        Turn::reply(vec![text("Hello, wörld")]).pings(1),
        Turn::reply(vec![text("whole")]),
        Turn::cut(vec![text("half an ans")]),
    ])
    .unwrap();
    let provider = provider(&models.base_url(CHAT));
    let record = Record::create(&path, &head(), live()).unwrap();
    let body = |stream: bool, word: &str| {
        format!(r#"{{"model":"m","stream":{stream},"messages":[{{"role":"user","content":"{word}"}}]}}"#)
    };
    let calls = [body(true, "a"), body(false, "b"), body(true, "c")]
        .map(|body| ask(&provider, "/chat/completions", body));
    let mut recorded = Vec::new();
    for call in &calls {
        recorded.push(seen(record.send(call.clone()).await.unwrap()).await);
    }
    assert_eq!((recorded[2].0, record.trouble()), (200, None));
    assert!(recorded[2].3.as_ref().unwrap().starts_with("Broken "), "{:?}", recorded[2]);

    assert_eq!(cassette_protocol(&path), Ok(CHAT));
    let transports = Transports::new(live(), Matching::Same, Pace::AtOnce);
    // In another order: each request finds its own answer.
    for at in [2, 0, 1] {
        let played = seen(transports.send(again(&calls[at], &path)).await.unwrap()).await;
        let kept = |(status, _, pieces, error): &Seen| (*status, pieces.clone(), error.clone());
        assert_eq!(kept(&played), kept(&recorded[at]));
        let names = |seen: &Seen| seen.1.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&played), names(&recorded[at]));
    }
    // What is not for a cassette goes on.
    let other = Models::start(vec![Turn::reply(vec![text("live")])]).unwrap();
    let call = ask(&crate::calls::provider(&other.base_url(CHAT)), "/chat/completions", body(false, "d"));
    assert_eq!(transports.send(call).await.unwrap().status, 200);
}

#[tokio::test]
async fn no_place_keeps_the_key() {
    let (_folder, path) = file();
    let (first, second) = KEY.split_at(7);
    let gemini_key = "AIza-in-the-address";
    let answer = [
        Step::ReadRequest,
        Step::Send(http_head(
            200,
            &[
                ("content-type", "text/event-stream"),
                ("transfer-encoding", "chunked"),
                ("set-cookie", "session=cookie-value"),
                ("x-echo", KEY),
                ("server", KEY),
                ("openai-organization", "org-name"),
            ],
        )),
        Step::Send(chunk(format!("data: {KEY} and {first}"))),
        Step::Gate("rest"),
        Step::Send(chunk([second.as_bytes(), b"\xff\xfe binary"].concat())),
        Step::Send(last_chunk()),
        Step::Stall,
    ];
    let peer = Peer::start(vec![Conversation::new(answer)]).unwrap();
    let mut provider = provider(&peer.url("/v1"));
    provider.headers = vec![("x-portal-token".to_owned(), Secret::new("portal-token-value"))];
    let body = format!(r#"{{"messages":["{KEY}","portal-token-value"]}}"#);
    let mut call = ask(&provider, &format!("/chat?key={gemini_key}&alt=sse"), body);
    call.headers.extend([
        ("x-api-key".to_owned(), Secret::new(KEY)),
        ("cookie".to_owned(), Secret::new("session=cookie-value")),
        ("openai-organization".to_owned(), Secret::new("org-name")),
        ("x-portal-token".to_owned(), Secret::new("portal-token-value")),
    ]);
    let record = Record::create(&path, &head(), live()).unwrap();
    let mut answer = record.send(call.clone()).await.unwrap();
    let first_piece = answer.body.next().await.unwrap().unwrap();
    assert!(first_piece.starts_with(format!("data: {KEY}").as_bytes()), "who asks sees all");
    peer.open("rest");
    let (rest, error) = pieces(answer).await;
    assert_eq!(error, None);
    assert!(rest.concat().starts_with(second.as_bytes()));

    // A failure before any answer is recorded as well.
    let mut gone = hello(&crate::calls::provider(&format!("http://{}", refused_addr().unwrap())));
    gone.body = Bytes::from(KEY);
    let error = record.send(gone).await.unwrap_err();
    assert_eq!(error.kind, TransportErrorKind::Connect);

    let written = std::fs::read_to_string(&path).unwrap();
    for secret in [KEY, gemini_key, "cookie-value", "org-name", "portal-token-value", second] {
        assert!(!written.contains(secret), "{secret} is in {written}");
    }
    let lines: Vec<serde_json::Value> =
        written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    let asked = &lines[1]["request"];
    assert_eq!(asked["path"], "/chat?key=***&alt=sse");
    let replay = Replay::open(&path, Matching::Same, Pace::AtOnce).unwrap();
    let played = pieces(replay.send(call).await.unwrap()).await.0.concat();
    assert!(!played.windows(second.len()).any(|window| window == second.as_bytes()), "also not in base64");
    assert!(played.ends_with(b"\xff\xfe binary"));
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_its_owners_and_never_replaced() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = file();
    drop(Record::create(&path, &head(), live()).unwrap());
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    insta::assert_snapshot!(std::fs::read_to_string(&path).unwrap(), @r#"{"cassette":1,"protocol":"openai-chat","provider":"test","model":"m","recorded":"2026-01-02T03:04:05Z"}"#);
    let error = Record::create(&path, &head(), live()).err().unwrap().to_string();
    insta::assert_snapshot!(error.replace(&folder.path().display().to_string(), "FOLDER"), @"the cassette FOLDER/cassette.jsonl can't be written: File exists (os error 17); a recording never replaces a file");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_left_is_written_too() {
    let (_folder, path) = file();
    let stalls = Conversation::new([
        Step::ReadRequest,
        Step::Send(sse_head()),
        Step::Send(chunk("data: 1\n\n")),
        Step::Stall,
    ]);
    let silent = Conversation::new([Step::ReadRequest, Step::Reached("asked"), Step::Stall]);
    let peer = Peer::start(vec![stalls, silent]).unwrap();
    let provider = provider(&peer.url("/v1"));
    let record = Arc::new(Record::create(&path, &head(), live()).unwrap());
    let mut answer = record.send(hello(&provider)).await.unwrap();
    answer.body.next().await.unwrap().unwrap();
    drop(answer);
    let asking = tokio::spawn({
        let (record, call) = (Arc::clone(&record), hello(&provider));
        async move { record.send(call).await.map(|answer| answer.status) }
    });
    tokio::task::block_in_place(|| peer.wait_for("asked"));
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());

    let replay = Replay::open(&path, Matching::Same, Pace::AtOnce).unwrap();
    let (played, error) = pieces(replay.send(hello(&provider)).await.unwrap()).await;
    assert_eq!(played, ["data: 1\n\n"]);
    insta::assert_snapshot!(told(&error.unwrap(), None), @"Broken: the recording goes no further: whoever made it left before the answer ended");
    insta::assert_snapshot!(problem(&replay, hello(&provider)).await, @"Broken: the recording goes no further: whoever made it left before the answer ended");
}

#[tokio::test]
async fn many_at_once_are_whole_lines() {
    let (_folder, path) = file();
    let models = Models::start(vec![Turn::echo().repeat()]).unwrap();
    let provider = provider(&models.base_url(CHAT));
    let record = Arc::new(Record::create(&path, &head(), live()).unwrap());
    let mut asking = tokio::task::JoinSet::new();
    for n in 0..20 {
        let body = format!(
            r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":"question {n}"}}]}}"#
        );
        let (record, call) = (Arc::clone(&record), ask(&provider, "/chat/completions", body));
        asking.spawn(async move { seen(record.send(call).await.unwrap()).await.3 });
    }
    assert!(asking.join_all().await.iter().all(Option::is_none));
    let replay = Replay::open(&path, Matching::Same, Pace::AtOnce).unwrap();
    assert_eq!(replay.unplayed(), 20);
}

/// A recording of two whole answers, `one` and `two`, to the bodies `{"n":1,"x":["a"]}` and `{"n":2,"x":["b"]}`.
async fn two_exchanges(path: &Path) -> Provider {
    let answer = |body: &str| [Step::ReadRequest, Step::Send(http_whole(200, "text/plain", body))];
    let steps = answer("one").into_iter().chain(answer("two")).chain([Step::Stall]);
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let provider = provider(&peer.url("/v1"));
    let record = Record::create(path, &head(), live()).unwrap();
    for body in [r#"{"n":1,"x":["a"]}"#, r#"{"n":2,"x":["b"]}"#] {
        crate::calls::text(record.send(ask(&provider, "/chat", body)).await.unwrap()).await;
    }
    provider
}

#[tokio::test]
async fn a_request_that_was_not_recorded() {
    let (folder, path) = file();
    let provider = two_exchanges(&path).await;
    let replay = Replay::open(&path, Matching::Same, Pace::AtOnce).unwrap();
    let mut said = Vec::new();
    for (at, body) in [
        ("/chat", r#"{"n":2,"x":["c"]}"#),
        ("/chat", r#"{"n":2,"x":["b"],"more":true}"#),
        ("/chat", "no JSON"),
        ("/other", r#"{"n":1,"x":["a"]}"#),
    ] {
        said.push(problem(&replay, ask(&provider, at, body)).await);
    }
    // The same values in another order are the same request.
    let same = ask(&provider, "/chat", r#"{"x":["a"],"n":1}"#);
    assert_eq!(crate::calls::text(replay.send(same.clone()).await.unwrap()).await, "one");
    said.push(problem(&replay, same).await);
    insta::assert_snapshot!(said.join("\n").replace(&folder.path().display().to_string(), "FOLDER"), @r#"
    Unsendable: the cassette FOLDER/cassette.jsonl has no answer left for POST /chat: exchange 1 comes nearest, and differs in $.x[0]: recorded "b", asked "c"; record again
    Unsendable: the cassette FOLDER/cassette.jsonl has no answer left for POST /chat: exchange 1 comes nearest, and differs in $.more: recorded without it, asked true; record again
    Unsendable: the cassette FOLDER/cassette.jsonl has no answer left for POST /chat: exchange 0 comes nearest, and differs in its body, which is not JSON in both; record again
    Unsendable: the cassette FOLDER/cassette.jsonl has no answer left for POST /other: exchange 0 comes nearest, and differs in the address, POST /chat; record again
    Unsendable: the cassette FOLDER/cassette.jsonl has no answer left for POST /chat: exchange 0 is this request, and was played already; record again
    "#);
}

#[tokio::test]
async fn in_order_takes_the_next_one() {
    let (_folder, path) = file();
    let provider = two_exchanges(&path).await;
    let replay = Replay::open(&path, Matching::InOrder, Pace::AtOnce).unwrap();
    let mut played = Vec::new();
    for body in [r#"{"n":2,"x":["b"]}"#, r#"{"anything":1}"#] {
        played.push(crate::calls::text(replay.send(ask(&provider, "/chat", body)).await.unwrap()).await);
    }
    assert_eq!(played, ["two", "one"]);
    assert_eq!(replay.unplayed(), 0);
    assert!(replay.send(hello(&provider)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn waits_are_kept_if_asked_for() {
    let (_folder, path) = file();
    let line = r#"{"n":0,"provider":"p","request":{"method":"POST","path":"/chat","headers":[],"body":{"json":{"model":"m"}}},"response":{"ms":2000,"status":200,"headers":[],"pieces":[{"ms":3000,"text":"a"},{"ms":500,"base64":"Yg=="}]},"end":"complete"}"#;
    let head = r#"{"cassette":1,"protocol":"gemini","provider":"p","recorded":"today"}"#;
    std::fs::write(&path, format!("{head}\n{line}\n")).unwrap();
    let provider = provider("http://a.test");
    for (pace, after_head, after_all) in [(Pace::AsRecorded, 2000, 5500), (Pace::AtOnce, 0, 0)] {
        let replay = Replay::open(&path, Matching::Same, pace).unwrap();
        assert_eq!(replay.head().protocol.name(), "gemini");
        let begun = tokio::time::Instant::now();
        let answer = replay.send(hello(&provider)).await.unwrap();
        assert_eq!(begun.elapsed().as_millis(), after_head);
        assert_eq!(crate::calls::text(answer).await, "ab");
        assert_eq!(begun.elapsed().as_millis(), after_all);
    }
}

#[tokio::test]
async fn files_that_are_no_cassettes() {
    let (folder, path) = file();
    let mut said = vec![cassette_protocol(&path).unwrap_err().to_string()];
    let head = r#"{"cassette":1,"protocol":"gemini","provider":"p","recorded":"today"}"#;
    let request = r#""request":{"method":"GET","path":"/","headers":[],"body":{"text":""}}"#;
    for text in [
        "",
        "hello",
        r#"{"cassette":2,"protocol":"gemini","provider":"p","recorded":"today"}"#,
        r#"{"cassette":1,"protocol":"telnet","provider":"p","recorded":"today"}"#,
        &format!("{head}\n{{\"n\":0"),
        &format!(r#"{head}{}{{"n":0,"provider":"p",{request},"end":"complete"}}"#, "\n"),
        &format!(
            r#"{head}{}{{"n":0,"provider":"p",{request},"end":{{"broken":{{"kind":"odd","problem":""}}}}}}"#,
            "\n"
        ),
        &format!(
            r#"{head}{}{{"n":0,"provider":"p",{request},"response":{{"ms":0,"status":200,"headers":[],"pieces":[{{"ms":0}}]}},"end":"left"}}"#,
            "\n"
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        said.push(Replay::open(&path, Matching::Same, Pace::AtOnce).err().unwrap().to_string());
    }
    let mut replayed = Provider::new("replayed", ProtocolId::new("replay"), "");
    let transports = Transports::new(live(), Matching::Same, Pace::AtOnce);
    said.push(problem(&transports, hello(&replayed)).await);
    replayed.cassette = Some(folder.path().join("missing"));
    said.push(problem(&transports, hello(&replayed)).await);
    insta::assert_snapshot!(said.join("\n").replace(&folder.path().display().to_string(), "FOLDER"), @r"
    the cassette FOLDER/cassette.jsonl can't be read: No such file or directory (os error 2)
    the cassette FOLDER/cassette.jsonl is damaged in line 1: it is no head of a cassette: EOF while parsing a value at line 1 column 0
    the cassette FOLDER/cassette.jsonl is damaged in line 1: it is no head of a cassette: expected value at line 1 column 1
    the cassette FOLDER/cassette.jsonl is damaged in line 1: it has version 2 of the format; this program plays 1
    the cassette FOLDER/cassette.jsonl is damaged in line 1: `telnet` is no protocol; there are anthropic, openai-chat, openai-responses, gemini
    the cassette FOLDER/cassette.jsonl is damaged in line 2: EOF while parsing an object at line 1 column 6; a line that was cut while recording can be removed
    the cassette FOLDER/cassette.jsonl is damaged in line 2: it is complete, and has no answer
    the cassette FOLDER/cassette.jsonl is damaged in line 2: `odd` is no kind of failure
    the cassette FOLDER/cassette.jsonl is damaged in line 2: piece 0 of the answer is neither text nor base64
    Unsendable: provider `replayed` plays a cassette, and none is named; set `providers.replayed.cassette`
    Unsendable: the cassette FOLDER/missing can't be read: No such file or directory (os error 2); check `providers.replayed.cassette`
    ");
}
