//! What is told of each failure.

use rail_stdx::Secret;
use rail_testkit::{Conversation, Peer, Step, chunk, http_head, refused_addr, sse_head};

use crate::calls::{ask, hello, live, problem, provider};

async fn played(steps: impl IntoIterator<Item = Step>) -> String {
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    problem(&live(), hello(&provider(&peer.url("/v1")))).await
}

#[tokio::test]
async fn nobody_there() {
    let refused = provider(&format!("http://{}", refused_addr().unwrap()));
    insta::assert_snapshot!(problem(&live(), hello(&refused)).await, @"Connect: 127.0.0.1:PORT refuses connections; is the server running, and is `providers.test.base_url` right?");
    // RFC 6761 keeps `.invalid` from ever being a name.
    let said = problem(&live(), hello(&provider("http://no-such-host.invalid/v1"))).await;
    let (before, rest) = said.split_once("resolved: ").unwrap();
    let (_resolvers_own_words, after) = rest.split_once(';').unwrap();
    insta::assert_snapshot!(format!("{before}resolved: …;{after}"), @"Dns: the name of no-such-host.invalid can't be resolved: …; check `providers.test.base_url` and the network");
}

#[tokio::test]
async fn a_connection_that_takes_too_long() {
    // The socket opens at once; the secure channel on it never does, and the limit is for both.
    let peer = Peer::start(vec![Conversation::new([Step::Stall])]).unwrap();
    let mut slow = provider(&format!("https://{}", peer.addr()));
    slow.timeouts.connect = std::time::Duration::from_millis(20);
    insta::assert_snapshot!(problem(&live(), hello(&slow)).await, @"Connect: no connection to 127.0.0.1:PORT within 20ms; check the network, or raise `providers.test.timeouts.connect`");
}

#[tokio::test]
async fn gone_before_the_answer() {
    insta::assert_snapshot!(played([Step::ReadRequest, Step::Close]).await, @"Broken: 127.0.0.1:PORT closed the connection before it answered");
    insta::assert_snapshot!(played([Step::ReadRequest, Step::Reset]).await, @"Broken: 127.0.0.1:PORT reset the connection before it answered");
    let half = Step::Send(b"HTTP/1.1 200 OK\r\ncontent-ty".to_vec());
    insta::assert_snapshot!(played([Step::ReadRequest, half, Step::Close]).await, @"Broken: 127.0.0.1:PORT closed the connection before it answered");
}

#[tokio::test]
async fn gone_in_the_middle_of_the_answer() {
    let begun = [Step::ReadRequest, Step::Send(sse_head()), Step::Send(chunk("data: 1\n\n"))];
    insta::assert_snapshot!(played(begun.clone().into_iter().chain([Step::Close])).await, @"Broken: 127.0.0.1:PORT closed the connection in the middle of its answer");
    let short = Step::Send([http_head(200, &[("content-length", "10")]), b"123".to_vec()].concat());
    insta::assert_snapshot!(played([Step::ReadRequest, short, Step::Close]).await, @"Broken: 127.0.0.1:PORT closed the connection in the middle of its answer");
    let garbled = Step::Send(b"no chunk\r\n".to_vec());
    insta::assert_snapshot!(played(begun.into_iter().chain([garbled, Step::Stall])).await, @"Broken: the connection to 127.0.0.1:PORT broke in the middle of its answer: Invalid chunk size line: missing size digit");
}

#[tokio::test]
async fn reset_in_the_middle_of_the_answer() {
    let begun = [Step::ReadRequest, Step::Send(sse_head()), Step::Send(chunk("data: 1\n\n"))];
    let steps = begun.into_iter().chain([Step::Gate("go"), Step::Reset]);
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let live = live();
    let mut answer = rail_upstream::Transport::send(&live, hello(&provider(&peer.url("/v1")))).await.unwrap();
    assert!(answer.body.next().await.unwrap().is_ok());
    peer.open("go");
    let error = answer.body.next().await.unwrap().unwrap_err();
    insta::assert_snapshot!(crate::calls::told(&error, Some(peer.addr().port())), @"Broken: 127.0.0.1:PORT reset the connection in the middle of its answer");
}

#[tokio::test]
async fn something_else_than_http() {
    insta::assert_snapshot!(played([Step::ReadRequest, Step::Garbage(2000, 7), Step::Stall]).await, @"Broken: 127.0.0.1:PORT does not answer in HTTP; check `providers.test.base_url`, its `http://` or `https://` too");
}

#[tokio::test]
async fn what_can_not_be_sent() {
    let mut said = Vec::new();
    for base_url in
        ["", "api.example.test/v1", "ftp://a.test", "http://", "http://u:hush@a.test", "http://a b"]
    {
        said.push(problem(&live(), hello(&provider(base_url))).await);
    }
    insta::assert_snapshot!(said.join("\n"), @r"
    Unsendable: the address of provider `test` can't be used: it does not begin with `http://` or `https://`; check `providers.test.base_url`
    Unsendable: the address of provider `test` can't be used: invalid format; check `providers.test.base_url`
    Unsendable: the address of provider `test` can't be used: it does not begin with `http://` or `https://`; check `providers.test.base_url`
    Unsendable: the address of provider `test` can't be used: invalid format; check `providers.test.base_url`
    Unsendable: the address of provider `test` can't be used: it holds a user name; put what must be secret into `key` or `headers`; check `providers.test.base_url`
    Unsendable: the address of provider `test` can't be used: invalid uri character; check `providers.test.base_url`
    ");
    let provider = provider("http://127.0.0.1:9");
    let mut call = hello(&provider);
    call.headers.push(("x-api-key".to_owned(), Secret::new("hush\n")));
    insta::assert_snapshot!(problem(&live(), call).await, @"Unsendable: the header `x-api-key` for provider `test` holds a line break or another character that HTTP can't carry; check its key and `providers.test.headers`");
    let mut call = hello(&provider);
    call.headers.push(("content-length".to_owned(), Secret::new("3")));
    insta::assert_snapshot!(problem(&live(), call).await, @"Unsendable: the header `content-length` for provider `test` holds the length of the body, which only this program knows; check its key and `providers.test.headers`");
    let mut call = hello(&provider);
    call.url.push_str("?key=hush");
    insta::assert_snapshot!(format!("{call:?}"), @r#"Outgoing { provider: "test", method: "POST", url: "http://127.0.0.1:9/chat", headers: [("content-type", ***), ("authorization", ***)], body: 13 }"#);
    let mut call = hello(&provider);
    call.headers.push(("x api".to_owned(), Secret::new("hush")));
    insta::assert_snapshot!(problem(&live(), call).await, @"Unsendable: the header `x api` for provider `test` holds a name that HTTP can't carry; check its key and `providers.test.headers`");
    let mut call = ask(&provider, "/x", "");
    call.method = "GE T".to_owned();
    insta::assert_snapshot!(problem(&live(), call).await, @"Unsendable: `GE T` is no HTTP method");
}
