//! The keys that a request comes with.

use http::{HeaderMap, HeaderName, header};
use rail_stdx::Secret;
use subtle::ConstantTimeEq;

use super::paths::decode;

/// The headers that may hold a key. None of them is seen by anybody behind the door.
pub(super) const KEY_HEADERS: [HeaderName; 3] =
    [header::AUTHORIZATION, HeaderName::from_static("x-api-key"), HeaderName::from_static("x-goog-api-key")];

/// The keys of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    /// Those in headers, each once.
    pub(super) in_headers: Vec<Secret>,
    /// Those in the address, each once.
    pub(super) in_address: Vec<Secret>,
}

impl Sent {
    /// The keys in these headers and this query. What is no text is no key, but it is something: an empty one, that nobody has.
    pub(super) fn read(headers: &HeaderMap, query: &str) -> Self {
        let mut sent = Self::default();
        for name in &KEY_HEADERS {
            for value in headers.get_all(name) {
                let text = std::str::from_utf8(value.as_bytes()).unwrap_or_default().trim();
                let key = if *name == header::AUTHORIZATION { bearer(text) } else { Some(text) };
                key.into_iter().for_each(|key| add(&mut sent.in_headers, key));
            }
        }
        for value in query.split('&').filter_map(key_parameter) {
            add(&mut sent.in_address, decode(value).as_deref().unwrap_or_default());
        }
        sent
    }

    /// Whether this secret is among them.
    pub(super) fn has(&self, secret: &Secret) -> bool {
        let same = |key: &Secret| bool::from(key.reveal().as_bytes().ct_eq(secret.reveal().as_bytes()));
        self.in_headers.iter().chain(&self.in_address).any(same)
    }

    /// Every key, each once.
    pub(super) fn all(mut self) -> Vec<Secret> {
        for key in self.in_address {
            add(&mut self.in_headers, key.reveal());
        }
        self.in_headers
    }
}

/// The query without keys.
pub(super) fn without_keys(query: &str) -> String {
    let kept: Vec<&str> = query.split('&').filter(|pair| key_parameter(pair).is_none()).collect();
    kept.join("&")
}

fn add(keys: &mut Vec<Secret>, key: &str) {
    if !keys.iter().any(|known| known.reveal() == key) {
        keys.push(Secret::new(key));
    }
}

/// The key of an `Authorization`; other schemes have none.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim_start())
}

/// The value of a `key` parameter, however its name is spelled.
fn key_parameter(pair: &str) -> Option<&str> {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    (decode(name)?.eq_ignore_ascii_case("key")).then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sent(headers: &[(&str, &str)], query: &str) -> (Vec<String>, Vec<String>) {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (HeaderName::try_from(*name).unwrap(), value.parse().unwrap()))
            .collect();
        let Sent { in_headers, in_address } = Sent::read(&headers, query);
        let texts = |keys: Vec<Secret>| keys.iter().map(|key| key.reveal().to_owned()).collect();
        (texts(in_headers), texts(in_address))
    }

    const BEARER: (&str, &str) = ("authorization", "Bearer a");

    /// Headers and a query, and the keys in each.
    type Case = (
        &'static [(&'static str, &'static str)],
        &'static str,
        &'static [&'static str],
        &'static [&'static str],
    );

    #[test]
    fn keys_are_found_wherever_clients_put_them() {
        let table: [Case; 10] = [
            (&[], "", &[], &[]),
            (&[("x-api-key", "a")], "beta=true", &["a"], &[]),
            (&[BEARER], "", &["a"], &[]),
            (&[("authorization", "bearer   a ")], "", &["a"], &[]),
            (&[("authorization", "Basic YTpi")], "", &[], &[]),
            (&[("x-goog-api-key", "a"), BEARER, ("x-api-key", "a")], "", &["a"], &[]),
            (&[BEARER, ("x-api-key", "b")], "", &["a", "b"], &[]),
            (&[("x-api-key", "a"), ("x-api-key", "b")], "", &["a", "b"], &[]),
            (&[], "alt=sse&key=a%2Bb", &[], &["a+b"]),
            (&[BEARER], "k%65y=b&KEY=c&keys=d&key", &["a"], &["b", "c", ""]),
        ];
        for (headers, query, in_headers, in_address) in table {
            let expected =
                [in_headers, in_address].map(|keys| keys.iter().map(|key| (*key).to_owned()).collect());
            let [in_headers, in_address]: [Vec<String>; 2] = expected;
            assert_eq!(sent(headers, query), (in_headers, in_address), "{headers:?} {query}");
        }
    }

    #[test]
    fn no_key_stays_in_a_query() {
        for (query, kept) in [
            ("", ""),
            ("alt=sse", "alt=sse"),
            ("key=a", ""),
            ("alt=sse&key=a&x", "alt=sse&x"),
            ("k%65y=a&Key=b&keys=c", "keys=c"),
        ] {
            assert_eq!(without_keys(query), kept, "{query}");
        }
    }

    proptest! {
        #[test]
        fn what_is_left_of_a_query_has_no_key(query in "(key|KEY|%6b|ey|=|&|a|%|[ -~]){0,12}") {
            let left = without_keys(&query);
            prop_assert_eq!(sent(&[], &left).1, Vec::<String>::new());
        }
    }
}
