//! A tool's name alone on the first line, then its arguments: GLM-4-0414. Functionary v3.2 has `>>>` before the name, which then may
//! stand on any line.

use super::{Evidence, Family, First, Found};
use crate::text::args::Live;
use crate::text::cx::Cx;
use crate::text::json::{self, Scanned};

pub(super) const FAMILY: Family = Family {
    name: "named_json",
    openers: &[],
    evidence: Evidence::Weak(First::Word(b"-.>")),
    read: |cx| Box::pin(read(cx)),
};

/// Names are no longer than this.
const MAX_NAME: usize = 128;

async fn read(cx: &mut Cx) -> Option<Found> {
    let begun = cx.at();
    let first = !cx.spoke && cx.slice(cx.unsaid(), begun).trim().is_empty();
    if !(cx.take(">>>").await || first) {
        return None;
    }
    let from = cx.at();
    while let Some(byte) = cx.peek().await {
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) || cx.at() - from > MAX_NAME
        {
            break;
        }
        cx.advance(1);
    }
    let name = cx.slice(from, cx.at()).to_owned();
    // Most answers begin with a word that is no tool and need not wait for what follows it.
    cx.tool(&name)?;
    cx.spaces().await;
    cx.take("\r").await;
    if !cx.take("\n").await {
        return None;
    }
    cx.blanks().await;
    if cx.peek().await != Some(b'{') {
        return None;
    }
    let (call, end) = json::arguments(cx, Live::new(name, FAMILY.name), &[]).await?;
    Some(Found { calls: call.into_iter().collect(), given: false, closed: end == Scanned::Whole })
}
