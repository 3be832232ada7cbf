/// What a string literal begins with, as far as its end and its meaning depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Style {
    pub(super) quote: u8,
    /// It stands between three quotes on each side.
    pub(super) triple: bool,
    /// Backslashes mean themselves.
    pub(super) raw: bool,
    /// Braces are doubled, and single ones hold code.
    pub(super) format: bool,
}

/// The longest prefix of a string, as in `rb"…"`.
pub(super) const MAX_PREFIX: usize = 2;

impl Style {
    /// The style of the literal that a text begins with, and the length of what opens it.
    pub(super) fn at(text: &[u8]) -> Option<(Self, usize)> {
        let length = text.iter().take(MAX_PREFIX + 1).position(|byte| matches!(byte, b'"' | b'\''))?;
        let (prefix, rest) = text.split_at_checked(length)?;
        let prefix = prefix.to_ascii_lowercase();
        if !matches!(prefix.as_slice(), b"" | b"r" | b"b" | b"u" | b"f" | b"rb" | b"br" | b"rf" | b"fr") {
            return None;
        }
        let quote = *rest.first()?;
        let triple = rest.starts_with(&[quote; 3]);
        let style = Self { quote, triple, raw: prefix.contains(&b'r'), format: prefix.contains(&b'f') };
        Some((style, length + if triple { 3 } else { 1 }))
    }

    /// The length of what closes it.
    pub(super) fn closer(self) -> usize {
        if self.triple { 3 } else { 1 }
    }

    /// The place of the first closer in a text that begins inside the literal.
    pub(super) fn end(self, text: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            at += memchr::memchr2(self.quote, b'\\', text.get(at..)?)?;
            let rest = text.get(at..)?;
            if rest.first() == Some(&b'\\') {
                at += 2;
            } else if !self.triple || closes_triple(rest, self.quote) {
                return Some(at);
            } else {
                at += 1;
            }
        }
    }
}

/// The last three of a run of quotes close: a string may end with a quote.
pub(super) fn closes_triple(rest: &[u8], quote: u8) -> bool {
    rest.starts_with(&[quote; 3]) && rest.get(3) != Some(&quote)
}

/// What stands between the quotes of a literal means this. None when it holds code.
pub(super) fn decode(body: &str, style: Style) -> Option<String> {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(next) = rest.find(['\\', '{', '}']) {
        let (plain, special) = rest.split_at_checked(next)?;
        out.push_str(plain);
        let length = if special.starts_with('\\') {
            if style.raw { verbatim(special, &mut out) } else { escape(special, &mut out) }
        } else if style.format {
            brace(special, &mut out)?
        } else {
            verbatim(special, &mut out)
        };
        rest = special.get(length..)?;
    }
    out.push_str(rest);
    Some(out)
}

fn verbatim(text: &str, out: &mut String) -> usize {
    text.chars().next().map_or(0, |first| {
        out.push(first);
        first.len_utf8()
    })
}

/// A brace in a format string: its length, None when code follows.
pub(super) fn brace(text: &str, out: &mut String) -> Option<usize> {
    let brace = text.chars().next()?;
    (text.chars().nth(1) == Some(brace)).then(|| out.push(brace))?;
    Some(2)
}

/// Reads the escape that a text begins with; its length. What is none stands for itself.
pub(super) fn escape(text: &str, out: &mut String) -> usize {
    let Some(kind) = text.chars().nth(1) else { return verbatim(text, out) };
    let simple = match kind {
        '\n' => return 2,
        '\r' => return if text.starts_with("\\\r\n") { 3 } else { 2 },
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        '\\' | '\'' | '"' => kind,
        '0'..='7' => return octal(text, out),
        'x' | 'u' | 'U' => return hex(text, out),
        _ => return verbatim(text, out),
    };
    out.push(simple);
    2
}

fn octal(text: &str, out: &mut String) -> usize {
    let digits = text.bytes().skip(1).take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let code = text.get(1..=digits).and_then(|digits| u32::from_str_radix(digits, 8).ok());
    out.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
    1 + digits
}

/// How many hexadecimal digits follow `\x`, `\u` and `\U`.
pub(super) fn hex_digits(kind: u8) -> usize {
    match kind {
        b'x' => 2,
        b'u' => 4,
        _ => 8,
    }
}

fn hex(text: &str, out: &mut String) -> usize {
    let Some((code, length)) = hex_code(text) else { return verbatim(text, out) };
    if is_high(code) {
        // A pair of halves is how JSON writes what Python writes as one.
        let low = text.get(length..).and_then(hex_code).filter(|(low, _)| (0xdc00..0xe000).contains(low));
        if let Some((low, more)) = low {
            let code = 0x1_0000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            return length + more;
        }
    }
    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
    length
}

/// The first half of a character that needs two.
pub(super) fn is_high(code: u32) -> bool {
    (0xd800..0xdc00).contains(&code)
}

/// The code of the escape that a text begins with, and the escape's length.
pub(super) fn hex_code(text: &str) -> Option<(u32, usize)> {
    let kind =
        *text.strip_prefix('\\')?.as_bytes().first().filter(|kind| matches!(kind, b'x' | b'u' | b'U'))?;
    let length = 2 + hex_digits(kind);
    let digits = text.get(2..length).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some((u32::from_str_radix(digits, 16).ok()?, length))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Style, decode};

    /// The meaning of a whole literal, and what is left behind it.
    fn read(text: &str) -> Option<(String, &str)> {
        let (style, from) = Style::at(text.as_bytes())?;
        let end = style.end(text.as_bytes(), from)?;
        Some((decode(&text[from..end], style)?, &text[end + style.closer()..]))
    }

    #[test]
    fn string_literals_mean_what_python_says() {
        for (text, meaning) in [
            (r"'a'", "a"),
            (r#""it's""#, "it's"),
            (r"'it\'s'", "it's"),
            (r"'a\\'", "a\\"),
            (r"'\\\'x'", "\\'x"),
            (r"'\n\t\r\a\b\f\v\0\101\x41\u00e9\U0001F600'", "\n\t\r\u{7}\u{8}\u{c}\u{b}\0AAé😀"),
            (r"'\ud83d\ude00 \ud83d!'", "😀 \u{fffd}!"),
            (r"'\d+\(\N{DASH}\x4g'", r"\d+\(\N{DASH}\x4g"),
            ("'one \\\ntwo'", "one two"),
            ("'raw\nnewline'", "raw\nnewline"),
            (r"r'\d\n\''", r"\d\n\'"),
            (r"Rb'\x'", r"\x"),
            (r"b'x'", "x"),
            (r"u'é'", "é"),
            (r"f'{{a}} b'", "{a} b"),
            (r"fr'\d{{1}}'", r"\d{1}"),
            (r#"'''a 'b' "c" '''"#, r#"a 'b' "c" "#),
            (r#""""say "hi"""""#, r#"say "hi""#),
            (r#""""""""#, ""),
            ("''", ""),
        ] {
            assert_eq!(read(text), Some((meaning.to_owned(), "")), "{text}");
        }
    }

    #[test]
    fn what_is_no_literal_is_none() {
        for text in ["a", "x'a'", "rbf'a'", "'a", "'a\\'", "f'{x}'", "f'}'", "'''a''", ""] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_between_quotes_can_be_written_and_read(text: String) {
            let written: String = text.chars().map(|c| match c {
                '\'' => r"\'".to_owned(),
                '\\' => r"\\".to_owned(),
                other => other.to_string(),
            }).collect();
            let literal = format!("'{written}'");
            prop_assert_eq!(read(&literal), Some((text, "")));
        }

        #[test]
        fn reading_never_panics(text in "[rbfu]{0,3}['\"]{1,3}[\\\\xuUN0-9a-f{}'\"é\n]{0,24}") {
            let _ = read(&text);
        }
    }
}
