use std::fmt;

use crate::Origin;
use crate::pasted::hide;
use crate::variables::PREFIX;

/// Something wrong with the configuration, and what to do about it. Never holds a secret.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Problem {
    /// Who said it.
    pub origin: Origin,
    /// The path of the key, such as `providers.qwen.base_url`; empty when it is about the whole file.
    pub key: String,
    /// What is wrong; what to do.
    pub text: String,
}

impl Problem {
    /// A problem of this key.
    pub fn new(origin: &Origin, key: impl Into<String>, text: impl Into<String>) -> Self {
        Self { origin: origin.clone(), key: key.into(), text: text.into() }
    }

    /// Whether it is about a file as a whole, and not about one of its keys.
    pub(crate) fn is_of_whole_file(&self) -> bool {
        self.key.is_empty() && matches!(self.origin, Origin::File { .. })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.origin)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.text)
    }
}

/// All that is wrong with the configuration, in the order of files and lines; printed one a line.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Puts them in the order of layers, files and places, without keys that were pasted where names belong.
    pub(crate) fn sorted(mut problems: Vec<Problem>) -> Self {
        for Problem { origin, key, text } in &mut problems {
            (*key, *text) = (hide(key), hide(text));
            if let Origin::Variable(name) = origin {
                let of_key = name.strip_prefix(PREFIX).unwrap_or_default();
                *name = format!("{PREFIX}{}", hide(of_key));
            }
        }
        problems.sort();
        problems.dedup();
        Self(problems)
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if at == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
