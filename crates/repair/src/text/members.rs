use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object in order, their values as they were written.
pub(super) struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), *value))
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// The first of these keys, in the order of the keys, with its value.
    pub(super) fn first_of(&self, keys: &[&'static str]) -> Option<(&'static str, &'a RawValue)> {
        keys.iter().find_map(|key| self.get(key).map(|value| (*key, value)))
    }

    /// Whether there are no keys but these.
    pub(super) fn only(&self, allowed: &[&[&str]]) -> bool {
        self.iter().all(|(key, _)| allowed.iter().any(|keys| keys.contains(&key)))
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}
