use std::fmt;
use std::str::FromStr;

/// One `provider,model` pair: the model that really answers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Target {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The model's name there; it may hold `/`, `:` and anything else but `,` and `;`.
    pub model: String,
}

impl Target {
    /// A target by its two names.
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self { provider: provider.into(), model: model.into() }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.provider, self.model)
    }
}

impl FromStr for Target {
    type Err = ChainError;

    fn from_str(text: &str) -> Result<Self, ChainError> {
        let wrong = |problem| ChainError { entry: text.trim().to_owned(), problem };
        let (provider, model) = text
            .split_once(',')
            .ok_or_else(|| wrong("it has no `,` between provider and model; write `provider,model`"))?;
        let (provider, model) = (provider.trim(), model.trim());
        match (provider.is_empty(), model.is_empty(), model.contains([',', ';'])) {
            (true, _, _) => Err(wrong("no provider stands before the `,`; write `provider,model`")),
            (_, true, _) => Err(wrong("no model stands after the `,`; write `provider,model`")),
            (_, _, true) => Err(wrong("a model's name holds no `,`; write `;` between targets")),
            (false, false, false) => Ok(Self::new(provider, model)),
        }
    }
}

/// Targets in the order in which they are tried, written `provider,model;provider,model`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chain(pub Vec<Target>);

impl FromStr for Chain {
    type Err = ChainError;

    fn from_str(text: &str) -> Result<Self, ChainError> {
        // A `;` at the end is how lists are often written; two in a row are a forgotten target.
        let text = text.trim();
        let entries = text.strip_suffix(';').unwrap_or(text);
        entries.split(';').map(str::parse).collect::<Result<Vec<_>, _>>().map(Self)
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, target) in self.0.iter().enumerate() {
            write!(f, "{}{target}", if at == 0 { "" } else { ";" })?;
        }
        Ok(())
    }
}

/// An entry of a chain that names no target.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{entry}` is no target: {problem}")]
pub struct ChainError {
    /// The entry as it was written.
    pub entry: String,
    /// What is wrong with it, and what to write.
    pub problem: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_read_and_written() {
        for (text, expected) in [
            ("qwen,qwen3-coder-plus", "qwen,qwen3-coder-plus"),
            (" a , b ; c,d/e:f ;", "a,b;c,d/e:f"),
            (
                "lmstudio,unsloth/qwen3-235b/q4_k_xl-00001-of-00003.gguf",
                "lmstudio,unsloth/qwen3-235b/q4_k_xl-00001-of-00003.gguf",
            ),
        ] {
            let chain: Chain = text.parse().unwrap();
            assert_eq!(chain.to_string(), expected, "{text}");
            assert_eq!(expected.parse::<Chain>().unwrap(), chain, "{text}");
        }
    }

    #[test]
    fn wrong_entries_are_named() {
        for (text, expected) in [
            ("", "`` is no target: it has no `,` between provider and model; write `provider,model`"),
            ("qwen", "`qwen` is no target: it has no `,` between provider and model; write `provider,model`"),
            ("a,b;;c,d", "`` is no target: it has no `,` between provider and model; write `provider,model`"),
            (",b", "`,b` is no target: no provider stands before the `,`; write `provider,model`"),
            ("a, ;c,d", "`a,` is no target: no model stands after the `,`; write `provider,model`"),
            ("a,b,c,d", "`a,b,c,d` is no target: a model's name holds no `,`; write `;` between targets"),
        ] {
            assert_eq!(text.parse::<Chain>().unwrap_err().to_string(), expected, "{text}");
        }
    }
}
