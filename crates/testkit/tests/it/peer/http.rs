use super::*;

#[test]
fn a_request_with_a_length_is_recorded() {
    let peer = peer([Step::ReadRequest, Step::Send(http_whole(200, "text/plain", "hi"))]);
    let mut client = client(&peer);
    client.write_all(b"POST /v1/messages?beta=true HTTP/1.1\r\nHost: h\r\nX-Api-Key:  k \r\nContent-Length: 7\r\n\r\n{\"a\":1}").unwrap();
    assert_eq!(
        whole(&mut client),
        b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nhi"
    );
    let [request] = &*peer.requests() else { panic!("one request was sent") };
    assert_eq!((&*request.method, &*request.target), ("POST", "/v1/messages?beta=true"));
    assert_eq!(request.header("x-api-KEY"), Some("k"));
    assert_eq!(request.header("x-api"), None);
    assert_eq!(request.headers[1], ("X-Api-Key".to_owned(), "k".to_owned()));
    assert_eq!(request.text(), "{\"a\":1}");
    assert_eq!(request.connection, 0);
}

#[test]
fn a_chunked_request_is_recorded_whatever_its_pieces() {
    let mut sent = b"POST / HTTP/1.1\r\ntransfer-encoding: Chunked\r\n\r\n4;ext=1\r\n".to_vec();
    sent.extend(b"Wiki\r\n");
    sent.extend(chunk("pedia\r\n0\r\n"));
    sent.extend(b"0\r\ntrailer: t\r\n\r\n");
    for size in [1, 2, 7, sent.len()] {
        let peer = peer([Step::ReadRequest]);
        let mut client = client(&peer);
        client.set_nodelay(true).unwrap();
        for piece in sent.chunks(size) {
            client.write_all(piece).unwrap();
        }
        whole(&mut client);
        assert_eq!(peer.requests()[0].text(), "Wikipedia\r\n0\r\n", "in pieces of {size}");
    }
}

#[test]
fn requests_on_one_connection_are_told_apart() {
    let answer = || Step::Send(http_whole(204, "text/plain", ""));
    let peer = peer([Step::ReadRequest, answer(), Step::ReadRequest, answer()]);
    let mut client = client(&peer);
    // Both at once: the second must not be lost with the buffer of the first.
    client.write_all(b"PUT /a HTTP/1.1\r\ncontent-length: 2\r\n\r\nxyGET /b HTTP/1.1\r\n\r\n").unwrap();
    whole(&mut client);
    let requests = peer.requests();
    let seen: Vec<_> = requests.iter().map(|request| (&*request.target, request.text())).collect();
    assert_eq!(seen, [("/a", "xy".to_owned()), ("/b", String::new())]);
}

#[test]
fn requests_name_their_connection() {
    let peer = Peer::start(vec![Conversation::new([Step::ReadRequest, Step::Send(b"x".to_vec())]).repeat()])
        .unwrap();
    for path in ["/0", "/1"] {
        let mut client = client(&peer);
        client.write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        whole(&mut client);
    }
    let seen: Vec<_> =
        peer.requests().into_iter().map(|request| (request.connection, request.target)).collect();
    assert_eq!(seen, [(0, "/0".to_owned()), (1, "/1".to_owned())]);
}

#[test]
fn a_malformed_request_fails_the_test() {
    fn check(sent: &'static [u8], expected: &str) {
        let peer = peer([Step::ReadRequest]);
        let port = peer.addr().port();
        let said = complaint(move || {
            let mut client = client(&peer);
            client.write_all(sent).unwrap();
            // Its end is a close or a reset, as what was not read decides.
            let _ = rest(&mut client);
            drop(peer);
        });
        let start = format!("the peer at 127.0.0.1:{port} could not play its script: ");
        assert_eq!(
            said.strip_prefix(&start),
            Some(&*format!("connection 0, step 0: the request is malformed: {expected}"))
        );
    }
    check(b"GET / HTTP/1.0\r\n\r\n", "`GET / HTTP/1.0` is no request line of HTTP/1.1");
    check(b"GET / HTTP/1.1\n", r"`GET / HTTP/1.1\n` ends with LF alone");
    check(b"GET / HTTP/1.1\r\nfoo : bar\r\n\r\n", "`foo : bar` is no header");
    check(
        b"GET / HTTP/1.1\r\ncontent-length: +1\r\n\r\n",
        "content-length [\"+1\"] and transfer-encoding [] do not say one length of the body",
    );
    check(
        b"GET / HTTP/1.1\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        "content-length [\"1\"] and transfer-encoding [\"chunked\"] do not say one length of the body",
    );
    check(b"GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nx\r\n", "`x` is no chunk size");
    check(
        b"GET / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\nab\r\n",
        "a chunk is longer than its size 1",
    );
}

#[test]
fn a_fault_ends_the_waits_of_the_test() {
    let peer = peer([Step::ReadRequest, Step::Reached("read")]);
    client(&peer).write_all(b"nonsense\r\n").unwrap();
    let said = complaint(move || peer.wait_for("read"));
    assert_eq!(
        said,
        "cannot wait for a connection to reach `read`: connection 0, step 0: \
         the request is malformed: `nonsense` is no request line of HTTP/1.1"
    );
}

#[test]
fn heads_and_chunks() {
    assert_eq!(http_head(299, &[]), b"HTTP/1.1 299 \r\n\r\n");
    assert_eq!(
        http_head(429, &[("retry-after", "2"), ("x", "y")]),
        b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 2\r\nx: y\r\n\r\n"
    );
    assert_eq!(
        sse_head(),
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    assert_eq!(chunk([b'x'; 26]), [b"1a\r\n", &[b'x'; 26][..], b"\r\n"].concat());
    assert_eq!(chunk(""), b"");
    assert_eq!(last_chunk(), b"0\r\n\r\n");
}

#[test]
fn the_url_is_of_the_address() {
    let peer = peer([]);
    assert_eq!(peer.url("/v1"), format!("http://127.0.0.1:{}/v1", peer.addr().port()));
}
