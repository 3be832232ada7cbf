//! Which models a provider has.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rail_model::ApiError;
use rail_route::Provider;
use rail_stdx::Secret;
use rail_wire::HttpReply;
use serde_json::Value;

use crate::secrets::Secrets;
use crate::transport::MOST_STALE;
use crate::{Incoming, Outgoing, Transport, TransportError, TransportErrorKind, auth, said, url};

/// Most bytes of a list that are read.
const MAX_LIST: usize = 16 << 20;

/// Why a provider's models are not known.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ListError {
    /// It was not reached.
    #[error("{0}")]
    Transport(#[from] TransportError),
    /// It gave no answer in time.
    #[error(
        "provider `{provider}` gave no list of its models within {limit:?}; raise `providers.{provider}.timeouts.first_token` or try again"
    )]
    TooSlow {
        /// The provider.
        provider: String,
        /// How long it had.
        limit: Duration,
    },
    /// It answered with an error, such as a wrong key.
    #[error("provider `{provider}` gives no list of its models: {status} {}", error.message)]
    Refused {
        /// The provider.
        provider: String,
        /// The status.
        status: u16,
        /// What it says, without the key.
        error: Box<ApiError>,
    },
    /// What came is no list of models.
    #[error(
        "what provider `{provider}` answers is no list of models; check `providers.{provider}.base_url`, which should end with the version, such as `/v1`"
    )]
    Unreadable {
        /// The provider.
        provider: String,
    },
}

/// Asks a provider for the names of its models, in its order.
pub async fn list_models(
    transport: &dyn Transport,
    provider: &Arc<Provider>,
    key: Option<&Secret>,
) -> Result<Vec<String>, ListError> {
    let Provider { name, protocol, base_url, headers, timeouts, .. } = &**provider;
    let query = match protocol.name() {
        "anthropic" => "limit=1000",
        "gemini" => "pageSize=1000",
        _ => "",
    };
    // Its encoder says this for questions; there is none for lists.
    let version = ("anthropic-version".to_owned(), Secret::new("2023-06-01"));
    let version = (protocol.name() == "anthropic").then_some(version);
    let call = Outgoing {
        provider: Arc::clone(provider),
        method: "GET".to_owned(),
        url: url::join(*protocol, base_url, "/models", query),
        headers: auth::headers(*protocol, key)
            .into_iter()
            .chain(version)
            .chain(headers.iter().cloned())
            .collect(),
        body: Bytes::new(),
    };
    let limit = timeouts.first_token;
    let slow = || ListError::TooSlow { provider: name.clone(), limit };
    let reply = tokio::time::timeout(limit, fetch(transport, call)).await.map_err(|_| slow())??;
    if reply.status != 200 {
        let mut error = match rail_wire::find(protocol.name()) {
            Some(protocol) => protocol.outbound.read_error(&reply),
            None => rail_wire::openai_chat::PROTOCOL.outbound.read_error(&reply),
        };
        let sent = auth::headers(*protocol, key);
        said::hide(&Secrets::with(provider, &sent, ""), &mut error);
        return Err(ListError::Refused {
            provider: name.clone(),
            status: reply.status,
            error: Box::new(error),
        });
    }
    names(&reply.body).ok_or_else(|| ListError::Unreadable { provider: name.clone() })
}

/// A whole answer, up to the size that a list may have.
pub(crate) async fn fetch(transport: &dyn Transport, call: Outgoing) -> Result<HttpReply, TransportError> {
    let provider = Arc::clone(&call.provider);
    let Incoming { status, headers, mut body } = on_any_connection(transport, call).await?;
    let mut whole = Vec::new();
    while let Some(piece) = body.next().await {
        whole.extend_from_slice(&piece?);
        if whole.len() > MAX_LIST {
            let problem =
                format!("the answer of provider `{}` is longer than a list of models can be", provider.name);
            return Err(TransportError { kind: TransportErrorKind::Broken, problem });
        }
    }
    Ok(HttpReply { status, headers, body: whole })
}

/// Sends what nobody pays for, again where a kept connection was gone.
async fn on_any_connection(transport: &dyn Transport, call: Outgoing) -> Result<Incoming, TransportError> {
    for _ in 0..MOST_STALE {
        match transport.send(call.clone()).await {
            Err(error) if error.kind == TransportErrorKind::Stale => {}
            other => return other,
        }
    }
    transport.send(call).await
}

/// The names in a list, in any of the shapes that servers give: `data` or `models`, or a bare array.
fn names(body: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let list = match &value {
        Value::Array(list) => list,
        Value::Object(object) => match object.get("data").or_else(|| object.get("models"))? {
            Value::Array(list) => list,
            // A server without models.
            Value::Null => return Some(Vec::new()),
            _ => return None,
        },
        _ => return None,
    };
    Some(list.iter().filter(|model| answers(model)).filter_map(name).collect())
}

fn name(model: &Value) -> Option<String> {
    let name = model.get("id").or_else(|| model.get("name"))?.as_str()?;
    Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
}

/// Gemini lists what only embeds, too.
fn answers(model: &Value) -> bool {
    match model.get("supportedGenerationMethods") {
        Some(Value::Array(methods)) => methods.iter().any(|method| method == "generateContent"),
        Some(_) | None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        for (body, expected) in [
            (r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#, Some(vec!["a", "b"])),
            (r#"[{"id":"a"}]"#, Some(vec!["a"])),
            (r#"{"data":null}"#, Some(vec![])),
            (
                r#"{"models":[{"name":"models/g","supportedGenerationMethods":["generateContent"]},{"name":"models/e","supportedGenerationMethods":["embedContent"]}]}"#,
                Some(vec!["g"]),
            ),
            (r#"{"data":[{"no":"id"},7]}"#, Some(vec![])),
            (r#"{"error":"x"}"#, None),
            ("<html>", None),
            ("7", None),
        ] {
            assert_eq!(
                names(body.as_bytes()),
                expected.map(|names| names.into_iter().map(str::to_owned).collect()),
                "{body}"
            );
        }
    }
}
