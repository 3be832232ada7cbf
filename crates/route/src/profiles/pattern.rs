use rail_stdx::fits;

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
        fits(&self.0, name)
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
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("gpt-5", "GPT-5", true),
            ("gpt-5", "gpt-5-mini", false),
            ("gpt-5*", "gpt-5-mini", true),
            ("*qwen3*", "QWEN3:8b", true),
            ("qwen3:8b", "qwen3_8B.gguf", true),
        ] {
            assert_eq!(Pattern::new(pattern).matches(&plain(name)), expected, "{pattern} {name}");
        }
        assert_eq!(last_segment("a/b/c"), "c");
        assert_eq!(last_segment("c"), "c");
    }
}
