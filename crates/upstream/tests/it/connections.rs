//! Connections: kept, shared, left.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rail_testkit::{Authority, Conversation, Leaving, Peer, Step, chunk, http_head, http_whole, sse_head};
use rail_upstream::{Transport, TransportErrorKind};

use crate::calls::{hello, live, pieces, problem, provider, text};

fn one_answer() -> Vec<Step> {
    vec![Step::ReadRequest, Step::Send(http_whole(200, "application/json", "{}"))]
}

#[tokio::test]
async fn a_second_request_takes_the_same_connection() {
    let twice = Conversation::new([one_answer(), one_answer(), vec![Step::Stall]].concat());
    let peer = Peer::start(vec![twice]).unwrap();
    let (live, provider) = (live(), provider(&peer.url("/v1")));
    for _ in 0..2 {
        assert_eq!(text(live.send(hello(&provider)).await.unwrap()).await, "{}");
    }
    assert_eq!(peer.connections(), 1);
    let request = &peer.requests()[0];
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/v1/chat"));
    let mut headers: Vec<String> = request
        .headers
        .iter()
        .filter(|(name, _)| name != "host")
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    headers.sort();
    insta::assert_snapshot!(headers.join("\n"), @r"
    accept-encoding: identity
    authorization: Bearer sk-test-4f9a8b7c6d5e
    content-length: 13
    content-type: application/json
    user-agent: switchrail/0.1.0
    ");
}

#[tokio::test]
async fn a_connection_that_was_closed_while_idle_fails_no_request() {
    let closed = vec![Step::HalfClose, Step::Reached("closed"), Step::Stall];
    let closes = Conversation::new([one_answer(), closed].concat());
    let stays = Conversation::new([one_answer(), vec![Step::Stall]].concat());
    let peer = Peer::start(vec![closes, stays]).unwrap();
    let (live, provider) = (live(), provider(&peer.url("/v1")));
    assert_eq!(text(live.send(hello(&provider)).await.unwrap()).await, "{}");
    peer.wait_for("closed");
    let second = match live.send(hello(&provider)).await {
        // The request was quicker than the news: whoever asks sends it again, and says so.
        Err(error) if error.kind == TransportErrorKind::Stale => live.send(hello(&provider)).await,
        other => other,
    };
    assert_eq!(text(second.unwrap()).await, "{}");
    assert_eq!(peer.connections(), 2);
}

#[tokio::test]
async fn a_kept_connection_that_closes_instead_of_answering_is_told_from_a_new_one() {
    let closes = Conversation::new([one_answer(), vec![Step::ReadRequest, Step::Close]].concat());
    let fails = Conversation::new([one_answer(), vec![Step::ReadRequest, Step::Close]].concat());
    let peer = Peer::start(vec![closes, fails, Conversation::new([Step::ReadRequest, Step::Close])]).unwrap();
    let (live, provider) = (live(), provider(&peer.url("/v1")));
    for _ in 0..2 {
        assert_eq!(text(live.send(hello(&provider)).await.unwrap()).await, "{}");
        assert_eq!(
            problem(&live, hello(&provider)).await,
            "Stale: 127.0.0.1:PORT closed a kept connection instead of answering on it"
        );
    }
    // One that is new and closes is the server's answer.
    insta::assert_snapshot!(problem(&live, hello(&provider)).await, @"Broken: 127.0.0.1:PORT closed the connection before it answered");
    assert_eq!((peer.connections(), peer.requests().len()), (3, 5));
}

#[tokio::test]
async fn a_redirect_is_handed_up_as_it_is() {
    let head = http_head(307, &[("Location", "https://elsewhere.test/"), ("content-length", "0")]);
    let peer = Peer::start(vec![Conversation::new([Step::ReadRequest, Step::Send(head)])]).unwrap();
    let answer = live().send(hello(&provider(&peer.url("")))).await.unwrap();
    assert_eq!(answer.status, 307);
    let location =
        answer.headers.iter().find(|(name, _)| name == "location").map(|(_, value)| value.as_str());
    assert_eq!(location, Some("https://elsewhere.test/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_request_before_headers_closes_the_connection() {
    let steps = [Step::ReadRequest, Step::Reached("read"), Step::Stall];
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let live = Arc::new(live());
    let call = hello(&provider(&peer.url("")));
    let asking = tokio::spawn({
        let live = Arc::clone(&live);
        async move { live.send(call).await.map(|answer| answer.status) }
    });
    tokio::task::block_in_place(|| peer.wait_for("read"));
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    let left = tokio::task::block_in_place(|| peer.client_left(0));
    assert_eq!((left.step, left.how), (2, Leaving::Closed));
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_body_closes_the_connection() {
    let steps = [Step::ReadRequest, Step::Send(sse_head()), Step::Send(chunk("data: 1\n\n")), Step::Stall];
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let live = live();
    let mut answer = live.send(hello(&provider(&peer.url("")))).await.unwrap();
    assert_eq!(answer.body.next().await.unwrap().unwrap(), "data: 1\n\n");
    drop(answer);
    let left = tokio::task::block_in_place(|| peer.client_left(0));
    assert_eq!(left.step, 3);
}

#[tokio::test]
async fn a_stream_comes_piece_by_piece() {
    let first =
        [Step::ReadRequest, Step::Send(sse_head()), Step::Send(chunk("data: 1\n\n")), Step::Gate("next")];
    let rest = [Step::Send(chunk("data: 2\n\n")), Step::Send(rail_testkit::last_chunk()), Step::Stall];
    let peer = Peer::start(vec![Conversation::new(first.into_iter().chain(rest))]).unwrap();
    let live = live();
    let mut answer = live.send(hello(&provider(&peer.url("")))).await.unwrap();
    assert_eq!(answer.body.next().await.unwrap().unwrap(), "data: 1\n\n");
    peer.open("next");
    assert_eq!(pieces(answer).await, (vec![Bytes::from("data: 2\n\n")], None));
}

/// A server of HTTP/2 over TLS; it answers with the version that each request came in.
async fn http2_server(authority: &Authority) -> (std::net::SocketAddr, tokio::task::JoinSet<()>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut config = rustls::ServerConfig::clone(&authority.server().unwrap().config());
    config.alpn_protocols = vec![b"h2".to_vec()];
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        loop {
            let (socket, client) = listener.accept().await.unwrap();
            let acceptor = acceptor.clone();
            connections.spawn(async move {
                let stream = acceptor.accept(socket).await.unwrap();
                let answer = service_fn(move |request: http::Request<hyper::body::Incoming>| async move {
                    let said = format!("{:?} from {client}", request.version());
                    Ok::<_, std::convert::Infallible>(http::Response::new(Full::new(Bytes::from(said))))
                });
                let server = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                let _ = server.serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    });
    (addr, tasks)
}

#[tokio::test]
async fn http2_where_the_server_offers_it() {
    let authority = Authority::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    let (addr, _tasks) = http2_server(&authority).await;
    let live = live();
    let mut provider = provider(&format!("https://localhost:{}", addr.port()));
    provider.ca = Some(file);
    let first = text(live.send(hello(&provider)).await.unwrap()).await;
    assert!(first.starts_with("HTTP/2.0 from"), "{first}");
    // At the same time on the same connection.
    let (second, third) = tokio::join!(live.send(hello(&provider)), live.send(hello(&provider)));
    assert_eq!(text(second.unwrap()).await, first);
    assert_eq!(text(third.unwrap()).await, first);
}
