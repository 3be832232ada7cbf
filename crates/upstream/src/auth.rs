//! Who asks: the headers of each protocol that carry a key.

use rail_model::ProtocolId;
use rail_stdx::Secret;

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

#[cfg(test)]
mod tests {
    use super::*;

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
