//! JSON objects as structs that keep what they do not know.
//!
//! [`wire!`] makes a struct whose fields are all optional. What a codec understands it takes out (`field.take()`); what
//! remains, known name or not, comes back from `leftovers()` and is kept as extras. So nothing can be dropped by
//! forgetting it, and a chunk with no unknown field costs no map.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use rail_model::Map;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// Unknown fields; almost always none.
pub(crate) type Rest = Option<Box<Map>>;

/// `wire! { struct Name keep { field: Type, other as "jsonName": Type } }`; `keep` keeps explicit nulls, `drop` reads
/// them as absent, which is right only for stream frames, where they are noise; `proto` keeps them and also reads
/// `jsonName` spelled `json_name`, as protocol buffers allow.
macro_rules! wire {
    ($($(#[$meta:meta])* struct $name:ident $(<$lt:lifetime>)? $nulls:ident {
        $($field:ident $(as $key:literal)? : $ty:ty),* $(,)?
    })*) => {$(
        $(#[$meta])*
        #[derive(Default, Debug, Clone)]
        pub(crate) struct $name $(<$lt>)? {
            $(pub(crate) $field: Option<$ty>,)*
            pub(crate) rest: $crate::shape::Rest,
        }

        const _: () = {
            use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
            use serde::ser::{Serialize, SerializeMap, Serializer};

            struct Reader<T>(std::marker::PhantomData<T>);

            impl<'de $(, $lt)?> Visitor<'de> for Reader<$name $(<$lt>)?> where $('de: $lt)? {
                type Value = $name $(<$lt>)?;

                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                    let mut read = $name::default();
                    while let Some(key) = map.next_key::<$crate::shape::Str<'de>>()? {
                        let key = wire!(@spelled $nulls key);
                        $(if wire!(@is $nulls key, wire!(@key $field $($key)?)) {
                            wire!(@twice $nulls read.$field, read.rest, key, map, wire!(@key $field $($key)?));
                            read.$field = map.next_value()?;
                            wire!(@null $nulls read.$field, read.rest, key);
                            continue;
                        })*
                        if &*key == $crate::shape::NUMBER {
                            return Err(serde::de::Error::custom("invalid type: number, expected an object"));
                        }
                        let value = map.next_value()?;
                        read.rest.get_or_insert_default().insert(key.into_string(), value);
                    }
                    Ok(read)
                }
            }

            impl<'de $(, $lt)?> Deserialize<'de> for $name $(<$lt>)? where $('de: $lt)? {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    deserializer.deserialize_map(Reader(std::marker::PhantomData))
                }
            }

            impl $(<$lt>)? Serialize for $name $(<$lt>)? {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    let mut map = serializer.serialize_map(None)?;
                    $(if let Some(value) = &self.$field {
                        map.serialize_entry(wire!(@key $field $($key)?), value)?;
                    })*
                    for (key, value) in self.rest.iter().flat_map(|rest| rest.iter()) {
                        // A field that we set ourselves stands; the kept one would be a duplicate key.
                        let taken = false $(|| (self.$field.is_some() && key == wire!(@key $field $($key)?)))*;
                        if !taken {
                            map.serialize_entry(key, value)?;
                        }
                    }
                    map.end()
                }
            }

            impl $(<$lt>)? $name $(<$lt>)? {
                /// What was not taken out, under the names it came with.
                #[allow(dead_code, clippy::allow_attributes, reason = "not every shape is taken apart")]
                pub(crate) fn leftovers(self) -> rail_model::Map {
                    let mut left = rail_model::Map::new();
                    $(if let Some(value) = &self.$field {
                        let value = serde_json::to_value(value).unwrap_or(serde_json::Value::Null);
                        left.insert(wire!(@key $field $($key)?).to_owned(), value);
                    })*
                    if let Some(rest) = self.rest {
                        left.extend(*rest);
                    }
                    left
                }

                /// Puts kept fields beside the known ones.
                #[allow(dead_code, clippy::allow_attributes, reason = "not every shape is put together")]
                pub(crate) fn with_rest(mut self, rest: Option<&rail_model::Map>) -> Self {
                    if let Some(rest) = rest {
                        self.rest.get_or_insert_default().extend(rest.clone());
                    }
                    self
                }
            }
        };
    )*};
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@null keep $slot:expr, $rest:expr, $key:ident) => {
        if $slot.is_none() {
            $rest.get_or_insert_default().insert($key.into_string(), serde_json::Value::Null);
        }
    };
    (@null drop $slot:expr, $rest:expr, $key:ident) => {};
    (@null proto $slot:expr, $rest:expr, $key:ident) => { wire!(@null keep $slot, $rest, $key) };
    // Looked at once a key, not once a field: nearly all keys are in the first spelling.
    (@spelled proto $key:ident) => { $crate::shape::Spelled { snake: $key.contains('_'), key: $key } };
    (@spelled $nulls:ident $key:ident) => { $key };
    (@is proto $key:ident, $name:expr) => { $key.is($name) };
    (@is $nulls:ident $key:ident, $name:expr) => { &*$key == $name };
    // Said in both spellings: `jsonName` counts, the other is kept as it came.
    (@twice proto $slot:expr, $rest:expr, $key:ident, $map:ident, $name:expr) => {
        if $slot.is_some() && &*$key != $name {
            $rest.get_or_insert_default().insert($key.into_string(), $map.next_value()?);
            continue;
        }
        if let Some(other) = $slot.take() {
            let other = serde_json::to_value(other).unwrap_or(serde_json::Value::Null);
            $rest.get_or_insert_default().insert($crate::shape::snake($name), other);
        }
    };
    (@twice $nulls:ident $slot:expr, $rest:expr, $key:ident, $map:ident, $name:expr) => {};
}
pub(crate) use wire;

/// A key that may be in the spelling of JSON (`topK`) or of protocol buffers (`top_k`).
pub(crate) struct Spelled<'a> {
    pub(crate) key: Str<'a>,
    pub(crate) snake: bool,
}

impl Spelled<'_> {
    pub(crate) fn is(&self, name: &str) -> bool {
        *self.key == *name || (self.snake && self.key.len() > name.len() && *self.key == *snake(name))
    }

    pub(crate) fn into_string(self) -> String {
        self.key.into_string()
    }
}

impl Deref for Spelled<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.key
    }
}

/// `topK` as `top_k`.
pub(crate) fn snake(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for char in name.chars() {
        if char.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(char.to_ascii_lowercase());
    }
    out
}

/// How `serde_json` shows a number to a reader that also takes objects.
pub(crate) const NUMBER: &str = "$serde_json::private::Number";

/// A string, borrowed from the input where it has no escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Str<'a>(pub(crate) Cow<'a, str>);

impl Str<'_> {
    pub(crate) fn into_string(self) -> String {
        self.0.into_owned()
    }
}

impl Deref for Str<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for Str<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Str<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Reader<'a> {
            type Value = Str<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Str(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Str(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E>(self, text: String) -> Result<Self::Value, E> {
                Ok(Str(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(Reader(PhantomData))
    }
}

impl Serialize for Str<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// A string where the protocol also allows a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum StrOr<T> {
    Str(String),
    List(Vec<T>),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for StrOr<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = StrOr<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(StrOr::Str(text.to_owned()))
            }
            fn visit_string<E: Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(StrOr::Str(text))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    list.push(item);
                }
                Ok(StrOr::List(list))
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<T: Serialize> Serialize for StrOr<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Str(text) => serializer.serialize_str(text),
            Self::List(list) => list.serialize(serializer),
        }
    }
}

/// A count of tokens; some servers spell it `12.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count(pub(crate) u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = Count;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count")
            }
            fn visit_u64<E>(self, count: u64) -> Result<Count, E> {
                Ok(Count(count))
            }
            fn visit_i64<E: Error>(self, count: i64) -> Result<Count, E> {
                u64::try_from(count).map(Count).map_err(|_| E::custom("a count below zero"))
            }
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked to be a whole number in range"
            )]
            fn visit_f64<E: Error>(self, count: f64) -> Result<Count, E> {
                let whole = count.fract() == 0.0 && (0.0..9e15).contains(&count);
                if whole { Ok(Count(count as u64)) } else { Err(E::custom("not a whole number")) }
            }
        }
        deserializer.deserialize_u64(Reader)
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    wire! {
        struct Sample<'a> keep { kind as "type": Str<'a>, text: Str<'a>, n: Count }
        struct Lean drop { text: String }
        struct Proto proto { top_k as "topK": Count, text: String }
    }

    #[test]
    fn protocol_buffers_have_two_spellings_and_the_first_counts() {
        let one: Proto = serde_json::from_str(r#"{"top_k":1,"x_y":2}"#).unwrap();
        assert_eq!(serde_json::Value::Object(one.leftovers()), json!({"topK": 1, "x_y": 2}));
        for text in [r#"{"top_k":1,"topK":2}"#, r#"{"topK":2,"top_k":1}"#] {
            let both: Proto = serde_json::from_str(text).unwrap();
            assert_eq!(both.top_k, Some(Count(2)));
            assert_eq!(serde_json::Value::Object(both.leftovers()), json!({"topK": 2, "top_k": 1}));
        }
    }

    #[test]
    fn what_is_not_taken_is_left_over() {
        let text = r#"{"x":1.0,"type":"t","text":null,"n":3,"y":{"b":1,"a":2}}"#;
        let mut sample: Sample<'_> = serde_json::from_str(text).unwrap();
        assert!(matches!(sample.kind.take(), Some(Str(Cow::Borrowed("t")))));
        assert_eq!(
            serde_json::Value::Object(sample.leftovers()),
            json!({"n": 3, "x": serde_json::from_str::<serde_json::Value>("1.0").unwrap(), "text": null, "y": {"b": 1, "a": 2}})
        );
    }

    #[test]
    fn writing_gives_the_same_object_and_no_duplicate_key() {
        let text = r#"{"type":"t","text":"é\n","n":3,"x":1e-3}"#;
        let sample: Sample<'_> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&sample).unwrap(), text);
        let mut other = sample.with_rest(json!({"n": 9}).as_object());
        other.n = Some(Count(4));
        assert_eq!(serde_json::to_string(&other).unwrap(), r#"{"type":"t","text":"é\n","n":4,"x":1e-3}"#);
    }

    #[test]
    fn lean_shapes_forget_nulls_and_counts_may_be_floats() {
        let lean: Lean = serde_json::from_str(r#"{"text":null}"#).unwrap();
        assert!(lean.leftovers().is_empty());
        assert_eq!(serde_json::from_str::<Count>("12.0").unwrap(), Count(12));
        assert!(serde_json::from_str::<Count>("12.5").is_err());
        assert!(serde_json::from_str::<Count>("-1").is_err());
    }
}
