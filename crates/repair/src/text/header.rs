use serde_json::Value;

use super::args::{Call, Live};
use super::cx::Cx;
use super::{Ending, json};
use crate::schema::Schema;
use crate::{Catalog, Tool};

/// No name that stands in a header is longer.
pub(super) const LONGEST_NAME: usize = 128;

/// What a format says of a call before its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Header {
    /// The id, where it must go back as it is.
    pub(super) id: Option<String>,
    /// The name as the model spelled it, without what the format itself puts around names.
    pub(super) name: String,
    /// The format.
    pub(super) format: &'static str,
}

impl Header {
    /// A call by a name that stands between markup. None when no tool could be called so.
    pub(super) fn new(cx: &Cx, spelled: &str, format: &'static str) -> Option<Self> {
        let name = bare_name(&cx.catalog, spelled.trim());
        let fits = !name.is_empty()
            && name.len() <= LONGEST_NAME
            && !name.contains(|c: char| c.is_control() || matches!(c, '<' | '>' | '{' | '}' | '[' | ']'));
        fits.then(|| Self { id: None, name: name.to_owned(), format })
    }

    fn live(&self) -> Live {
        let live = Live::new(self.name.clone(), self.format);
        match &self.id {
            Some(id) => live.with_id(id.clone()),
            None => live,
        }
    }

    /// A whole call with these arguments.
    pub(super) fn call(&self, arguments: &str) -> Call {
        Call { id: self.id.clone(), ..Call::new(self.name.clone(), arguments) }
    }

    /// A call that the text ended in before its arguments.
    fn cut(&self) -> Call {
        Call { cut: true, ..self.call("{") }
    }
}

/// A name without what OpenAI's and Kimi's formats put around it; a declared name is always meant as it is.
fn bare_name<'a>(catalog: &Catalog, spelled: &'a str) -> &'a str {
    if catalog.get(spelled).is_some() {
        return spelled;
    }
    let name = spelled.strip_prefix("functions.").unwrap_or(spelled);
    match name.strip_suffix("json") {
        Some(short) if catalog.get(name).is_none() && catalog.get(short).is_some() => short,
        Some(_) | None => name,
    }
}

/// Moves over characters that names are made of, and gives them.
pub(super) async fn word(cx: &mut Cx) -> String {
    let from = cx.at();
    while cx.at() - from <= LONGEST_NAME
        && cx.peek().await.is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b'/') || byte >= 0x80
        })
    {
        cx.step();
    }
    cx.slice(from, cx.at()).to_owned()
}

/// What became of a call's arguments.
pub(super) enum Read {
    /// The call; None when it was given out already.
    Call(Option<Call>),
    /// They are none, so it is no call.
    Nothing,
}

/// Reads the arguments that follow a header as JSON. `ends` are the words that may close the call; they stay. A call that is
/// closed at once has no arguments.
pub(super) async fn arguments(cx: &mut Cx, header: &Header, ends: &[&str]) -> Read {
    cx.blanks().await;
    if cx.sees_any(ends).await {
        return Read::Call(Some(header.call("{}")));
    }
    match json::arguments(cx, header.live(), ends).await {
        Some((call, _)) => {
            cx.blanks().await;
            while matches!(cx.peek().await, Some(b'}' | b']')) {
                cx.advance(1);
                cx.blanks().await;
            }
            Read::Call(call)
        }
        None if cx.is_over().await => Read::Call(Some(header.cut())),
        None => Read::Nothing,
    }
}

/// Reads text up to one of `ends`, which stays, or to the end, as the one argument of a call: code for an interpreter. Within
/// code and in a draft only one of `ends` tells where it stops.
pub(super) async fn text(cx: &mut Cx, header: &Header, ends: &[&str]) -> Read {
    let key = cx.tool(&header.name).and_then(only_text).map(str::to_owned);
    let (open, close) = match key {
        Some(key) => (format!("{{{}: \"", Value::from(key)), "\"}"),
        None => ("\"".to_owned(), "\""),
    };
    let mut live = header.live();
    live.push(cx, &open);
    let mut sent = cx.at();
    let closed = loop {
        if cx.known().is_none() {
            sent = send(cx, &mut live, sent);
        }
        if cx.is_over().await {
            if !cx.may_stream {
                return Read::Nothing;
            }
            break cx.ending() != Ending::Cut;
        }
        if cx.sees_any(ends).await {
            break true;
        }
        cx.step();
    };
    send(cx, &mut live, sent);
    if closed {
        live.push(cx, close);
    }
    Read::Call(live.end(cx, !closed))
}

fn send(cx: &mut Cx, live: &mut Live, sent: usize) -> usize {
    let at = cx.at();
    let escaped = Value::from(cx.slice(sent, at)).to_string();
    let inner = escaped.get(1..escaped.len() - 1).unwrap_or_default().to_owned();
    if !inner.is_empty() {
        live.push(cx, &inner);
    }
    at
}

/// The one parameter that text without a name must mean: the only required one, if it is a string.
pub(super) fn only_text(tool: &Tool) -> Option<&str> {
    let schema = Schema::of(tool);
    let mut required = schema.required();
    let key = required.next()?;
    let string = schema.property(key)?.only_string();
    (string && required.next().is_none()).then_some(key)
}
