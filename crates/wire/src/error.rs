use std::fmt;

use rail_model::{ApiError, ErrorKind, ProtocolId};
use serde::de::DeserializeOwned;

/// Bytes that are not what the protocol says they should be: which protocol, where, and what is wrong.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct WireError {
    /// Whose bytes.
    pub protocol: ProtocolId,
    /// What kind of failure, for the decision what to do next.
    pub kind: WireErrorKind,
    /// The stream frame, counted from 1; None for a whole body.
    pub frame: Option<u64>,
    /// The field, such as `messages[2].content[0].text`; empty when the whole is at fault.
    pub path: String,
    /// What is wrong with it.
    pub problem: String,
}

/// What kind of failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WireErrorKind {
    /// Not JSON, or JSON of the wrong shape.
    Malformed,
    /// It ended without its end marker.
    Truncated,
    /// A frame larger than we are willing to hold.
    TooLarge,
}

impl WireError {
    /// A field of the wrong shape.
    pub fn malformed(protocol: ProtocolId, path: impl Into<String>, problem: impl Into<String>) -> Self {
        let (path, problem) = (path.into(), problem.into());
        Self { protocol, kind: WireErrorKind::Malformed, frame: None, path, problem }
    }

    /// The stream stopped without its own end marker.
    pub fn truncated(protocol: ProtocolId, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self { protocol, kind: WireErrorKind::Truncated, frame: None, path: String::new(), problem }
    }

    /// As the answer to a client that sent the bytes.
    pub fn into_api_error(self) -> ApiError {
        let param = (!self.path.is_empty()).then(|| self.path.clone());
        ApiError { param, ..ApiError::new(ErrorKind::InvalidRequest, self.to_string()) }
    }

    /// As the failure of the upstream that sent the bytes, to be told to a client in its own protocol.
    pub fn into_upstream_error(self) -> ApiError {
        ApiError::new(ErrorKind::Server, format!("the upstream's answer can't be read: {self}"))
    }

    /// The same error, deeper inside: `path` is put before the field.
    pub(crate) fn under(mut self, path: &str) -> Self {
        self.path = match (path.is_empty(), self.path.is_empty()) {
            (true, _) => self.path,
            (false, true) => path.to_owned(),
            (false, false) if self.path.starts_with('[') => format!("{path}{}", self.path),
            (false, false) => format!("{path}.{}", self.path),
        };
        self
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.protocol)?;
        if let Some(frame) = self.frame {
            write!(f, " stream, frame {frame}")?;
        }
        if !self.path.is_empty() {
            write!(f, ", {}", self.path)?;
        }
        write!(f, ": {}", self.problem)
    }
}

/// Parses JSON; only when that fails is it read again to learn the field at fault, so good input pays nothing for it.
pub(crate) fn parse<'de, T: serde::Deserialize<'de>>(
    protocol: ProtocolId,
    bytes: &'de [u8],
) -> Result<T, WireError> {
    // Some editors and shells put a byte order mark before a body.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| located::<T>(protocol, bytes, &error))
}

/// Parses JSON text that stood at `path` of a larger document.
pub(crate) fn parse_at<T: DeserializeOwned>(
    protocol: ProtocolId,
    text: &str,
    path: &str,
) -> Result<T, WireError> {
    parse(protocol, text.as_bytes()).map_err(|mut error| {
        // Line and column would count from the fragment's beginning; the path says where it is.
        if let Some(end) = error.problem.rfind(" at line ") {
            error.problem.truncate(end);
        }
        error.under(path)
    })
}

#[cold]
fn located<'de, T: serde::Deserialize<'de>>(
    protocol: ProtocolId,
    bytes: &'de [u8],
    error: &serde_json::Error,
) -> WireError {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let (path, problem) = match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Err(located) => (located.path().to_string(), located.inner().to_string()),
        Ok(_) => (String::new(), error.to_string()),
    };
    let path = path.trim_end_matches(['?', '.']).to_owned();
    let kind = if error.is_eof() { WireErrorKind::Truncated } else { WireErrorKind::Malformed };
    WireError { kind, ..WireError::malformed(protocol, path, problem) }
}
