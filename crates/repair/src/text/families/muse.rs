//! ` to=NAME<|message|><atem:function_calls>…<|eom|>`: Muse Glimmer. The head of the message stands at the start of the answer.

use super::{Evidence, Family, First, Found, invoke};
use crate::text::block;
use crate::text::cx::Cx;
use crate::text::marks::{self, Mark};

pub(super) const FAMILY: Family = Family {
    name: "muse",
    openers: &[],
    evidence: Evidence::Weak(First::Bytes(b"t")),
    read: |cx| Box::pin(read(cx)),
};

async fn read(cx: &mut Cx) -> Option<Found> {
    if !cx.take("to=").await {
        return None;
    }
    marks::word(cx).await?;
    if !cx.take("<|message|>").await {
        return None;
    }
    cx.blanks().await;
    if marks::mark(cx, &invoke::DIALECT).await != Some(Mark::Wrap) {
        return None;
    }
    block::calls(cx, &invoke::DIALECT).await
}
