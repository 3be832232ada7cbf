//! What happens while a call runs.

use rail_tool::ToolEvent;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::bed::{Bed, call, hostile};

#[tokio::test(flavor = "multi_thread")]
async fn progress_is_passed_on() {
    let bed = Bed::new(vec![hostile("progress")]);
    bed.ready("progress").await;
    let (executor, mut events) = bed.executor();
    let cancel = CancellationToken::new();
    let calls = vec![call("mcp__progress__echo", &json!({"text": "done"}))];
    let mut heard = Vec::new();
    let (outcomes, ()) = tokio::join!(executor.run(calls, &cancel), async {
        while heard.len() < 3 {
            if let Some(ToolEvent::Progress { text, .. }) = events.recv().await {
                heard.push(text);
                // The server takes its next step when it reads something.
                bed.hub.roots_changed().await;
            }
        }
    });
    assert_eq!(outcomes[0].text(), "done");
    assert_eq!(heard, ["1 of 3: step", "2 of 3: step", "3 of 3: step"]);
    bed.end().await;
}
