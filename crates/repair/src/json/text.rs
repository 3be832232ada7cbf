//! Strings: from the bytes between the quotes to what they mean.

/// How the escapes of a string are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Backslash {
    /// As JSON has it.
    Escape,
    /// As JSON has it, but `\b` and `\f` are text: a string with a `\d` is a pattern, and nobody wants a backspace.
    Pattern,
    /// Every one is text: a Windows path.
    Path,
}

/// What a string means, and whether strict JSON would have read it the same.
pub(super) struct Decoded {
    pub(super) text: String,
    pub(super) strict: bool,
}

/// Reads what stood between quotes.
pub(super) fn decode(raw: &str) -> Decoded {
    if !raw.bytes().any(|byte| byte == b'\\' || byte < 0x20) {
        return Decoded { text: raw.to_owned(), strict: true };
    }
    let plain = unescape(raw, Backslash::Escape);
    if plain.strict {
        return Decoded { text: plain.text, strict: true };
    }
    let (text, strict) = match plain.invalid {
        true => (unescape(raw, Backslash::Pattern).text, false),
        false => (plain.text, false),
    };
    Decoded { text, strict }
}

/// Reads a string of a text that strict JSON refused: one that begins like a drive is a path, and all its backslashes are text.
pub(super) fn decode_refused(raw: &str) -> Decoded {
    if is_drive_path(raw) {
        return Decoded { text: unescape(raw, Backslash::Path).text, strict: false };
    }
    decode(raw)
}

/// True for `X:\` and no second backslash, which would say that the writer knew how to escape.
pub(crate) fn is_drive_path(raw: &str) -> bool {
    match raw.as_bytes() {
        [drive, b':', b'\\', next, ..] => drive.is_ascii_alphabetic() && *next != b'\\',
        [drive, b':', b'\\'] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

struct Unescaped {
    text: String,
    /// JSON would read it just so.
    strict: bool,
    /// There was an escape that JSON does not have.
    invalid: bool,
}

fn unescape(raw: &str, mode: Backslash) -> Unescaped {
    let mut out = Unescaped { text: String::with_capacity(raw.len()), strict: true, invalid: false };
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (plain, escaped) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.plain(plain);
        rest = escape(escaped, mode, &mut out);
    }
    out.plain(rest);
    out
}

impl Unescaped {
    fn plain(&mut self, text: &str) {
        self.strict &= !text.bytes().any(|byte| byte < 0x20);
        self.text.push_str(text);
    }
}

/// Reads one escape, which stands at the start; gives what follows it.
fn escape<'a>(text: &'a str, mode: Backslash, out: &mut Unescaped) -> &'a str {
    let after = |n: usize| text.get(n..).unwrap_or_default();
    let simple = match (mode, text.as_bytes().get(1)) {
        // A doubled one is half a path that was escaped; a single one is the path itself.
        (Backslash::Path, Some(b'\\')) => Some('\\'),
        (Backslash::Path, _) => None,
        (_, Some(b'"')) => Some('"'),
        (_, Some(b'\\')) => Some('\\'),
        (_, Some(b'/')) => Some('/'),
        (_, Some(b'n')) => Some('\n'),
        (_, Some(b'r')) => Some('\r'),
        (_, Some(b't')) => Some('\t'),
        (Backslash::Escape, Some(b'b')) => Some('\u{8}'),
        (Backslash::Escape, Some(b'f')) => Some('\u{c}'),
        (_, Some(b'\'')) => {
            out.strict = false;
            Some('\'')
        }
        (_, Some(b'u')) => {
            if let Some((c, length, whole)) = unicode(text) {
                out.strict &= whole;
                out.text.push(c);
                return after(length);
            }
            None
        }
        (_, Some(_) | None) => None,
    };
    match simple {
        Some(c) => {
            out.text.push(c);
            after(2)
        }
        None => {
            out.strict = false;
            out.invalid = true;
            out.text.push('\\');
            after(1)
        }
    }
}

/// The character of a `\uXXXX` at the start, its length, and whether it is a whole one: half a pair becomes U+FFFD.
fn unicode(text: &str) -> Option<(char, usize, bool)> {
    let first = hex(text)?;
    if let Some(c) = char::from_u32(first) {
        return Some((c, 6, true));
    }
    let second = (first < 0xdc00).then(|| text.get(6..).and_then(hex)).flatten();
    match second.filter(|second| (0xdc00..0xe000).contains(second)) {
        Some(second) => {
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            Some((char::from_u32(code).unwrap_or('\u{fffd}'), 12, true))
        }
        None => Some(('\u{fffd}', 6, false)),
    }
}

fn hex(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}
