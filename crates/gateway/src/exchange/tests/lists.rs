//! Lists of models, token counts and embeddings.

use rail_ledger::{Ending, Money, NewKey};
use rail_model::{EmbedInput, EmbedRequest};
use rail_testkit::{COUNTED, Models};
use rail_wire::{HttpCall, Operation, find};
use serde_json::{Value, json};

use super::world::{World, body, counting, embedding, from, header, protocol};
use crate::arrival::Arrival;

const MORE: &str = "coding = \"b,n\"\n[aliases]\nclaude-opus = \"coding\"\n\"gpt-*\" = \"a,m\"\n";

async fn get(path: &str, headers: &[(&str, &str)]) -> (u16, Value) {
    get_as(&[], path, headers).await
}

/// The same with a key for these models.
async fn get_as(allowed: &[&str], path: &str, headers: &[(&str, &str)]) -> (u16, Value) {
    let models = Models::start(vec![]).unwrap();
    let (chat, gemini) = (protocol("openai-chat"), protocol("gemini"));
    let second = super::world::provider("b", gemini, &models);
    let first = super::world::provider("a", chat, &models);
    let world = World::new(&format!("{first}{second}[router]\ndefault = \"a,m;b,m\"\n{MORE}")).await;
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let call = HttpCall {
        method: "GET".to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        body: Vec::new(),
    };
    let client = if path.starts_with("/v1beta") { gemini } else { chat };
    let models = allowed.iter().map(|name| (*name).to_owned()).collect();
    let new = NewKey { name: "team".to_owned(), models, ..NewKey::default() };
    let key = world.gateway.ledger().create_key(&new, 1_800_000_000_000).await.unwrap().0;
    let arrival = Arrival { key: Some(key), ..from(client, Operation::Models, call) };
    let response = world.ask(arrival).await;
    assert_eq!(header(&response, "content-type"), Some("application/json"));
    assert!(world.records().await.is_empty());
    (response.status().as_u16(), serde_json::from_slice(&body(response).await).unwrap())
}

fn ids<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    list.as_array().unwrap().iter().map(|model| model[key].as_str().unwrap()).collect()
}

#[tokio::test]
async fn models_are_listed_in_each_clients_shape() {
    let names = ["claude-opus", "coding", "default", "a,m", "b,m", "b,n"];
    let (status, list) = get("/v1/models", &[]).await;
    assert_eq!((status, ids(&list["data"], "id")), (200, names.to_vec()));
    assert_eq!((&list["object"], &list["data"][3]["owned_by"]), (&json!("list"), &json!("a")));

    let (_, list) = get("/v1/models?limit=1000", &[("anthropic-version", "2023-06-01")]).await;
    assert_eq!(ids(&list["data"], "id"), names);
    assert_eq!((&list["first_id"], &list["last_id"]), (&json!("claude-opus"), &json!("b,n")));
    assert_eq!((&list["has_more"], &list["data"][0]["type"]), (&json!(false), &json!("model")));

    let (_, list) = get("/v1beta/models", &[]).await;
    assert_eq!(ids(&list["models"], "name"), names.map(|name| format!("models/{name}")));

    let (_, list) = get("/v1/models?client_version=0.99.0", &[]).await;
    assert_eq!(ids(&list["models"], "slug"), names);
}

#[tokio::test]
async fn a_key_sees_the_models_it_may_ask_for() {
    for (allowed, names) in [
        (&["n*"][..], &["claude-opus", "coding", "b,n"][..]),
        (&["a,m"], &["default", "a,m"]),
        (&["coding"], &["claude-opus", "coding"]),
        (&["x"], &[]),
    ] {
        let (_, list) = get_as(allowed, "/v1/models", &[]).await;
        assert_eq!(ids(&list["data"], "id"), names, "{allowed:?}");
    }
    assert_eq!(get_as(&["n*"], "/v1/models/a%2Cm", &[]).await.0, 404);
}

#[tokio::test]
async fn one_model_is_shown_and_an_unknown_one_is_not() {
    let (status, model) = get("/v1/models/a%2Cm", &[]).await;
    assert_eq!((status, &model["id"], &model["object"]), (200, &json!("a,m"), &json!("model")));
    let (status, model) = get("/v1beta/models/coding", &[]).await;
    assert_eq!((status, &model["name"]), (200, &json!("models/coding")));
    let (status, error) = get("/v1/models/nonsense", &[]).await;
    assert_eq!((status, &error["error"]["code"]), (404, &json!("model_not_found")));
    let (status, error) = get("/v1beta/models/nonsense", &[]).await;
    assert_eq!((status, &error["error"]["status"]), (404, &json!("NOT_FOUND")));
}

#[tokio::test]
async fn endpoints_exist_for_one_model() {
    for (name, path) in [
        ("anthropic", "/v1/models/{model}"),
        ("openai-chat", "/v1/models/{model}"),
        ("openai-responses", "/v1/models/{model}"),
        ("gemini", "/v1beta/models/{model}"),
    ] {
        let endpoints = find(name).unwrap().inbound.endpoints();
        let found = endpoints.iter().find(|endpoint| endpoint.method == "GET" && endpoint.path == path);
        assert_eq!(found.map(|endpoint| endpoint.operation), Some(Operation::Models), "{name}");
    }
}

#[tokio::test]
async fn a_count_is_estimated_where_no_target_counts() {
    let models = Models::start(vec![]).unwrap();
    let world = World::on(&[("a", protocol("openai-chat"), &models)]).await;
    for (client, key) in
        [("anthropic", "input_tokens"), ("openai-responses", "input_tokens"), ("gemini", "totalTokens")]
    {
        let arrival = Arrival { id: client.to_owned(), ..counting(protocol(client)) };
        let response = world.ask(arrival).await;
        assert_eq!(response.status(), 200, "{client}");
        let count: Value = serde_json::from_slice(&body(response).await).unwrap();
        assert!(count[key].as_u64().unwrap() > 20, "{client}: {count}");
    }
    let entries = world.records().await;
    assert_eq!(entries.len(), 3);
    for entry in entries {
        assert_eq!(
            (entry.operation.as_str(), entry.ending, entry.tokens.input),
            ("count", Ending::Answered, 0)
        );
        assert!(entry.problem.unwrap().starts_with("estimated, because"));
    }
}

#[tokio::test]
async fn a_target_that_counts_is_asked() {
    let models = Models::start(vec![]).unwrap();
    let (chat, anthropic) = (protocol("openai-chat"), protocol("anthropic"));
    let world = World::on(&[("a", anthropic, &models), ("b", chat, &models)]).await;
    let response = world.ask(counting(protocol("gemini"))).await;
    assert_eq!(header(&response, "x-switchrail-target"), Some("a,m"));
    let count: Value = serde_json::from_slice(&body(response).await).unwrap();
    assert_eq!(count["totalTokens"], json!(COUNTED));
    let entry = world.record().await;
    assert_eq!((entry.target.as_deref(), entry.problem, entry.cost), (Some("a,m"), None, Some(Money(0))));
}

#[tokio::test]
async fn embeddings_are_answered_by_another_protocol_and_paid_for() {
    let models = Models::start(vec![]).unwrap();
    for (client, server) in [("openai-chat", "gemini"), ("gemini", "openai-chat")] {
        let world = World::on(&[("a", protocol(server), &models)]).await;
        let request = EmbedRequest {
            model: "vectors".to_owned(),
            inputs: vec![EmbedInput::Text("some text".to_owned())],
            ..EmbedRequest::default()
        };
        let response = world.ask(embedding(protocol(client), &request)).await;
        assert_eq!(
            (response.status().as_u16(), header(&response, "x-switchrail-target")),
            (200, Some("a,m"))
        );
        let reply = protocol(client).outbound.read_embed(&body(response).await).unwrap();
        assert!(reply.vectors.len() == 1 && !reply.vectors[0].is_empty(), "{client}");
        let entry = world.record().await;
        assert_eq!((entry.operation.as_str(), entry.ending), ("embed", Ending::Answered), "{client}");
        assert!(entry.tokens.input > 0 && entry.tokens.output == 0, "{client}: {:?}", entry.tokens);
    }
}

#[tokio::test]
async fn embeddings_that_no_target_has_are_refused_in_the_clients_protocol() {
    let models = Models::start(vec![]).unwrap();
    let world = World::on(&[("a", protocol("anthropic"), &models)]).await;
    let request = EmbedRequest {
        model: "vectors".to_owned(),
        inputs: vec![EmbedInput::Text("some text".to_owned())],
        ..EmbedRequest::default()
    };
    for client in ["openai-chat", "gemini"] {
        let response = world.ask(embedding(protocol(client), &request)).await;
        assert_eq!(response.status(), 404, "{client}");
    }
    for entry in world.records().await {
        assert_eq!((entry.operation.as_str(), entry.asked.as_str()), ("embed", "vectors"));
        assert_eq!(entry.ending, Ending::Failed);
    }
}
