//! What a model wrote is kept only where bodies are.

use rail_testkit::{Models, Turn, text};
use serde_json::Value;

use super::world::{World, arrival, body, protocol, question};

const WRITTEN: &str = r#"<tool_call>{"name": "Read", "arguments": {"path": "DB_PASSWORD=hunter2 sk-test-12345678"}}</tool_call>"#;

/// The record of a call that was written as text: whole, and its one repair.
async fn recorded(more: &str, stream: bool) -> (String, Value) {
    let models = Models::start(vec![Turn::reply(vec![text("I look."), text(WRITTEN)])]).unwrap();
    let chat = protocol("openai-chat");
    let world = World::new(&format!(
        "[providers.a]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\n[router]\ndefault = \"a,m\"\n{more}",
        models.base_url(chat.id)
    ))
    .await;
    drop(body(world.ask(arrival(chat, &question(stream))).await).await);
    let entry = world.record().await;
    assert_eq!(entry.repairs.len(), 1, "{entry:?}");
    let repair = serde_json::from_str(entry.repairs[0].text()).unwrap();
    (serde_json::to_string(&entry).unwrap(), repair)
}

#[tokio::test]
async fn without_bodies_nothing_of_a_mended_call_is_kept() {
    for stream in [true, false] {
        let (record, repair) = recorded("", stream).await;
        assert!(!record.contains("hunter2"), "{record}");
        assert_eq!(repair["tool"], "read");
        assert_eq!(repair["done"][0]["step"], "found:hermes");
        assert_eq!((repair.get("before"), repair.get("after")), (None, None));
    }
}

#[tokio::test]
async fn with_bodies_a_mended_call_is_kept_as_it_came_and_as_it_left_without_secrets() {
    for stream in [true, false] {
        let (record, repair) = recorded("[gateway]\nlog_bodies = true\n", stream).await;
        assert!(!record.contains("sk-test-12345678"), "{record}");
        let before = repair["before"]["text"].as_str().unwrap();
        assert_eq!(before, WRITTEN.trim_end_matches("</tool_call>").replace("sk-test-12345678", "***"));
        assert_eq!(repair["after"]["arguments"], r#"{"path": "DB_PASSWORD=hunter2 ***"}"#);
    }
}
