//! Who asks: the headers of each protocol that carry a key.

use rail_model::ProtocolId;
use rail_stdx::Secret;

/// The version of Anthropic's protocol that we speak.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// The headers that say who asks, in the way of a protocol; none for a server that wants no key.
///
/// Anthropic's requests also say their version, which its encoder puts into a request: add these where a name is not there yet.
pub fn headers(protocol: ProtocolId, key: Option<&Secret>) -> Vec<(String, Secret)> {
    let key = key.filter(|key| !key.is_empty());
    let bearer = |key: &Secret| ("authorization".to_owned(), Secret::new(format!("Bearer {}", key.reveal())));
    match protocol.name() {
        "anthropic" => {
            let version = ("anthropic-version".to_owned(), Secret::new(ANTHROPIC_VERSION));
            let key = key.map(|key| match key.reveal().starts_with("sk-ant-oat") {
                // A token of a login, not a key.
                true => bearer(key),
                false => ("x-api-key".to_owned(), key.clone()),
            });
            key.into_iter().chain([version]).collect()
        }
        "gemini" => key.map(|key| ("x-goog-api-key".to_owned(), key.clone())).into_iter().collect(),
        _ => key.map(bearer).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_protocol_says_it_in_its_own_way() {
        for (protocol, key, expected) in [
            ("anthropic", Some("sk-ant-api03-1"), "x-api-key: sk-ant-api03-1, anthropic-version: 2023-06-01"),
            (
                "anthropic",
                Some("sk-ant-oat01-1"),
                "authorization: Bearer sk-ant-oat01-1, anthropic-version: 2023-06-01",
            ),
            ("anthropic", None, "anthropic-version: 2023-06-01"),
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
