//! What an address alone tells: the protocol spoken there, and the base that paths are appended to.

use rail_model::ProtocolId;
use rail_wire::{anthropic, gemini, openai_chat, openai_responses};

/// An http address in its parts, each as it was written.
struct Address<'a> {
    scheme: &'a str,
    /// With user and port.
    authority: &'a str,
    /// From the first `/` after it, without query and fragment.
    path: &'a str,
    /// Whether a query or fragment followed.
    more: bool,
}

impl<'a> Address<'a> {
    fn read(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.trim().split_once("://")?;
        let rest_before = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, _) = rest_before.split_once('/').unwrap_or((rest_before, ""));
        let path = rest_before.get(authority.len()..).unwrap_or_default();
        let usual = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
        let clean = !rest.contains(|c: char| c.is_whitespace() || c.is_control());
        let address = Self { scheme, authority, path, more: rest_before.len() < rest.len() };
        (usual && clean && !address.host().is_empty()).then_some(address)
    }

    /// The host's name in lower case, without user and port.
    fn host(&self) -> String {
        let host = self.authority.rsplit('@').next().unwrap_or_default();
        let end = if host.starts_with('[') { host.find(']').map(|at| at + 1) } else { host.find(':') };
        host.get(..end.unwrap_or(host.len())).unwrap_or_default().to_ascii_lowercase()
    }
}

/// Whether this is an http or https address with a host.
pub(crate) fn is_http(url: &str) -> bool {
    Address::read(url).is_some()
}

/// Whether this is the address of a server on this machine.
pub(crate) fn is_loopback(url: &str) -> bool {
    let host = Address::read(url).map(|address| address.host()).unwrap_or_default();
    host == "localhost" || host.starts_with("127.") || host == "[::1]"
}

/// The protocol that an address speaks: Gemini on Google's hosts and under `/v1beta`, Anthropic's on its hosts, else OpenAI's chat.
///
/// Google also answers in OpenAI's protocol, under a path with `openai` or `openapi`; a whole chat address says so as well.
pub(crate) fn protocol(url: &str) -> ProtocolId {
    let Some(address) = Address::read(url) else { return openai_chat::ID };
    let host = address.host();
    let is = |name: &str| host == name || host.ends_with(&format!(".{name}"));
    let chat = address.path.split('/').any(|part| matches!(part, "openai" | "openapi" | "completions"));
    let google = is("generativelanguage.googleapis.com")
        || is("aiplatform.googleapis.com")
        || host.ends_with("-aiplatform.googleapis.com");
    if !chat && (google || address.path.contains("/v1beta")) {
        gemini::ID
    } else if is("anthropic.com") {
        anthropic::ID
    } else {
        openai_chat::ID
    }
}

/// The base for a protocol's paths: the address without the path of one call, with the version where the protocol has only one.
pub(crate) fn base_url(url: &str, protocol: ProtocolId) -> String {
    let Some(address) = Address::read(url) else { return url.trim().to_owned() };
    let path = address.path.trim_end_matches('/');
    let call = match protocol {
        id if id == anthropic::ID => "/messages",
        id if id == gemini::ID => "/models",
        id if id == openai_responses::ID => "/responses",
        _ => "/chat/completions",
    };
    let path = path.strip_suffix(call).unwrap_or(path);
    let version = match protocol {
        id if id == anthropic::ID && !has_version(path) => "/v1",
        id if id == gemini::ID && !has_version(path) => "/v1beta",
        _ => "",
    };
    format!("{}://{}{path}{version}", address.scheme, address.authority)
}

/// The address without user name and password.
pub(crate) fn without_user(url: &str) -> String {
    let Some(address) = Address::read(url) else { return url.to_owned() };
    let host = address.authority.rsplit('@').next().unwrap_or_default();
    url.replacen(address.authority, host, 1)
}

/// The address as it may be shown: without the user's name and password, and without a query, which may hold a key.
pub fn shown(url: &str) -> String {
    let Some(address) = Address::read(url) else { return plain(url) };
    let (user, host) = match address.authority.rsplit_once('@') {
        Some((_, host)) => ("***@", host),
        None => ("", address.authority),
    };
    let more = if address.more { "?…" } else { "" };
    plain(&format!("{}://{user}{host}{}{more}", address.scheme, address.path))
}

/// Text that can't move the cursor or start a line of its own: control characters are shown by their numbers.
pub fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

/// Whether a part of the path is a version such as `v1` or `v1beta`.
fn has_version(path: &str) -> bool {
    path.split('/')
        .any(|part| part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_tells_protocol_and_base() {
        for (url, expected) in [
            ("http://192.168.123.149:1234/v1", "openai-chat http://192.168.123.149:1234/v1"),
            ("http://127.0.0.1:2048/v1/", "openai-chat http://127.0.0.1:2048/v1"),
            ("https://openrouter.ai/api/v1/chat/completions", "openai-chat https://openrouter.ai/api/v1"),
            (
                "https://generativelanguage.googleapis.com/v1beta",
                "gemini https://generativelanguage.googleapis.com/v1beta",
            ),
            (
                "https://generativelanguage.googleapis.com",
                "gemini https://generativelanguage.googleapis.com/v1beta",
            ),
            (
                "https://generativelanguage.googleapis.com/v1beta/models/",
                "gemini https://generativelanguage.googleapis.com/v1beta",
            ),
            (
                "https://generativelanguage.googleapis.com/v1beta/openai/",
                "openai-chat https://generativelanguage.googleapis.com/v1beta/openai",
            ),
            (
                "https://us-central1-aiplatform.googleapis.com/v1/publishers/google",
                "gemini https://us-central1-aiplatform.googleapis.com/v1/publishers/google",
            ),
            ("http://localhost:8080/v1beta", "gemini http://localhost:8080/v1beta"),
            ("https://API.Anthropic.com", "anthropic https://API.Anthropic.com/v1"),
            ("https://eu.anthropic.com/v1/messages", "anthropic https://eu.anthropic.com/v1"),
            ("https://notanthropic.com/v1", "openai-chat https://notanthropic.com/v1"),
            (
                "https://api.anthropic.com.evil.example/v1",
                "openai-chat https://api.anthropic.com.evil.example/v1",
            ),
            (
                "https://api.anthropic.com@evil.example/v1",
                "openai-chat https://api.anthropic.com@evil.example/v1",
            ),
            ("http://[::1]:8080/v1", "openai-chat http://[::1]:8080/v1"),
        ] {
            let id = protocol(url);
            assert_eq!(format!("{id} {}", base_url(url, id)), expected, "{url}");
        }
    }

    #[test]
    fn what_is_no_address() {
        for url in
            ["", "localhost:1234", "ftp://a/b", "http://", "http:///v1", "http://a b/", "http://a/\u{1b}[2J"]
        {
            assert!(!is_http(url), "{url}");
        }
    }

    #[test]
    fn neither_password_nor_query_is_shown() {
        for (url, expected) in [
            ("https://me:secret@host:1/v1?key=secret", "https://***@host:1/v1?…"),
            ("https://host/v1#x", "https://host/v1?…"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
        ] {
            assert_eq!(shown(url), expected);
        }
    }
}
