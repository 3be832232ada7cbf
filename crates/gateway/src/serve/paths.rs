//! What stands at a path. Paths are compared as they are on the wire: nothing is decoded, joined or tidied up, so that nobody
//! else can read another path in the same bytes.

use std::borrow::Cow;

use http::{HeaderMap, Method};
use rail_wire::{Endpoint, Operation, Protocol, anthropic, gemini, openai_chat};

/// What stands at a path.
pub(super) enum Place {
    /// An endpoint of a protocol.
    Model {
        /// The protocol.
        protocol: &'static Protocol,
        /// What is asked there.
        operation: Operation,
        /// The path as the protocol spells it.
        path: String,
    },
    /// One of the gateway's own pages.
    Page(Page),
    /// Something, but not for this method; these are allowed.
    WrongMethod(String),
    /// Nothing.
    Nothing,
}

/// One of the gateway's own pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Page {
    /// `/`.
    Home,
    /// `/healthz`.
    Health,
    /// `/readyz`.
    Ready,
    /// `/metrics`.
    Metrics,
    /// `/api/…`.
    Api,
}

/// What stands at a path for a method; `guess` decides between protocols that share it.
///
/// Clients disagree on whether `/v1` belongs to the address they are given. Where it is missing, or there twice, the path with one
/// of it is meant; no other path begins like that.
pub(super) fn find(method: &Method, path: &str, guess: &'static Protocol) -> Place {
    if let Some(page) = page(path) {
        return match page {
            Page::Api => Place::Page(page),
            Page::Home | Page::Health | Page::Ready | Page::Metrics => {
                let reads = *method == Method::GET || *method == Method::HEAD;
                if reads { Place::Page(page) } else { Place::WrongMethod("GET, HEAD".to_owned()) }
            }
        };
    }
    let spellings = [
        Some(Cow::Borrowed(path)),
        path.strip_prefix("/v1").filter(|rest| rest.starts_with("/v1/")).map(Cow::Borrowed),
        (!path.starts_with("/v1")).then(|| Cow::Owned(format!("/v1{path}"))),
    ];
    for path in spellings.into_iter().flatten() {
        let here: Vec<(&'static Protocol, &Endpoint)> = at(&path).collect();
        if !here.is_empty() {
            return choose(&here, method, path, guess);
        }
    }
    Place::Nothing
}

/// The protocol that a client most likely speaks, by what it sends to any path.
pub(super) fn guess(headers: &HeaderMap, path: &str) -> &'static Protocol {
    if headers.contains_key("anthropic-version") {
        &anthropic::PROTOCOL
    } else if headers.contains_key("x-goog-api-key") || path.starts_with("/v1beta") {
        &gemini::PROTOCOL
    } else {
        &openai_chat::PROTOCOL
    }
}

fn page(path: &str) -> Option<Page> {
    match path {
        "/" => Some(Page::Home),
        "/healthz" => Some(Page::Health),
        "/readyz" => Some(Page::Ready),
        "/metrics" => Some(Page::Metrics),
        _ => path.strip_prefix("/api/").is_some_and(is_plain).then_some(Page::Api),
    }
}

/// Every endpoint at a path, whatever its method.
fn at(path: &str) -> impl Iterator<Item = (&'static Protocol, &'static Endpoint)> {
    let endpoints = |protocol: &&'static Protocol| {
        let protocol = *protocol;
        protocol.inbound.endpoints().iter().map(move |endpoint| (protocol, endpoint))
    };
    rail_wire::ALL.iter().flat_map(endpoints).filter(move |(_, endpoint)| fits(endpoint.path, path))
}

fn choose(
    here: &[(&'static Protocol, &Endpoint)],
    method: &Method,
    path: Cow<'_, str>,
    guess: &'static Protocol,
) -> Place {
    let asked = if *method == Method::HEAD { "GET" } else { method.as_str() };
    let fitting = || here.iter().filter(|(_, endpoint)| endpoint.method == asked);
    let chosen = fitting().find(|(protocol, _)| protocol.id == guess.id).or_else(|| fitting().next());
    match chosen {
        Some((protocol, endpoint)) => {
            Place::Model { protocol, operation: endpoint.operation, path: path.into_owned() }
        }
        None => {
            let mut allowed: Vec<&str> = here.iter().map(|(_, endpoint)| endpoint.method).collect();
            allowed.sort_unstable();
            allowed.dedup();
            Place::WrongMethod(allowed.join(", ").replace("GET", "GET, HEAD"))
        }
    }
}

/// Whether a path is that of an endpoint.
fn fits(template: &str, path: &str) -> bool {
    // One character is found faster than a word, and every request is compared with every template.
    let Some((before, after)) = template.split_once('{') else { return template == path };
    let Some(after) = after.strip_prefix("model}") else { return false };
    path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)).is_some_and(is_model)
}

/// Whether a text in a path can be a model's name. Google's clients send the slashes of a name as they are, so that it may have
/// several segments; `models` is none of them, because the name begins behind the last `/models/`.
fn is_model(text: &str) -> bool {
    is_plain(text) && !text.split('/').any(|segment| segment == "models")
}

/// Whether segments of a path mean one thing to everybody: none is empty or a dot, no `;`, no control character however it is
/// spelled, and what is escaped is text.
fn is_plain(text: &str) -> bool {
    let is_spelled = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,=:@%/".contains(&byte);
    if !text.bytes().all(is_spelled) {
        return false;
    }
    let Some(decoded) = decode(text) else { return false };
    let is_odd = |segment: &str| matches!(segment, "" | "." | "..");
    !decoded.chars().any(char::is_control)
        && !text.split('/').any(is_odd)
        && !decoded.split(['/', '\\']).any(is_odd)
}

/// The text without its escapes; none where they are no escapes or no text.
pub(super) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut pieces = text.split('%');
    bytes.extend_from_slice(pieces.next().unwrap_or_default().as_bytes());
    for piece in pieces {
        let (hex, rest) = piece.split_at_checked(2)?;
        if !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(hex, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rail_wire::HttpCall;

    use super::*;

    /// What stands there, in a line.
    fn seen(method: &str, path: &str, header: &str) -> String {
        let mut headers = HeaderMap::new();
        if !header.is_empty() {
            headers.insert(http::HeaderName::try_from(header).unwrap(), "x".parse().unwrap());
        }
        match find(&method.parse().unwrap(), path, guess(&headers, path)) {
            Place::Model { protocol, operation, path } => {
                format!("{} {operation:?} {path}", protocol.id.name())
            }
            Place::Page(page) => format!("{page:?}"),
            Place::WrongMethod(allowed) => format!("allow {allowed}"),
            Place::Nothing => "nothing".to_owned(),
        }
    }

    #[test]
    fn each_path_is_one_place() {
        let table = [
            ("POST /v1/messages", "anthropic Generate /v1/messages"),
            ("POST /v1/messages/count_tokens", "anthropic Count /v1/messages/count_tokens"),
            ("POST /v1/chat/completions", "openai-chat Generate /v1/chat/completions"),
            ("POST /v1/responses", "openai-responses Generate /v1/responses"),
            ("POST /v1/embeddings", "openai-chat Embed /v1/embeddings"),
            ("GET /v1/models", "openai-chat Models /v1/models"),
            ("HEAD /v1/models", "openai-chat Models /v1/models"),
            ("GET /v1beta/models", "gemini Models /v1beta/models"),
            ("POST /v1beta/models/g:generateContent", "gemini Generate /v1beta/models/g:generateContent"),
            (
                "POST /v1beta/models/g:streamGenerateContent",
                "gemini GenerateStream /v1beta/models/g:streamGenerateContent",
            ),
            ("POST /v1/models/g:countTokens", "gemini Count /v1/models/g:countTokens"),
            // Addresses with too little or too much of `/v1`.
            ("POST /responses", "openai-responses Generate /v1/responses"),
            ("POST /chat/completions", "openai-chat Generate /v1/chat/completions"),
            ("POST /messages", "anthropic Generate /v1/messages"),
            ("POST /v1/v1/messages", "anthropic Generate /v1/messages"),
            ("GET /models", "openai-chat Models /v1/models"),
            ("POST /v1/v1/v1/messages", "nothing"),
            ("POST /v1beta/messages", "nothing"),
            // Models with slashes and colons.
            ("POST /v1beta/models/p,a%2Fb:countTokens", "gemini Count /v1beta/models/p,a%2Fb:countTokens"),
            ("POST /v1beta/models/a/b:8b:countTokens", "gemini Count /v1beta/models/a/b:8b:countTokens"),
            // The gateway's own.
            ("GET /", "Home"),
            ("HEAD /", "Home"),
            ("POST /", "allow GET, HEAD"),
            ("GET /healthz", "Health"),
            ("GET /readyz", "Ready"),
            ("GET /metrics", "Metrics"),
            ("GET /api/requests", "Api"),
            ("DELETE /api/keys/k1", "Api"),
            // Methods.
            ("GET /v1/messages", "allow POST"),
            ("OPTIONS /v1/messages", "allow POST"),
            ("DELETE /v1/models", "allow GET, HEAD"),
            ("post /v1/messages", "allow POST"),
        ];
        for (line, expected) in table {
            let (method, path) = line.split_once(' ').unwrap();
            assert_eq!(seen(method, path, ""), expected, "{line}");
        }
        assert_eq!(seen("GET", "/v1/models", "anthropic-version"), "anthropic Models /v1/models");
        assert_eq!(seen("GET", "/v1/models", "x-goog-api-key"), "gemini Models /v1/models");
        assert_eq!(seen("GET", "/models", "anthropic-version"), "anthropic Models /v1/models");
        assert_eq!(
            seen("POST", "/v1/messages", "x-goog-api-key"),
            "anthropic Generate /v1/messages",
            "only one protocol is there"
        );
    }

    #[test]
    fn no_other_spelling_leads_there() {
        let nothing = [
            "",
            "*",
            "//",
            "//v1/messages",
            "/v1//messages",
            "/v1/messages/",
            "/v1/messages//",
            "/v1/./messages",
            "/v1/x/../messages",
            "/V1/messages",
            "/v1/Messages",
            "/v1/%6Dessages",
            "/v1%2Fmessages",
            "/v1/messages;x=1",
            "/v1;x/messages",
            "/v1\\messages",
            "/v1/messages ",
            "/v1/messages%00",
            "/healthz/",
            "/healthz;",
            "/%68ealthz",
            "/api",
            "/api/",
            "/api//requests",
            "/api/../v1/messages",
            "/api/%2e%2e/metrics",
            "/api/x;y",
            "/api/a%5c..%5cb",
            "/metrics/",
            "/v1beta/models/",
            "/v1beta/models/../x:generateContent",
            "/v1beta/models/%2e%2e/x:generateContent",
            "/v1beta/models/..%2Fx:generateContent",
            "/v1beta/models/a//b:generateContent",
            "/v1beta/models/a%2F%2Fb:generateContent",
            "/v1beta/models/a/models/b:generateContent",
            "/v1beta/models/a;b:generateContent",
            "/v1beta/models/a%0ab:generateContent",
            "/v1beta/models/a%ff:generateContent",
            "/v1beta/models/a%2:generateContent",
            "/v1beta/models/a%+1:generateContent",
            "/v1beta/models/ä:generateContent",
        ];
        for path in nothing {
            for method in ["GET", "POST"] {
                assert_eq!(seen(method, path, ""), "nothing", "{method} {path:?}");
            }
        }
        // These are models that one may ask about, and nothing else.
        for path in
            ["/v1beta/models/g", "/v1beta/models/g:generatecontent", "/v1beta/models/:generateContent"]
        {
            assert_eq!(seen("GET", path, ""), format!("gemini Models {path}"));
            assert_eq!(seen("POST", path, ""), "allow GET, HEAD", "{path}");
        }
    }

    proptest! {
        #[test]
        fn what_is_found_is_spelled_in_one_way(path in "(/|v1|v1beta|models|messages|api|healthz|:generateContent|%2[EF]|%[0-9a-f]{2}|[.;:%a\\\\]){0,9}") {
            match find(&Method::POST, &path, &openai_chat::PROTOCOL) {
                Place::Nothing | Place::WrongMethod(_) => {}
                Place::Page(_) => prop_assert!(!path.contains("//") && !path.contains("..") && !path.contains(';')),
                Place::Model { protocol, path: meant, .. } => {
                    prop_assert!(!meant.contains("//") && !meant.contains("..") && !meant.contains(';'));
                    prop_assert!(meant.starts_with("/v1/") || meant.starts_with("/v1beta/"));
                    prop_assert!(meant.ends_with(path.strip_prefix("/v1").unwrap_or(&path)));
                    // The protocol reads a model there that is the whole of what was let pass.
                    if let (true, Some(model)) = (protocol.id == gemini::PROTOCOL.id, meant.strip_prefix("/v1beta/models/")) {
                        let model = decode(model.rsplit_once(':').unwrap().0).unwrap().into_owned();
                        let call = HttpCall::post(meant, br#"{"contents": []}"#.to_vec());
                        prop_assert_eq!(protocol.inbound.decode_request(&call).unwrap().model, model);
                    }
                }
            }
        }

        #[test]
        fn escapes_are_undone_once_or_not_at_all(text in "[ -~]{0,16}") {
            let escaped: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
            prop_assert_eq!(decode(&escaped).map(Cow::into_owned), Some(text.clone()));
            let _ = decode(&text);
        }
    }
}
