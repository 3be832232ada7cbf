//! How a conversation is written down and read again, where the derived way would lose something.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// The longest word that is read as a protocol's name or a codec's mark.
const MAX_WORD: usize = 64;
/// How many different ones are read in the life of a process. All codecs together have a few dozen.
const MAX_WORDS: usize = 1024;

/// What a field has when nobody said otherwise is not written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads what was said, so that a `null` that was said is not taken for nothing said.
pub(crate) fn said<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Reads a tree on its own, so that how deep it stands in a record takes nothing from how deep it may be itself.
pub(crate) fn tree<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<T, D::Error> {
    let text = Box::<RawValue>::deserialize(deserializer)?;
    serde_json::from_str(text.get()).map_err(Error::custom)
}

/// Reads a word of our own code, which lives as long as the process.
pub(crate) fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static str, D::Error> {
    static WORDS: Mutex<Words> = Mutex::new(Words(BTreeSet::new()));
    let word = Cow::<str>::deserialize(deserializer)?;
    let kept = WORDS.lock().unwrap_or_else(PoisonError::into_inner).keep(&word);
    kept.ok_or_else(|| D::Error::custom(format_args!("`{word:.64}` is no name of a protocol")))
}

/// Words that are kept for ever: each once, and only so many.
struct Words(BTreeSet<&'static str>);

impl Words {
    fn keep(&mut self, word: &str) -> Option<&'static str> {
        if let Some(known) = self.0.get(word) {
            return Some(known);
        }
        if word.len() > MAX_WORD || self.0.len() >= MAX_WORDS {
            return None;
        }
        let word: &'static str = Box::leak(word.into());
        self.0.insert(word);
        Some(word)
    }
}

#[cfg(test)]
mod tests;
