//! The frames of a stream. Nulls are noise here and read as absent.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer,
};
use serde::ser::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::types::{LogprobEntry, Tokens};
use crate::shape::{Count, Str, wire};

wire! {
    struct Chunk<'a> drop {
        id: Str<'a>,
        model: Str<'a>,
        object: &'a RawValue,
        created: &'a RawValue,
        service_tier: &'a RawValue,
        system_fingerprint: &'a RawValue,
        obfuscation: &'a RawValue,
        choices: Vec<ChunkChoice<'a>>,
        usage: Tokens,
        error: &'a RawValue,
    }
    struct ChunkChoice<'a> drop {
        index: Count,
        delta: Delta<'a>,
        message: &'a RawValue,
        logprobs: ChunkLogprobs,
        finish_reason: Str<'a>,
        stop_reason: &'a RawValue,
        usage: Tokens,
    }
    struct ChunkLogprobs drop { content: Vec<LogprobEntry>, refusal: Vec<LogprobEntry> }
    struct Delta<'a> drop {
        role: Str<'a>,
        content: Content<'a>,
        refusal: Str<'a>,
        reasoning_content: Str<'a>,
        reasoning: Str<'a>,
        reasoning_details: Vec<Value>,
        annotations: Vec<Value>,
        function_call: FunctionDelta<'a>,
        tool_calls: OneOrMany<CallDelta<'a>>,
    }
    struct CallDelta<'a> drop {
        index: Index,
        id: Str<'a>,
        kind as "type": Str<'a>,
        function: FunctionDelta<'a>,
        custom: CustomDelta<'a>,
        name: Str<'a>,
        arguments: &'a RawValue,
        extra_content: Value,
    }
    struct FunctionDelta<'a> drop { name: Str<'a>, arguments: &'a RawValue }
    struct CustomDelta<'a> drop { name: Str<'a>, input: Str<'a> }
}

/// Text, or the list of parts that Mistral's models send.
#[derive(Clone, Debug)]
pub(crate) enum Content<'a> {
    Text(Str<'a>),
    Parts(Vec<Value>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Reader<'a> {
            type Value = Content<'a>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Content::Text(Str::from(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Content::Text(Str(text.to_owned().into())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(part) = seq.next_element()? {
                    list.push(part);
                }
                Ok(Content::Parts(list))
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl Serialize for Content<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Parts(parts) => parts.serialize(serializer),
        }
    }
}

/// A list, or its only element without the brackets.
#[derive(Clone, Debug)]
pub(crate) struct OneOrMany<T>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = OneOrMany<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = seq.next_element()? {
                    list.push(item);
                }
                Ok(OneOrMany(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Ok(OneOrMany(vec![T::deserialize(MapAccessDeserializer::new(map))?]))
            }
        }
        deserializer.deserialize_any(Reader(PhantomData))
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// A call's index; some servers write it as a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Index(pub(crate) u64);

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        let text = raw.get().trim_matches('"');
        let whole = text.strip_suffix(".0").unwrap_or(text);
        whole.parse().map(Index).map_err(|_| D::Error::custom(format!("`{text}` is no index")))
    }
}

impl Serialize for Index {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.0)
    }
}

/// A piece of arguments: the text of a string, or an object as it was written.
pub(crate) fn arguments(raw: &RawValue) -> Str<'_> {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| Str::from(raw.get()))
}
