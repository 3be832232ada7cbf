//! What keys may ask for, and what they pay.

use rail_ledger::{Budget, Ending, Entry, Key, Money, NewKey, Period, Rate};
use rail_model::{ApiError, ErrorKind, Request, Usage};
use rail_testkit::{Models, Turn, text};
use rail_wire::{ALL, BodyKind};
use serde_json::{Value, json};

use super::world::{World, arrival, header, protocol, question, read};
use crate::arrival::Arrival;

async fn key(world: &World, new: NewKey) -> Key {
    world.gateway.ledger().create_key(&new, 1_800_000_000_000).await.unwrap().0
}

fn named(name: &str) -> NewKey {
    NewKey { name: name.to_owned(), ..NewKey::default() }
}

/// Asks with a key, in each protocol, and gives what came of it each time.
async fn asked(world: &World, key: &Key, request: &Request) -> Vec<Result<(), ApiError>> {
    let mut answers = Vec::new();
    for client in ALL {
        let id = format!("{}-{}-{}", key.name, request.model, client.id);
        let arrival = Arrival { id, key: Some(key.clone()), ..arrival(client, request) };
        let response = world.ask(arrival).await;
        answers.push(read(client, BodyKind::Whole, response).await.map(drop));
    }
    answers
}

/// The route that was recorded.
fn route(entry: &Entry) -> Value {
    entry.route.as_ref().unwrap().value()
}

#[tokio::test]
async fn a_key_asks_for_the_models_it_may() {
    let models = Models::start(vec![Turn::reply(vec![text("yes")]).repeat()]).unwrap();
    let world =
        World::with(&[("a", protocol("openai-chat"), &models)], "[aliases]\nclaude = \"a,m\"\n").await;
    for (allowed, model, may) in [
        ("claude", "claude", true),
        ("a,m", "claude", true),
        ("coding", "anything", true),
        ("coding", "a,m", false),
        ("other*", "claude", false),
    ] {
        let new = NewKey { models: vec![allowed.to_owned()], ..named(&format!("{allowed}-{model}")) };
        let key = key(&world, new).await;
        let request = Request { model: model.to_owned(), ..question(false) };
        for answer in asked(&world, &key, &request).await {
            let refused = answer.err().map(|error| (error.kind, error.status));
            assert_eq!(refused, (!may).then_some((ErrorKind::Permission, 403)), "{allowed} for {model}");
        }
    }
    let refused = world.records().await.into_iter().filter(|entry| entry.ending == Ending::Refused);
    assert!(refused.clone().all(|entry| entry.sent.is_empty() && entry.cost == Some(Money(0))));
    for entry in refused.clone() {
        let route = route(&entry);
        assert_eq!((&route["attempts"], &route["skipped"][0]["target"]), (&json!([]), &json!("a,m")));
        assert!(route["skipped"][0]["why"].as_str().unwrap().ends_with("` may not use it"), "{route}");
    }
    assert_eq!((refused.count(), models.requests().len()), (8, 12));
}

#[tokio::test]
async fn a_key_names_no_further_models_than_it_may_use() {
    let models = Models::start(vec![Turn::reply(vec![text("yes")]).repeat()]).unwrap();
    let chat = protocol("openai-chat");
    let world = World::on(&[("a", chat, &models)]).await;
    let few = key(&world, NewKey { models: vec!["a,m".to_owned(), "x/*".to_owned()], ..named("few") }).await;
    let all = key(&world, named("all")).await;
    for (key, field, may) in [
        (&few, json!({"models": ["m", "x/y"]}), true),
        (&few, json!({"models": []}), true),
        (&few, json!({"models": null}), true),
        (&few, json!({"models": ["x/y", "dear/one"]}), false),
        (&few, json!({"models": "dear/one"}), false),
        (&few, json!({"fallbacks": [{"model": "dear/one"}]}), false),
        (&few, json!({"fallbacks": [{"model": "m"}]}), false),
        (&all, json!({"models": ["dear/one"], "fallbacks": [{"model": "dear/one"}]}), true),
    ] {
        let mut arrival = arrival(chat, &Request { model: "a,m".to_owned(), ..question(false) });
        let mut body: Value = serde_json::from_slice(&arrival.call.body).unwrap();
        body.as_object_mut().unwrap().extend(field.as_object().unwrap().clone());
        arrival.call.body = serde_json::to_vec(&body).unwrap();
        let before = models.requests().len();
        let response = world.ask(Arrival { key: Some(key.clone()), ..arrival }).await;
        assert_eq!(response.status(), if may { 200 } else { 403 }, "{field}");
        assert_eq!(models.requests().len() - before, usize::from(may), "{field}");
    }
}

#[tokio::test]
async fn a_key_that_asks_too_often_is_told_when_to_come_back() {
    let models = Models::start(vec![Turn::reply(vec![text("yes")]).repeat()]).unwrap();
    let world = World::on(&[("a", protocol("openai-chat"), &models)]).await;
    let key = key(&world, NewKey { rate: Some(Rate { per_minute: 1 }), ..named("slow") }).await;
    let answers = asked(&world, &key, &question(false)).await;
    assert!(answers[0].is_ok());
    for answer in &answers[1..] {
        let error = answer.as_ref().unwrap_err();
        assert_eq!((error.kind, error.status), (ErrorKind::RateLimited, 429));
    }
}

#[tokio::test]
async fn a_spent_budget_ends_a_key_in_words_that_no_client_retries() {
    let usage = Usage { input: Some(500_000), output: Some(500_000), ..Usage::default() };
    let models = Models::start(vec![Turn::reply(vec![text("yes")]).usage(usage).repeat()]).unwrap();
    let world = World::on(&[("a", protocol("openai-chat"), &models)]).await;
    let budget = Some(Budget { amount: Money(1_000_000_000), per: Period::Day });
    let key = key(&world, NewKey { budget, ..named("poor") }).await;
    let first = world.ask(Arrival { key: Some(key.clone()), ..arrival(ALL[0], &question(false)) }).await;
    assert_eq!(first.status(), 200);
    assert_eq!(world.record().await.cost, Some(Money(1_500_000_000)));
    let kinds: Vec<(ErrorKind, u16)> = asked(&world, &key, &question(false))
        .await
        .into_iter()
        .map(|answer| answer.unwrap_err())
        .map(|error| (error.kind, error.status))
        .collect();
    let quota = ErrorKind::Quota;
    assert_eq!(kinds, [(quota, 402), (quota, 429), (quota, 429), (quota, 429)]);
    assert_eq!(models.requests().len(), 1);
}

#[tokio::test]
async fn a_budget_is_not_spent_where_no_price_is_known() {
    let models = Models::start(vec![Turn::reply(vec![text("yes")]).repeat()]).unwrap();
    // Nobody is asked there: what has no price is refused, or left for the next target, before it is sent.
    let far = "[providers.far]\nprotocol = \"openai-chat\"\nbase_url = \"https://models.invalid/v1\"\nkey = \"sk-of-far-12345678\"\n\
               models = [\"new\"]\n[aliases]\nboth = \"far,new;home,own\"\n";
    let home = format!(
        "[providers.home]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nmodels = [\"own\"]\n",
        models.base_url(protocol("openai-chat").id)
    );
    let world = World::new(&format!("{home}{far}[router]\ndefault = \"home,own\"\n")).await;
    let budget = Some(Budget { amount: Money(1_000_000_000), per: Period::Day });
    let poor = key(&world, NewKey { budget, ..named("poor") }).await;
    for (model, may) in [("far,new", false), ("home,own", true), ("both", true)] {
        for answer in asked(&world, &poor, &Request { model: model.to_owned(), ..question(false) }).await {
            let refused = answer.err();
            assert_eq!(refused.as_ref().map(|error| error.status), (!may).then_some(403), "{model}");
            if let Some(error) = refused {
                assert_eq!(
                    error.message,
                    "the key `poor` has a budget, and no price of `far,new` is known; ask whoever runs the gateway to give one in its \
                     configuration (`[models.\"new\"]` with `price = { input = 1.0, output = 2.0 }`, in dollars for a million tokens, 0 \
                     for what is free), or for a key without a budget"
                );
            }
        }
    }
    assert_eq!(models.requests().len(), 8);
    let records = world.records().await;
    assert_eq!(records.iter().filter(|entry| entry.ending == Ending::Refused).count(), 4);
    for route in records.iter().filter(|entry| entry.asked == "both").map(route) {
        let left =
            json!([{"target": "far,new", "why": "the key `poor` has a budget, and its price is not known"}]);
        assert_eq!((&route["attempts"][0]["target"], &route["skipped"]), (&json!("home,own"), &left));
    }
}

#[tokio::test]
async fn limits_of_the_providers_own_key_are_not_told_to_holders_of_ours() {
    let body = r#"{"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}]}"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\nopenai-processing-ms: 5\r\n\
                openai-organization: acme\r\nx-ratelimit-limit-requests: 9\r\n";
    let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    let models = Models::start(vec![Turn::raw(answer).repeat()]).unwrap();
    let chat = protocol("openai-chat");
    let world = World::on(&[("a", chat, &models)]).await;
    let key = key(&world, named("team")).await;
    for (key, limit) in [(None, Some("9")), (Some(key), None)] {
        let response = world.ask(Arrival { key, ..arrival(chat, &question(false)) }).await;
        let names = ["openai-processing-ms", "openai-organization", "x-ratelimit-limit-requests"];
        assert_eq!(names.map(|name| header(&response, name)), [Some("5"), None, limit]);
    }
}
