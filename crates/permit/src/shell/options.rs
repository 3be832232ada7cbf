use super::Word;

/// The options of a program that runs another: what is not named here makes the command unclear.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options {
    /// Letters that stand alone.
    pub(super) flags: &'static str,
    /// Letters that take a value.
    pub(super) valued: &'static str,
    /// Letters whose value is the next word, whatever stands behind them in their own.
    pub(super) apart: &'static str,
    /// Letters that may have a value in the same word.
    pub(super) optional: &'static str,
    /// Long ones that stand alone, or have their value after `=`.
    pub(super) long: &'static [&'static str],
    /// Long ones that take a value.
    pub(super) long_valued: &'static [&'static str],
    /// `-5` is an option too.
    pub(super) numbers: bool,
}

/// No options.
pub(super) const NONE: Options =
    Options { flags: "", valued: "", apart: "", optional: "", long: &[], long_valued: &[], numbers: false };

/// Options that were read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Given<'a> {
    /// Each with its value; a letter or a long name.
    pub(super) options: Vec<(String, Option<String>)>,
    /// What stands after them.
    pub(super) rest: &'a [Word],
}

impl Given<'_> {
    /// Whether one of these was given.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    /// The last value that was given to one of these.
    pub(super) fn value(&self, names: &[&str]) -> Option<&str> {
        self.options.iter().rev().find(|(name, _)| names.contains(&name.as_str()))?.1.as_deref()
    }
}

impl Options {
    /// Reads options up to the first word that is none.
    ///
    /// # Errors
    /// The option that is not known, or whose value is not.
    pub(super) fn read<'a>(&self, mut words: &'a [Word]) -> Result<Given<'a>, String> {
        let mut options = Vec::new();
        while let Some((word, after)) = words.split_first() {
            let text = match word {
                Word::Literal(text) => text,
                Word::Pattern(text) | Word::Dynamic { known: text, .. } if text.starts_with('-') => {
                    return Err(format!("an option that is known only when it runs, `{text}…`,"));
                }
                Word::Pattern(_) | Word::Dynamic { .. } => break,
            };
            if text == "--" {
                words = after;
                break;
            }
            let Some(name) = text.strip_prefix('-').filter(|name| !name.is_empty()) else { break };
            words = match name.strip_prefix('-') {
                Some(name) => self.long(name, after, &mut options)?,
                None if self.numbers && name.parse::<i64>().is_ok() => after,
                None => self.letters(name, after, &mut options)?,
            };
        }
        Ok(Given { options, rest: words })
    }

    fn long<'a>(
        &self,
        text: &str,
        after: &'a [Word],
        options: &mut Vec<(String, Option<String>)>,
    ) -> Result<&'a [Word], String> {
        let (name, value) =
            text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value.to_owned())));
        if self.long.contains(&name) || (self.long_valued.contains(&name) && value.is_some()) {
            options.push((name.to_owned(), value));
            return Ok(after);
        }
        if !self.long_valued.contains(&name) {
            return Err(format!("the unknown option `--{name}`"));
        }
        let (value, after) = known_value(name, after)?;
        options.push((name.to_owned(), Some(value)));
        Ok(after)
    }

    fn letters<'a>(
        &self,
        text: &str,
        after: &'a [Word],
        options: &mut Vec<(String, Option<String>)>,
    ) -> Result<&'a [Word], String> {
        for (at, letter) in text.char_indices() {
            let name = letter.to_string();
            let attached = text.get(at + letter.len_utf8()..).unwrap_or_default().to_owned();
            if self.flags.contains(letter) {
                options.push((name, None));
            } else if self.optional.contains(letter) {
                options.push((name, (!attached.is_empty()).then_some(attached)));
                return Ok(after);
            } else if self.apart.contains(letter) && !attached.is_empty() {
                return Err(format!("letters behind the option `-{letter}`"));
            } else if self.valued.contains(letter) || self.apart.contains(letter) {
                if !attached.is_empty() {
                    options.push((name, Some(attached)));
                    return Ok(after);
                }
                let (value, after) = known_value(&name, after)?;
                options.push((name, Some(value)));
                return Ok(after);
            } else {
                return Err(format!("the unknown option `-{letter}`"));
            }
        }
        Ok(after)
    }
}

fn known_value<'a>(name: &str, words: &'a [Word]) -> Result<(String, &'a [Word]), String> {
    match words.split_first() {
        Some((Word::Literal(value), after)) => Ok((value.clone(), after)),
        Some((Word::Pattern(_) | Word::Dynamic { .. }, _)) => {
            Err(format!("an unknown value of the option `{name}`"))
        }
        None => Err(format!("a missing value of the option `{name}`")),
    }
}
