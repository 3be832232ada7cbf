//! Tools that are known from the last time.

use std::sync::Arc;
use std::time::Duration;

use rail_mcp::State;
use serde_json::json;

use crate::bed::{Bed, Quiet, hasty, hostile};

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_there_before_their_server_is() {
    let cache = tempfile::tempdir().unwrap();
    let bed = |mode: &str| {
        let mut spec = hasty(hostile(mode), 20_000, 20_000);
        spec.name = "same".to_owned();
        let folder = cache.path().to_path_buf();
        Bed::with(vec![spec], Arc::new(Quiet::default()), |setup| setup.cache = Some(folder))
    };
    let names = |bed: &Bed| -> Vec<String> {
        bed.hub.tools().iter().map(|tool| tool.card().name.to_owned()).collect()
    };
    let first = bed("change");
    assert_eq!(names(&first), Vec::<String>::new());
    first.ready("same").await;
    assert_eq!(first.says("mcp__same__echo", &json!({"text": "more"})).await, "ok: more");
    first.until("same", |state| state.tools == 2).await;
    first.end().await;

    let second = bed("change");
    assert_eq!(second.hub.states()[0].state, State::Connecting);
    assert_eq!(names(&second), ["mcp__same__echo", "mcp__same__more"]);
    // The call waits for the server, which has not this tool any more, and is called all the same.
    assert_eq!(second.says("mcp__same__more", &json!({"text": "again"})).await, "ok: again");
    second.until("same", |state| state.tools == 2).await;
    second.end().await;

    // Another server of the same name is another server.
    let third = bed("good");
    assert_eq!(names(&third), Vec::<String>::new());
    third.hub.settled(Duration::from_secs(20)).await;
    assert_eq!(names(&third), ["mcp__same__echo"]);
    third.end().await;
}
