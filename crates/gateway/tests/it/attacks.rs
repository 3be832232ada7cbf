//! What hostile clients try once they are let in.

use rail_ledger::{Ledger, NewKey};

use crate::door::{Door, memory};
use crate::wire::{Answer, ask};

/// Long before any key of these tests ends.
const NOW: u64 = 1_700_000_000_000;

/// Behind `[gateway]`: models that cost more, which keys for `m` must never reach.
const DEAR: &str = "log_bodies = true\n[providers.dear]\nprotocol = \"openai-chat\"\nbase_url = \"BASE\"\nkey = \"word-of-dear-models\"\n\
     headers = { x-team-token = \"header-of-dear-models\" }\nmodels = [\"m\", \"grand\"]\n\
     [providers.broken]\nprotocol = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"b\"]\n\
     [aliases]\nsmall = \"dear,grand\"\n\"tiny-*\" = \"dear,grand\"\n";

fn body(model: &str) -> String {
    serde_json::json!({"model": model, "messages": [{"role": "user", "content": "hello"}]}).to_string()
}

async fn chat(door: &Door, secret: &str, model: &str) -> Answer {
    let key = format!("x-api-key: {secret}");
    ask(door.addr, "POST /v1/chat/completions", &[&key], &body(model)).await
}

async fn key(ledger: &Ledger, name: &str, patterns: &[&str]) -> String {
    let models = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    let new = NewKey { name: name.to_owned(), models, ..NewKey::default() };
    ledger.create_key(&new, NOW).await.unwrap().1.reveal().to_owned()
}

/// No name that a client makes up brings it to a model that its key may not use.
#[tokio::test]
async fn a_name_that_fits_a_pattern_opens_nothing_else() {
    let ledger = memory().await;
    let of_p = key(&ledger, "p", &["p,*"]).await;
    let grand = key(&ledger, "grand", &["grand*"]).await;
    let broken = key(&ledger, "broken", &["broken,*"]).await;
    let small = key(&ledger, "small", &["small", "tiny-*"]).await;
    let door = Door::on("127.0.0.1:0", DEAR, ledger).await;
    let table = [
        (&of_p, "p,m", Some("p,m")),
        (&of_p, "m", Some("p,m")),
        (&of_p, "dear,m", None),
        (&of_p, "dear,grand", None),
        // A chain of the client's own that begins with a target of the key's, or looks like one.
        (&of_p, "p,m;dear,grand", Some("p,m")),
        (&of_p, "p,;dear,grand", Some("p,m")),
        (&of_p, "dear,grand;p,m", Some("p,m")),
        (&of_p, "P,m;dear,grand", None),
        // The first fails, whatever is asked.
        (&broken, "broken,b;dear,grand", None),
        // Nobody knows it, so that the default chain would answer, which is not the key's.
        (&grand, "grand-but-unknown", None),
        (&grand, "nobody,grand", None),
        (&grand, " grand", Some("dear,grand")),
        (&grand, "grand", Some("dear,grand")),
        // Whoever configured an alias said what it stands for.
        (&small, "small", Some("dear,grand")),
        (&small, "tiny-one", Some("dear,grand")),
        (&small, "grand", None),
        (&small, "tiny-,x;dear,grand", None),
    ];
    for (secret, model, expected) in table {
        let answer = chat(&door, secret, model).await;
        let target = answer.header("x-switchrail-target").filter(|_| answer.status == 200);
        assert_eq!(target, expected, "{model}: {answer:?}");
    }
}

/// Each name is written to the ledger more than once, and matched against many patterns.
#[tokio::test]
async fn a_name_without_end_is_refused_and_not_kept() {
    let door = Door::open("").await;
    let long = "m".repeat(3_000_000);
    for model in [long.clone(), format!("p,{long}")] {
        let answer = ask(door.addr, "POST /v1/chat/completions", &[], &body(&model)).await;
        assert_eq!(answer.status, 400);
        assert!(answer.message().len() < 200, "{}", answer.message().len());
    }
    door.ledger.flush().await.unwrap();
    let kept = door.ledger.recent(9, None).await.unwrap();
    assert_eq!(kept.len(), 2);
    assert!(kept.iter().all(|entry| entry.asked.len() + entry.problem.as_ref().unwrap().len() < 300));
}

/// Secrets that clients and models repeat are not kept with what was said.
#[tokio::test]
async fn kept_bodies_hold_no_secrets() {
    let ledger = memory().await;
    let own = key(&ledger, "own", &[]).await;
    let door = Door::on("127.0.0.1:0", DEAR, ledger).await;
    let said = format!("mine is {own}, theirs are word-of-dear-models and header-of-dear-models");
    let body = serde_json::json!({"model": "m", "messages": [{"role": "user", "content": said}]});
    let key = format!("x-api-key: {own}");
    let answer = ask(door.addr, "POST /v1/chat/completions", &[&key], &body.to_string()).await;
    assert_eq!(answer.status, 200);
    door.ledger.flush().await.unwrap();
    let entry = door.ledger.recent(1, None).await.unwrap().remove(0);
    let entry = door.ledger.entry(&entry.id).await.unwrap().unwrap();
    let bodies = entry.bodies.unwrap();
    for side in [&bodies.request, &bodies.answer] {
        assert!(side.contains("mine is ***, theirs are *** and ***"), "{side}");
    }
}

/// A request may have a million things that no target can be told.
#[tokio::test]
async fn losses_without_end_are_counted() {
    let door = Door::open("").await;
    let long = "x".repeat(5000);
    let message =
        |at: usize| serde_json::json!({"role": "user", "content": [{"type": format!("{at}{long}")}]});
    let messages: Vec<serde_json::Value> = (0..250).map(message).collect();
    let body = serde_json::json!({"model": "m", "max_tokens": 9, "messages": messages}).to_string();
    ask(door.addr, "POST /v1/messages", &[], &body).await;
    door.ledger.flush().await.unwrap();
    let kept = door.ledger.recent(1, None).await.unwrap().remove(0).losses;
    assert!(kept.len() < 110 && kept.iter().any(|loss| loss.starts_with("and 15")), "{}", kept.len());
    assert!(kept.iter().all(|loss| loss.chars().count() <= 300));
}
