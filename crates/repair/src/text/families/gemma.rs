//! `<|tool_call>call:NAME{key:<|"|>text<|"|>,n:3}<tool_call|>`: Gemma 4.

mod value;

use super::{Evidence, Family, Found};
use crate::text::args::{Live, Params, Said};
use crate::text::cx::Cx;
use crate::text::json;
use value::{Within, bare, closes, key, value};

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

pub(super) async fn read(cx: &mut Cx, dialect: Dialect) -> Option<Found> {
    let begun = cx.at();
    cx.blanks().await;
    if cx.sees("{").await {
        return json::envelope(cx, dialect.name, &[dialect.closer]).await;
    }
    cx.rewind(begun);
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
        let Some((name, within)) = head else {
            cx.rewind(begun);
            return any.then_some(found);
        };
        let mut call = Arguments { params: Params::new(Live::new(name, dialect.name)), dialect, within };
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
async fn name(cx: &mut Cx) -> Option<(String, Within)> {
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
    let within = match cx.peek().await {
        Some(b'{') => Within::Braces,
        Some(b'(') => Within::Parentheses,
        Some(_) | None => return None,
    };
    if spelled.is_empty() {
        return None;
    }
    cx.advance(1);
    // A namespace that only the server knows may stand before the name.
    let last = spelled.rsplit(':').next().unwrap_or_default();
    let short = cx.tool(&spelled).is_none() && cx.tool(last).is_some();
    Some((if short { last.to_owned() } else { spelled }, within))
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
    within: Within,
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
            return match value(cx, self.dialect, self.within, 0).await {
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
        let raw = bare(cx, self.dialect, self.within).await;
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
