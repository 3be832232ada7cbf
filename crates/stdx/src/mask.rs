use std::borrow::Cow;
use std::sync::LazyLock;

/// What stands for a secret.
const COVER: &str = "***";
/// Shorter secrets are stand-ins such as `none`, whose letters are everywhere.
const SHORTEST: usize = 8;
/// A token behind `Bearer` that is longer than this is covered whatever its letters are.
const SURELY_A_TOKEN: usize = 24;

/// How keys begin, and how long they are at least.
const BEGINNINGS: &[(&str, usize)] = &[
    ("sk-", 12),
    ("sk_", 16),
    ("rail_", 16),
    ("AIza", 20),
    ("AQ.", 20),
    ("gsk_", 20),
    ("xai-", 20),
    ("hf_", 20),
    ("nvapi-", 20),
    ("pplx-", 20),
    ("ghp_", 20),
    ("github_pat_", 20),
    ("AKIA", 16),
    ("eyJ", 24),
];

/// The length of the shortest key.
const LEAST: usize = 12;

/// The bytes that keys begin with.
static FIRST: LazyLock<[bool; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        BEGINNINGS.iter().any(|(begin, _)| begin.bytes().next().map(usize::from) == Some(byte))
    })
});

/// Parameters of an address that carry a secret.
const PARAMETERS: &[&str] =
    &["key", "api_key", "api-key", "apikey", "token", "access_token", "secret", "password", "sig", "code"];

/// Covers secrets in texts: those it is told, and what looks like one.
#[derive(Clone, Default)]
pub struct Mask {
    /// The longest first: one may be a part of another.
    known: Vec<String>,
}

impl Mask {
    /// Covers these secrets, and what looks like one.
    pub fn of<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let secrets = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST);
        let mut known: Vec<String> =
            secrets.flat_map(|secret| [secret.to_owned(), in_json(secret)]).collect();
        known.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        known.dedup();
        Self { known }
    }

    /// The text with each secret covered. It may be JSON: nothing but the inside of words changes.
    pub fn cover<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        for secret in &self.known {
            if shown.contains(secret.as_str()) {
                shown = Cow::Owned(shown.replace(secret.as_str(), COVER));
            }
        }
        match without_lookalikes(&shown) {
            Some(covered) => Cow::Owned(covered),
            None => shown,
        }
    }
}

/// A text as it stands inside of quotes in JSON.
fn in_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// The text without what looks like a secret; None when nothing does.
fn without_lookalikes(text: &str) -> Option<String> {
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some((start, end)) = next_word(text, at) {
        at = end;
        if let Some((from, to)) = secret_at(text, start, end) {
            out.push_str(text.get(copied..from).unwrap_or_default());
            out.push_str(COVER);
            (copied, at) = (to, to.max(end));
        }
    }
    (copied > 0).then(|| {
        out.push_str(text.get(copied..).unwrap_or_default());
        out
    })
}

/// Where the next word begins and ends.
fn next_word(text: &str, from: usize) -> Option<(usize, usize)> {
    let rest = text.as_bytes().get(from..)?;
    let start = from + rest.iter().position(|byte| of_word(*byte))?;
    let word = text.as_bytes().get(start..)?;
    let end = word.iter().position(|byte| !of_word(*byte)).map_or(text.len(), |length| start + length);
    Some((start, end))
}

fn of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

/// The secret that this word is, or that it announces.
fn secret_at(text: &str, start: usize, end: usize) -> Option<(usize, usize)> {
    let word = text.get(start..end)?;
    if is_key(word) {
        return Some((start, end));
    }
    // A path such as `providers.NAME.key` may have a key as one of its parts.
    let mut from = start;
    for part in word.split('.') {
        if is_key(part) {
            return Some((from, from + part.len()));
        }
        from += part.len() + 1;
    }
    let value = end + 1;
    let stop = |more: char| {
        let stops = |c: char| c == more || c.is_whitespace() || c.is_control() || "\"'\\,;<>`".contains(c);
        let rest = text.get(value..).unwrap_or_default();
        value + rest.find(stops).unwrap_or(rest.len())
    };
    match text.as_bytes().get(end) {
        Some(b' ') if word.eq_ignore_ascii_case("bearer") => {
            let to = stop(' ');
            is_token(text.get(value..to)?).then_some((value, to))
        }
        Some(b'=') if is_parameter(text, start, word) => {
            let to = stop('&');
            (to > value).then_some((value, to))
        }
        Some(_) | None => None,
    }
}

fn is_key(word: &str) -> bool {
    // Most words are no keys, and every line is looked through.
    let first = word.bytes().next().and_then(|byte| FIRST.get(usize::from(byte)));
    if word.len() < LEAST || first != Some(&true) {
        return false;
    }
    BEGINNINGS.iter().any(|(begin, least)| {
        word.strip_prefix(begin).is_some_and(|rest| word.len() >= *least && is_random(rest))
    })
}

fn is_token(word: &str) -> bool {
    word.len() > SURELY_A_TOKEN || (word.len() >= SHORTEST && is_random(word))
}

/// Names are written in small letters; keys hold digits or capitals.
fn is_random(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

fn is_parameter(text: &str, start: usize, word: &str) -> bool {
    let before = start.checked_sub(1).and_then(|at| text.as_bytes().get(at));
    matches!(before, Some(b'?' | b'&')) && PARAMETERS.iter().any(|name| word.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_looks_like_a_secret_is_covered_and_names_are_not() {
        let mask = Mask::default();
        for (text, shown) in [
            ("key sk-test-12345678 is wrong", "key *** is wrong"),
            ("`sk-ant-api03-abcdefghij1234567890`", "`***`"),
            (r#"{"a":"Bearer abc.DEF/123+x=","b":1}"#, r#"{"a":"Bearer ***","b":1}"#),
            ("Authorization: bearer 0123456789", "Authorization: bearer ***"),
            ("https://h/v1/models?key=secret&alt=sse", "https://h/v1/models?key=***&alt=sse"),
            ("GET /x?a=b&API_KEY=q HTTP/1.1", "GET /x?a=b&API_KEY=*** HTTP/1.1"),
            ("AIzaSyD-abcdefghijklmnop1234567,m", "***,m"),
            ("rail_ab12cd34ef56ab12cd34ef56 was refused", "*** was refused"),
            ("providers.gsk_abcdefghij1234567890.base_url", "providers.***.base_url"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x1 twice eyJhbGciOiJIUzI1NiJ9.e30.x", "*** twice ***"),
            ("sk-learn-notebooks, switchrail_requests_total, rail_gateway", ""),
            ("Bearer tokens are wanted; monkey=3; ?keys=4; a key= b", ""),
            ("qwen,unsloth/qwen3-235b-a22b-gguf/x-00001-of-00003.gguf", ""),
            ("", ""),
        ] {
            let shown = if shown.is_empty() { text } else { shown };
            assert_eq!(mask.cover(text), shown);
        }
    }

    #[test]
    fn secrets_that_it_is_told_are_covered_wherever_they_stand() {
        let mask = Mask::of(["plain words and a \" quote", "a quote", "told-besides", "short"]);
        let text = r#"1 plain words and a " quote 2 plain words and a \" quote 3 told-besides 4 short"#;
        assert_eq!(mask.cover(text), "1 *** 2 *** 3 *** 4 short");
    }

    proptest! {
        #[test]
        fn any_text_is_taken_and_json_stays_json(text in "(\\PC|[\"\\\\?&=. ]|key|Bearer |sk-1){0,40}") {
            let mask = Mask::default();
            let covered = mask.cover(&text).into_owned();
            prop_assert_eq!(mask.cover(&covered), covered.as_str());
            let json = serde_json::to_string(&text).unwrap();
            let shown: Result<String, _> = serde_json::from_str(&mask.cover(&json));
            prop_assert!(shown.is_ok(), "{} {}", json, mask.cover(&json));
            prop_assert_eq!(["\"", &in_json(&text), "\""].concat(), json);
        }
    }
}
