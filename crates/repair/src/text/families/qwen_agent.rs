//! Qwen-Agent: `✿FUNCTION✿: NAME`, `✿ARGS✿: {…}`, `✿RESULT✿:` where it stops, or goes on with a result that it made up.

use super::{Evidence, Family, Found};
use crate::text::args::Call;
use crate::text::cx::Cx;
use crate::text::header::{self, Header, LONGEST_NAME, Read};

pub(super) const FAMILY: Family = Family {
    name: "qwen_agent",
    openers: &[FUNCTION],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

const FUNCTION: &str = "✿FUNCTION✿";
const ARGUMENTS: &str = "✿ARGS✿";
const RESULT: &str = "✿RESULT✿";
const RETURN: &str = "✿RETURN✿";
const ENDS: &[&str] = &[RESULT, FUNCTION, RETURN];

async fn read(cx: &mut Cx) -> Option<Found> {
    let mut found = Found::default();
    match one(cx).await? {
        Some(call) => found.add(cx, [call], FAMILY.name),
        None => found.given = true,
    }
    cx.blanks().await;
    found.closed = cx.take(RESULT).await;
    // Within code and in a draft nothing tells how far this goes.
    if found.closed && cx.may_stream {
        // Only the tool can say what it found.
        while !(cx.is_over().await || cx.sees_any(&[FUNCTION, RETURN]).await) {
            cx.step();
        }
    }
    if cx.take(RETURN).await {
        colon(cx).await;
    }
    Some(found)
}

async fn one(cx: &mut Cx) -> Option<Option<Call>> {
    colon(cx).await;
    let name = cx.until(&["\n", "✿"], LONGEST_NAME).await?;
    let header = Header::new(cx, &name, FAMILY.name)?;
    cx.blanks().await;
    if !cx.take(ARGUMENTS).await {
        return None;
    }
    colon(cx).await;
    cx.blanks().await;
    let read = if matches!(cx.peek().await, Some(b'{' | b'`') | None) || cx.sees_any(ENDS).await {
        header::arguments(cx, &header, ENDS).await
    } else {
        // Without JSON only a tool that is known tells a call from a sentence about the marks.
        cx.tool(&header.name)?;
        header::text(cx, &header, ENDS).await
    };
    match read {
        Read::Call(call) => Some(call),
        Read::Nothing => None,
    }
}

async fn colon(cx: &mut Cx) {
    cx.spaces().await;
    cx.take_any(&[":", "："]).await;
    cx.spaces().await;
}
