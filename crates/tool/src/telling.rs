use std::fmt;

use crate::words::Names;

/// The marks around a name that a tool writes in its own words: `‹read_file›`.
const OPEN: char = '‹';
const CLOSE: char = '›';

/// Before a name that is a tool's, whatever parameters there are.
pub(crate) const TOOL: &str = "tool:";

/// A text for the model: what a tool says in its own words, and what it shows.
///
/// In its own words `‹read_file›` is the name of a parameter of this tool or of any tool, which the model is told as its dialect has
/// it; `‹tool:glob›` is the tool where a parameter has the same name. What is shown, a file's text or a command's output, is never
/// changed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Telling {
    pieces: Vec<Piece>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Said(String),
    Shown(String),
}

impl Telling {
    /// A tool's own words.
    pub fn said(text: impl Into<String>) -> Self {
        Self { pieces: vec![Piece::Said(text.into())] }
    }

    /// What a tool found, as it is.
    pub fn shown(text: impl Into<String>) -> Self {
        Self { pieces: vec![Piece::Shown(text.into())] }
    }

    /// The same, and this behind it.
    #[must_use]
    pub fn then(mut self, next: impl Into<Self>) -> Self {
        self.pieces.extend(next.into().pieces);
        self
    }

    /// Several of them, with this between them.
    pub fn joined(all: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut all = all.into_iter();
        let first = all.next().unwrap_or_default();
        all.fold(first, |text, next| text.then(between).then(next))
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.pieces.iter().all(|piece| piece.text().is_empty())
    }

    /// Whether it ends with a character.
    pub fn ends_with(&self, end: char) -> bool {
        let last = self.pieces.iter().rev().map(Piece::text).find(|text| !text.is_empty());
        last.is_some_and(|text| text.ends_with(end))
    }

    /// The text in a dialect's names.
    pub(crate) fn in_names(&self, names: &Names<'_>) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Said(text) => named(text, |name| names.find(name)),
            Piece::Shown(text) => text.clone(),
        });
        pieces.collect()
    }
}

impl Piece {
    fn text(&self) -> &str {
        match self {
            Self::Said(text) | Self::Shown(text) => text,
        }
    }
}

impl From<String> for Telling {
    fn from(text: String) -> Self {
        Self::said(text)
    }
}

impl From<&str> for Telling {
    fn from(text: &str) -> Self {
        Self::said(text)
    }
}

/// In native names, for people and logs.
impl fmt::Display for Telling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_names(&Names::default()))
    }
}

/// A text whose marked names are what somebody calls them, between backticks. What is marked and is no name stays as it is.
fn named<'a>(text: &'a str, called: impl Fn(&'a str) -> Option<&'a str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, marked)) = rest.split_once(OPEN) {
        out.push_str(before);
        match marked.split_once(CLOSE).filter(|(name, _)| is_name(name.strip_prefix(TOOL).unwrap_or(name))) {
            Some((name, behind)) => {
                let native = name.strip_prefix(TOOL).unwrap_or(name);
                out.extend(["`", called(name).unwrap_or(native), "`"]);
                rest = behind;
            }
            None => {
                out.push(OPEN);
                rest = marked;
            }
        }
    }
    out + rest
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn called(name: &str) -> Option<&str> {
        (name == "read_file").then_some("Read")
    }

    #[test]
    fn only_what_is_marked_is_a_name() {
        let check = |text: &str, expected: &str| assert_eq!(named(text, called), expected);
        check("see ‹read_file›, ‹grep› and `read_file`", "see `Read`, `grep` and `read_file`");
        check("‹not a name› ‹ ‹read_file› ‹›", "‹not a name› ‹ `Read` ‹›");
        check("read_file ‹tool:grep›", "read_file `grep`");
    }

    #[test]
    fn what_is_shown_stays() {
        let text = Telling::shown("a file says ‹read_file›").then("; go on with ‹read_file›");
        assert_eq!(text.to_string(), "a file says ‹read_file›; go on with `read_file`");
        assert!(text.ends_with('›') && !text.is_empty() && Telling::said("").is_empty());
        let all = Telling::joined([Telling::said("a"), Telling::shown("b")], ", ");
        assert_eq!(all.to_string(), "a, b");
        assert_eq!(Telling::joined([], ", "), Telling::default());
    }

    proptest! {
        #[test]
        fn any_text_is_told(text in "[‹›`a-z_ ]{0,40}") {
            let told = named(&text, |_| None);
            prop_assert_eq!(told.chars().filter(|c| c.is_alphabetic()).count(), text.chars().filter(|c| c.is_alphabetic()).count());
            prop_assert_eq!(Telling::shown(text.clone()).to_string(), text);
        }
    }
}
