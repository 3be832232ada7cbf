//! Mistral: `[TOOL_CALLS]` and a list, or `name[ARGS]{…}` with perhaps a `[CALL_ID]` between; the separators get lost now and then.

use super::{Evidence, Family, Found};
use crate::text::args::Call;
use crate::text::cx::Cx;
use crate::text::header::{self, Header, Read};
use crate::text::{json, shape};

pub(super) const FAMILY: Family = Family {
    name: "mistral",
    openers: &["[TOOL_CALLS]"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

const ENDS: &[&str] = &["[TOOL_CALLS]", "[/TOOL_CALLS]", "</s>"];
const ARGUMENTS: &str = "[ARGS]";
const ID: &str = "[CALL_ID]";

async fn read(cx: &mut Cx) -> Option<Found> {
    cx.blanks().await;
    if matches!(cx.peek().await, Some(b'[' | b'{' | b'`')) {
        return json::envelope(cx, FAMILY.name, &["[/TOOL_CALLS]", "</s>"]).await;
    }
    let mut found = Found::default();
    loop {
        let before = cx.at();
        cx.blanks().await;
        match one(cx, found.any()).await {
            Some(Some(call)) => found.add(cx, [call], FAMILY.name),
            Some(None) => found.given = true,
            None if !found.any() => return None,
            None => {
                cx.rewind(before);
                return Some(found);
            }
        }
        cx.take_any(&["[/TOOL_CALLS]", "</s>"]).await;
    }
}

/// One call; within, None is a call that was given out. A second one without an opener of its own must look exactly like one.
async fn one(cx: &mut Cx, second: bool) -> Option<Option<Call>> {
    let spelled = header::word(cx).await;
    let mut header = Header::new(cx, &spelled, FAMILY.name)?;
    if second && cx.tool(&header.name).is_none() {
        return None;
    }
    let glued = cx.sees("{").await;
    cx.blanks().await;
    let mut marked = false;
    if cx.take(ID).await {
        cx.blanks().await;
        let id = header::word(cx).await;
        header.id = Some(id).filter(|id| shape::is_given_id(id));
        cx.blanks().await;
        marked = true;
    }
    marked |= cx.take(ARGUMENTS).await;
    if !(marked || glued || !second && cx.sees("{").await) {
        return None;
    }
    match header::arguments(cx, &header, ENDS).await {
        Read::Call(call) => Some(call),
        Read::Nothing => None,
    }
}
