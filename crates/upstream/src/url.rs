//! Where a request goes: what the user wrote as the base URL, and the path of the call.

use rail_model::ProtocolId;

/// Endpoints that users paste whole, where only the part before them was asked for.
const ENDPOINTS: &[&str] = &["/chat/completions", "/completions", "/messages", "/responses", "/models"];

/// The whole address. A base URL that already holds the path, or its beginning, is taken for what was meant.
pub(crate) fn join(protocol: ProtocolId, base: &str, path: &str, query: &str) -> String {
    // What stands behind `#` is for browsers.
    let base = base.trim().split('#').next().unwrap_or_default();
    let (base, own_query) = base.split_once('?').unwrap_or((base, ""));
    let base = base.trim_end_matches('/');
    let after_scheme = base.find("://").map_or(0, |at| at + 3);
    let host_end = base.get(after_scheme..).and_then(|rest| rest.find('/')).map(|at| after_scheme + at);
    let (host, base_path) = base.split_at(host_end.unwrap_or(base.len()));
    let base_path = without_endpoint(base_path);
    let version = version(protocol, base_path);
    let base_path = format!("{base_path}{version}");
    let shared = shared(&base_path, path);
    let rest = path.get(shared..).unwrap_or_default();
    let queries: Vec<&str> = [own_query, query].into_iter().filter(|query| !query.is_empty()).collect();
    let mark = if queries.is_empty() { "" } else { "?" };
    format!("{host}{base_path}{rest}{mark}{}", queries.join("&"))
}

/// Whether a path leads elsewhere than it says: `..` in a model's name would reach another endpoint with the provider's key.
pub(crate) fn climbs(path: &str) -> bool {
    path.split('/').any(|segment| matches!(segment, "." | ".."))
}

/// The path without an endpoint that was pasted with it.
fn without_endpoint(path: &str) -> &str {
    let named = ENDPOINTS.iter().find_map(|endpoint| path.strip_suffix(endpoint));
    // Gemini's endpoints end with `/models/NAME:verb`.
    let verb =
        path.rsplit('/').next().is_some_and(|last| last.contains(":generate") || last.contains(":stream"));
    let models = if verb { path.rfind("/models/").and_then(|at| path.get(..at)) } else { None };
    named.or(models).unwrap_or(path)
}

/// The version that clients of the protocol add by themselves, so that users leave it out.
fn version(protocol: ProtocolId, path: &str) -> &'static str {
    let has_version = path.split('/').any(|segment| {
        let digits = segment.strip_prefix('v').unwrap_or_default();
        digits.starts_with(|c: char| c.is_ascii_digit())
    });
    match protocol.name() {
        "anthropic" if !has_version => "/v1",
        "gemini" if path.is_empty() => "/v1beta",
        _ => "",
    }
}

/// How many bytes of the path the base already ends with, in whole segments.
fn shared(base: &str, path: &str) -> usize {
    let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
    let longest = ends.filter(|end| path.get(..*end).is_some_and(|head| base.ends_with(head))).max();
    longest.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let anthropic = ProtocolId::new("anthropic");
        let chat = ProtocolId::new("openai-chat");
        let gemini = ProtocolId::new("gemini");
        let stream = "/models/g:streamGenerateContent";
        for (protocol, base, path, query, expected) in [
            (chat, "http://h:1/v1", "/chat/completions", "", "http://h:1/v1/chat/completions"),
            (chat, "http://h:1/v1/", "/chat/completions", "", "http://h:1/v1/chat/completions"),
            (chat, "https://h/v1/chat/completions", "/chat/completions", "", "https://h/v1/chat/completions"),
            (
                chat,
                "https://h/v1/chat/completions/",
                "/chat/completions",
                "",
                "https://h/v1/chat/completions",
            ),
            (chat, "https://h/v1/chat", "/chat/completions", "", "https://h/v1/chat/completions"),
            (chat, "https://h/v1", "/v1/chat/completions", "", "https://h/v1/chat/completions"),
            (chat, "https://h/v1/chat/completions", "/responses", "", "https://h/v1/responses"),
            (
                chat,
                "https://api.perplexity.ai",
                "/chat/completions",
                "",
                "https://api.perplexity.ai/chat/completions",
            ),
            (chat, "https://chat/api", "/chat/completions", "", "https://chat/api/chat/completions"),
            (chat, "https://chat", "/chat/completions", "", "https://chat/chat/completions"),
            (
                chat,
                "https://h/openai/d?api-version=1",
                "/chat/completions",
                "",
                "https://h/openai/d/chat/completions?api-version=1",
            ),
            (chat, "https://h/v1#top", "/chat/completions", "", "https://h/v1/chat/completions"),
            (chat, "https://h/v1/models", "/chat/completions", "", "https://h/v1/chat/completions"),
            (chat, "https://h/v1/completions", "/chat/completions", "", "https://h/v1/chat/completions"),
            (chat, "http://[::1]:8080/v1/", "/chat/completions", "", "http://[::1]:8080/v1/chat/completions"),
            (chat, "https://o/api/v1", "/chat/completions", "", "https://o/api/v1/chat/completions"),
            (
                chat,
                "https://z/api/paas/v4",
                "/chat/completions",
                "",
                "https://z/api/paas/v4/chat/completions",
            ),
            (
                chat,
                "https://d/compatible-mode/v1/",
                "/chat/completions",
                "",
                "https://d/compatible-mode/v1/chat/completions",
            ),
            (
                chat,
                "https://g/v1beta/openai/",
                "/chat/completions",
                "",
                "https://g/v1beta/openai/chat/completions",
            ),
            (
                chat,
                "https://a/openai/deployments/d/chat/completions?api-version=1",
                "/chat/completions",
                "",
                "https://a/openai/deployments/d/chat/completions?api-version=1",
            ),
            (chat, " https://h/v1/?a=b ", "/chat/completions", "", "https://h/v1/chat/completions?a=b"),
            (anthropic, "https://z/api/anthropic", "/messages", "", "https://z/api/anthropic/v1/messages"),
            (
                anthropic,
                "https://z/api/anthropic/v1/messages?beta=true",
                "/messages",
                "",
                "https://z/api/anthropic/v1/messages?beta=true",
            ),
            (
                gemini,
                "https://v/v1/projects/p/locations/l/publishers/google",
                stream,
                "",
                "https://v/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent",
            ),
            (anthropic, "https://h/v1", "/messages", "", "https://h/v1/messages"),
            (anthropic, "https://h", "/messages", "", "https://h/v1/messages"),
            (
                anthropic,
                "https://h/anthropic",
                "/messages",
                "beta=true",
                "https://h/anthropic/v1/messages?beta=true",
            ),
            (anthropic, "https://h/v1/messages", "/messages", "", "https://h/v1/messages"),
            (anthropic, "https://h/v1", "/v1/messages", "", "https://h/v1/messages"),
            (anthropic, "https://h/vertex", "/messages", "", "https://h/vertex/v1/messages"),
            (
                gemini,
                "https://h/v1beta",
                stream,
                "alt=sse",
                "https://h/v1beta/models/g:streamGenerateContent?alt=sse",
            ),
            (
                gemini,
                "https://h",
                stream,
                "alt=sse",
                "https://h/v1beta/models/g:streamGenerateContent?alt=sse",
            ),
            (
                gemini,
                "https://h/v1beta/models",
                stream,
                "",
                "https://h/v1beta/models/g:streamGenerateContent",
            ),
            (gemini, "https://models", stream, "", "https://models/v1beta/models/g:streamGenerateContent"),
            (
                gemini,
                "https://h/v1beta/models/x:generateContent?key=k",
                stream,
                "alt=sse",
                "https://h/v1beta/models/g:streamGenerateContent?key=k&alt=sse",
            ),
            (
                gemini,
                "https://h/v1/models/g",
                "/models/g:countTokens",
                "",
                "https://h/v1/models/g/models/g:countTokens",
            ),
        ] {
            assert_eq!(join(protocol, base, path, query), expected, "{base} {path}");
        }
    }
}
