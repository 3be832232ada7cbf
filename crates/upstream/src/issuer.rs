//! Whose seals a provider can read.
//!
//! A seal (a signature, encrypted reasoning) is refused by everybody but its issuer, so it must go back to no other. A codec
//! knows only the protocol that a seal came in. Many servers speak a protocol that is not theirs: their seals are told from the
//! maker's by the provider's name, and keep it while a client has them.

use http::Uri;
use rail_model::{Delta, Event, PartKind, ProtocolId, Seal};
use rail_route::Provider;

/// Protocols whose servers seal, and the hosts that read the maker's own seals: his, and those that run his models for him.
///
/// The others are left as they are: what speaks Gemini is Google or stands before it, and chat completions have no seals of
/// their own.
const MAKERS: &[(&str, &[&str])] = &[
    ("anthropic", &["api.anthropic.com", "aiplatform.googleapis.com", "amazonaws.com"]),
    ("openai-responses", &["api.openai.com", "chatgpt.com"]),
];

/// The issuer of a provider's seals; None for the protocol itself.
pub(crate) fn issuer(provider: &Provider, protocol: ProtocolId) -> Option<String> {
    let (_, makers) = MAKERS.iter().find(|(name, _)| *name == protocol.name())?;
    let uri: Option<Uri> = provider.base_url.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let is_makers = makers.iter().any(|maker| {
        host.strip_suffix(maker).is_some_and(|before| before.is_empty() || before.ends_with(['.', '-']))
    });
    // A dot ends the issuer's name where a seal of another one stands in a client's field.
    (!is_makers).then(|| format!("provider:{}", provider.name.replace('.', "_")))
}

/// Gives the seals of an answer the name of their issuer, where the codec gave them the protocol's.
pub(crate) fn claim(event: &mut Event, protocol: ProtocolId, issuer: &str) {
    if let Event::Opened { kind: PartKind::Redacted(seal), .. }
    | Event::Delta { delta: Delta::Seal(seal), .. } = event
        && seal.issuer == protocol.name()
    {
        let data = std::mem::take(&mut seal.data);
        *seal = Seal { issuer: issuer.to_owned(), data };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_share_the_protocols_name_and_others_have_their_own() {
        let of = |name: &str, protocol: &'static str, base_url: &str| {
            let protocol = ProtocolId::new(protocol);
            issuer(&Provider::new(name, protocol, base_url), protocol)
        };
        for base_url in [
            "https://api.anthropic.com/v1",
            "https://us-east5-aiplatform.googleapis.com/v1",
            "https://bedrock-runtime.us-east-1.amazonaws.com",
        ] {
            assert_eq!(of("p", "anthropic", base_url), None, "{base_url}");
        }
        assert_eq!(of("p", "openai-responses", "https://api.openai.com/v1"), None);
        for protocol in ["gemini", "openai-chat"] {
            assert_eq!(of("p", protocol, "https://proxy.test/v1"), None, "{protocol}");
        }
        for (protocol, base_url) in [
            ("anthropic", "https://api.z.ai/api/anthropic"),
            ("anthropic", "https://notapi.anthropic.com.test/v1"),
            ("anthropic", "https://fakeapi.anthropic.com/v1"),
            ("anthropic", "https://api.openai.com/v1"),
            ("anthropic", ""),
            ("openai-responses", "https://me.openai.azure.com/openai/v1"),
            ("openai-responses", "https://api.x.ai/v1"),
        ] {
            assert_eq!(of("my.p", protocol, base_url).as_deref(), Some("provider:my_p"), "{base_url}");
        }
    }
}
