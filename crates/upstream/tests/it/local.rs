//! Servers on this machine.

use std::time::Duration;

use rail_testkit::{Conversation, Peer, Step, http_whole, refused_addr};
use rail_upstream::{Candidate, LocalKind, LocalServer, find_local};

use crate::calls::live;

/// Far more than an answer takes, so that a slow machine fails no test.
const LIMIT: Duration = Duration::from_secs(20);

/// A server that gives these answers, in this order, on one connection.
fn server(answers: &[(u16, &str)]) -> Peer {
    let answer = |(status, body): &(u16, &str)| {
        [Step::ReadRequest, Step::Send(http_whole(*status, "application/json", body))]
    };
    let steps = answers.iter().flat_map(answer).chain([Step::Stall]);
    Peer::start(vec![Conversation::new(steps)]).unwrap()
}

#[tokio::test]
async fn each_program_is_told_from_the_others() {
    let list = |owner: &str| {
        format!(r#"{{"data":[{{"id":"m","owned_by":"{owner}"}},{{"id":"nomic-embed-text"}}]}}"#)
    };
    let named = |name: &str| format!(r#"{{"data":[{{"id":"m","owned_by":"{name}"}}]}}"#);
    let peers = [
        (server(&[(200, &list("library"))]), Some((LocalKind::Ollama, vec!["m"]))),
        (
            server(&[(200, r#"{"object":"list","data":null}"#), (200, r#"{"version":"0.9.0"}"#)]),
            Some((LocalKind::Ollama, vec![])),
        ),
        (server(&[(200, &list("organization_owner"))]), Some((LocalKind::LmStudio, vec!["m"]))),
        (
            server(&[
                (200, r#"{"data":[]}"#),
                (200, r#"{"error":"no such endpoint"}"#),
                (200, r#"{"data":[]}"#),
            ]),
            Some((LocalKind::LmStudio, vec![])),
        ),
        (server(&[(200, &list("llamacpp"))]), Some((LocalKind::LlamaCpp, vec!["m"]))),
        (
            server(&[
                (200, &named("me")),
                (404, ""),
                (404, ""),
                (200, r#"{"default_generation_settings":{}}"#),
            ]),
            Some((LocalKind::LlamaCpp, vec!["m"])),
        ),
        (server(&[(200, &list("vllm"))]), Some((LocalKind::Vllm, vec!["m"]))),
        (
            server(&[(200, &named("me")), (404, ""), (404, ""), (404, "")]),
            Some((LocalKind::Other, vec!["m"])),
        ),
        (server(&[(404, "not found")]), None),
        (server(&[(200, "<html>A web page</html>")]), None),
        (server(&[(200, r#"{"data":"odd"}"#)]), None),
        (server(&[(401, r#"{"error":"key"}"#)]), None),
    ];
    let mut candidates: Vec<Candidate> =
        peers.iter().map(|(peer, _)| Candidate { address: peer.url("/") }).collect();
    candidates.push(Candidate { address: format!("http://{}", refused_addr().unwrap()) });
    let found = find_local(&live(), &candidates, LIMIT).await;
    let expected: Vec<LocalServer> = peers
        .iter()
        .filter_map(|(peer, expected)| {
            let (kind, models) = expected.as_ref()?;
            let models = models.iter().map(|model| (*model).to_owned()).collect();
            Some(LocalServer { kind: *kind, base_url: peer.url("/v1"), models })
        })
        .collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn one_that_says_nothing_holds_nobody_up() {
    let silent = Peer::start(vec![Conversation::new([Step::ReadRequest, Step::Stall])]).unwrap();
    let found =
        find_local(&live(), &[Candidate { address: silent.url("") }], Duration::from_millis(20)).await;
    assert_eq!(found, []);
}
