//! Apertus: `<|tools_prefix|>[{"name": {…}}]<|tools_suffix|>`, where the name is the key.

use super::{Evidence, Family, Found};
use crate::text::args::Call;
use crate::text::cx::Cx;
use crate::text::header::{self, Header, LONGEST_NAME, Read};
use crate::text::json;

pub(super) const FAMILY: Family = Family {
    name: "apertus",
    openers: &["<|tools_prefix|>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

const ENDS: &[&str] = &["<|tools_suffix|>"];

async fn read(cx: &mut Cx) -> Option<Found> {
    let begun = cx.at();
    let mut found = Found::default();
    cx.blanks().await;
    cx.take("[").await;
    loop {
        let before = cx.at();
        cx.blanks().await;
        if found.any() {
            cx.take(",").await;
            cx.blanks().await;
            if cx.take_any(ENDS).await {
                found.closed = true;
                return Some(found);
            }
        }
        match one(cx, !found.any()).await {
            Some(Some(call)) => found.add(cx, [call], FAMILY.name),
            Some(None) => found.given = true,
            None if found.any() => {
                cx.rewind(before);
                return Some(found);
            }
            // Perhaps it writes calls the way all others do.
            None => {
                cx.rewind(begun);
                return json::envelope(cx, FAMILY.name, ENDS).await;
            }
        }
    }
}

/// One member of an object, which is a call; within, None is a call that was given out.
async fn one(cx: &mut Cx, first: bool) -> Option<Option<Call>> {
    if !cx.take("{").await && first {
        return None;
    }
    cx.blanks().await;
    if !cx.take("\"").await {
        return None;
    }
    let name = cx.until(&["\"", "\n"], LONGEST_NAME).await?;
    if !cx.take("\"").await {
        return None;
    }
    cx.blanks().await;
    if !cx.take(":").await {
        return None;
    }
    cx.blanks().await;
    if !matches!(cx.peek().await, Some(b'{') | None) {
        return None;
    }
    let header = Header::new(cx, &name, FAMILY.name)?;
    // The brackets of the list and of the member's object are taken with the arguments.
    match header::arguments(cx, &header, ENDS).await {
        Read::Call(call) => Some(call),
        Read::Nothing => None,
    }
}
