//! Objects that were sent where text was due.

use rail_model::Map;
use serde_json::Value;

/// Arguments that come as objects: whole each time, growing, or a few keys at a time.
#[derive(Debug)]
pub(super) struct Objects {
    /// The first as it was written, for the many calls that have no second.
    first: String,
    merged: Option<Map>,
}

impl Objects {
    /// None when it can't be read as an object.
    pub(super) fn begin(text: String) -> Result<Self, String> {
        if read(&text).is_some() { Ok(Self { first: text, merged: None }) } else { Err(text) }
    }

    /// Adds the next object; false when it is none.
    pub(super) fn add(&mut self, text: &str) -> bool {
        let Some(next) = read(text) else { return false };
        let first = &self.first;
        merge_maps(self.merged.get_or_insert_with(|| read(first).unwrap_or_default()), next);
        true
    }

    /// More than one came.
    pub(super) fn is_merged(&self) -> bool {
        self.merged.is_some()
    }

    pub(super) fn into_text(self) -> String {
        match self.merged {
            Some(map) => Value::Object(map).to_string(),
            None => self.first,
        }
    }
}

fn read(text: &str) -> Option<Map> {
    serde_json::from_str(text).ok()
}

fn merge_maps(map: &mut Map, next: Map) {
    for (key, value) in next {
        match map.get_mut(&key) {
            Some(known) => merge(known, value),
            None => {
                map.insert(key, value);
            }
        }
    }
}

/// The next value extends the one before, goes on from it, or takes its place.
fn merge(known: &mut Value, next: Value) {
    match (known, next) {
        (Value::Object(known), Value::Object(next)) => merge_maps(known, next),
        (Value::String(known), Value::String(next)) => {
            if next.starts_with(known.as_str()) {
                *known = next;
            } else if !known.starts_with(&next) {
                known.push_str(&next);
            }
        }
        (Value::Array(known), Value::Array(next)) => {
            if next.starts_with(known) {
                *known = next;
            } else if !known.starts_with(&next) {
                known.extend(next);
            }
        }
        (known, next) => *known = next,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_merged() {
        let table: &[(&[&str], &str)] = &[
            (&[r#"{"a": 1.0}"#], r#"{"a": 1.0}"#),
            (&[r#"{"a":"x"}"#, r#"{"b":"y"}"#], r#"{"a":"x","b":"y"}"#),
            (&[r#"{"a":"g","c":"he"}"#, r#"{"a":"g","c":"hello"}"#], r#"{"a":"g","c":"hello"}"#),
            (&[r#"{"c":"hello"}"#, r#"{"c":"he"}"#], r#"{"c":"hello"}"#),
            (&[r#"{"c":"he"}"#, r#"{"c":"llo"}"#], r#"{"c":"hello"}"#),
            (&[r#"{"o":{"x":1}}"#, r#"{"o":{"y":2,"x":3}}"#], r#"{"o":{"x":3,"y":2}}"#),
            (&[r#"{"l":[1]}"#, r#"{"l":[1,2]}"#, r#"{"l":[3]}"#], r#"{"l":[1,2,3]}"#),
        ];
        for (pieces, expected) in table {
            let (first, more) = pieces.split_first().unwrap();
            let mut objects = Objects::begin((*first).to_owned()).unwrap();
            assert!(more.iter().all(|piece| objects.add(piece)));
            assert_eq!(objects.is_merged(), pieces.len() > 1);
            assert_eq!(objects.into_text(), *expected);
        }
        assert!(Objects::begin("[1]".to_owned()).is_err());
    }
}
