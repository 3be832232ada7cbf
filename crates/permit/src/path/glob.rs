/// Whether the case of letters counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Case {
    /// It does.
    Counts,
    /// `A` is `a`.
    Ignored,
}

/// A pattern of one name: `*` is any text, `?` one letter, `[a-z]` one of these, `[!a]` any other, `\*` the star itself.
///
/// A name that is spelled exactly as the pattern fits too, so that a folder `[id]` can be named without escapes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Glob {
    text: String,
    tokens: Vec<Token>,
    shape: Shape,
}

/// What most patterns are: they are compared without looking at each letter.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Shape {
    /// A name.
    Name(String),
    /// `*` and an ending.
    Ending(String),
    /// Anything else.
    Other,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Star,
    One,
    Char(char),
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Glob {
    /// Reads a pattern; every text is one.
    pub(crate) fn new(text: &str) -> Self {
        let mut tokens = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            match c {
                '*' if tokens.last() == Some(&Token::Star) => {}
                '*' => tokens.push(Token::Star),
                '?' => tokens.push(Token::One),
                '\\' => tokens.push(Token::Char(rest.next().unwrap_or('\\'))),
                '[' => match class(rest.as_str()) {
                    Some((token, after)) => {
                        tokens.push(token);
                        rest = after.chars();
                    }
                    None => tokens.push(Token::Char('[')),
                },
                other => tokens.push(Token::Char(other)),
            }
        }
        let shape = match tokens.split_first() {
            Some((Token::Star, rest)) => chars(rest).map_or(Shape::Other, Shape::Ending),
            Some(_) | None => chars(&tokens).map_or(Shape::Other, Shape::Name),
        };
        Self { text: text.to_owned(), tokens, shape }
    }

    /// The pattern that one name alone fits.
    pub(crate) fn exactly(name: &str) -> Self {
        let tokens = name.chars().map(Token::Char).collect();
        Self { text: name.to_owned(), tokens, shape: Shape::Name(name.to_owned()) }
    }

    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The one name that it stands for, if it is no more than a name.
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.shape {
            Shape::Name(name) => Some(name),
            Shape::Ending(_) | Shape::Other => None,
        }
    }

    /// Whether a name fits; it need not be UTF-8.
    pub(crate) fn fits(&self, name: &[u8], case: Case) -> bool {
        let same = match case {
            Case::Counts => self.text.as_bytes() == name,
            Case::Ignored => self.text.as_bytes().eq_ignore_ascii_case(name),
        };
        let ends =
            |end: &str| name.split_at_checked(name.len().wrapping_sub(end.len())).map(|(_, last)| last);
        same || match (&self.shape, case) {
            (Shape::Name(own), Case::Counts) => own.as_bytes() == name,
            (Shape::Name(own), Case::Ignored) => own.as_bytes().eq_ignore_ascii_case(name),
            (Shape::Ending(end), Case::Counts) => name.ends_with(end.as_bytes()),
            (Shape::Ending(end), Case::Ignored) => {
                ends(end).is_some_and(|last| last.eq_ignore_ascii_case(end.as_bytes()))
            }
            (Shape::Other, _) => fits(&self.tokens, name, case),
        }
    }

    /// Whether a name could fit both this pattern and one that a shell would replace by file names. It may say yes too often.
    pub(crate) fn overlaps(&self, shell: &Self) -> bool {
        // A shell leaves names out that begin with a dot, unless the pattern begins with it.
        if self.tokens.first() == Some(&Token::Char('.'))
            && matches!(shell.tokens.first(), Some(Token::Star | Token::One))
        {
            return false;
        }
        let many = |token: &Token| *token == Token::Star;
        overlap(&self.tokens, &shell.tokens, many, |one, other| match (one, other) {
            (Token::Char(one), Token::Char(other)) => one == other,
            (Token::Char(_) | Token::Star | Token::One | Token::Class { .. }, _) => true,
        })
    }
}

/// Whether a row of items could fit both rows of steps, some of which stand for any number of items.
pub(crate) fn overlap<T>(
    own: &[T],
    other: &[T],
    many: impl Fn(&T) -> bool,
    meet: impl Fn(&T, &T) -> bool,
) -> bool {
    let width = other.len();
    // `ahead[j]` says whether the rest of `own` and `other` from `j` on overlap.
    let mut ahead: Vec<bool> = Vec::new();
    for step in own.iter().map(Some).chain([None]).rev() {
        let mut row = vec![false; width + 1];
        let below = |at: usize| ahead.get(at).copied().unwrap_or(false);
        for at in (0..=width).rev() {
            let next = row.get(at + 1).copied().unwrap_or(false);
            let can = match (step, other.get(at)) {
                (None, None) => true,
                (Some(step), Some(_)) if many(step) => below(at) || next,
                (Some(step), None) => many(step) && below(at),
                (Some(_), Some(with)) if many(with) => next || below(at),
                (Some(step), Some(with)) => below(at + 1) && meet(step, with),
                (None, Some(with)) => many(with) && next,
            };
            if let Some(cell) = row.get_mut(at) {
                *cell = can;
            }
        }
        ahead = row;
    }
    ahead.first().copied().unwrap_or(false)
}

/// The text of tokens that are letters alone.
fn chars(tokens: &[Token]) -> Option<String> {
    let one = |token: &Token| match token {
        Token::Char(c) => Some(*c),
        Token::Star | Token::One | Token::Class { .. } => None,
    };
    tokens.iter().map(one).collect()
}

/// Reads what stands behind `[`; None if there is no `]`.
fn class(text: &str) -> Option<(Token, &str)> {
    let negated = text.starts_with(['!', '^']);
    let inner = if negated { text.get(1..)? } else { text };
    // A `]` that stands first is a letter of the class.
    let end = inner.char_indices().skip(1).find(|(_, c)| *c == ']').map(|(at, _)| at)?;
    let letters: Vec<char> = inner.get(..end)?.chars().collect();
    let mut ranges = Vec::new();
    let mut rest = letters.as_slice();
    loop {
        rest = match rest {
            [] => break,
            [from, '-', to, more @ ..] => {
                ranges.push((*from, *to));
                more
            }
            [one, more @ ..] => {
                ranges.push((*one, *one));
                more
            }
        };
    }
    Some((Token::Class { negated, ranges }, inner.get(end + 1..)?))
}

fn fits(tokens: &[Token], name: &[u8], case: Case) -> bool {
    let (mut tokens, mut name) = (tokens, name);
    // Where to go on if it fails: behind the last `*`, which then takes one more letter.
    let mut back: Option<(&[Token], &[u8])> = None;
    loop {
        match (tokens, first(name)) {
            ([], None) => return true,
            ([Token::Star, rest @ ..], _) => {
                back = Some((rest, name));
                tokens = rest;
            }
            ([token, rest @ ..], Some((letter, more))) if takes(token, letter, case) => {
                (tokens, name) = (rest, more);
            }
            (_, _) => {
                let Some((after, from)) = back else { return false };
                let Some((_, more)) = first(from) else { return false };
                back = Some((after, more));
                (tokens, name) = (after, more);
            }
        }
    }
}

/// The first letter of a name, None for a byte that is none, and the rest.
fn first(name: &[u8]) -> Option<(Option<char>, &[u8])> {
    let (byte, rest) = name.split_first()?;
    if byte.is_ascii() {
        return Some((Some(char::from(*byte)), rest));
    }
    let letter = (2..=4).find_map(|len| {
        let (bytes, rest) = name.split_at_checked(len)?;
        Some((std::str::from_utf8(bytes).ok()?.chars().next(), rest))
    });
    Some(letter.unwrap_or((None, rest)))
}

fn takes(token: &Token, letter: Option<char>, case: Case) -> bool {
    let fold = |c: char| match case {
        Case::Counts => c,
        Case::Ignored => c.to_ascii_lowercase(),
    };
    match (token, letter) {
        (Token::One | Token::Star, _) => true,
        (Token::Char(wanted), Some(letter)) => fold(*wanted) == fold(letter),
        (Token::Class { negated, ranges }, Some(letter)) => {
            let letter = fold(letter);
            ranges.iter().any(|(from, to)| (fold(*from)..=fold(*to)).contains(&letter)) != *negated
        }
        (Token::Class { negated, .. }, None) => *negated,
        (Token::Char(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_fit_patterns() {
        for (pattern, name, expected) in [
            ("*", "", true),
            ("*", "x", true),
            ("", "", true),
            ("", "x", false),
            ("*.rs", "a.rs", true),
            ("*.rs", "a.rs.bak", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "acb", false),
            ("?", "é", true),
            ("??", "é", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "zx", true),
            ("[é]", "é", true),
            ("[id]", "i", true),
            ("[id]", "[id]", true),
            ("[id", "[id", true),
            ("[]]", "]", true),
            (r"\*", "*", true),
            (r"\*", "x", false),
            ("A", "a", false),
        ] {
            assert_eq!(Glob::new(pattern).fits(name.as_bytes(), Case::Counts), expected, "{pattern} {name}");
        }
        assert!(Glob::new("*.PEM").fits(b"k.pem", Case::Ignored));
        assert!(Glob::new("*.pem").fits(b"\xff\xfe.pem", Case::Counts));
        assert!(Glob::new("?.pem").fits(b"\xff.pem", Case::Counts));
        assert!(Glob::new("[!a].pem").fits(b"\xff.pem", Case::Counts));
    }

    #[test]
    fn patterns_overlap() {
        for (rule, shell, expected) in [
            ("secret.txt", "s*", true),
            ("secret.txt", "secret.t?t", true),
            ("secret.txt", "*.md", false),
            ("*.key", "server.*", true),
            ("*.key", "*.rs", false),
            (".env", "*", false),
            (".env", ".e*", true),
            (".env.*", "*.ts", false),
            ("[ab]", "?", true),
            ("a*", "*b", true),
            ("", "", true),
            ("", "*", true),
            ("a", "", false),
        ] {
            assert_eq!(Glob::new(rule).overlaps(&Glob::new(shell)), expected, "{rule} {shell}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_pattern(pattern in r"[a\[\]!^*?\\é.-]{0,12}", name in proptest::collection::vec(any::<u8>(), 0..12)) {
            let glob = Glob::new(&pattern);
            glob.fits(&name, Case::Counts);
            glob.overlaps(&Glob::new(&String::from_utf8_lossy(&name)));
            prop_assert!(glob.fits(pattern.as_bytes(), Case::Counts));
        }

        #[test]
        fn what_fits_both_is_an_overlap(rule in "[ab*?]{0,6}", shell in "[ab*?]{0,6}", name in "[ab]{0,5}") {
            let (rule, shell) = (Glob::new(&rule), Glob::new(&shell));
            let both = rule.fits(name.as_bytes(), Case::Counts) && shell.fits(name.as_bytes(), Case::Counts);
            prop_assert!(!both || rule.overlaps(&shell));
        }

        #[test]
        fn the_fast_ways_agree(pattern in r"\*?[aAé.]{0,4}", name in "[aAé.]{0,5}", ignored: bool) {
            let case = if ignored { Case::Ignored } else { Case::Counts };
            let glob = Glob::new(&pattern);
            prop_assert_eq!(glob.fits(name.as_bytes(), case), fits(&glob.tokens, name.as_bytes(), case));
        }

        #[test]
        fn an_exact_name_fits_itself_alone(name in ".{0,8}", other in ".{0,8}") {
            prop_assert_eq!(Glob::exactly(&name).fits(other.as_bytes(), Case::Counts), name == other);
        }
    }
}
