//! Where requests go: the model and the verb are in the path. And the framing that is Gemini's own.

use super::ID;
use crate::error::WireError;
use crate::frame::{Framer, JsonArray, Sink, Sse};
use crate::protocol::{Endpoint, Operation};

macro_rules! endpoints {
    ($($version:literal),*) => {
        &[$(
            Endpoint { method: "POST", path: concat!("/", $version, "/models/{model}:generateContent"), operation: Operation::Generate },
            Endpoint { method: "POST", path: concat!("/", $version, "/models/{model}:streamGenerateContent"), operation: Operation::GenerateStream },
            Endpoint { method: "POST", path: concat!("/", $version, "/models/{model}:countTokens"), operation: Operation::Count },
            Endpoint { method: "POST", path: concat!("/", $version, "/models/{model}:embedContent"), operation: Operation::Embed },
            Endpoint { method: "POST", path: concat!("/", $version, "/models/{model}:batchEmbedContents"), operation: Operation::Embed },
            Endpoint { method: "GET", path: concat!("/", $version, "/models"), operation: Operation::Models },
            Endpoint { method: "GET", path: concat!("/", $version, "/models/{model}"), operation: Operation::Models },
        )*]
    };
}

/// Where clients call.
pub(super) const ENDPOINTS: &[Endpoint] = endpoints!("v1beta", "v1");

/// The model that a path names, if it names one, and whether it asks for a stream.
pub(super) fn read(path: &str) -> (Option<String>, bool) {
    let Some((head, verb)) = path.rsplit_once(':') else { return (None, false) };
    let model = match (head.rfind("/models/"), head.find("/tunedModels/")) {
        (Some(at), _) => head.get(at + "/models/".len()..),
        (None, Some(at)) => head.get(at + 1..),
        (None, None) => None,
    };
    let model = model.filter(|model| !model.is_empty()).map(unescape);
    (model, verb == "streamGenerateContent")
}

/// The path of a call, below the version.
pub(super) fn write(model: &str, verb: &str) -> String {
    let collection = if model.contains('/')
        && ["models/", "tunedModels/", "projects/", "publishers/"].iter().any(|head| model.starts_with(head))
    {
        ""
    } else {
        "models/"
    };
    format!("/{collection}{}:{verb}", escape(model))
}

/// The model's name as bodies spell it.
pub(super) fn resource(model: &str) -> String {
    if model.starts_with("models/") || model.starts_with("tunedModels/") {
        model.to_owned()
    } else {
        format!("models/{model}")
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/@".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The text of a path whose percent escapes are undone; what is no escape stays as it is.
pub fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.as_bytes();
    while let Some((&byte, rest)) = bytes.split_first() {
        let hex = rest.get(..2).filter(|_| byte == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(value) => {
                out.push(value);
                bytes = rest.get(2..).unwrap_or_default();
            }
            None => {
                out.push(byte);
                bytes = rest;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Server-sent events after which bare JSON may stand: Google ends a broken stream with an error that is no event, and
/// servers that do not know `alt=sse` send an array. No SSE field begins with a bracket.
#[derive(Default)]
pub(super) struct SseOrJson {
    sse: Sse,
    in_line: bool,
    json: Option<JsonArray>,
}

impl SseOrJson {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Where bare JSON begins in these bytes.
    fn bare(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            if let Some(first) = rest.first().filter(|_| !self.in_line) {
                if matches!(first, b'{' | b'[') {
                    return Some(at);
                }
                self.in_line = !matches!(first, b'\n' | b'\r');
            }
            match memchr::memchr2(b'\n', b'\r', rest) {
                Some(end) => {
                    self.in_line = false;
                    at += end + 1;
                }
                None => return None,
            }
        }
    }
}

impl Framer for SseOrJson {
    fn push(&mut self, bytes: &[u8], sink: &mut Sink<'_>) -> Result<(), WireError> {
        if let Some(json) = &mut self.json {
            return json.push(bytes, sink);
        }
        let Some(at) = self.bare(bytes) else { return self.sse.push(bytes, sink) };
        let (events, bare) = bytes.split_at(at);
        self.sse.push(events, sink)?;
        self.sse.finish(sink)?;
        self.json.insert(JsonArray::new()).push(bare, sink)
    }

    fn finish(&mut self, sink: &mut Sink<'_>) -> Result<(), WireError> {
        match &mut self.json {
            Some(json) => json.finish(sink),
            None => self.sse.finish(sink),
        }
    }
}

/// The error for a field that must be there.
pub(super) fn missing(field: &str) -> WireError {
    WireError::malformed(ID, field, "is missing")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_read_from_paths_and_written_into_them() {
        let table = [
            ("/v1beta/models/gemini-2.5-flash:generateContent", Some("gemini-2.5-flash"), false),
            ("/v1/models/x:streamGenerateContent", Some("x"), true),
            ("/v1beta/models/qwen%2Fqwen3%3A8b:countTokens", Some("qwen/qwen3:8b"), false),
            ("/v1beta/models/qwen3:8b:generateContent", Some("qwen3:8b"), false),
            ("/v1beta/tunedModels/mine:generateContent", Some("tunedModels/mine"), false),
            ("/v1/projects/p/locations/l/publishers/google/models/g:generateContent", Some("g"), false),
            ("/v1beta/models/:generateContent", None, false),
            ("", None, false),
        ];
        for (path, model, stream) in table {
            assert_eq!(read(path), (model.map(str::to_owned), stream), "{path}");
        }
        assert_eq!(write("gemini-3", "generateContent"), "/models/gemini-3:generateContent");
        assert_eq!(write("tunedModels/m", "countTokens"), "/tunedModels/m:countTokens");
        assert_eq!(write("qwen/qwen3:8b", "generateContent"), "/models/qwen/qwen3%3A8b:generateContent");
    }
}
