//! Tools that are too many to be declared.

use std::sync::Arc;

use serde_json::json;

use crate::bed::{Bed, Quiet, hostile};

fn names(tools: &[Arc<dyn rail_tool::AnyTool>]) -> Vec<String> {
    tools.iter().map(|tool| tool.card().name.to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn few_tools_are_declared_and_many_are_searched_for() {
    let bed = Bed::new(vec![hostile("crowd"), hostile("good")]);
    bed.ready("crowd").await;
    bed.ready("good").await;
    let declared = bed.hub.declared();
    assert_eq!(names(&declared), ["mcp_search", "mcp_call"]);
    insta::assert_snapshot!(declared[0].card().prompt, @"");
    assert_eq!(bed.hub.tools().len(), 1_001);
    insta::assert_snapshot!(bed.says("mcp_search", &json!({"query": "say again text"})).await, @"");
    insta::assert_snapshot!(bed.says("mcp_search", &json!({"query": "crowd t99", "limit": 2})).await, @"");
    insta::assert_snapshot!(bed.says("mcp_search", &json!({"query": "weather"})).await, @"");
    let call = json!({"name": "mcp__good__echo", "arguments": {"text": "by name"}});
    assert_eq!(bed.says("mcp_call", &call).await, "ok: by name");
    insta::assert_snapshot!(bed.says("mcp_call", &json!({"name": "mcp__good__ecko"})).await, @"");
    bed.end().await;

    let few = Bed::with(vec![hostile("good")], Arc::new(Quiet::default()), |_| {});
    few.ready("good").await;
    assert_eq!(names(&few.hub.declared()), ["mcp__good__echo", "mcp_search", "mcp_call"]);
    few.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_are_off_are_named_and_not_started() {
    let mut spec = hostile("good");
    spec.off = Some("nobody approved it".to_owned());
    let bed = Bed::new(vec![spec]);
    assert_eq!(bed.hub.states()[0].state.to_string(), "disabled: nobody approved it");
    assert_eq!(bed.hub.declared().len(), 0);
    assert_eq!(
        bed.hub.reconnect("good"),
        Err("the MCP server `good` is disabled: nobody approved it".to_owned())
    );
    assert_eq!(bed.hub.reconnect("other"), Err("there is no MCP server `other`; there are: good".to_owned()));
    bed.end().await;
}
