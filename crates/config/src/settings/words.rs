use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rail_stdx::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Targets in the order in which they are tried: `provider,model;provider,model`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("format" = "chain"))]
pub struct ChainText(pub String);

/// A rule on what tools may do: a tool's name, or its name with what it is given, `Bash(git commit:*)`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("format" = "permission-rule"))]
pub struct PermissionRule(pub String);

/// A place that is not on the public internet: a host, an address, or a network.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("format" = "private-place"))]
pub struct PrivatePlace(pub String);

/// The address of a server, such as `http://127.0.0.1:11434`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("format" = "base-url"))]
pub struct Address(pub String);

/// Text that must not be seen; best written as `env:NAME`, `file:PATH` or `keyring:NAME`.
#[derive(Clone, PartialEq, Eq, Debug, Default, JsonSchema)]
#[schemars(inline, with = "String", extend("format" = "secret"))]
pub struct SecretText(pub Secret);

impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for SecretText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(|text| Self(Secret::new(text)))
    }
}

/// A length of time: a whole number with `ms`, `s`, `m` or `h`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(inline, with = "String", extend("format" = "duration"))]
pub struct Wait(pub Duration);

/// Units, the largest first.
const UNITS: &[(&str, u64)] = &[("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

impl FromStr for Wait {
    type Err = WaitError;

    fn from_str(text: &str) -> Result<Self, WaitError> {
        let wrong = || WaitError(text.to_owned());
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit.trim()).ok_or_else(wrong)?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        Ok(Self(Duration::from_millis(number.checked_mul(*factor).ok_or_else(wrong)?)))
    }
}

/// Text that is no length of time.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "`{0}` is no length of time; write a whole number with `ms`, `s`, `m` or `h`, such as `250ms`, `5s` or `20m`"
)]
pub struct WaitError(String);

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let whole = UNITS.iter().find(|(_, factor)| millis > 0 && millis.is_multiple_of(*factor));
        let (unit, factor) = whole.unwrap_or(&("ms", 1));
        write!(f, "{}{unit}", millis / factor)
    }
}

impl fmt::Debug for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Wait {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Wait {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A number of bytes: a whole number with `B`, `KB`, `MB` or `GB`, a thousand of one being one of the next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema)]
#[schemars(inline, with = "String", extend("format" = "size"))]
pub struct Size(pub u64);

/// Units of size, the largest first.
const SIZES: &[(&str, u64)] = &[("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1000), ("B", 1)];

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Self, SizeError> {
        let wrong = || SizeError(text.to_owned());
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let unit = unit.trim();
        let (_, factor) = SIZES.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).ok_or_else(wrong)?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        Ok(Self(number.checked_mul(*factor).ok_or_else(wrong)?))
    }
}

/// Text that is no size.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no size; write a whole number with `B`, `KB`, `MB` or `GB`, such as `64KB` or `32MB`")]
pub struct SizeError(String);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = SIZES.iter().find(|(_, factor)| self.0 > 0 && self.0.is_multiple_of(*factor));
        let (unit, factor) = whole.unwrap_or(&("B", 1));
        write!(f, "{}{unit}", self.0 / factor)
    }
}

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_of_time() {
        for (text, millis) in [
            ("250ms", Some(250)),
            ("5s", Some(5000)),
            ("20m", Some(1_200_000)),
            ("2h", Some(7_200_000)),
            (" 5 s ", Some(5000)),
            ("0s", Some(0)),
            ("5", None),
            ("s", None),
            ("", None),
            ("1.5s", None),
            ("-5s", None),
            ("5 seconds", None),
            ("99999999999999999999h", None),
            ("9999999999999999h", None),
        ] {
            let wait = text.parse::<Wait>().ok().map(|wait| wait.0.as_millis());
            assert_eq!(wait, millis, "{text}");
        }
    }

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0B", Some(0)),
            ("64KB", Some(64_000)),
            (" 32 mb ", Some(32_000_000)),
            ("2GB", Some(2_000_000_000)),
            ("5", None),
            ("KB", None),
            ("1.5MB", None),
            ("-1B", None),
            ("99999999999999GB", None),
        ] {
            assert_eq!(text.parse::<Size>().ok().map(|size| size.0), bytes, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_size_is_read_as_it_is_written(bytes in 0..u64::MAX) {
            let size = Size(bytes);
            prop_assert_eq!(size.to_string().parse::<Size>(), Ok(size));
        }

        #[test]
        fn a_length_is_read_as_it_is_written(millis in 0..u64::MAX / 2) {
            let wait = Wait(Duration::from_millis(millis));
            prop_assert_eq!(wait.to_string().parse::<Wait>(), Ok(wait));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*") {
            let _ = text.parse::<Wait>();
        }
    }
}
