//! `<tool_call>{"name": …, "arguments": {…}}</tool_call>`: Hermes, Qwen 2.5 and 3, Granite 3.1 and 4, and many others.

use super::{Evidence, Family, Found};
use crate::text::cx::Cx;
use crate::text::json;

pub(super) const FAMILY: Family =
    Family { name: "hermes", openers: OPENERS, evidence: Evidence::Strong, read: |cx| Box::pin(read(cx)) };

const OPENERS: &[&str] = &["<tool_call>", "<longcat_tool_call>"];
const CLOSERS: &[&str] = &["</tool_call>", "</longcat_tool_call>"];

async fn read(cx: &mut Cx) -> Option<Found> {
    cx.blanks().await;
    // Some models say the opener twice.
    while cx.take_any(OPENERS).await {
        cx.blanks().await;
    }
    json::envelope(cx, FAMILY.name, CLOSERS).await
}
