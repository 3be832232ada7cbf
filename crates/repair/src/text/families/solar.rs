//! Solar Open: `<|tool_call:begin|>ID<|tool_call:name|>NAME<|tool_call:args|>{…}<|tool_call:end|>`.

use super::{Evidence, Family, Found};
use crate::text::cx::Cx;
use crate::text::header::{self, Header, LONGEST_NAME, Read};

pub(super) const FAMILY: Family = Family {
    name: "solar",
    openers: &["<|tool_call:begin|>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

const ENDS: &[&str] = &["<|tool_call:end|>"];

async fn read(cx: &mut Cx) -> Option<Found> {
    cx.until(&["<", "\n"], LONGEST_NAME).await?;
    if !cx.take("<|tool_call:name|>").await {
        return None;
    }
    let name = cx.until(&["<", "{", "\n"], LONGEST_NAME).await?;
    cx.blanks().await;
    if !cx.take("<|tool_call:args|>").await && !cx.sees("{").await {
        return None;
    }
    let header = Header::new(cx, &name, FAMILY.name)?;
    let mut found = Found::default();
    match header::arguments(cx, &header, ENDS).await {
        Read::Call(Some(call)) => found.add(cx, [call], FAMILY.name),
        Read::Call(None) => found.given = true,
        Read::Nothing => return None,
    }
    cx.blanks().await;
    found.closed = cx.take_any(ENDS).await;
    Some(found)
}
