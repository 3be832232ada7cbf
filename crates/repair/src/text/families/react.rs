//! `Action: name` and `Action Input: {…}` on lines of their own; and Command R, whose action is a fenced list of calls.

use serde_json::Value;

use super::{Evidence, Family, First, Found};
use crate::schema::Schema;
use crate::text::args::{Call, Live};
use crate::text::cx::Cx;
use crate::text::json::{self, Scanned};
use crate::text::{Ending, answer, fence, shape};

pub(super) const FAMILY: Family = Family {
    name: "react",
    openers: &[],
    evidence: Evidence::Weak(First::Bytes(b"A*")),
    read: |cx| Box::pin(read(cx)),
};

/// Names are no longer than this.
const MAX_NAME: usize = 200;
/// An input without brackets is no longer than this.
const MAX_INPUT: usize = 64 << 10;

async fn read(cx: &mut Cx) -> Option<Found> {
    if !label(cx, "Action").await {
        return None;
    }
    cx.spaces().await;
    match cx.peek().await? {
        b'\n' | b'\r' | b'`' | b'[' | b'{' => {
            let begun = cx.at();
            cx.blanks().await;
            if matches!(cx.peek().await?, b'`' | b'[' | b'{')
                && let Some(found) = list(cx).await
            {
                return Some(found);
            }
            cx.rewind(begun);
            named(cx).await
        }
        _ => named(cx).await,
    }
}

/// Moves over a label and its colon, which may be bold; the cursor may be anywhere when it is not there.
async fn label(cx: &mut Cx, word: &str) -> bool {
    cx.take("**").await;
    if !cx.take(word).await {
        return false;
    }
    cx.take("**").await;
    cx.spaces().await;
    if !cx.take(":").await {
        return false;
    }
    cx.take("**").await;
    true
}

/// Whether a label stands at the cursor.
async fn is_label(cx: &mut Cx, word: &str) -> bool {
    let from = cx.at();
    let is = label(cx, word).await;
    cx.rewind(from);
    is
}

/// Whether this word is the last of the text: servers that stop before a colon leave its label.
async fn ends_with(cx: &mut Cx, word: &str) -> bool {
    let from = cx.at();
    let ends = cx.take(word).await && cx.is_over().await;
    cx.rewind(from);
    ends
}

async fn named(cx: &mut Cx) -> Option<Found> {
    let line = cx.until(&["\n"], MAX_NAME).await?;
    let name = line.trim().trim_matches(['`', '*', '"', '\'', '[', ']']).to_owned();
    cx.tool(&name)?;
    cx.blanks().await;
    if !label(cx, "Action Input").await {
        return None;
    }
    let call = input(cx, name).await?;
    let after = cx.at();
    cx.blanks().await;
    if is_label(cx, "Observation").await || ends_with(cx, "Observation").await {
        // The model made up what the tool would answer, and all that follows from it.
        while cx.peek().await.is_some() {
            let known = cx.rest().len();
            cx.advance(known);
        }
    } else {
        cx.rewind(after);
    }
    Some(Found { calls: vec![call], given: false, closed: true })
}

async fn input(cx: &mut Cx, name: String) -> Option<Call> {
    cx.spaces().await;
    let begun = cx.at();
    cx.blanks().await;
    if matches!(cx.peek().await, Some(b'{' | b'`')) {
        let live = Live::new(name.clone(), FAMILY.name);
        if let Some((call, _)) = json::arguments(cx, live, &[]).await {
            return call;
        }
    }
    cx.rewind(begun);
    plain(cx, name).await
}

/// An input that is no JSON is the tool's only text.
async fn plain(cx: &mut Cx, name: String) -> Option<Call> {
    let from = cx.at();
    let over = loop {
        if cx.at() - from > MAX_INPUT {
            return None;
        }
        match cx.peek().await {
            None => break true,
            Some(b'\n') => {
                let end = cx.at();
                cx.blanks().await;
                if is_any_label(cx).await {
                    cx.rewind(end);
                    break false;
                }
            }
            Some(_) => cx.step(),
        }
    };
    let text = cx.slice(from, cx.at()).trim().to_owned();
    let cut = over && cx.ending() == Ending::Cut;
    let schema = cx.tool(&name).map(Schema::of);
    if matches!(text.as_str(), "" | "None" | "none" | "null" | "N/A") && !cut {
        let needs = schema.is_some_and(|schema| schema.required().next().is_some());
        return (!needs).then(|| Call::new(name, "{}"));
    }
    let schema = schema?;
    let mut required = schema.required();
    let key = required.next()?;
    if required.next().is_some() || !schema.property(key)?.only_string() {
        return None;
    }
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&text);
    let mut arguments = Value::from(text).to_string();
    if cut {
        arguments.pop();
    }
    Some(Call { cut, ..Call::new(name, arguments) })
}

async fn is_any_label(cx: &mut Cx) -> bool {
    for word in ["Observation", "Thought", "Action Input", "Action", "Final Answer"] {
        if is_label(cx, word).await {
            return true;
        }
    }
    false
}

/// A list of calls, or one, perhaps in a fence.
async fn list(cx: &mut Cx) -> Option<Found> {
    let open = fence::open(cx).await;
    cx.blanks().await;
    if !matches!(cx.peek().await?, b'[' | b'{') {
        return None;
    }
    let from = cx.at();
    let end = json::value(cx, &[], None).await;
    let text = cx.slice(from, cx.at());
    let found = match without_answers(text) {
        None => Found { calls: shape::weak(text, &cx.catalog, end)?, given: false, closed: true },
        Some(rest) if rest.is_empty() => Found { given: true, ..Found::default() },
        Some(rest) => {
            let calls = shape::weak(&Value::from(rest).to_string(), &cx.catalog, end)?;
            Found { calls, given: false, closed: true }
        }
    };
    if end == Scanned::Whole
        && let Some(open) = open
    {
        cx.blanks().await;
        if !fence::close(cx, &open).await {
            answer::cut_tag(cx).await;
            if !cx.is_over().await {
                return None;
            }
        }
    }
    Some(found)
}

/// The items that are left without the tool that stands for no tool at all. None when it is not there.
fn without_answers(text: &str) -> Option<Vec<Value>> {
    let is_answer = |item: &Value| {
        item.get("tool_name")
            .and_then(Value::as_str)
            .is_some_and(|name| matches!(name, "directly-answer" | "directly_answer"))
    };
    let Value::Array(mut items) = crate::json::read_tolerant(text).ok()?.value else { return None };
    let all = items.len();
    items.retain(|item| !is_answer(item));
    (items.len() < all).then_some(items)
}
