use std::collections::BTreeSet;

use serde_json::Value;

use super::cx::Cx;
use super::{Ending, Piece};
use crate::schema::Schema;
use crate::{Step, raw};

/// A call that was read whole, or as far as it went.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Call {
    /// The id the model gave, where the format has one that matters.
    pub(super) id: Option<String>,
    /// The name as the model spelled it.
    pub(super) name: String,
    /// The arguments as JSON text; visibly cut when the call is.
    pub(super) arguments: String,
    /// What was mended on the way.
    pub(super) mended: Vec<Step>,
    /// The text ended inside it.
    pub(super) cut: bool,
}

impl Call {
    /// A whole call.
    pub(super) fn new(name: impl Into<String>, arguments: impl Into<String>) -> Self {
        Self { id: None, name: name.into(), arguments: arguments.into(), mended: Vec::new(), cut: false }
    }
}

/// A call that is being read. It is held while it is short, because a body that turns out not to be one is text; a long one
/// of a declared tool is given out as it comes.
pub(super) struct Live {
    id: Option<String>,
    name: String,
    format: &'static str,
    json: String,
    given: bool,
}

/// Calls up to this many bytes of arguments are held whole: nobody notices, and they can still turn out to be text.
const HELD: usize = 1024;

impl Live {
    pub(super) fn new(name: impl Into<String>, format: &'static str) -> Self {
        Self { id: None, name: name.into(), format, json: String::new(), given: false }
    }

    pub(super) fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Whether it was given out, so that it can't be text any more.
    pub(super) fn is_given(&self) -> bool {
        self.given
    }

    /// More of the arguments, as JSON text.
    pub(super) fn push(&mut self, cx: &mut Cx, json: &str) {
        self.json.push_str(json);
        if !self.given && self.json.len() > HELD && cx.may_stream && cx.tool(&self.name).is_some() {
            self.given = true;
            cx.cut_out_markup();
            let begin = Piece::Begin { id: self.id.take(), name: self.name.clone(), format: self.format };
            cx.give(begin);
        }
        if self.given && !self.json.is_empty() {
            cx.give(Piece::Arguments(std::mem::take(&mut self.json)));
            cx.skip_said();
        }
    }

    /// The call is over; None when it was given out already.
    pub(super) fn end(self, cx: &mut Cx, cut: bool) -> Option<Call> {
        if self.given {
            cx.give(Piece::End);
            return None;
        }
        Some(Call { id: self.id, name: self.name, arguments: self.json, mended: Vec::new(), cut })
    }
}

/// The arguments of a call whose parameters come one by one as raw text. The schema decides what they are: strings can be
/// given out as they come, everything else when it is whole.
pub(super) struct Params {
    live: Live,
    open: Option<Open>,
    keys: BTreeSet<String>,
}

struct Open {
    key: String,
    said: Said,
    /// The value is a string whatever it looks like.
    string: bool,
    raw: String,
}

/// What a parameter's value is, where the format itself says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Said {
    /// The schema decides.
    Nothing,
    /// It is a string.
    String,
    /// It is JSON; a string if it can't be read so.
    Json,
}

impl Params {
    pub(super) fn new(live: Live) -> Self {
        Self { live, open: None, keys: BTreeSet::new() }
    }

    /// A parameter begins; one that was not closed is over.
    pub(super) fn begin(&mut self, cx: &mut Cx, key: &str, said: Said) {
        self.end_value(cx);
        let schema = cx.tool(&self.live.name).map(Schema::of);
        let only_string =
            schema.as_ref().and_then(|schema| schema.property(key)).is_some_and(|value| value.only_string());
        let string = said == Said::String || (said == Said::Nothing && only_string);
        let head = self.key(key);
        self.live.push(cx, &head);
        if string {
            self.live.push(cx, "\"");
        }
        self.open = Some(Open { key: key.to_owned(), said, string, raw: String::new() });
    }

    /// What stands before the value of a key.
    fn key(&mut self, key: &str) -> String {
        let comma = if self.keys.is_empty() { "{" } else { ", " };
        self.keys.insert(key.to_owned());
        format!("{comma}{}: ", Value::from(key))
    }

    /// Whether a parameter of this name may still come: the tool declares it and it was not there yet. None when nothing is
    /// known of the tool's parameters.
    pub(super) fn awaits(&self, cx: &Cx, key: &str) -> Option<bool> {
        let schema = cx.tool(&self.live.name).map(Schema::of)?;
        Some(schema.declares(key) && !self.keys.contains(key))
    }

    /// More of the parameter's value.
    pub(super) fn text(&mut self, cx: &mut Cx, raw: &str) {
        match &mut self.open {
            Some(open) if open.string => {
                let escaped = Value::from(raw).to_string();
                let inner = escaped.get(1..escaped.len() - 1).unwrap_or_default().to_owned();
                self.live.push(cx, &inner);
            }
            Some(open) => open.raw.push_str(raw),
            None => {}
        }
    }

    /// The parameter is whole.
    pub(super) fn end_value(&mut self, cx: &mut Cx) {
        let Some(open) = self.open.take() else { return };
        if open.string {
            self.live.push(cx, "\"");
            return;
        }
        let value = match open.said {
            Said::Json => crate::json::read_strict(open.raw.trim())
                .filter(|(_, end)| *end == open.raw.trim().len())
                .map_or_else(|| Value::from(open.raw.as_str()), |(value, _)| value),
            Said::String => Value::from(open.raw.as_str()),
            Said::Nothing => {
                let schema = cx.tool(&self.live.name).map(Schema::of);
                let property = schema.as_ref().and_then(|schema| schema.property(&open.key));
                raw::from_text(&open.raw, property.as_ref())
            }
        };
        let text = value.to_string();
        self.live.push(cx, &text);
    }

    /// A whole value that is already JSON.
    pub(super) fn member(&mut self, cx: &mut Cx, key: &str, value: &Value) {
        self.end_value(cx);
        let text = format!("{}{value}", self.key(key));
        self.live.push(cx, &text);
    }

    /// The call is whole; None when it was given out already.
    pub(super) fn end(mut self, cx: &mut Cx) -> Option<Call> {
        self.end_value(cx);
        self.live.push(cx, if self.keys.is_empty() { "{}" } else { "}" });
        self.live.end(cx, false)
    }

    /// The text ended inside the call. The arguments stay visibly open: whether closers may be added when nothing else is
    /// missing depends on the tool, and who settles the call decides.
    pub(super) fn end_of_text(self, cx: &mut Cx) -> Option<Call> {
        let is_cut = self.open.is_some() || cx.ending() == Ending::Cut;
        self.cut(cx).map(|call| Call { cut: is_cut, ..call })
    }

    /// The text ended inside the call: its arguments stay visibly cut.
    pub(super) fn cut(mut self, cx: &mut Cx) -> Option<Call> {
        match self.open.take() {
            // What came so far may change its type, so only that something is missing can be said.
            Some(open) if !open.string => self.live.push(cx, "\""),
            Some(_) => {}
            None if self.keys.is_empty() => self.live.push(cx, "{"),
            None => {}
        }
        self.live.end(cx, true)
    }

    /// Whether it was given out, so that it can't be text any more.
    pub(super) fn is_given(&self) -> bool {
        self.live.is_given()
    }
}
