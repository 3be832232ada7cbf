//! The content of a result, a list inside a block.

use std::fmt;

use rail_model::Json;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use super::types::Block;
use crate::shape::StrOr;

/// What stands in a block's `content`. Blocks of other types than results have it too, so a list is read only by those who know
/// what it is a list of; a string, in which most of a conversation comes, is read at once.
#[derive(Clone, Debug)]
pub(crate) enum Inner {
    Str(String),
    List(Vec<Json>),
    Other(Value),
    /// One that we write.
    Written(StrOr<Block>),
}

impl<'de> Deserialize<'de> for Inner {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Inner;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_str<E>(self, text: &str) -> Result<Inner, E> {
                Ok(Inner::Str(text.to_owned()))
            }
            fn visit_string<E>(self, text: String) -> Result<Inner, E> {
                Ok(Inner::Str(text))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Inner, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    list.push(item);
                }
                Ok(Inner::List(list))
            }
            // Numbers come here too, in a form that only `Value` reads.
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Inner, A::Error> {
                Value::deserialize(MapAccessDeserializer::new(map)).map(Inner::Other)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Inner, E> {
                Ok(Inner::Other(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Inner, E> {
                Ok(Inner::Other(value.into()))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Inner, E> {
                Ok(Inner::Other(value.into()))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Inner, E> {
                Ok(Inner::Other(value.into()))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl Serialize for Inner {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Str(text) => serializer.serialize_str(text),
            Self::List(list) => list.serialize(serializer),
            Self::Other(value) => value.serialize(serializer),
            Self::Written(content) => content.serialize(serializer),
        }
    }
}
