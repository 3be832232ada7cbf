use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A moment in milliseconds since 1970, as the caller's clock has it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

/// The hash of a line: the first half of its SHA-256, written as 32 hexadecimal digits.
///
/// Half is enough: to put another line in the place of a given one, about 2^128 would have to be tried.
#[derive(Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hash([u8; 16]);

/// Where a line ends, with its number and its hash: all that is needed to go on from there, and to see that it is still the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Place {
    /// The byte behind the line and its end; the next line begins there.
    pub end: u64,
    /// The line's number; the first has 1, and 0 is the place before it.
    pub n: u64,
    /// The line's hash; all zeros before the first.
    pub hash: Hash,
}

impl Hash {
    /// The hash of a line without its end.
    pub fn of(line: &[u8]) -> Self {
        let digest: [u8; 32] = Sha256::digest(line).into();
        Self(digest.first_chunk().copied().unwrap_or_default())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for Hash {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("`{text:.40}` is no hash; one has 32 digits of 0-9 and a-f");
        let small = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() != 32 || !text.as_bytes().iter().all(small) {
            return Err(wrong());
        }
        u128::from_str_radix(&text, 16).map(|number| Self(number.to_be_bytes())).map_err(|_| wrong())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_hash_is_half_a_sha_256() {
        assert_eq!(Hash::of(b"abc").to_string(), "ba7816bf8f01cfea414140de5dae2223");
        for wrong in [
            "",
            "ba7816bf8f01cfea414140de5dae222",
            "BA7816BF8F01CFEA414140DE5DAE2223",
            "+a7816bf8f01cfea414140de5dae2223",
        ] {
            assert!(Hash::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_hash_is_read_as_it_is_written(bytes: Vec<u8>, text: String) {
            let hash = Hash::of(&bytes);
            prop_assert_eq!(Hash::try_from(hash.to_string()), Ok(hash));
            let _ = Hash::try_from(text);
        }
    }
}
