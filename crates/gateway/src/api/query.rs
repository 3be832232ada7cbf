//! The query of a request, read strictly: what is not understood is an error, not a default.

use std::ops::RangeInclusive;

use super::answer::Wrong;

/// The parameters of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// Reads a query that may have these parameters, each once.
    pub(crate) fn read(text: &str, known: &[&str]) -> Result<Self, Wrong> {
        let mut all: Vec<(String, String)> = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let read = |text: &str| decoded(&text.replace('+', " "));
            let (Some(name), Some(value)) = (read(name), read(value)) else {
                return Err(Wrong::query(format!(
                    "`{pair}` is not written as a query is: after `%` come two digits"
                )));
            };
            if !known.contains(&name.as_str()) {
                let known = match known {
                    [] => "this page takes none".to_owned(),
                    known => format!("this page takes {}", known.join(", ")),
                };
                return Err(Wrong::query(format!("there is no parameter `{name}`; {known}")));
            }
            if all.iter().any(|(before, _)| *before == name) {
                return Err(Wrong::query(format!("`{name}` stands there twice; say it once")));
            }
            all.push((name, value));
        }
        Ok(Self(all))
    }

    /// What a parameter says; None when it is not there or empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(known, _)| known == name);
        value.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// A number within these bounds.
    pub(crate) fn number(&self, name: &str, bounds: RangeInclusive<u64>) -> Result<Option<u64>, Wrong> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| bounds.contains(number));
        number.map(Some).ok_or_else(|| {
            let (least, most) = bounds.clone().into_inner();
            Wrong::query(format!("`{name}` is a number from {least} to {most}, not `{text}`"))
        })
    }

    /// One of these words.
    pub(crate) fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> Result<Option<T>, Wrong> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| Some(*value)).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            Wrong::query(format!("`{name}` is one of {}, not `{text}`", words.join(", ")))
        })
    }
}

/// Text in which `%41` stands for `A`; None when it is written wrongly or is no UTF-8.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        bytes.push(digit(*high)? << 4 | digit(*low)?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn queries_are_read_strictly() {
        let known = ["limit", "before", "by"];
        let read = |text: &str| Query::read(text, &known).map_err(|wrong| wrong.message);
        let query = read("limit=5&before=a%20b+c&&by=").unwrap();
        assert_eq!(query.text("before"), Some("a b c"));
        assert_eq!(query.text("by"), None);
        assert_eq!(query.number("limit", 1..=10).ok(), Some(Some(5)));
        assert_eq!(query.number("by", 1..=10).ok(), Some(None));
        let number = |text: &str| read(text).unwrap().number("limit", 1..=10).unwrap_err().message;
        assert_eq!(number("limit=11"), "`limit` is a number from 1 to 10, not `11`");
        assert_eq!(number("limit=-1"), "`limit` is a number from 1 to 10, not `-1`");
        let word =
            |text: &str| read(text).unwrap().word("by", &[("a", 1), ("b", 2)]).map_err(|wrong| wrong.message);
        assert_eq!(word("by=b"), Ok(Some(2)));
        assert_eq!(word("by=c"), Err("`by` is one of a, b, not `c`".to_owned()));
        for (text, problem) in [
            ("limits=5", "there is no parameter `limits`; this page takes limit, before, by"),
            ("limit=1&limit=1", "`limit` stands there twice; say it once"),
            ("by=%zz", "`by=%zz` is not written as a query is: after `%` come two digits"),
            ("by=%f", "`by=%f` is not written as a query is: after `%` come two digits"),
            ("by=%ff", "`by=%ff` is not written as a query is: after `%` come two digits"),
        ] {
            assert_eq!(read(text), Err(problem.to_owned()));
        }
        let none = Query::read("a", &[]).unwrap_err().message;
        assert_eq!(none, "there is no parameter `a`; this page takes none");
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(text in "\\PC{0,20}") {
            let written: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            prop_assert_eq!(decoded(&written), Some(text));
        }

        #[test]
        fn any_query_is_taken(text in "(\\PC|[&=%+]){0,40}") {
            let _ = Query::read(&text, &["a"]);
        }
    }
}
