//! What stands between tokens, and what may follow a closing quote.

use super::quotes::next_closer;

/// How far ahead it is looked to see what follows a quote. Beyond it, the quote gets the benefit of the doubt.
const WINDOW: usize = 512;

/// Blanks between two tokens.
#[derive(Clone, Copy, Default)]
pub(super) struct Blank {
    /// Where the next token begins.
    pub(super) end: usize,
    /// Whether a line ended on the way.
    pub(super) newline: bool,
    /// Whether there was anything but JSON's own white space: comments, other white space.
    pub(super) odd: bool,
}

/// Skips white space and comments from `at` on.
pub(super) fn skip(text: &str, at: usize) -> Blank {
    let mut blank = Blank { end: at, ..Blank::default() };
    loop {
        let rest = text.get(blank.end..).unwrap_or_default();
        let Some(c) = rest.chars().next() else { return blank };
        let length = match c {
            ' ' | '\t' | '\n' | '\r' => c.len_utf8(),
            '/' | '#' => match comment(rest) {
                Some(length) => {
                    blank.odd = true;
                    blank.newline |=
                        memchr::memchr(b'\n', rest.get(..length).unwrap_or_default().as_bytes()).is_some();
                    length
                }
                None => return blank,
            },
            // A byte order mark and a space of no width are blank to a reader, though not to Unicode.
            '\u{feff}' | '\u{200b}' => {
                blank.odd = true;
                c.len_utf8()
            }
            other if other.is_whitespace() => {
                blank.odd = true;
                c.len_utf8()
            }
            _ => return blank,
        };
        blank.newline |= c == '\n';
        blank.end += length;
    }
}

/// The length of the comment at the start; a `#` must be followed by a blank, so that `#fff` stays a word.
fn comment(rest: &str) -> Option<usize> {
    if rest.starts_with("//") || rest.starts_with("# ") || rest.starts_with("#\t") {
        return Some(memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(memchr::memmem::find(rest.as_bytes(), b"*/").map_or(rest.len(), |at| at + 2));
    }
    None
}

/// Where a string stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// It is the whole value.
    Top,
    /// A key.
    Key,
    /// The value of a key.
    Member,
    /// In a list.
    Element,
}

/// Whether a quote that ends at `at` can be the end of a string in this place.
pub(super) fn closes(text: &str, at: usize, place: Place) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    let window = head(rest, WINDOW);
    let whole = window.len() == rest.len();
    let Some(blank) = bounded_skip(window, 0) else { return true };
    let after = window.get(blank.end..).unwrap_or_default();
    let Some(c) = after.chars().next() else { return true };
    match (place, c) {
        (Place::Top, _) => true,
        (Place::Key, c) => c == ':',
        (Place::Member | Place::Element, '}' | ']' | ')') => true,
        (Place::Member | Place::Element, ',') => {
            let Some(next) = past_commas(window, blank.end) else { return true };
            begins(window, next, place, whole)
        }
        (Place::Member | Place::Element, _) => blank.newline && begins(window, blank.end, place, whole),
    }
}

/// The first place after commas and blanks, or None when the window ends before.
fn past_commas(window: &str, mut at: usize) -> Option<usize> {
    loop {
        match window.as_bytes().get(at) {
            Some(b',') => at += 1,
            Some(_) => {
                let blank = bounded_skip(window, at)?;
                if blank.end == at {
                    return Some(at);
                }
                at = blank.end;
            }
            None => return None,
        }
    }
}

/// Blanks inside the window; None when they reach its end.
fn bounded_skip(window: &str, at: usize) -> Option<Blank> {
    Some(skip(window, at)).filter(|blank| blank.end < window.len())
}

/// Whether a key (in an object) or a value (in a list) begins here, or the container ends.
fn begins(window: &str, at: usize, place: Place, whole: bool) -> bool {
    let rest = window.get(at..).unwrap_or_default();
    let Some(c) = rest.chars().next() else { return true };
    if matches!(c, '}' | ']' | ')') {
        return true;
    }
    match place {
        Place::Element => starts_value(rest, c, whole),
        Place::Top | Place::Key | Place::Member => starts_key(rest, c, whole),
    }
}

fn starts_value(rest: &str, c: char, whole: bool) -> bool {
    if quote(c).is_some() || matches!(c, '{' | '[' | '(' | '-' | '0'..='9') {
        return true;
    }
    let end = rest.find([',', ']', '}', '"', '\n']);
    match end.and_then(|end| rest.as_bytes().get(end)) {
        Some(b'"') => false,
        Some(_) => true,
        None => !whole,
    }
}

fn starts_key(rest: &str, c: char, whole: bool) -> bool {
    let end = match quote(c) {
        Some(closers) => next_closer(rest, c.len_utf8(), closers, true).map(|(_, after)| after),
        None => Some(rest.find(|c| !is_bare_key(c)).unwrap_or(rest.len())).filter(|end| *end > 0 || !whole),
    };
    // A key that is cut by the end of the text, or longer than the window, is taken for one.
    let Some(end) = end else { return quote(c).is_some() };
    let Some(blank) = bounded_skip(rest, end) else { return true };
    end > 0 && rest.as_bytes().get(blank.end) == Some(&b':')
}

/// Whether a key may hold this character without quotes.
pub(super) fn is_bare_key(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.')
}

/// The characters that close a string which this one opens; None when it opens none.
pub(super) fn quote(c: char) -> Option<&'static [char]> {
    match c {
        '"' => Some(&['"']),
        '\'' => Some(&['\'']),
        '\u{201c}' | '\u{201d}' | '\u{201e}' => Some(&['\u{201c}', '\u{201d}', '"']),
        '\u{2018}' | '\u{2019}' => Some(&['\u{2018}', '\u{2019}', '\'']),
        _ => None,
    }
}

/// The first `limit` bytes, less what would cut a character.
fn head(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
