//! JSON calls with nothing around them: an object, a list, one a line, or several with `;` or `,` between.

use super::{Evidence, Family, First, Found};
use crate::Step;
use crate::schema::Schema;
use crate::text::cx::Cx;
use crate::text::json::{self, Scanned};
use crate::text::shape;

pub(super) const FAMILY: Family = Family {
    name: "json",
    openers: &[],
    evidence: Evidence::Weak(First::Bytes(b"{[")),
    read: |cx| Box::pin(read(cx, &[])),
};

/// Reads one JSON value that is a call or a list of calls. One of `closers`, which stay, may end it before its brackets do.
pub(super) async fn read(cx: &mut Cx, closers: &[&str]) -> Option<Found> {
    let from = cx.at();
    if !may_be_call(cx).await {
        return None;
    }
    cx.rewind(from);
    let doubled = json::doubled(cx).await;
    let from = cx.at();
    let end = json::value(cx, closers, None).await;
    let mut calls = shape::weak(cx.slice(from, cx.at()), &cx.catalog, end)?;
    if doubled {
        calls.iter_mut().for_each(|call| call.mended.push(Step::Tolerant));
        while cx.take("}").await {}
    }
    Some(Found { calls, given: false, closed: end == Scanned::Whole })
}

/// Looks at the first keys, up to the arguments: most JSON is no call and need not be held.
async fn may_be_call(cx: &mut Cx) -> bool {
    if cx.take("[").await {
        cx.blanks().await;
    }
    json::doubled(cx).await;
    if !cx.take("{").await {
        return false;
    }
    let mut first = true;
    loop {
        // What stands where a later key should be is for those to judge who read the whole.
        let Some(key) = word(cx).await else { return !first };
        if !shape::may_begin_call(&key) && (first || !may_stand_beside(cx, &key)) {
            return false;
        }
        first = false;
        cx.blanks().await;
        if !cx.take(":").await {
            return false;
        }
        cx.blanks().await;
        if shape::is_name_key(&key) {
            match cx.peek().await {
                Some(b'"' | b'\'') => {
                    let name = word(cx).await;
                    if !name.is_some_and(|name| name.ends_with("parallel") || cx.tool(&name).is_some()) {
                        return false;
                    }
                }
                Some(b'{') => return true,
                Some(_) | None => return false,
            }
        } else if shape::is_extra_key(&key) {
            if json::value(cx, &[], None).await != Scanned::Whole {
                return true;
            }
        } else {
            return true;
        }
        cx.blanks().await;
        if !cx.take(",").await {
            return true;
        }
    }
}

/// Whether a key may stand in a call although it is none of a call's own: a message around calls has it, or the arguments
/// stand beside the name.
fn may_stand_beside(cx: &Cx, key: &str) -> bool {
    matches!(key, "role" | "content") || cx.catalog.tools().iter().any(|tool| Schema::of(tool).declares(key))
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
