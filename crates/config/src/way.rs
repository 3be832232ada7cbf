use std::fmt;

/// The way to a value: `router.rules[0].name`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Way(Vec<String>);

impl Way {
    /// The way to a member.
    pub(crate) fn to(&self, key: &str) -> Self {
        Self(self.0.iter().cloned().chain([key.to_owned()]).collect())
    }

    /// The way to an item of a list.
    pub(crate) fn at(&self, item: usize) -> Self {
        self.to(&format!("[{item}]"))
    }

    /// Its keys.
    pub(crate) fn keys(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }
}

impl<const N: usize> From<[&str; N]> for Way {
    fn from(keys: [&str; N]) -> Self {
        Self(keys.iter().map(|key| (*key).to_owned()).collect())
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, key) in self.0.iter().enumerate() {
            let is_item = key.starts_with('[') && key.ends_with(']');
            if at > 0 && !is_item {
                f.write_str(".")?;
            }
            if is_item { f.write_str(key)? } else { f.write_str(&quoted(key))? }
        }
        Ok(())
    }
}

/// A key as TOML wants it: in quotes where it holds anything but letters, digits, `-` and `_`.
pub(crate) fn quoted(key: &str) -> String {
    let is_bare = !key.is_empty()
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    if is_bare { key.to_owned() } else { toml::Value::String(key.to_owned()).to_string() }
}
