use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{TransportError, TransportErrorKind};

/// The first line of a cassette.
#[derive(Serialize, Deserialize)]
pub(super) struct HeadLine {
    pub(super) cassette: u32,
    pub(super) protocol: String,
    pub(super) provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    pub(super) recorded: String,
}

/// A request and what came back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Exchange {
    /// The place of its beginning among the others; they end, and are written, in another order.
    pub(super) n: u64,
    pub(super) provider: String,
    /// Only where it is not the head's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) protocol: Option<String>,
    pub(super) request: Asked,
    /// None when no headers came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<Answered>,
    pub(super) end: End,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Asked {
    pub(super) method: String,
    /// Path and query after the provider's base address.
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Content,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Content {
    Json(Value),
    Text(String),
    Base64(String),
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Answered {
    /// Milliseconds from the request to the headers.
    pub(super) ms: u64,
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) pieces: Vec<Piece>,
}

/// A piece of a body: text, or base64 where it is none.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Piece {
    /// Milliseconds since the piece before, or since the headers.
    pub(super) ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base64: Option<String>,
}

/// How an exchange ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    Complete,
    /// Whoever asked left before the end.
    Left,
    Broken {
        kind: String,
        problem: String,
    },
}

impl Exchange {
    /// What serde can't see.
    pub(super) fn check(&self) -> Result<(), String> {
        if let Content::Base64(text) = &self.request.body {
            STANDARD.decode(text).map_err(|error| format!("the request's body is no base64: {error}"))?;
        }
        for (at, piece) in self.response.iter().flat_map(|response| &response.pieces).enumerate() {
            piece.bytes().ok_or_else(|| format!("piece {at} of the answer is neither text nor base64"))?;
        }
        match &self.end {
            End::Broken { kind, .. } if find_kind(kind).is_none() => {
                Err(format!("`{kind}` is no kind of failure"))
            }
            End::Complete if self.response.is_none() => Err("it is complete, and has no answer".to_owned()),
            End::Broken { .. } | End::Complete | End::Left => Ok(()),
        }
    }
}

impl Content {
    pub(super) fn of(body: &[u8]) -> Self {
        match (serde_json::from_slice(body), std::str::from_utf8(body)) {
            (Ok(value), _) => Content::Json(value),
            (Err(_), Ok(text)) => Content::Text(text.to_owned()),
            (Err(_), Err(_)) => Content::Base64(STANDARD.encode(body)),
        }
    }
}

impl Piece {
    pub(super) fn of(ms: u64, bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self { ms, text: Some(text.to_owned()), base64: None },
            Err(_) => Self { ms, text: None, base64: Some(STANDARD.encode(bytes)) },
        }
    }

    pub(super) fn bytes(&self) -> Option<Bytes> {
        match (&self.text, &self.base64) {
            (Some(text), None) => Some(Bytes::copy_from_slice(text.as_bytes())),
            (None, Some(base64)) => STANDARD.decode(base64).ok().map(Bytes::from),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }
}

impl End {
    pub(super) fn broken(error: &TransportError) -> Self {
        let kind = KINDS.iter().find(|(_, kind)| *kind == error.kind).map_or("broken", |(word, _)| word);
        End::Broken { kind: kind.to_owned(), problem: error.problem.clone() }
    }

    /// The failure that it was, if it was one.
    pub(super) fn error(&self) -> Option<TransportError> {
        match self {
            End::Complete => None,
            End::Left => Some(TransportError {
                kind: TransportErrorKind::Broken,
                problem: "the recording goes no further: whoever made it left before the answer ended"
                    .to_owned(),
            }),
            End::Broken { kind, problem } => Some(TransportError {
                kind: find_kind(kind).unwrap_or(TransportErrorKind::Broken),
                problem: problem.clone(),
            }),
        }
    }
}

const KINDS: &[(&str, TransportErrorKind)] = &[
    ("dns", TransportErrorKind::Dns),
    ("connect", TransportErrorKind::Connect),
    ("tls", TransportErrorKind::Tls),
    ("proxy", TransportErrorKind::Proxy),
    ("broken", TransportErrorKind::Broken),
    ("stale", TransportErrorKind::Stale),
    ("encoding", TransportErrorKind::Encoding),
    ("unsendable", TransportErrorKind::Unsendable),
];

fn find_kind(word: &str) -> Option<TransportErrorKind> {
    KINDS.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exchange(body: &[u8], pieces: Vec<Piece>, end: End) -> Exchange {
        let path = "/chat".to_owned();
        let headers = vec![("content-type".to_owned(), "text/plain".to_owned())];
        let request =
            Asked { method: "POST".to_owned(), path, headers: headers.clone(), body: Content::of(body) };
        let response = Some(Answered { ms: 7, status: 200, headers, pieces });
        Exchange { n: 3, provider: "p".to_owned(), protocol: None, request, response, end }
    }

    proptest! {
        #[test]
        fn any_bytes_survive_the_file(
            body in proptest::collection::vec(any::<u8>(), 0..40),
            pieces in proptest::collection::vec((any::<u64>(), proptest::collection::vec(any::<u8>(), 0..20)), 0..9),
        ) {
            let lined = pieces.iter().map(|(ms, bytes)| Piece::of(*ms, bytes)).collect();
            let before = exchange(&body, lined, End::Complete);
            let line = serde_json::to_string(&before).unwrap();
            prop_assert!(!line.contains('\n'));
            let after: Exchange = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(&after, &before);
            prop_assert_eq!(after.check(), Ok(()));
            let bytes: Vec<Bytes> = after.response.unwrap().pieces.iter().filter_map(Piece::bytes).collect();
            prop_assert_eq!(bytes, pieces.into_iter().map(|(_, bytes)| Bytes::from(bytes)).collect::<Vec<_>>());
        }

        #[test]
        fn no_line_makes_it_panic(line in "[{}\\[\\]\",:a-z0-9]{0,80}") {
            if let Ok(exchange) = serde_json::from_str::<Exchange>(&line) {
                let _ = exchange.check();
            }
        }
    }

    #[test]
    fn every_failure_has_a_word() {
        for (word, kind) in KINDS {
            let error = TransportError { kind: *kind, problem: "x".to_owned() };
            let end = End::broken(&error);
            assert_eq!(end, End::Broken { kind: (*word).to_owned(), problem: "x".to_owned() });
            assert_eq!(end.error(), Some(error));
        }
    }
}
