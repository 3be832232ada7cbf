//! JSON calls with nothing around them: an object, a list, one a line, or several with `;` or `,` between.

use super::{Evidence, Family, Found};
use crate::text::cx::Cx;
use crate::text::json::{self, Scanned};
use crate::text::shape;

pub(super) const FAMILY: Family =
    Family { name: "json", openers: &[], evidence: Evidence::Weak, read: |cx| Box::pin(read(cx, &[])) };

/// Reads one JSON value that is a call or a list of calls. One of `closers`, which stay, may end it before its brackets do.
pub(super) async fn read(cx: &mut Cx, closers: &[&str]) -> Option<Found> {
    let from = cx.at();
    if !may_be_call(cx).await {
        return None;
    }
    cx.rewind(from);
    let end = json::value(cx, closers, None).await;
    let calls = shape::weak(cx.slice(from, cx.at()), &cx.catalog, end)?;
    Some(Found { calls, given: false, closed: end == Scanned::Whole })
}

/// Looks at the first key, and at the name if it comes first: most JSON is no call and need not be held.
async fn may_be_call(cx: &mut Cx) -> bool {
    if cx.take("[").await {
        cx.blanks().await;
    }
    if !cx.take("{").await {
        return false;
    }
    let Some(key) = word(cx).await else { return false };
    if !shape::may_begin_call(&key) {
        return false;
    }
    cx.blanks().await;
    if !cx.take(":").await {
        return false;
    }
    if !shape::is_name_key(&key) {
        return true;
    }
    cx.blanks().await;
    match cx.peek().await {
        Some(b'"' | b'\'') => {
            word(cx).await.is_some_and(|name| name.ends_with("parallel") || cx.tool(&name).is_some())
        }
        Some(b'{') => true,
        Some(_) | None => false,
    }
}

/// A short string without escapes.
async fn word(cx: &mut Cx) -> Option<String> {
    const LONGEST: usize = 200;
    cx.blanks().await;
    let quote = match cx.peek().await {
        Some(b'"') => "\"",
        Some(b'\'') => "'",
        Some(_) | None => return None,
    };
    cx.advance(1);
    let word = cx.until(&[quote, "\n"], LONGEST).await?;
    cx.take(quote).await.then_some(word)
}
