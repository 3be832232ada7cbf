//! MiniMax M3: every tag stands behind `]<]minimax[>[`, a parameter's tag is its name, and what is nested is nested tags.

use rail_model::Map;
use serde_json::Value;

use super::{Evidence, Family, Found};
use crate::raw;
use crate::schema::Schema;
use crate::text::Reading;
use crate::text::args::{Live, Params};
use crate::text::block::Read;
use crate::text::cx::Cx;

const PREFIX: &str = "]<]minimax[>[";

pub(super) const FAMILY: Family = Family {
    name: "minimax-m3",
    openers: &["]<]minimax[>[<tool_call>", "]<]minimax[>[<invoke"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx)),
};

/// Nothing that is meant is nested deeper.
const DEEPEST: usize = 32;
const LONGEST_TAG: usize = 256;

async fn read(cx: &mut Cx) -> Option<Found> {
    let at = cx.at();
    // Back to the prefix of `<invoke`, which is read like all others; `<tool_call>` says no more than that calls follow.
    if cx.before(at) != Some(b'>') {
        cx.rewind(at.saturating_sub(PREFIX.len() + "<invoke".len()));
    }
    let mut found = Found::default();
    loop {
        let after = cx.at();
        cx.blanks().await;
        match tag(cx).await {
            Some(Tag { closing: true, text }) if text == "tool_call" => {
                found.closed = true;
                break;
            }
            Some(Tag { closing: false, text }) if text == "tool_call" => {}
            Some(Tag { closing: false, text }) if text.starts_with("invoke") => match call(cx, &text).await {
                Some(read) => read.add_to(&mut found),
                None => {
                    cx.rewind(after);
                    break;
                }
            },
            Some(_) | None => {
                cx.rewind(after);
                break;
            }
        }
    }
    (found.given || !found.calls.is_empty()).then_some(found)
}

async fn call(cx: &mut Cx, head: &str) -> Option<Read> {
    let name = attribute(head)?.to_owned();
    let mut params = Params::new(Live::new(name.as_str(), FAMILY.name));
    loop {
        let after = cx.at();
        cx.blanks().await;
        let begun = cx.at();
        match tag(cx).await {
            Some(Tag { closing: true, text }) if text == "invoke" => {
                return Some(Read { call: params.end(cx), closed: true });
            }
            Some(Tag { closing: true, .. }) => {
                cx.rewind(after);
                return Some(Read { call: params.end(cx), closed: false });
            }
            Some(Tag { closing: false, text }) => {
                let key = attribute(&text).unwrap_or(&text).to_owned();
                let Some(node) = element(cx, &text, 0).await else {
                    params.begin(cx, &key, crate::text::args::Said::Json);
                    return Some(Read { call: params.end_of_text(cx), closed: false });
                };
                let value = {
                    let schema = cx.tool(&name).map(Schema::of);
                    value(
                        node,
                        schema.as_ref().and_then(|schema| schema.property(&key)).as_ref(),
                        Depth::Known,
                    )
                };
                params.member(cx, &key, &value);
            }
            None => {
                cx.rewind(begun);
                let torn = cx.until(&[PREFIX], LONGEST_TAG).await.is_none() && cx.is_over().await;
                if torn {
                    return Some(Read { call: params.end_of_text(cx), closed: false });
                }
                cx.rewind(begun);
                return params.is_given().then(|| Read { call: params.cut(cx), closed: false });
            }
        }
    }
}

struct Tag {
    closing: bool,
    text: String,
}

/// A tag with its prefix.
async fn tag(cx: &mut Cx) -> Option<Tag> {
    if !cx.take(PREFIX).await || !cx.take("<").await {
        return None;
    }
    let closing = cx.take("/").await;
    let text = cx.until(&[">", "\n"], LONGEST_TAG).await?;
    cx.take(">").await.then(|| Tag { closing, text: text.trim().to_owned() })
}

/// The value of `name=` in a tag.
fn attribute(tag: &str) -> Option<&str> {
    let (_, value) = tag.split_once("name=")?;
    let value = value.trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then_some(value)
}

enum Node {
    Text(String),
    Nodes(Vec<(String, Node)>),
}

/// What stands between a tag and its closer; None when the text ends before.
fn element<'a>(cx: &'a mut Cx, name: &'a str, depth: usize) -> Reading<'a, Option<Node>> {
    Box::pin(async move {
        let from = cx.at();
        let mut nodes = Vec::new();
        loop {
            let text_from = cx.at();
            while !cx.sees(PREFIX).await {
                cx.peek().await?;
                cx.step();
            }
            let before = cx.at();
            match tag(cx).await {
                Some(Tag { closing: true, text }) => {
                    // A closer of something further out closes this, too.
                    if text != name && Some(text.as_str()) != name.split_whitespace().next() {
                        cx.rewind(before);
                    }
                    return Some(if nodes.is_empty() {
                        Node::Text(cx.slice(from, before).to_owned())
                    } else {
                        Node::Nodes(nodes)
                    });
                }
                Some(Tag { closing: false, text }) if depth < DEEPEST => {
                    let node = element(cx, &text, depth + 1).await?;
                    let key = attribute(&text).map_or(text.clone(), str::to_owned);
                    nodes.push((key, node));
                }
                // A prefix without a tag, or too deep: no more than text.
                Some(_) | None if cx.is_over().await => return None,
                Some(_) | None => {}
            }
            debug_assert!(cx.at() > text_from);
        }
    })
}

/// Whether the schema of a value can be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Known,
    /// Below a list: what is a string here becomes what the schema asks for when the call is settled.
    Unknown,
}

fn value(node: Node, schema: Option<&Schema<'_>>, depth: Depth) -> Value {
    match node {
        Node::Text(text) if depth == Depth::Unknown => Value::from(text),
        Node::Text(text) => raw::from_text(&text, schema),
        Node::Nodes(nodes) if nodes.iter().all(|(name, _)| name == "item") => {
            nodes.into_iter().map(|(_, node)| value(node, None, Depth::Unknown)).collect()
        }
        Node::Nodes(nodes) => {
            let mut map = Map::new();
            for (key, node) in nodes {
                let property = schema.and_then(|schema| schema.property(&key));
                let value = value(node, property.as_ref(), depth);
                match map.get_mut(&key) {
                    Some(Value::Array(list)) => list.push(value),
                    Some(one) => *one = Value::from(vec![one.take(), value]),
                    None => {
                        map.insert(key, value);
                    }
                }
            }
            Value::Object(map)
        }
    }
}
