//! Token counts and embeddings: who is asked, who is passed over, and what a failure means.

use rail_model::{EmbedInput, EmbedRequest, ErrorKind, ProtocolId};
use rail_route::{Attempt, Circuit, Plan, Provider, Target};
use rail_stdx::Secret;
use rail_testkit::{COUNTED, Models, Peer, Turn, http_whole, text as say, vector};
use rail_upstream::{Counted, Embedded, NoAnswer, Note, Original, Upstream};
use rail_wire::{ALL, Operation};
use serde_json::Number;
use tokio::time::Instant;

use crate::over::Over;
use crate::world::{ANTHROPIC, CHAT, Frozen, attempt, plan, provider, record, request, upstream};

fn models() -> Models {
    Models::start(vec![Turn::reply(vec![say("hello")]).repeat()]).unwrap()
}

fn target(name: &str, protocol: ProtocolId, models: &Models) -> Attempt {
    attempt(Provider { protocol, ..provider(name, models.base_url(protocol)) })
}

async fn count(upstream: &Upstream, plan: &Plan) -> (Result<Counted, NoAnswer>, Vec<Note>) {
    let mut world = Frozen::new();
    let heard = std::sync::Arc::clone(&world.heard);
    let counted = world.wait(upstream.count(plan, &request(), &*heard), std::future::pending()).await;
    (counted, heard.notes())
}

async fn embed(upstream: &Upstream, plan: &Plan) -> Result<Embedded, NoAnswer> {
    let mut world = Frozen::new();
    let heard = std::sync::Arc::clone(&world.heard);
    let inputs = vec![EmbedInput::Text("one".to_owned()), EmbedInput::Text("two".to_owned())];
    let asked = EmbedRequest { model: "m".to_owned(), inputs, ..EmbedRequest::default() };
    world.wait(upstream.embed(plan, &asked, &*heard), std::future::pending()).await
}

#[tokio::test(start_paused = true)]
async fn those_that_count_are_asked() {
    for protocol in ALL {
        let models = models();
        let chat = target("a", CHAT, &models);
        let (counted, _) = count(&upstream(), &plan([chat, target("b", protocol.id, &models)])).await;
        if protocol.id == CHAT {
            let none = counted.unwrap_err();
            assert_eq!((none.error.kind, none.sent.len()), (ErrorKind::NotFound, 0));
            insta::assert_snapshot!(none.error.message, @"no target for `m` can count tokens; ask for a target that speaks `anthropic`, `openai-responses` or `gemini`");
            continue;
        }
        let counted = counted.unwrap();
        assert_eq!(
            (counted.target.provider.as_str(), counted.count.input),
            ("b", COUNTED),
            "{}",
            protocol.id
        );
        assert_eq!(models.requests().last().unwrap().operation, Operation::Count);
    }
}

#[tokio::test(start_paused = true)]
async fn those_that_embed_are_asked() {
    for protocol in ALL {
        let models = models();
        let plan = plan([target("a", ANTHROPIC, &models), target("b", protocol.id, &models)]);
        let embedded = embed(&upstream(), &plan).await;
        if protocol.id != CHAT && protocol.id.name() != "gemini" {
            let none = embedded.unwrap_err();
            assert_eq!((none.error.kind, none.sent.len()), (ErrorKind::NotFound, 0));
            insta::allow_duplicates! {
                insta::assert_snapshot!(none.error.message, @"no target for `m` can give embeddings; ask for a target that speaks `openai-chat` or `gemini`");
            }
            continue;
        }
        let embedded = embedded.unwrap();
        assert_eq!(embedded.target, Target::new("b", "m"));
        assert_eq!(record(&embedded.sent), ["b 200 answered"]);
        assert_eq!((embedded.reply.vectors.len(), embedded.losses.len()), (2, 0));
        let one = &embedded.reply.vectors[0];
        let numbers: Vec<f64> = one.iter().filter_map(Number::as_f64).collect();
        assert_eq!(numbers, vector("one", u64::try_from(one.len()).unwrap()));
    }
}

/// A server that answers every request so.
fn answering(status: u16, body: &str) -> Peer {
    Over::Plain.answers(http_whole(status, "application/json", body))
}

fn circuit(upstream: &Upstream) -> Circuit {
    upstream.health().circuit(&Target::new("a", "m"), Instant::now().into_std())
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_count_is_no_worse_for_it() {
    for (status, line) in [(404, "a 404 target"), (401, "a 401 target"), (500, "a 500 passing")] {
        let (a, b) = (answering(status, r#"{"error":{"message":"no"}}"#), models());
        let a = attempt(Provider { protocol: ANTHROPIC, ..provider("a", a.url("/v1")) });
        let (alone, plan) = (plan([a.clone()]), plan([a, target("b", ANTHROPIC, &b)]));
        let upstream = upstream();
        for _ in 0..6 {
            let (counted, notes) = count(&upstream, &plan).await;
            assert_eq!(counted.unwrap().target.provider, "b");
            let told =
                notes.iter().any(|note| matches!(note, Note::CircuitOpened { .. } | Note::Refused { .. }));
            assert!(!told, "{notes:?}");
        }
        let (none, _) = count(&upstream, &alone).await;
        let none = none.unwrap_err();
        assert_eq!(none.error.status, status);
        assert_eq!(record(&none.sent).last().map(String::as_str), Some(line));
        assert_eq!(circuit(&upstream), Circuit::Closed, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_no_count_is_asked_of_the_next() {
    for body in ["{}", "<html>", "", r#"{"error":{"message":"no"}}"#] {
        let (a, b) = (answering(200, body), models());
        let a = attempt(Provider { protocol: ANTHROPIC, ..provider("a", a.url("/v1")) });
        let (counted, _) = count(&upstream(), &plan([a, target("b", ANTHROPIC, &b)])).await;
        assert_eq!(counted.unwrap().target.provider, "b", "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn embeddings_fail_over_and_tell_of_health() {
    let (a, b) = (answering(401, r#"{"error":{"message":"no"}}"#), models());
    let mut refused = provider("a", a.url("/v1"));
    refused.keys = vec![Secret::new("one"), Secret::new("two")];
    let plan = plan([attempt(refused), target("b", CHAT, &b)]);
    let upstream = upstream();
    let embedded = embed(&upstream, &plan).await.unwrap();
    assert_eq!(record(&embedded.sent), ["a 401 target", "a 401 target", "b 200 answered"], "each key once");
    assert!(matches!(circuit(&upstream), Circuit::Open(_)));
    assert_eq!(record(&embed(&upstream, &plan).await.unwrap().sent), ["b 200 answered"]);
}

#[test]
fn errands_may_move_between_threads() {
    fn may_move(_: &impl Send) {}
    let (upstream, plan, request) = (upstream(), plan([]), request());
    let (embed, body) = (EmbedRequest::default(), bytes::Bytes::new());
    let original = Original { protocol: CHAT, body: &body };
    may_move(&upstream.ask(&plan, &request, &()));
    may_move(&upstream.relay(&plan, &request, &original, &()));
    may_move(&upstream.count(&plan, &request, &()));
    may_move(&upstream.embed(&plan, &embed, &()));
}
