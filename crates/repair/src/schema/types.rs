//! The types that a schema allows.

use std::ops::{BitAnd, BitOr};

use serde_json::Value;

use super::{Fuel, Schema, alternatives};

/// A type of JSON Schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::Null, Self::Boolean, Self::Integer, Self::Number, Self::String, Self::Array, Self::Object];

    /// The narrowest type of a value.
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(number) if is_whole(&number.to_string()) => Self::Integer,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    /// The word that schemas use, with an article.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }

    fn bit(self) -> Types {
        Types(1 << self as u8)
    }
}

/// Whether a number as JSON spells it has no fraction: `5`, `5.0`, `1e3`.
fn is_whole(spelled: &str) -> bool {
    let (mantissa, exponent) = spelled.split_once(['e', 'E']).unwrap_or((spelled, "0"));
    let fraction = mantissa.split_once('.').map_or("", |(_, fraction)| fraction).trim_end_matches('0');
    exponent.parse::<i64>().is_ok_and(|exponent| exponent >= 0 && fraction.len() as i64 <= exponent)
}

/// A set of types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const ALL: Self = Self(0x7f);
    pub(crate) const STRING: Self = Self(1 << Kind::String as u8);

    /// Whether a type is in the set; an integer is a number too.
    pub(crate) fn has(self, kind: Kind) -> bool {
        self & kind.bit() != Self::NONE || (kind == Kind::Integer && self & Kind::Number.bit() != Self::NONE)
    }

    /// The set without a type.
    pub(crate) fn without(self, kind: Kind) -> Self {
        Self(self.0 & !kind.bit().0)
    }

    /// The types of the set in words: `a string or null`.
    pub(crate) fn words(self) -> String {
        // An integer is a number, so the wider word says it all.
        let named = if self.has(Kind::Number) { self.without(Kind::Integer) } else { self };
        let words: Vec<&str> =
            Kind::ALL.into_iter().filter(|kind| named & kind.bit() != Self::NONE).map(Kind::words).collect();
        match words.split_first() {
            None => "nothing".to_owned(),
            Some((null, others)) if *null == Kind::Null.words() && !others.is_empty() => {
                format!("{} or {null}", others.join(" or "))
            }
            Some(_) => words.join(" or "),
        }
    }
}

impl BitOr for Types {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Types {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl FromIterator<Kind> for Types {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::NONE, |set, kind| set | kind.bit())
    }
}

/// The types that all views of a schema allow together.
pub(super) fn of(schema: Schema<'_>, fuel: &Fuel) -> Types {
    within(schema, fuel, 0)
}

fn within(schema: Schema<'_>, fuel: &Fuel, depth: usize) -> Types {
    let mut types = Types::ALL;
    let mut nullable = false;
    for view in schema.views() {
        // Alternatives may contain themselves; what is that deep says nothing.
        if !fuel.step() || depth > 32 {
            return Types::ALL;
        }
        nullable |= view.get("nullable") == Some(&Value::Bool(true));
        types = types & own(view);
        let branches: Vec<Types> =
            alternatives(view).map(|node| within(schema.at(node), fuel, depth + 1)).collect();
        if !branches.is_empty() {
            types = types & branches.into_iter().fold(Types::NONE, BitOr::bitor);
        }
    }
    if nullable { types | Kind::Null.bit() } else { types }
}

/// What a node says itself: its `type`, or what its other words are only said of.
fn own(view: &Value) -> Types {
    let listed = match (view.get("const"), view.get("enum")) {
        (Some(only), _) => widened(Kind::of(only)),
        (None, Some(Value::Array(list))) => {
            list.iter().map(Kind::of).map(widened).fold(Types::NONE, BitOr::bitor)
        }
        (None, _) => Types::ALL,
    };
    let stated = match view.get("type") {
        Some(Value::String(word)) => named(word),
        Some(Value::Array(words)) => {
            words.iter().filter_map(Value::as_str).map(named).fold(Types::NONE, BitOr::bitor)
        }
        Some(_) | None if view.get("properties").is_some() => Kind::Object.bit(),
        Some(_) | None if view.get("items").is_some() || view.get("prefixItems").is_some() => {
            Kind::Array.bit()
        }
        Some(_) | None => Types::ALL,
    };
    // `integer` is part of `number`, so a list of whole numbers under it is still one of numbers.
    let both = listed & stated;
    if both == Types::NONE { stated } else { both }
}

/// A whole number among the allowed values says that numbers are allowed.
fn widened(kind: Kind) -> Types {
    match kind {
        Kind::Integer => Kind::Integer.bit() | Kind::Number.bit(),
        Kind::Null | Kind::Boolean | Kind::Number | Kind::String | Kind::Array | Kind::Object => kind.bit(),
    }
}

/// A type by its word. Some dialects write it in capitals; one that nobody knows may be anything.
fn named(word: &str) -> Types {
    match word.to_ascii_lowercase().as_str() {
        "null" => Kind::Null.bit(),
        "boolean" => Kind::Boolean.bit(),
        "integer" => Kind::Integer.bit(),
        "number" => Kind::Integer.bit() | Kind::Number.bit(),
        "string" => Types::STRING,
        "array" => Kind::Array.bit(),
        "object" => Kind::Object.bit(),
        _ => Types::ALL,
    }
}
