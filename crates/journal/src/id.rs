use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Hash, UnixMillis};

/// A session's name: a UUID, in small letters. It is checked, so it is safe as the name of a folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SessionId(String);

/// A text that names no session.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is no session id; one looks like 0198c5a3-5d2e-7c1f-9a44-d1b2c3e4f506, and `rail sessions list` shows yours"
)]
pub struct BadSessionId(String);

impl SessionId {
    /// A new id that sorts by the time it was made at (a UUID of version 7).
    ///
    /// # Errors
    /// The system gives no random numbers.
    pub fn mint(at: UnixMillis) -> std::io::Result<Self> {
        let mut random = [0; 10];
        getrandom::fill(&mut random).map_err(std::io::Error::other)?;
        Ok(Self::of(at, random))
    }

    /// The id of a time and random bytes.
    fn of(at: UnixMillis, random: [u8; 10]) -> Self {
        let mut bytes = [0; 16];
        let time = at.0.to_be_bytes();
        for (slot, byte) in bytes.iter_mut().zip(time.iter().skip(2).chain(&random)) {
            *slot = *byte;
        }
        // The version and the variant have their fixed places.
        let number = u128::from_be_bytes(bytes) & !(0xf000_c000 << 48) | 0x7000_8000 << 48;
        let digits = format!("{number:032x}");
        let mut id = String::with_capacity(36);
        for (at, digit) in digits.chars().enumerate() {
            if matches!(at, 8 | 12 | 16 | 20) {
                id.push('-');
            }
            id.push(digit);
        }
        Self(id)
    }

    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = BadSessionId;

    fn from_str(text: &str) -> Result<Self, BadSessionId> {
        let fits = |(at, byte): (usize, u8)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        };
        if text.len() == 36 && text.bytes().enumerate().all(fits) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(BadSessionId(text.chars().take(60).collect()))
        }
    }
}

impl TryFrom<String> for SessionId {
    type Error = BadSessionId;

    fn try_from(text: String) -> Result<Self, BadSessionId> {
        text.parse()
    }
}

impl From<SessionId> for String {
    fn from(id: SessionId) -> Self {
        id.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The longest readable part of a project's key.
const READABLE: usize = 60;

/// The name of the folder that holds the sessions of a working folder: the end of its path, readable, and a hash of all of it.
pub fn project_key(cwd: &Path) -> String {
    let text = cwd.to_string_lossy();
    let kept = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '.') { c } else { '-' };
    let readable: Vec<char> = text.trim_matches('/').chars().map(kept).collect();
    let tail: String = readable.iter().skip(readable.len().saturating_sub(READABLE)).collect();
    let hash = Hash::of(cwd.as_os_str().as_encoded_bytes()).to_string();
    // No name begins with a dot or a dash: the first hides it, the second looks like an option.
    let tail = tail.trim_start_matches(['.', '-']);
    let tail = if tail.is_empty() { "root" } else { tail };
    format!("{tail}-{}", hash.get(..8).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_holds_its_time_version_and_variant() {
        let id = SessionId::of(UnixMillis(0x0198_c5a3_5d2e), [0xff; 10]);
        assert_eq!(id.as_str(), "0198c5a3-5d2e-7fff-bfff-ffffffffffff");
        let id = SessionId::of(UnixMillis(1), [0; 10]);
        assert_eq!(id.as_str(), "00000000-0001-7000-8000-000000000000");
        assert_ne!(SessionId::mint(UnixMillis(5)).unwrap(), SessionId::mint(UnixMillis(5)).unwrap());
    }

    #[test]
    fn what_is_no_uuid_is_refused() {
        for wrong in [
            "",
            "..",
            "../../etc/passwd",
            "0198c5a3-5d2e-7fff-bfff-fffffffffff/",
            "0198c5a35d2e7fffbfffffffffffffff",
            "0198c5a3-5d2e-7fff-bfff-ffffffffffffx",
        ] {
            assert!(wrong.parse::<SessionId>().is_err(), "{wrong}");
        }
        let id: SessionId = "0198C5A3-5D2E-7FFF-BFFF-FFFFFFFFFFFF".parse().unwrap();
        assert_eq!(id.as_str(), "0198c5a3-5d2e-7fff-bfff-ffffffffffff");
    }

    #[test]
    fn keys_are_readable_and_safe() {
        for (path, expected) in [
            ("/srv/people/ann/shop", "srv-people-ann-shop-"),
            ("/", "root-"),
            ("/srv/..", "srv-..-"),
            ("/.hidden", "hidden-"),
            ("/srv/über uns\n", "srv--ber-uns--"),
        ] {
            let key = project_key(Path::new(path));
            assert_eq!(key.get(..key.len() - 8), Some(expected), "{path}");
        }
        let long = format!("/{}/end", "x".repeat(300));
        assert_eq!(project_key(Path::new(&long)).len(), 60 + 9);
        // Names that differ only in what is not readable have different keys.
        let odd = |byte| project_key(Path::new(OsStr::from_bytes(&[b'/', byte])));
        assert_ne!(odd(0xfe), odd(0xff));
    }

    proptest! {
        #[test]
        fn any_text_is_an_id_or_refused(text: String, path: String) {
            let _ = text.parse::<SessionId>();
            let key = project_key(Path::new(&path));
            prop_assert!(key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b)), "{}", key);
            prop_assert!(!key.starts_with(['.', '-']));
        }

        #[test]
        fn a_minted_id_is_read_again(at in 0..1u64 << 48, random: [u8; 10]) {
            let id = SessionId::of(UnixMillis(at), random);
            prop_assert_eq!(id.as_str().parse(), Ok(id));
        }
    }
}
