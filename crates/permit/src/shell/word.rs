use super::Word;
use super::text::{CONTINUED, Found, Reader};

/// How many braces a word may have.
const MAX_BRACES: usize = 16;
/// How many words braces may make of one.
const MAX_ALTERNATIVES: usize = 64;

/// A part of a word, as the shell sees it before it expands anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// A character without quotes.
    Plain(char),
    /// Text in quotes, perhaps none.
    Quoted(String),
    /// The user's home folder: `~`, `$HOME`.
    Home,
    /// What is known only when it runs.
    Unknown,
}

/// A word as it was read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Raw {
    pub(super) pieces: Vec<Piece>,
    /// As it stands.
    pub(super) text: String,
    /// It has the form `NAME=value`: the name, and where its value begins.
    pub(super) assigns: Option<Assigns>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Assigns {
    pub(super) name: String,
    pub(super) value: usize,
}

impl Raw {
    /// Its text, if nothing in it is quoted or expanded.
    pub(super) fn plain(&self) -> Option<String> {
        self.pieces.iter().map(|piece| if let Piece::Plain(c) = piece { Some(*c) } else { None }).collect()
    }

    /// What of it, or of the value that it assigns, no expansion changes.
    pub(super) fn fixed(&self) -> String {
        let mut text = String::new();
        let name = self.assigns.as_ref().map_or(0, |assigns| assigns.value);
        for piece in self.pieces.iter().skip(name) {
            match piece {
                Piece::Plain(c) => text.push(*c),
                Piece::Quoted(quoted) => text.push_str(quoted),
                Piece::Home | Piece::Unknown => {}
            }
        }
        text
    }

    /// Whether quotes stand in it.
    pub(super) fn is_quoted(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Quoted(_)))
    }

    /// The word it is, where braces do not make several of one.
    pub(super) fn word(&self) -> Word {
        settle(&self.pieces, &self.text, None)
    }

    /// The value of an assignment.
    pub(super) fn value(&self) -> Word {
        let pieces = self.assigns.as_ref().and_then(|assigns| self.pieces.get(assigns.value..));
        let text = self.text.split_once('=').map_or("", |(_, value)| value);
        // A pattern is not replaced by file names in an assignment.
        match settle(pieces.unwrap_or_default(), text, None) {
            Word::Pattern(text) => Word::Literal(text),
            word @ (Word::Literal(_) | Word::Dynamic { .. }) => word,
        }
    }

    /// The words it is, braces expanded; `None` if they are too many, or shells differ in them.
    pub(super) fn words(&self) -> Option<Vec<Word>> {
        let braces = self.pieces.iter().filter(|piece| **piece == Piece::Plain('{')).count();
        if braces > MAX_BRACES {
            return None;
        }
        let mut all = Vec::new();
        expand(Vec::new(), &self.pieces, &mut all)?;
        if let [only] = all.as_slice() {
            return Some(vec![settle(only, &self.text, None)]);
        }
        // A word that braces leave empty is none.
        Some(
            all.iter()
                .filter(|pieces| !pieces.is_empty())
                .map(|pieces| settle(pieces, &self.text, None))
                .collect(),
        )
    }
}

impl Word {
    /// The word with `~` and `$HOME` replaced by the user's home folder, where they stand in it.
    pub fn at_home(&self, home: Option<&str>) -> Self {
        let (Self::Dynamic { text, .. }, Some(_)) = (self, home) else { return self.clone() };
        // `{}` is what another program puts there.
        match reread(text)
            .filter(|raw| !text.contains("{}") && raw.words().is_some_and(|words| words.len() == 1))
        {
            Some(raw) => settle(&raw.pieces, text, home),
            None => self.clone(),
        }
    }

    /// Whether it may come to several words, as a variable without quotes does.
    pub(super) fn may_split(&self) -> bool {
        match self {
            Self::Literal(_) | Self::Pattern(_) => false,
            Self::Dynamic { text, .. } => {
                let value = text.split_once('=').map_or(text.as_str(), |(_, value)| value);
                let quoted = |text: &str| {
                    text.strip_prefix('"')
                        .and_then(|text| text.strip_suffix('"'))
                        .is_some_and(|text| !text.contains('"'))
                };
                !(quoted(text) || quoted(value)) || text.contains('@')
            }
        }
    }

    /// Whether it may come to no word at all, as an empty variable does.
    pub(super) fn may_vanish(&self) -> bool {
        match self {
            Self::Literal(_) | Self::Pattern(_) => false,
            Self::Dynamic { text, known } if known.is_empty() => {
                let text = text.replace(CONTINUED, "");
                let braces = text.starts_with('{') && text.contains(['$', '`']);
                let listed = text.starts_with("\"$") && text.contains('@');
                let expands = |rest: &str| rest.is_empty() || rest.starts_with(['$', '(', '{', '`', '\\']);
                let name = text.strip_prefix('$').map(|rest| match rest.trim_start_matches(is_name) {
                    same if same.len() == rest.len() => {
                        same.strip_prefix(['!', '#', '?', '-', '$', '@', '*']).unwrap_or(same)
                    }
                    after => after,
                });
                braces || listed || text.starts_with('`') || name.is_some_and(expands)
            }
            Self::Dynamic { .. } => false,
        }
    }
}

/// A character of a variable's name.
pub(super) fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The pieces of a word that was read before.
fn reread(text: &str) -> Option<Raw> {
    let mut found = Found::default();
    let mut reader = Reader::new(text, &mut found);
    let raw = reader.word(super::lex::Position::Argument).ok()?;
    (reader.at == text.len()).then_some(raw)
}

/// What is known of a word.
fn settle(pieces: &[Piece], text: &str, home: Option<&str>) -> Word {
    let mut value = String::new();
    // Up to where the value is certain.
    let mut certain = None;
    let (mut pattern, mut dynamic) = (false, false);
    let bracket = pieces.iter().rposition(|piece| *piece == Piece::Plain(']')).unwrap_or(0);
    for (index, piece) in pieces.iter().enumerate() {
        let before = value.len();
        match (piece, home) {
            (Piece::Plain(c), _) => {
                // `[` alone is a program's name.
                if matches!(c, '*' | '?') || (*c == '[' && index < bracket) {
                    pattern = true;
                    certain.get_or_insert(before);
                }
                value.push(*c);
            }
            (Piece::Quoted(text), _) => value.push_str(text),
            (Piece::Home, Some(home)) => value.push_str(home),
            (Piece::Home, None) | (Piece::Unknown, _) => {
                dynamic = true;
                certain.get_or_insert(before);
            }
        }
    }
    match (dynamic, pattern) {
        (true, _) => {
            value.truncate(certain.unwrap_or(0));
            Word::Dynamic { text: text.to_owned(), known: value }
        }
        (false, true) => Word::Pattern(value),
        (false, false) => Word::Literal(value),
    }
}

/// Braces: `a{b,c}` is `ab` and `ac`.
fn expand(mut before: Vec<Piece>, pieces: &[Piece], all: &mut Vec<Vec<Piece>>) -> Option<()> {
    let mut rest = pieces;
    while let Some((piece, after)) = rest.split_first() {
        if *piece == Piece::Plain('{')
            && let Some(braces) = Braces::of(after)
        {
            // Where a word begins, and behind other braces, bash leaves `{}` as it is.
            if after.first() == Some(&Piece::Plain('}')) {
                return None;
            }
            if braces.parts.len() == 1 {
                // `{1..9}`: what it counts is not worth knowing.
                before.push(Piece::Unknown);
                rest = braces.after;
                continue;
            }
            for part in braces.parts {
                let joined: Vec<Piece> = part.iter().chain(braces.after).cloned().collect();
                expand(before.clone(), &joined, all)?;
            }
            return Some(());
        }
        before.push(piece.clone());
        rest = after;
    }
    all.push(before);
    (all.len() <= MAX_ALTERNATIVES).then_some(())
}

struct Braces<'a> {
    /// What stands between the commas; one alone is a range.
    parts: Vec<&'a [Piece]>,
    after: &'a [Piece],
}

impl<'a> Braces<'a> {
    /// The braces whose first has just been read, if the shell expands them.
    fn of(pieces: &'a [Piece]) -> Option<Self> {
        let (mut depth, mut from, mut parts) = (0_usize, 0, Vec::new());
        let mut range = false;
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Plain('{') => depth += 1,
                Piece::Plain('}') if depth > 0 => depth -= 1,
                // In `{a}b,c}` the first brace closes nothing.
                Piece::Plain('}') if parts.is_empty() && !range => {}
                Piece::Plain('}') => {
                    parts.push(pieces.get(from..at)?);
                    return Some(Self { parts, after: pieces.get(at + 1..)? });
                }
                Piece::Plain(',') if depth == 0 => {
                    parts.push(pieces.get(from..at)?);
                    from = at + 1;
                }
                // Dots right before the brace count for nothing.
                Piece::Plain('.') if depth == 0 => {
                    let dots = pieces.get(at + 1) == Some(&Piece::Plain('.'));
                    range |= dots && pieces.get(at + 2) != Some(&Piece::Plain('}'));
                }
                Piece::Plain(_) | Piece::Quoted(_) | Piece::Home | Piece::Unknown => {}
            }
        }
        None
    }
}
