//! Numbers, literals and bare words.

use serde_json::{Number, Value};

use super::blank::closes;
use super::reader::{Fail, Frame, Mode, Reader, Step};

impl Reader<'_> {
    /// A number, a literal or a bare word.
    pub(super) fn scalar(&mut self) -> Result<Step, Fail> {
        let rest = self.rest();
        let value = match number_length(rest) {
            Some(length) => {
                rest.get(..length).and_then(|text| text.parse().ok().map(Value::Number).zip(Some(length)))
            }
            None => ["true", "false", "null"]
                .into_iter()
                .find(|word| rest.starts_with(word))
                .map(|word| (literal(word), word.len())),
        };
        let ends = |length: &usize| rest.get(*length..).is_some_and(|after| !after.starts_with(is_word));
        if let Some((value, length)) = value.filter(|(_, length)| ends(length)) {
            let next = rest.get(length..).unwrap_or_default();
            // `2 files` and `12:30` are no numbers, though they begin with one.
            if self.mode == Mode::Strict || self.stack.is_empty() || follows_scalar(next) {
                self.at += length;
                return Ok(self.put(value));
            }
        }
        self.mend("a value is expected")?;
        self.bare_word()
    }

    fn bare_word(&mut self) -> Result<Step, Fail> {
        let rest = self.rest();
        let closer = self.stack.last().map_or(',', Frame::closer);
        let end = rest.find([',', '}', ']', '\n', closer]).unwrap_or(rest.len());
        let run = rest.get(..end).unwrap_or_default();
        let run = run.find(" //").or_else(|| run.find(" /*")).and_then(|at| run.get(..at)).unwrap_or(run);
        let word = run.trim_end();
        let known = python(word);
        if word.is_empty()
            || (self.stack.is_empty() && known.is_none())
            || word.contains(['"', '{', '['])
            || word.contains(": ")
        {
            return Err(self.fail("a value is expected"));
        }
        let cut = end == rest.len() && known.is_none();
        if !closes(self.text, self.at + run.len(), self.place()) {
            return Err(self.fail("a value without quotes does not end"));
        }
        self.at += run.len();
        let step = self.put(known.unwrap_or_else(|| Value::String(word.to_owned())));
        Ok(if cut { Step::Cut } else { step })
    }
}

/// Whether what follows a number or literal inside a container leaves it one.
fn follows_scalar(rest: &str) -> bool {
    let next = rest.trim_start_matches([' ', '\t']);
    next.is_empty() || next.starts_with([',', '}', ']', ')', '\n', '\r', '/', '#', '"', '\''])
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '+' | '-')
}

fn literal(word: &str) -> Value {
    match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => Value::Null,
    }
}

/// What a word means to Python or JavaScript.
fn python(word: &str) -> Option<Value> {
    match word {
        "true" | "True" => Some(Value::Bool(true)),
        "false" | "False" => Some(Value::Bool(false)),
        "null" | "None" | "undefined" => Some(Value::Null),
        _ => None,
    }
}

/// The length of the number at the start, as JSON spells numbers.
fn number_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && bytes.get(at) == Some(&b'0')) {
        return None;
    }
    at += whole;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent == 0 {
            return None;
        }
        at += 1 + sign + exponent;
    }
    Some(at)
}

/// The number that a whole text spells, if it is one by JSON's grammar.
pub(crate) fn number(text: &str) -> Option<Number> {
    number_length(text).filter(|length| *length == text.len()).and_then(|_| text.parse().ok())
}
