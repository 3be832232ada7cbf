//! `<|tool_call>call:NAME{key:<|"|>text<|"|>,n:3}<tool_call|>`: Gemma 4.

use rail_model::Map;
use serde_json::Value;

use super::{Evidence, Family, Found};
use crate::text::Reading;
use crate::text::args::{Live, Params, Said};
use crate::text::cx::Cx;

pub(super) const FAMILY: Family = Family {
    name: "gemma",
    openers: &["<|tool_call>"],
    evidence: Evidence::Strong,
    read: |cx| Box::pin(read(cx, DIALECT)),
};

const DIALECT: Dialect =
    Dialect { name: "gemma", closer: "<tool_call|>", quote: "<|\"|>", said: Said::String };

/// What differs between the models that write calls this way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    pub(super) name: &'static str,
    pub(super) closer: &'static str,
    /// The token on both sides of a text.
    pub(super) quote: &'static str,
    /// What a value between these tokens is.
    pub(super) said: Said,
}

/// Names and keys are no longer than this.
const MAX_NAME: usize = 128;
/// Lists in lists deeper than this are nobody's arguments.
const MAX_DEPTH: usize = 64;

pub(super) async fn read(cx: &mut Cx, dialect: Dialect) -> Option<Found> {
    let mut found = Found::default();
    loop {
        let begun = cx.at();
        let any = found.given || !found.calls.is_empty();
        cx.blanks().await;
        if any && (cx.take(",").await || cx.take("}").await || cx.take("]").await || cx.take(")").await) {
            continue;
        }
        if any && cx.take(dialect.closer).await {
            found.closed = true;
            return Some(found);
        }
        let head = if cx.take("call:").await || !any { name(cx).await } else { None };
        let Some(name) = head else {
            cx.rewind(begun);
            return any.then_some(found);
        };
        let mut call = Arguments { params: Params::new(Live::new(name, dialect.name)), dialect };
        match call.read(cx).await {
            End::Whole => {
                let call = call.params.end(cx);
                found.given |= call.is_none();
                found.calls.extend(call);
            }
            End::Over => {
                let call = call.params.cut(cx);
                found.given |= call.is_none();
                found.calls.extend(call);
                return Some(found);
            }
            End::Broken if call.params.is_given() => {
                call.params.begin(cx, "", Said::Json);
                call.params.cut(cx);
                found.given = true;
                return Some(found);
            }
            End::Broken => {
                cx.rewind(begun);
                return any.then_some(found);
            }
        }
    }
}

/// Moves over the name and the bracket behind it.
async fn name(cx: &mut Cx) -> Option<String> {
    cx.blanks().await;
    let from = cx.at();
    while let Some(byte) = cx.peek().await {
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/')) {
            break;
        }
        if cx.at() - from >= MAX_NAME {
            return None;
        }
        cx.advance(1);
    }
    let spelled = cx.slice(from, cx.at()).to_owned();
    cx.spaces().await;
    if spelled.is_empty() || !cx.take_any(&["{", "("]).await {
        return None;
    }
    // A namespace that only the server knows may stand before the name.
    let last = spelled.rsplit(':').next().unwrap_or_default();
    let short = cx.tool(&spelled).is_none() && cx.tool(last).is_some();
    Some(if short { last.to_owned() } else { spelled })
}

/// How something in the text ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Whole,
    /// The text was over first.
    Over,
    Broken,
}

struct Arguments {
    params: Params,
    dialect: Dialect,
}

impl Arguments {
    async fn read(&mut self, cx: &mut Cx) -> End {
        let mut comma = false;
        loop {
            cx.blanks().await;
            match cx.peek().await {
                // Behind a comma more was to come, and nobody may take the rest for the whole.
                None if comma => {
                    self.params.begin(cx, "", Said::Json);
                    return End::Over;
                }
                None => return End::Over,
                Some(b'}' | b')') => {
                    cx.advance(1);
                    return End::Whole;
                }
                // A closer of nothing, or a comma too many.
                Some(b']' | b',') => {
                    comma = true;
                    cx.advance(1);
                    continue;
                }
                // Only the bracket is missing.
                Some(b'<') if cx.sees(self.dialect.closer).await => return End::Whole,
                Some(_) => {}
            }
            let Some(key) = key(cx, self.dialect).await else {
                if cx.is_over().await {
                    self.params.begin(cx, "", Said::Json);
                    return End::Over;
                }
                return End::Broken;
            };
            cx.blanks().await;
            match self.value(cx, &key).await {
                End::Whole => {}
                end @ (End::Over | End::Broken) => return end,
            }
            cx.blanks().await;
            comma = cx.take(",").await;
        }
    }

    async fn value(&mut self, cx: &mut Cx, key: &str) -> End {
        if cx.take(self.dialect.quote).await {
            self.params.begin(cx, key, self.dialect.said);
            if !self.quoted(cx).await {
                return End::Over;
            }
            self.params.end_value(cx);
            return End::Whole;
        }
        if matches!(cx.peek().await, Some(b'{' | b'[' | b'"' | b'\'')) {
            return match value(cx, self.dialect, 0).await {
                Some(value) => {
                    self.params.member(cx, key, &value);
                    End::Whole
                }
                None if cx.is_over().await => {
                    self.params.begin(cx, key, Said::Json);
                    End::Over
                }
                None => End::Broken,
            };
        }
        let raw = bare(cx, self.dialect, Within::Call).await;
        self.params.begin(cx, key, Said::Nothing);
        self.params.text(cx, raw.trim());
        if cx.is_over().await {
            return End::Over;
        }
        self.params.end_value(cx);
        End::Whole
    }

    /// Text up to the token that ends it, given out as it comes; false when the text is over first.
    async fn quoted(&mut self, cx: &mut Cx) -> bool {
        loop {
            let rest = cx.rest();
            let plain = rest.find('<').unwrap_or(rest.len());
            if plain > 0 {
                let text = rest.get(..plain).unwrap_or_default().to_owned();
                self.params.text(cx, &text);
                cx.advance(plain);
            }
            if cx.peek().await.is_none() {
                return false;
            }
            if closes(cx, self.dialect).await {
                cx.advance(self.dialect.quote.len());
                return true;
            }
            if cx.sees("<").await {
                self.params.text(cx, "<");
                cx.advance(1);
            }
        }
    }
}

/// Whether a text ends here: the token stands where a value can be over.
async fn closes(cx: &mut Cx, dialect: Dialect) -> bool {
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
async fn key(cx: &mut Cx, dialect: Dialect) -> Option<String> {
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
enum Within {
    /// The call or an object, where a comma comes before another key.
    Call,
    List,
}

/// A value without quotes, up to what ends it.
async fn bare(cx: &mut Cx, dialect: Dialect, within: Within) -> String {
    let from = cx.at();
    while let Some(byte) = cx.peek().await {
        let ends = match byte {
            b'}' | b']' => true,
            b')' => ends_call(cx, dialect).await,
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
fn value(cx: &mut Cx, dialect: Dialect, depth: usize) -> Reading<'_, Option<Value>> {
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
                let within = if depth == 0 { Within::Call } else { Within::List };
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
        map.insert(key, value(cx, dialect, depth).await?);
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
        items.push(value(cx, dialect, depth).await?);
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
