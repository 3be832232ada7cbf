//! `<tool_calls>` around `<tool_call>`s of any format: Hunyuan 3, and models that mix what they learned.

use super::{Evidence, Family, Found};
use crate::text::answer;
use crate::text::cx::Cx;
use crate::text::marks;
use crate::text::openers::{self, Opener};

pub(super) const FAMILY: Family = Family {
    name: "tool-calls",
    openers: &["<tool_calls>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

/// Reads the calls behind `<tool_calls>`.
pub(super) async fn read(cx: &mut Cx) -> Option<Found> {
    let mut found = Found::default();
    loop {
        let after = cx.at();
        cx.blanks().await;
        if marks::suffixed(cx, "</tool_calls").await {
            found.closed = true;
            break;
        }
        // Some models say the opener twice.
        if marks::suffixed(cx, "<tool_calls").await {
            continue;
        }
        let inner = match openers::here(cx).await {
            Some((Opener::Call(which), length)) if cx.sees("<tool_call").await => {
                answer::read_opener(cx, which, length).await
            }
            Some((Opener::Call(_) | Opener::Think(_) | Opener::Unthink(_), _)) | None => None,
        };
        let Some((_, inner)) = inner else {
            cx.rewind(after);
            break;
        };
        found.given |= inner.given;
        found.calls.extend(inner.calls);
    }
    (found.given || !found.calls.is_empty()).then_some(found)
}
