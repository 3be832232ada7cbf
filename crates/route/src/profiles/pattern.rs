/// A pattern over names: `*` stands for any characters, `?` for one.
///
/// Case does not count, and `_`, `:`, `@` and blanks count as `-`: `Qwen3:8b` and `qwen3-8b` are one name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pattern(String);

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        Self(plain(text))
    }

    /// Whether it matches the whole of a name that [`plain`] has written.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        // Where to go on if it fails: behind the last `*`, which then takes one more character.
        let mut back: Option<(usize, usize)> = None;
        while let Some(&c) = name.get(n) {
            match pattern.get(p) {
                Some(b'*') => {
                    back = Some((p + 1, n));
                    p += 1;
                }
                Some(&wanted) if wanted == c || wanted == b'?' => (p, n) = (p + 1, n + 1),
                Some(_) | None => {
                    let Some((after, from)) = back else { return false };
                    back = Some((after, from + 1));
                    (p, n) = (after, from + 1);
                }
            }
        }
        pattern.iter().skip(p).all(|&rest| rest == b'*')
    }

    #[cfg(test)]
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// A name as patterns see it.
pub(crate) fn plain(name: &str) -> String {
    let name = name.trim().to_ascii_lowercase();
    let name = name.strip_suffix(".gguf").unwrap_or(&name);
    name.replace(['_', ':', '@', ' '], "-")
}

/// What stands behind the last `/` of a name: the model itself, without the folders of its maker or server.
pub(crate) fn last_segment(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("gpt-5", "GPT-5", true),
            ("gpt-5", "gpt-5-mini", false),
            ("gpt-5*", "gpt-5-mini", true),
            ("*qwen3*", "QWEN3:8b", true),
            ("qwen3:8b", "qwen3_8B.gguf", true),
            ("claude-?-5", "claude-4-5", true),
            ("claude-?-5", "claude--5", false),
            ("*a*b*c", "xaybzcc", true),
            ("*a*b*c", "xaybzc-", false),
            ("a**", "a", true),
            ("???", "ab", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(&plain(name)), expected, "{pattern} {name}");
        }
        assert_eq!(last_segment("a/b/c"), "c");
        assert_eq!(last_segment("c"), "c");
    }

    /// The meaning, without regard to cost.
    fn slow(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some((b'*', rest)), _) => {
                slow(rest, name) || name.split_first().is_some_and(|(_, name)| slow(pattern, name))
            }
            (Some((p, rest)), Some((n, name))) => (p == n || *p == b'?') && slow(rest, name),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn as_the_meaning_says(pattern in "[ab*?]{0,8}", name in "[ab]{0,10}") {
            prop_assert_eq!(Pattern::new(&pattern).matches(&name), slow(pattern.as_bytes(), name.as_bytes()));
        }

        #[test]
        fn any_name_and_pattern(pattern in any::<String>(), name in any::<String>()) {
            Pattern::new(&pattern).matches(&plain(&name));
            prop_assert!(Pattern::new("*").matches(&plain(&name)));
        }
    }
}
