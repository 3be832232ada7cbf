//! Heads of answers. What models and providers wrote never gets into a header unchecked.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use rail_ledger::Entry;
use rail_wire::{BodyKind, HttpReply};

use crate::body::Body;

/// The most of any text of ours that a header holds; clients and proxies refuse heads that grow too large.
const MOST: usize = 1000;

const TARGET: HeaderName = HeaderName::from_static("x-switchrail-target");
const VIRTUAL_MODEL: HeaderName = HeaderName::from_static("x-switchrail-virtual-model");
const LOSSES: HeaderName = HeaderName::from_static("x-switchrail-losses");

/// The head of an answer that comes in pieces, with what is known of it so far.
pub(super) fn of_pieces(kind: BodyKind, entry: &Entry) -> Parts {
    let (mut parts, ()) = Response::new(()).into_parts();
    let content = match kind {
        BodyKind::Stream => "text/event-stream; charset=utf-8",
        BodyKind::Array | BodyKind::Whole => "application/json",
    };
    parts.headers.insert(CONTENT_TYPE, HeaderValue::from_static(content));
    parts.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    tell(entry, &mut parts.headers);
    parts
}

/// A whole answer, with what is known of it.
pub(super) fn of_whole(reply: HttpReply, entry: Option<&Entry>) -> Response<Body> {
    let HttpReply { status, headers, body } = reply;
    let mut response = Response::new(Body::Whole(Bytes::from(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let map = response.headers_mut();
    // Without a type, some clients ask the same again in another way.
    map.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in &headers {
        if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
            map.insert(name, safe(value));
        }
    }
    if let Some(entry) = entry {
        tell(entry, map);
    }
    response
}

/// Adds what a provider says beside its answer.
pub(super) fn pass_on(headers: &[(String, String)], map: &mut HeaderMap) {
    for (name, value) in headers {
        if let Ok(name) = HeaderName::from_bytes(name.as_bytes())
            && !map.contains_key(&name)
        {
            map.insert(name, safe(value));
        }
    }
}

fn tell(entry: &Entry, headers: &mut HeaderMap) {
    if let Some(target) = &entry.target {
        headers.insert(TARGET, safe(target));
    }
    if let Some(name) = &entry.virtual_model {
        headers.insert(VIRTUAL_MODEL, safe(name));
    }
    if !entry.losses.is_empty() {
        headers.insert(LOSSES, safe(&list(&entry.losses)));
    }
}

/// As many as there is room for, and how many more there are.
fn list(losses: &[String]) -> String {
    let mut text = String::new();
    for (at, loss) in losses.iter().enumerate() {
        let room = MOST.saturating_sub(text.len() + "; and 18446744073709551615 more".len());
        if at > 0 && loss.len() > room {
            text.push_str(&format!("; and {} more", losses.len() - at));
            break;
        }
        if at > 0 {
            text.push_str("; ");
        }
        text.extend(loss.chars().take(room));
    }
    text
}

/// Text as a header may hold it: visible ASCII, and not too much of it.
fn safe(text: &str) -> HeaderValue {
    let clean = |c: char| if c == ' ' || c.is_ascii_graphic() { c } else { '?' };
    let text: String = text.chars().take(MOST).map(clean).collect();
    HeaderValue::from_str(text.trim()).unwrap_or_else(|_| HeaderValue::from_static("?"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_hold_visible_ascii_only() {
        for (text, expected) in [
            ("provider,qwen/qwen3:8b", "provider,qwen/qwen3:8b"),
            ("a\r\nset-cookie: b=1", "a??set-cookie: b=1"),
            (" für\u{0}\u{7f} ", "f?r??"),
            ("", ""),
        ] {
            assert_eq!(safe(text).to_str().unwrap(), expected, "{text:?}");
        }
        assert_eq!(safe(&"x".repeat(5000)).len(), MOST);
    }

    #[test]
    fn losses_that_do_not_fit_are_counted() {
        let few = ["a: b".to_owned(), "c: d".to_owned()];
        assert_eq!(list(&few), "a: b; c: d");
        let many: Vec<String> = (0..50).map(|at| format!("messages[{at}]: {}", "x".repeat(80))).collect();
        let said = list(&many);
        assert!(said.len() <= MOST && said.ends_with("; and 40 more"), "{said}");
        let huge = list(&["é".repeat(3000), "b".to_owned()]);
        assert!(huge.chars().count() <= MOST && huge.ends_with("; and 1 more"), "{huge}");
    }

    proptest! {
        #[test]
        fn any_losses_make_a_header(losses: Vec<String>) {
            let value = safe(&list(&losses));
            prop_assert!(value.len() <= MOST && value.to_str().is_ok());
        }
    }
}
