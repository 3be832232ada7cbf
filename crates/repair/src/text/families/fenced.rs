//! Calls in a code fence: JSON in any of its shapes, or the markup of another format.

use super::{Evidence, Family, First, Found, bare_json, bare_python};
use crate::text::answer;
use crate::text::cx::Cx;
use crate::text::fence::{self, Fence};
use crate::text::openers::{self, Opener};

pub(super) const FAMILY: Family = Family {
    name: "fenced",
    openers: &[],
    evidence: Evidence::Weak(First::Bytes(b"`~")),
    read: |cx| Box::pin(read(cx)),
};

async fn read(cx: &mut Cx) -> Option<Found> {
    let open = fence::open(cx).await?;
    let mut all = Found::default();
    loop {
        cx.blanks().await;
        if fence::close(cx, &open).await {
            all.closed = true;
            break;
        }
        let byte = cx.peek().await;
        let found = match byte {
            None => break,
            Some(b',' | b';') if !all.calls.is_empty() => {
                cx.advance(1);
                continue;
            }
            Some(byte) if openers::may_begin(byte) && openers::here(cx).await.is_some() => marked(cx).await?,
            Some(_) if open.may_hold_calls() => by_shape(cx, &open).await?,
            Some(_) => return None,
        };
        answer::trailer(cx).await;
        all.calls.extend(found.calls);
    }
    Some(all)
}

/// JSON, or a list of Python calls.
async fn by_shape(cx: &mut Cx, open: &Fence) -> Option<Found> {
    let from = cx.at();
    if let Some(found) = bare_json::read(cx, &[open.closer()]).await {
        return Some(found);
    }
    cx.rewind(from);
    if cx.peek().await == Some(b'[') { bare_python::read(cx).await } else { None }
}

/// A call in markup.
async fn marked(cx: &mut Cx) -> Option<Found> {
    match openers::here(cx).await? {
        (Opener::Call(which), length) => answer::read_opener(cx, which, length).await.map(|(_, found)| found),
        (Opener::Think(_) | Opener::Unthink(_), _) => None,
    }
}
