use std::fmt;

/// Text that must not be seen: printing or debugging it shows `***`. Whoever needs it says so with [`Secret::reveal`].
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Secret(String);

impl Secret {
    /// Hides the text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Enough to tell it from others: its first characters, at most 8 and never more than a quarter of it.
    pub fn hint(&self) -> String {
        let shown = (self.0.chars().count() / 4).min(8);
        let first: String = self.0.chars().take(shown).collect();
        format!("{first}…")
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_printing_nor_debugging_shows_it() {
        let secret = Secret::new("sk-live-1234567890");
        assert_eq!((format!("{secret}"), format!("{secret:?}")), ("***".to_owned(), "***".to_owned()));
        assert_eq!(format!("{:?}", Some(&secret)), "Some(***)");
        assert_eq!(secret.reveal(), "sk-live-1234567890");
    }

    #[test]
    fn a_hint_is_at_most_eight_characters_and_a_quarter() {
        for (text, hint) in [
            ("", "…"),
            ("abc", "…"),
            ("lm-studio", "lm…"),
            ("1234567890", "12…"),
            ("sk-0123456789012345678901234567890123456789", "sk-01234…"),
            ("密密密密钥", "密…"),
        ] {
            assert_eq!(Secret::new(text).hint(), hint, "{text}");
        }
    }
}
