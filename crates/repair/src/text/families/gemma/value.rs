use rail_model::Map;
use serde_json::Value;

use super::{Dialect, MAX_NAME};
use crate::text::Reading;
use crate::text::cx::Cx;

/// Lists in lists deeper than this are nobody's arguments.
const MAX_DEPTH: usize = 64;

/// Whether a text ends here: the token stands where a value can be over.
pub(super) async fn closes(cx: &mut Cx, dialect: Dialect) -> bool {
    if !cx.sees(dialect.quote).await {
        return false;
    }
    let from = cx.at();
    cx.advance(dialect.quote.len());
    let ends = ends_value(cx, dialect).await;
    cx.rewind(from);
    ends
}

async fn ends_value(cx: &mut Cx, dialect: Dialect) -> bool {
    cx.blanks().await;
    match cx.peek().await {
        None | Some(b',' | b'}' | b']' | b')' | b':') => true,
        Some(b'<') => cx.sees(dialect.closer).await,
        Some(_) => false,
    }
}

/// A key and what stands between it and its value.
pub(super) async fn key(cx: &mut Cx, dialect: Dialect) -> Option<String> {
    let key = if cx.take(dialect.quote).await {
        let key = cx.until(&[dialect.quote], MAX_NAME).await?;
        cx.advance(dialect.quote.len());
        key
    } else if let Some(quote @ (b'"' | b'\'')) = cx.peek().await {
        cx.advance(1);
        let key = cx.until(&[if quote == b'"' { "\"" } else { "'" }], MAX_NAME).await?;
        cx.advance(1);
        key
    } else {
        cx.until(&[":", "=", ",", "}", ")", "{", "<", "\n"], MAX_NAME).await?.trim().to_owned()
    };
    cx.blanks().await;
    (!key.is_empty() && cx.take_any(&[":", "="]).await).then_some(key)
}

/// What a value without quotes stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Within {
    Braces,
    Parentheses,
    List,
}

/// A value without quotes, up to what ends it.
pub(super) async fn bare(cx: &mut Cx, dialect: Dialect, within: Within) -> String {
    let from = cx.at();
    while let Some(byte) = cx.peek().await {
        let ends = match byte {
            b'}' | b']' => true,
            b')' => within == Within::Parentheses && ends_call(cx, dialect).await,
            b',' => within == Within::List || before_key(cx, dialect).await,
            b'<' => cx.sees(dialect.closer).await,
            _ => false,
        };
        if ends {
            break;
        }
        cx.step();
    }
    cx.slice(from, cx.at()).to_owned()
}

async fn ends_call(cx: &mut Cx, dialect: Dialect) -> bool {
    let from = cx.at();
    cx.advance(1);
    let ends = ends_value(cx, dialect).await;
    cx.rewind(from);
    ends
}

async fn before_key(cx: &mut Cx, dialect: Dialect) -> bool {
    let from = cx.at();
    cx.advance(1);
    cx.blanks().await;
    let closer = matches!(cx.peek().await, None | Some(b'}' | b')' | b']'));
    let ends = closer || key(cx, dialect).await.is_some() || cx.is_over().await;
    cx.rewind(from);
    ends
}

/// A value of any kind, read whole. None when it is broken, or the text is over first.
pub(super) fn value(
    cx: &mut Cx,
    dialect: Dialect,
    within: Within,
    depth: usize,
) -> Reading<'_, Option<Value>> {
    Box::pin(async move {
        if depth >= MAX_DEPTH {
            return None;
        }
        cx.blanks().await;
        if cx.take(dialect.quote).await {
            let from = cx.at();
            while !closes(cx, dialect).await {
                cx.peek().await?;
                cx.step();
            }
            let text = cx.slice(from, cx.at()).to_owned();
            cx.advance(dialect.quote.len());
            return Some(Value::from(text));
        }
        match cx.peek().await? {
            b'{' => {
                cx.advance(1);
                object(cx, dialect, depth + 1).await.map(Value::from)
            }
            b'[' => {
                cx.advance(1);
                list(cx, dialect, depth + 1).await.map(Value::from)
            }
            quote @ (b'"' | b'\'') => plain(cx, dialect, quote).await.map(Value::from),
            _ => {
                let raw = bare(cx, dialect, within).await;
                cx.peek().await?;
                Some(scalar(raw.trim()))
            }
        }
    })
}

async fn object(cx: &mut Cx, dialect: Dialect, depth: usize) -> Option<Map> {
    let mut map = Map::new();
    loop {
        cx.blanks().await;
        match cx.peek().await? {
            b'}' => {
                cx.advance(1);
                return Some(map);
            }
            b',' | b']' => {
                cx.advance(1);
                continue;
            }
            _ => {}
        }
        let key = key(cx, dialect).await?;
        map.insert(key, value(cx, dialect, Within::Braces, depth).await?);
    }
}

async fn list(cx: &mut Cx, dialect: Dialect, depth: usize) -> Option<Vec<Value>> {
    let mut items = Vec::new();
    loop {
        cx.blanks().await;
        match cx.peek().await? {
            b']' => {
                cx.advance(1);
                return Some(items);
            }
            b',' | b'}' => {
                cx.advance(1);
                continue;
            }
            _ => {}
        }
        let begun = cx.at();
        items.push(value(cx, dialect, Within::List, depth).await?);
        if cx.at() == begun {
            return None;
        }
    }
}

/// Text between plain quotes, which close only where a value can be over.
async fn plain(cx: &mut Cx, dialect: Dialect, quote: u8) -> Option<String> {
    cx.advance(1);
    let from = cx.at();
    loop {
        let byte = cx.peek().await?;
        if byte == b'\\' {
            cx.advance(1);
            cx.peek().await?;
        } else if byte == quote && ends_call(cx, dialect).await {
            break;
        }
        cx.step();
    }
    let raw = cx.slice(from, cx.at()).to_owned();
    cx.advance(1);
    let escaped = if quote == b'\'' { raw.replace("\\'", "'").replace('"', "\\\"") } else { raw.clone() };
    Some(serde_json::from_str(&format!("\"{escaped}\"")).unwrap_or(raw))
}

fn scalar(raw: &str) -> Value {
    match raw {
        "True" => Value::from(true),
        "False" => Value::from(false),
        "None" => Value::Null,
        _ => serde_json::from_str(raw).unwrap_or_else(|_| Value::from(raw)),
    }
}
