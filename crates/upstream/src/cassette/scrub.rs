//! Takes secrets out of what is recorded.

use crate::Outgoing;
use crate::secrets::{Secrets, names_secret};

/// What stands for a header or a parameter that was taken out.
pub(super) const GONE: &str = "***";

/// Headers whose values are kept. All others may hold a key, a cookie or the name of an organisation.
const KEPT: &[&str] = &[
    "accept",
    "accept-encoding",
    "anthropic-beta",
    "anthropic-version",
    "cache-control",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "location",
    "openai-beta",
    "openai-model",
    "openai-processing-ms",
    "openai-version",
    "retry-after",
    "retry-after-ms",
    "server",
    "transfer-encoding",
    "user-agent",
    "x-goog-api-client",
    "x-should-retry",
];
const KEPT_PREFIXES: &[&str] = &["anthropic-ratelimit-", "x-ratelimit-"];

/// The secrets of one exchange.
pub(super) struct Scrub(Secrets);

impl Scrub {
    /// The keys of the provider, and whatever else of this request is not to be seen.
    pub(super) fn new(call: &Outgoing) -> Self {
        Self(Secrets::with(&call.provider, &call.headers, &call.url))
    }

    /// Covers each occurrence with as many `*`, so that pieces stay as long as they were.
    pub(super) fn mask(&self, bytes: &mut [u8]) {
        self.0.mask(bytes);
    }

    /// The same over a body in pieces: a secret may begin in one and end in another.
    pub(super) fn mask_pieces(&self, pieces: &mut [Vec<u8>]) {
        let mut joined = pieces.concat();
        self.mask(&mut joined);
        let mut rest = joined.as_slice();
        for piece in pieces {
            let (masked, after) = rest.split_at(piece.len().min(rest.len()));
            piece.clear();
            piece.extend_from_slice(masked);
            rest = after;
        }
    }

    pub(super) fn text(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        self.mask(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(super) fn headers<'a>(
        &self,
        headers: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Vec<(String, String)> {
        let value = |name: &str, value: &str| if keeps(name) { self.text(value) } else { GONE.to_owned() };
        headers.map(|(name, given)| (name.to_owned(), value(name, given))).collect()
    }

    /// Path and query after the provider's base address, without secrets.
    pub(super) fn path(&self, call: &Outgoing) -> String {
        let path = below(&call.url, &call.provider.base_url);
        let Some((path, query)) = path.split_once('?') else { return self.text(path) };
        let pairs: Vec<String> = query
            .split('&')
            .map(|pair| match pair.split_once('=') {
                Some((name, _)) if names_secret(name) => format!("{name}={GONE}"),
                Some(_) | None => self.text(pair),
            })
            .collect();
        format!("{}?{}", self.text(path), pairs.join("&"))
    }
}

/// What of an address comes after the base, or after the host of another base.
fn below<'a>(url: &'a str, base_url: &str) -> &'a str {
    if let Some(path) =
        url.strip_prefix(base_url).filter(|path| path.is_empty() || path.starts_with(['/', '?']))
    {
        return path;
    }
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    after_scheme.find('/').and_then(|at| after_scheme.get(at..)).unwrap_or_default()
}

fn keeps(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    KEPT.contains(&name.as_str()) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;
    use rail_route::Provider;
    use rail_stdx::Secret;

    use super::*;

    fn call(url: &str, key: &str) -> Outgoing {
        let protocol = rail_wire::gemini::PROTOCOL.id;
        let mut provider = Provider::new("p", protocol, "https://a.test/v1beta");
        provider.keys = vec![Secret::new(key)];
        provider.headers = vec![
            ("x-own-token".to_owned(), Secret::new("own-secret-value")),
            ("x-title".to_owned(), Secret::new("Switchrail")),
        ];
        Outgoing {
            provider: Arc::new(provider),
            method: "POST".to_owned(),
            url: url.to_owned(),
            headers: vec![("authorization".to_owned(), Secret::new("Bearer sent-secret-1"))],
            body: bytes::Bytes::new(),
        }
    }

    #[test]
    fn paths() {
        for (url, expected) in [
            ("https://a.test/v1beta/models/m:generate", "/models/m:generate"),
            ("https://a.test/v1beta/m?alt=sse&key=AIzaSecret123&x=1", "/m?alt=sse&key=***&x=1"),
            ("https://a.test/v1beta/m?Key=short", "/m?Key=***"),
            ("https://a.test/v1beta2/m", "/v1beta2/m"),
            ("https://b.test/other", "/other"),
            ("https://b.test", ""),
            ("https://a.test/v1beta/AIzaSecret123/m", "/*************/m"),
            ("/m?token=1", "/m?token=***"),
        ] {
            assert_eq!(Scrub::new(&call(url, "AIzaSecret123")).path(&call(url, "")), expected, "{url}");
        }
    }

    #[test]
    fn every_spelling_is_covered() {
        let scrub = Scrub::new(&call("", "a\"b/c d-long"));
        for (text, expected) in [
            (r#"a"b/c d-long"#, "************"),
            (r#"{"k":"a\"b/c d-long"}"#, r#"{"k":"*************"}"#),
            ("?k=a%22b%2Fc%20d-long", "?k=******************"),
            ("own-secret-value sent-secret-1 Bearer", "**************** ************* Bearer"),
            ("Switchrail", "Switchrail"),
        ] {
            assert_eq!(scrub.text(text), expected);
        }
        assert_eq!(Scrub::new(&call("", "none")).text("none none"), "none none");
    }

    #[test]
    fn headers() {
        let scrub = Scrub::new(&call("", "long-enough-key"));
        let given = [
            ("content-type", "text/plain; long-enough-key"),
            ("set-cookie", "a=b"),
            ("X-Api-Key", "k"),
            ("openai-organization", "org-1"),
            ("anthropic-organization-id", "x"),
            ("x-ratelimit-remaining-tokens", "5"),
        ];
        let kept: Vec<String> =
            scrub.headers(given.into_iter()).iter().map(|(n, v)| format!("{n}: {v}")).collect();
        insta::assert_snapshot!(kept.join("\n"), @r"
        content-type: text/plain; ***************
        set-cookie: ***
        X-Api-Key: ***
        openai-organization: ***
        anthropic-organization-id: ***
        x-ratelimit-remaining-tokens: 5
        ");
    }

    proptest! {
        #[test]
        fn no_split_hides_a_secret(
            before in "[a-zé]{0,20}", after in "[a-z]{0,20}", sizes in proptest::collection::vec(0_usize..9, 0..20),
        ) {
            let text = format!("{before}long-enough-key{after}");
            let (mut rest, mut pieces) = (text.as_bytes(), Vec::new());
            for size in sizes {
                let (piece, more) = rest.split_at(rest.len().min(size));
                pieces.push(piece.to_vec());
                rest = more;
            }
            pieces.push(rest.to_vec());
            let lengths: Vec<usize> = pieces.iter().map(Vec::len).collect();
            Scrub::new(&call("", "long-enough-key")).mask_pieces(&mut pieces);
            prop_assert_eq!(pieces.concat(), format!("{before}***************{after}").into_bytes());
            prop_assert_eq!(pieces.iter().map(Vec::len).collect::<Vec<_>>(), lengths);
        }
    }
}
