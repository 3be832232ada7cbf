//! Where secrets stand in what is told or recorded, however they are spelled there.

use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::{memchr3_iter, memmem};
use rail_route::Provider;
use rail_stdx::Secret;

/// Shorter ones are stand-ins such as `none`, whose letters are everywhere.
const SHORTEST: usize = 8;
/// Less of a secret in base64 could be anything.
const SHORTEST_IN_BASE64: usize = 12;

/// What stands for a secret in words that are told.
const GONE: &str = "***";

/// The secrets of a provider, and of one request to it.
pub(crate) struct Secrets(Vec<Vec<u8>>);

impl Secrets {
    /// The keys of a provider, and what of its headers and its address is not to be seen.
    pub(crate) fn of(provider: &Provider) -> Self {
        Self::with(provider, &[], "")
    }

    /// The same, and those of a request to it.
    pub(crate) fn with(provider: &Provider, sent: &[(String, Secret)], url: &str) -> Self {
        let headers = provider.headers.iter().chain(sent).filter(|(name, _)| names_secret(name));
        let words = headers.flat_map(|(_, value)| value.reveal().split([' ', ';', ',']));
        let addresses = [provider.base_url.as_str(), url];
        let queries = addresses.iter().filter_map(|address| address.split_once('?'));
        let values = queries.flat_map(|(_, query)| query.split('&')).filter_map(|pair| pair.split_once('='));
        let values = values.filter(|(name, _)| names_secret(name)).map(|(_, value)| value);
        let keys = provider.keys.iter().map(Secret::reveal);
        let mut all: Vec<Vec<u8>> = keys
            .chain(words)
            .chain(values)
            .filter(|secret| secret.len() >= SHORTEST)
            .flat_map(|secret| in_base64(secret).into_iter().chain([secret.as_bytes().to_vec()]))
            .collect();
        // The longest first: one may be a part of another.
        all.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        all.dedup();
        Self(all)
    }

    /// Covers each with as many `*`, so that what is recorded in pieces keeps their lengths.
    pub(crate) fn mask(&self, bytes: &mut [u8]) {
        for secret in &self.0 {
            for place in places(bytes, secret) {
                bytes.iter_mut().skip(place.start).take(place.len()).for_each(|byte| *byte = b'*');
            }
        }
    }

    /// The words without them; None when there is none in them.
    pub(crate) fn hidden(&self, text: &str) -> Option<String> {
        let mut shown = text.as_bytes().to_vec();
        for secret in &self.0 {
            for place in places(&shown, secret).into_iter().rev() {
                shown.splice(place, GONE.bytes());
            }
        }
        (shown != text.as_bytes()).then(|| String::from_utf8_lossy(&shown).into_owned())
    }
}

/// Whether a header or a parameter of this name carries a secret.
pub(crate) fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["auth", "key", "token", "secret", "password", "cookie"];
    words.iter().any(|word| name.contains(word)) || ["code", "sig", "signature"].contains(&name.as_str())
}

/// Where a secret stands: as it is, or with any of its characters escaped as JSON or an address does it.
fn places(bytes: &[u8], secret: &[u8]) -> Vec<Range<usize>> {
    let Some(first) = secret.first() else { return Vec::new() };
    let mut found: Vec<Range<usize>> =
        memmem::find_iter(bytes, secret).map(|at| at..at + secret.len()).collect();
    let mut from = 0;
    for at in memchr3_iter(*first, b'\\', b'%', bytes) {
        if at >= from
            && let Some(end) = spelled(bytes, at, secret)
        {
            found.push(at..end);
            from = end;
        }
    }
    found.sort_by_key(|place| (place.start, place.end));
    found.dedup_by(|next, before| next.start < before.end);
    found
}

/// Where a secret ends that begins here.
fn spelled(bytes: &[u8], mut at: usize, secret: &[u8]) -> Option<usize> {
    for byte in secret {
        at += character(bytes.get(at..)?, *byte)?;
    }
    Some(at)
}

/// The length of a character, if it is what the bytes begin with: `/`, `\/`, `\u002f` and `%2F` are the same.
fn character(bytes: &[u8], meant: u8) -> Option<usize> {
    let code = |from: usize| {
        let digits = std::str::from_utf8(bytes.get(from..from + 2)?).ok()?;
        u8::from_str_radix(digits, 16).ok().filter(|code| *code == meant)
    };
    match bytes {
        [b'\\', b'u', b'0', b'0', ..] if code(4).is_some() => Some(6),
        [b'%', ..] if code(1).is_some() => Some(3),
        [b'\\', escaped, ..] if *escaped == meant && !meant.is_ascii_alphanumeric() => Some(2),
        [plain, ..] if *plain == meant => Some(1),
        _ => None,
    }
}

/// What of a secret is the same in the base64 of any text that holds it; its place there decides between three.
fn in_base64(secret: &str) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for before in 0..3 {
        let text = [&vec![0; before], secret.as_bytes()].concat();
        // Six bits a character: those that hold bits of what stands before or after are left out.
        let (begin, end) = ((before * 8).div_ceil(6), text.len() * 8 / 6);
        for written in [STANDARD_NO_PAD.encode(&text), URL_SAFE_NO_PAD.encode(&text)] {
            let own = written.as_bytes().get(begin..end).unwrap_or_default();
            all.extend((own.len() >= SHORTEST_IN_BASE64).then(|| own.to_vec()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rail_model::ProtocolId;

    use super::*;

    fn secrets(key: &str) -> Secrets {
        let id = ProtocolId::new("openai-chat");
        let mut provider =
            Provider::new("p", id, "https://h/v1?api-version=2024-10-21&subscription-key=in-address");
        provider.keys = vec![Secret::new(key)];
        provider.headers = vec![
            ("Authorization".to_owned(), Secret::new("Bearer token-0123")),
            ("cookie".to_owned(), Secret::new("session=cookie-0123; theme=dark")),
            ("x-title".to_owned(), Secret::new("Switchrail")),
        ];
        Secrets::of(&provider)
    }

    #[test]
    fn every_spelling_is_found() {
        let secrets = secrets("sk-a+b/c=d\"e");
        for (text, shown) in [
            ("the key sk-a+b/c=d\"e, sk-a+b/c=d\"e!", "the key ***, ***!"),
            (r#"{"k":"sk-a+b\/c=d\"e"}"#, r#"{"k":"***"}"#),
            (r"sk-a\u002Bb\u002fc=d\u0022e", "***"),
            (r"\u0073k-a+b/c=d\u0022e", "***"),
            ("?k=sk-a%2Bb%2fc%3Dd%22e&x=1", "?k=***&x=1"),
            ("token-0123 has expired", "*** has expired"),
            ("session=cookie-0123", "***"),
            ("in-address at 2024-10-21", "*** at 2024-10-21"),
            ("Basic c2stYStiL2M9ZCJl", "Basic ***"),
            ("dXNlcjpzay1hK2IvYz1kImU=", "dXNlcjp***U="),
            ("Bearer Switchrail sk-a+b/c=d", "Bearer Switchrail sk-a+b/c=d"),
        ] {
            assert_eq!(secrets.hidden(text).as_deref().unwrap_or(text), shown);
        }
    }

    #[test]
    fn words_that_are_no_secrets_stay() {
        for key in ["none", "", "lm-stud"] {
            assert_eq!(secrets(key).hidden("none of it, lm-studio"), None, "{key}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_keep_their_length(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), key in "[\\\\%u0-9a-f+/]{8,12}") {
            let length = bytes.len();
            secrets(&key).mask(&mut bytes);
            prop_assert_eq!(bytes.len(), length);
        }

        #[test]
        fn a_key_is_never_left(before in ".{0,20}", key in "[!-~]{8,30}", after in ".{0,20}") {
            let shown = secrets(&key).hidden(&format!("{before}{key}{after}")).unwrap_or_default();
            prop_assert!(!shown.contains(&key), "{shown}");
            let json = serde_json::Value::from(key.clone()).to_string();
            prop_assert!(!secrets(&key).hidden(&json).unwrap_or_default().contains(json.trim_matches('"')));
        }
    }
}
