//! Lists of models.

use std::sync::Arc;

use rail_route::Provider;
use rail_stdx::Secret;
use rail_testkit::{Conversation, Models, Peer, SCRIPTED_MODEL, Step, http_whole};
use rail_upstream::list_models;

use crate::calls::{KEY, live, provider};

#[tokio::test]
async fn of_each_protocol() {
    let models = Models::start(vec![]).unwrap();
    for protocol in rail_wire::ALL {
        let provider = Arc::new(Provider::new("p", protocol.id, models.base_url(protocol.id)));
        let listed = list_models(&live(), &provider, Some(&Secret::new(KEY))).await;
        assert_eq!(listed, Ok(vec![SCRIPTED_MODEL.to_owned()]), "{}", protocol.id);
    }
    let asked = models.requests();
    let asked = asked.iter().map(|asked| {
        let auth = asked.call.headers.iter().find(|(_, value)| value.contains(KEY)).unwrap();
        format!("{} {}?{} {}: {}", asked.protocol, asked.call.path, asked.call.query, auth.0, auth.1)
    });
    insta::assert_snapshot!(asked.collect::<Vec<_>>().join("\n"), @r"
    anthropic /v1/models?limit=1000 x-api-key: sk-test-4f9a8b7c6d5e
    openai-chat /v1/models? authorization: Bearer sk-test-4f9a8b7c6d5e
    openai-chat /v1/models? authorization: Bearer sk-test-4f9a8b7c6d5e
    gemini /v1beta/models?pageSize=1000 x-goog-api-key: sk-test-4f9a8b7c6d5e
    ");
}

#[tokio::test]
async fn at_any_address_that_questions_go_to() {
    for (protocol, base, path) in [
        ("openai-chat", "/v1", "/v1/models"),
        ("openai-chat", "/v1/", "/v1/models"),
        ("openai-chat", "/v1/chat/completions", "/v1/models"),
        ("openai-chat", "/openai/v1?api-version=1", "/openai/v1/models?api-version=1"),
        ("anthropic", "", "/v1/models?limit=1000"),
        ("anthropic", "/anthropic", "/anthropic/v1/models?limit=1000"),
        ("anthropic", "/v1/messages", "/v1/models?limit=1000"),
        ("gemini", "", "/v1beta/models?pageSize=1000"),
        ("gemini", "/v1beta/models", "/v1beta/models?pageSize=1000"),
        ("gemini", "/v1beta/models/g:generateContent", "/v1beta/models?pageSize=1000"),
    ] {
        let list = Step::Send(http_whole(200, "application/json", r#"{"data":[{"id":"m"}]}"#));
        let peer = Peer::start(vec![Conversation::new([Step::ReadRequest, list])]).unwrap();
        let protocol = rail_wire::find(protocol).unwrap().id;
        let provider = Arc::new(Provider::new("p", protocol, peer.url(base)));
        assert_eq!(list_models(&live(), &provider, None).await, Ok(vec!["m".to_owned()]));
        assert_eq!(peer.requests()[0].target, path, "{base}");
    }
}

#[tokio::test]
async fn a_kept_connection_that_closes_fails_no_list() {
    let list = || Step::Send(http_whole(200, "application/json", r#"{"data":[{"id":"m"}]}"#));
    let closes = Conversation::new([Step::ReadRequest, list(), Step::ReadRequest, Step::Close]);
    let stays = Conversation::new([Step::ReadRequest, list(), Step::Stall]);
    let peer = Peer::start(vec![closes, stays]).unwrap();
    let (live, provider) = (live(), Arc::new(provider(&peer.url("/v1"))));
    for _ in 0..2 {
        assert_eq!(list_models(&live, &provider, None).await, Ok(vec!["m".to_owned()]));
    }
    assert_eq!((peer.connections(), peer.requests().len()), (2, 3));
}

async fn listing(status: u16, body: &str) -> String {
    let steps = [Step::ReadRequest, Step::Send(http_whole(status, "application/json", body)), Step::Stall];
    let peer = Peer::start(vec![Conversation::new(steps)]).unwrap();
    let provider = Arc::new(provider(&peer.url("/v1")));
    list_models(&live(), &provider, provider.keys.first()).await.unwrap_err().to_string()
}

#[tokio::test]
async fn refusals_do_not_repeat_the_key() {
    let body = format!(
        r#"{{"error":{{"message":"Incorrect API key provided: {KEY}.","type":"invalid_request_error"}}}}"#
    );
    insta::assert_snapshot!(listing(401, &body).await, @"provider `test` gives no list of its models: 401 Incorrect API key provided: ***.");
    insta::assert_snapshot!(listing(200, "<html>").await, @"what provider `test` answers is no list of models; check `providers.test.base_url`, which should end with the version, such as `/v1`");
}

#[tokio::test]
async fn a_server_that_says_nothing() {
    let peer = Peer::start(vec![Conversation::new([Step::ReadRequest, Step::Stall])]).unwrap();
    let mut slow = provider(&peer.url("/v1"));
    slow.timeouts.first_token = std::time::Duration::from_millis(20);
    let error = list_models(&live(), &Arc::new(slow), None).await.unwrap_err();
    insta::assert_snapshot!(error.to_string(), @"provider `test` gave no list of its models within 20ms; raise `providers.test.timeouts.first_token` or try again");
}
