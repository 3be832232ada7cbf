//! Who asks: the headers of each protocol that carry a key.

use rail_model::{ApiError, ProtocolId};
use rail_route::Provider;
use rail_stdx::Secret;

/// Words shorter than this are no secrets: servers that want no key are given any.
const LEAST_SECRET: usize = 8;

/// The header that says who asks, in the way of a protocol; none for a server that wants no key.
pub fn headers(protocol: ProtocolId, key: Option<&Secret>) -> Vec<(String, Secret)> {
    let Some(key) = key.filter(|key| !key.is_empty()) else { return Vec::new() };
    let header = match protocol.name() {
        // A token of a login is no key.
        "anthropic" if !key.reveal().starts_with("sk-ant-oat") => ("x-api-key".to_owned(), key.clone()),
        "gemini" => ("x-goog-api-key".to_owned(), key.clone()),
        _ => ("authorization".to_owned(), Secret::new(format!("Bearer {}", key.reveal()))),
    };
    vec![header]
}

/// Takes keys out of what a provider says, its own and the one it was asked with: some repeat the key that they refuse.
pub(crate) fn hide_keys(provider: &Provider, key: Option<&Secret>, error: &mut ApiError) {
    let tokens = provider.headers.iter().filter(|(name, _)| name == "authorization");
    let tokens = tokens.map(|(_, value)| value.reveal().rsplit(' ').next().unwrap_or_default());
    let secrets = provider.keys.iter().chain(key).map(Secret::reveal).chain(tokens);
    for secret in secrets.filter(|secret| secret.len() >= LEAST_SECRET) {
        if error.message.contains(secret) {
            error.message = error.message.replace(secret, "***");
            // The same words stand in there.
            error.said = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use rail_model::ErrorKind;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_that_is_repeated_is_hidden() {
        let id = ProtocolId::new("openai-chat");
        let mut provider = Provider::new("p", id, "http://x/v1");
        provider.keys = ["sk-0123456789", "none", ""].map(Secret::new).into();
        provider.headers = vec![("authorization".to_owned(), Secret::new("Bearer token-0123"))];
        for (said, shown) in [
            ("wrong key sk-0123456789, sk-0123456789!", "wrong key ***, ***!"),
            ("token-0123 has expired", "*** has expired"),
            ("not another-key", "not ***"),
            ("none of it is known", "none of it is known"),
        ] {
            let mut error = ApiError::new(ErrorKind::Authentication, said);
            error.said = Some((id, json!(said)));
            hide_keys(&provider, Some(&Secret::new("another-key")), &mut error);
            assert_eq!((error.message.as_str(), error.said.is_some()), (shown, said == shown));
        }
    }

    #[test]
    fn each_protocol_says_it_in_its_own_way() {
        for (protocol, key, expected) in [
            ("anthropic", Some("sk-ant-api03-1"), "x-api-key: sk-ant-api03-1"),
            ("anthropic", Some("sk-ant-oat01-1"), "authorization: Bearer sk-ant-oat01-1"),
            ("anthropic", None, ""),
            ("openai-chat", Some("sk-1"), "authorization: Bearer sk-1"),
            ("openai-responses", Some("sk-1"), "authorization: Bearer sk-1"),
            ("openai-chat", Some(""), ""),
            ("gemini", Some("AIza"), "x-goog-api-key: AIza"),
            ("gemini", None, ""),
            ("replay", None, ""),
        ] {
            let id = ProtocolId::new(protocol);
            let headers = headers(id, key.map(Secret::new).as_ref());
            let shown: Vec<String> =
                headers.iter().map(|(name, value)| format!("{name}: {}", value.reveal())).collect();
            assert_eq!(shown.join(", "), expected, "{protocol} {key:?}");
        }
    }
}
