//! What a request ends with when no target gives an answer, over plain HTTP and over TLS.

use std::time::Duration;

use rail_model::ErrorKind;
use rail_route::ModelProfile;
use rail_testkit::{http_head, http_whole};
use rail_upstream::Note;

use crate::over::{Over, over_both};
use crate::world::{CHAT, Frozen, attempt, attempt_as, plan, profile, record, request, text, upstream};

over_both! {
    a_conversation_that_is_too_long_goes_to_larger_windows_only,
    a_request_that_every_target_calls_invalid_is_the_first_ones_error,
    when_none_answers_the_error_lists_them_all,
    a_refusal_is_reported_once_until_the_target_answers_again,
}

async fn a_conversation_that_is_too_long_goes_to_larger_windows_only(over: &Over) {
    let overflow = r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}"#;
    let full = over.answers(http_whole(400, "application/json", overflow));
    let b = over.good();
    let sized = |name: &str, url: String, window| {
        attempt_as(over.provider(name, url), ModelProfile { window, ..profile() })
    };
    let a = || sized("a", full.url("/v1"), Some(8192));
    let table = [
        (
            vec![a(), sized("small", full.url("/v1"), Some(8192)), sized("b", b.base_url(CHAT), Some(9000))],
            Some("b"),
            2,
        ),
        (vec![a(), sized("b", b.base_url(CHAT), None)], Some("b"), 2),
        (vec![sized("a", full.url("/v1"), None), sized("b", b.base_url(CHAT), Some(1))], Some("b"), 2),
        (vec![a(), sized("small", b.base_url(CHAT), Some(4096))], None, 1),
    ];
    for (attempts, expected, sends) in table {
        match Frozen::new().ask(&upstream(), &plan(attempts), &request()).await {
            Ok(reply) => {
                assert_eq!((Some(reply.target().provider.as_str()), reply.sent().len()), (expected, sends))
            }
            Err(none) => {
                assert_eq!((None, none.sent.len()), (expected, sends));
                assert_eq!(none.error.kind, ErrorKind::ContextLength, "so that the client compacts");
                assert!(none.error.said.is_some(), "in the provider's own words");
            }
        }
    }
}

async fn a_request_that_every_target_calls_invalid_is_the_first_ones_error(over: &Over) {
    let invalid = |words: &str| {
        let error = format!(r#"{{"error":{{"message":"{words}"}}}}"#);
        over.answers(http_whole(400, "application/json", error))
    };
    let (a, c) = (invalid("bad question"), invalid("really bad"));
    let plan_of_two = plan([attempt(over.of("a", &a)), attempt(over.of("c", &c))]);
    let none = Frozen::new().ask(&upstream(), &plan_of_two, &request()).await.unwrap_err();
    assert_eq!(record(&none.sent), ["a 400 request", "c 400 request"]);
    assert_eq!((none.error.kind, none.error.message.as_str()), (ErrorKind::InvalidRequest, "bad question"));
    assert!(none.error.said.is_some());
    let b = over.good();
    let plan = plan([attempt(over.of("a", &a)), attempt(over.b(&b))]);
    let mut world = Frozen::new();
    let mut reply = world.ask(&upstream(), &plan, &request()).await.unwrap();
    assert_eq!(record(reply.sent()), ["a 400 request", "b 200 answered"]);
    assert_eq!(text(&mut reply).await.unwrap(), "from b");
}

async fn when_none_answers_the_error_lists_them_all(over: &Over) {
    let busy =
        |seconds: &str| over.answers(http_head(429, &[("retry-after", seconds), ("content-length", "0")]));
    let (a, b) = (busy("90"), busy("30"));
    let plan = plan([attempt(over.of("a", &a)), attempt(over.of("b", &b))]);
    let none = Frozen::new().ask(&upstream(), &plan, &request()).await.unwrap_err();
    assert_eq!((none.error.status, none.error.retry_after), (429, Some(Duration::from_secs(30))));
    assert_eq!(
        none.error.message,
        "no target answered:\n- a,m: HTTP 429 with an empty body (429)\n- b,m: HTTP 429 with an empty body (429)"
    );
    let none = Frozen::new().ask(&upstream(), &crate::world::plan([]), &request()).await.unwrap_err();
    assert_eq!((none.error.kind, none.sent.len()), (ErrorKind::NotFound, 0));
}

async fn a_refusal_is_reported_once_until_the_target_answers_again(over: &Over) {
    let peer = over.answers(http_whole(401, "application/json", r#"{"error":{"message":"bad key"}}"#));
    let plan = plan([attempt(over.of("a", &peer))]);
    let (upstream, mut world) = (upstream(), Frozen::new());
    for _ in 0..3 {
        world.ask(&upstream, &plan, &request()).await.unwrap_err();
    }
    let refusals = world.heard.notes().into_iter().filter(|note| matches!(note, Note::Refused { .. }));
    assert_eq!(refusals.count(), 1);
}
