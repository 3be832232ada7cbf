use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::kept;

/// A JSON object whose keys stay in the order they were written.
pub type Map = serde_json::Map<String, Value>;

/// The name of a wire protocol, such as `anthropic` or `openai-chat`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProtocolId(&'static str);

impl ProtocolId {
    /// Names a protocol; each codec does this once.
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name as users write it.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl Serialize for ProtocolId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for ProtocolId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        kept::word(deserializer).map(Self)
    }
}

impl fmt::Display for ProtocolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for ProtocolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Begins the keys under which a codec keeps how a thing was said rather than what: a mark with a value. Never a loss.
pub const NOTE: char = '~';

/// What a codec notes of a call for whoever repairs it. Any protocol may say these, and a stage reads them without knowing
/// which did: [`Extras::noted`], [`Extras::note`].
pub mod mark {
    /// Of a piece of arguments, or of a whole call: the arguments were a JSON object where a string is due.
    pub const OBJECT: &str = "object";
    /// Of a call: its name never came, and the one that it has was made up.
    pub const NAMELESS: &str = "nameless";
    /// Of a call: nothing but its arguments tells it from one that was said before, so it may be that one said again.
    pub const AGAIN: &str = "again";
    /// Of a call, or of a later piece of it: a list of the pieces in which its name came. A note, so its key says so.
    pub const NAMES: &str = "~names";
    /// Of a part of what the user says: it was put beside the user's own words.
    pub const BESIDE: &str = "beside";
}

/// Fields we have no word for, and how the origin spelled those we do: one pointer wide, usually nothing.
#[derive(Clone, Default, PartialEq)]
pub struct Extras(Option<Box<Kept>>);

#[derive(Clone, PartialEq)]
struct Kept {
    origin: ProtocolId,
    rest: Map,
    /// The first mark has its own place: most extras have one mark and nothing else, in streams one a frame.
    mark: Option<&'static str>,
    more_marks: Vec<&'static str>,
}

impl Kept {
    fn new(origin: ProtocolId, rest: Map) -> Box<Self> {
        Box::new(Self { origin, rest, mark: None, more_marks: Vec::new() })
    }

    fn marks(&self) -> impl Iterator<Item = &'static str> {
        self.mark.iter().chain(&self.more_marks).copied()
    }

    fn add_mark(&mut self, mark: &'static str) {
        match self.mark {
            None => self.mark = Some(mark),
            Some(_) if self.marks().any(|known| known == mark) => {}
            Some(_) => self.more_marks.push(mark),
        }
    }
}

impl Extras {
    /// No extras.
    pub const NONE: Self = Self(None);

    /// Keeps the fields that `origin` sent and that were not understood; an empty map is no extras at all.
    pub fn rest(origin: ProtocolId, rest: Map) -> Self {
        if rest.is_empty() { Self(None) } else { Self(Some(Kept::new(origin, rest))) }
    }

    /// True when nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Who said it.
    pub fn origin(&self) -> Option<ProtocolId> {
        self.0.as_ref().map(|kept| kept.origin)
    }

    /// The kept fields, if `protocol` is their origin: they go back to it.
    pub fn owned_by(&self, protocol: ProtocolId) -> Option<&Map> {
        self.0.as_ref().filter(|kept| kept.origin == protocol && !kept.rest.is_empty()).map(|kept| &kept.rest)
    }

    /// One kept field, if `protocol` is its origin.
    pub fn get(&self, protocol: ProtocolId, key: &str) -> Option<&Value> {
        self.owned_by(protocol)?.get(key)
    }

    /// The kept fields that `protocol` will not see, to be named as losses. A null or an empty list says nothing, so it is
    /// no loss; nor is a note of the origin's own codec (a key that begins with [`NOTE`]).
    pub fn lost_on(&self, protocol: ProtocolId) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(move |kept| kept.origin != protocol)
            .flat_map(|kept| kept.rest.iter())
            .filter(|(key, value)| !key.starts_with(NOTE) && says_something(value))
            .map(|(key, _)| key.as_str())
    }

    /// Keeps one more field of `origin`.
    pub fn insert(&mut self, origin: ProtocolId, key: impl Into<String>, value: Value) {
        self.kept(origin).rest.insert(key.into(), value);
    }

    /// Appends to the list kept under `key`, as streams send citations and annotations one by one.
    pub fn append(&mut self, origin: ProtocolId, key: &str, value: Value) {
        let rest = &mut self.kept(origin).rest;
        match rest.get_mut(key) {
            Some(Value::Array(list)) => list.push(value),
            Some(_) | None => {
                rest.insert(key.to_owned(), Value::Array(vec![value]));
            }
        }
    }

    /// Notes how `origin` spelled a thing that we do have a word for. Only that origin's encoder reads it; never a loss.
    pub fn mark(&mut self, origin: ProtocolId, mark: &'static str) {
        self.kept(origin).add_mark(mark);
    }

    /// Whether `protocol` is the origin and noted this spelling.
    pub fn marked(&self, protocol: ProtocolId, mark: &str) -> bool {
        self.0.as_ref().is_some_and(|kept| kept.origin == protocol && kept.marks().any(|known| known == mark))
    }

    /// Whether the origin, whoever it is, noted this; see [`mark`].
    pub fn noted(&self, mark: &str) -> bool {
        self.0.as_ref().is_some_and(|kept| kept.marks().any(|known| known == mark))
    }

    /// What the origin, whoever it is, noted under a key that begins with [`NOTE`].
    pub fn note(&self, key: &str) -> Option<&Value> {
        self.0.as_ref().filter(|_| key.starts_with(NOTE)).and_then(|kept| kept.rest.get(key))
    }

    /// Takes back a mark or a note that is true no more.
    pub fn forget(&mut self, said: &str) {
        let Some(kept) = &mut self.0 else { return };
        kept.more_marks.retain(|known| *known != said);
        if kept.mark == Some(said) {
            kept.mark = kept.more_marks.pop();
        }
        kept.rest.shift_remove(said);
        if kept.mark.is_none() && kept.rest.is_empty() {
            self.0 = None;
        }
    }

    /// Adds what `later` keeps; on the same key the later value stands. Extras of another origin replace these.
    pub fn merge(&mut self, later: Extras) {
        let Some(later) = later.0 else { return };
        match &mut self.0 {
            Some(kept) if kept.origin == later.origin => {
                later.marks().for_each(|mark| kept.add_mark(mark));
                kept.rest.extend(later.rest);
            }
            Some(_) | None => self.0 = Some(later),
        }
    }

    fn kept(&mut self, origin: ProtocolId) -> &mut Kept {
        let kept = self.0.get_or_insert_with(|| Kept::new(origin, Map::new()));
        debug_assert_eq!(kept.origin, origin, "extras have one origin");
        kept
    }
}

fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => map.values().any(says_something),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// How extras are written down.
#[derive(Serialize, Deserialize)]
struct Written<'a> {
    by: ProtocolId,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<Mark>,
    #[serde(default, skip_serializing_if = "kept::is_default", deserialize_with = "kept::tree")]
    rest: Cow<'a, Map>,
}

/// One mark, which is a word of a codec and so like the name of a protocol.
type Mark = ProtocolId;

impl Serialize for Extras {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = self.0.as_ref().map(|kept| Written {
            by: kept.origin,
            marks: kept.marks().map(ProtocolId).collect(),
            rest: Cow::Borrowed(&kept.rest),
        });
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Extras {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Some(written) = Option::<Written<'static>>::deserialize(deserializer)? else {
            return Ok(Self::NONE);
        };
        let mut extras = Self::rest(written.by, written.rest.into_owned());
        written.marks.iter().for_each(|mark| extras.mark(written.by, mark.name()));
        Ok(extras)
    }
}

impl fmt::Debug for Extras {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("-"),
            Some(kept) => {
                let marks: Vec<&str> = kept.marks().collect();
                write!(f, "{}{marks:?}{}", kept.origin, Value::Object(kept.rest.clone()))
            }
        }
    }
}

/// A block or event we have no word for, whole, with who said it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Opaque {
    /// Who said it, and the only one who will see it again.
    pub origin: ProtocolId,
    /// What was said.
    #[serde(deserialize_with = "kept::tree")]
    pub value: Value,
}

/// A signature or encrypted reasoning: opaque to us, and only its issuer may see it again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Seal {
    /// Who can verify it: a protocol's name, or a narrower name a target is configured with.
    pub issuer: String,
    /// The bytes as the issuer spelled them.
    pub data: String,
}

/// Something said that the target cannot be told.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize)]
pub struct Loss {
    /// Where it stood, such as `messages[2].content[0].citations`.
    pub path: String,
    /// Why it is not carried, and what became of it.
    pub reason: String,
}

impl Loss {
    /// Names a loss.
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), reason: reason.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const A: ProtocolId = ProtocolId::new("a");
    const B: ProtocolId = ProtocolId::new("b");

    #[test]
    fn extras_go_back_to_their_origin_and_are_losses_elsewhere() {
        let mut extras = Extras::default();
        extras.insert(A, "top_k", json!(4));
        extras.insert(A, "seed", Value::Null);
        extras.insert(A, "~item", json!({"id": "msg_1"}));
        extras.mark(A, "as-string");
        assert_eq!(extras.owned_by(A).map(Map::len), Some(3));
        assert_eq!(extras.owned_by(B), None);
        assert_eq!(extras.lost_on(A).count(), 0);
        assert_eq!(extras.lost_on(B).collect::<Vec<_>>(), ["top_k"], "a null or a note says nothing");
        assert!(extras.marked(A, "as-string") && !extras.marked(B, "as-string"));
    }

    #[test]
    fn a_stage_reads_notes_of_any_origin_and_takes_them_back() {
        let mut extras = Extras::default();
        extras.mark(A, mark::NAMELESS);
        extras.mark(A, mark::AGAIN);
        extras.insert(A, mark::NAMES, json!(["re", "ad"]));
        extras.insert(A, "field", json!(1));
        assert!(extras.noted(mark::NAMELESS) && extras.noted(mark::AGAIN) && !extras.noted(mark::OBJECT));
        assert_eq!(extras.note(mark::NAMES), Some(&json!(["re", "ad"])));
        assert_eq!(extras.note("field"), None, "a field belongs to its origin");
        extras.forget(mark::NAMELESS);
        assert!(!extras.noted(mark::NAMELESS) && extras.noted(mark::AGAIN));
        ["field", mark::AGAIN, mark::NAMES].iter().for_each(|said| extras.forget(said));
        assert!(extras.is_empty());
    }

    #[test]
    fn extras_are_one_pointer_wide() {
        assert_eq!(size_of::<Extras>(), size_of::<usize>());
    }

    #[test]
    fn merging_keeps_both_and_the_later_value() {
        let mut extras = Extras::default();
        extras.insert(A, "x", json!(1));
        let mut later = Extras::default();
        later.insert(A, "x", json!(2));
        later.append(A, "list", json!("one"));
        extras.merge(later);
        extras.append(A, "list", json!("two"));
        assert_eq!(extras.get(A, "x"), Some(&json!(2)));
        assert_eq!(extras.get(A, "list"), Some(&json!(["one", "two"])));
    }
}
