//! Requests as the tests send them.

use std::sync::Arc;

use bytes::Bytes;
use rail_model::ProtocolId;
use rail_route::Provider;
use rail_stdx::Secret;
use rail_upstream::{Incoming, Live, LiveSettings, Outgoing, Transport, TransportError};

pub(crate) const CHAT: ProtocolId = rail_wire::openai_chat::PROTOCOL.id;
/// A key that must not be seen anywhere.
pub(crate) const KEY: &str = "sk-test-4f9a8b7c6d5e";

/// A provider named `test` at this address.
pub(crate) fn provider(base_url: &str) -> Provider {
    let mut provider = Provider::new("test", CHAT, base_url);
    provider.keys = vec![Secret::new(KEY)];
    provider
}

/// The real transport, with no proxy in its environment.
pub(crate) fn live() -> Live {
    Live::new(LiveSettings::default())
}

/// A POST of a question to a path of the provider.
pub(crate) fn ask(provider: &Provider, path: &str, body: impl Into<Bytes>) -> Outgoing {
    Outgoing {
        provider: Arc::new(provider.clone()),
        method: "POST".to_owned(),
        url: format!("{}{path}", provider.base_url),
        headers: vec![
            ("content-type".to_owned(), Secret::new("application/json")),
            ("authorization".to_owned(), Secret::new(format!("Bearer {KEY}"))),
        ],
        body: body.into(),
    }
}

/// A request that says nothing, to any path.
pub(crate) fn hello(provider: &Provider) -> Outgoing {
    ask(provider, "/chat", r#"{"model":"m"}"#)
}

/// The pieces of a body up to its end or its failure.
pub(crate) async fn pieces(mut answer: Incoming) -> (Vec<Bytes>, Option<TransportError>) {
    let mut pieces = Vec::new();
    while let Some(piece) = answer.body.next().await {
        match piece {
            Ok(piece) => pieces.push(piece),
            Err(error) => return (pieces, Some(error)),
        }
    }
    (pieces, None)
}

/// The whole body as text.
pub(crate) async fn text(answer: Incoming) -> String {
    let (pieces, error) = pieces(answer).await;
    assert_eq!(error, None);
    String::from_utf8(pieces.concat()).unwrap()
}

/// What went wrong, checked for secrets, with the port taken out.
pub(crate) async fn problem(transport: &impl Transport, call: Outgoing) -> String {
    let port = call.url.parse::<http::Uri>().ok().and_then(|uri| uri.port_u16());
    let error = match transport.send(call).await {
        Err(error) => error,
        Ok(answer) => pieces(answer).await.1.unwrap(),
    };
    told(&error, port)
}

/// An error as one line, without the port.
pub(crate) fn told(error: &TransportError, port: Option<u16>) -> String {
    let line = format!("{:?}: {error}", error.kind);
    assert!(!line.contains(KEY) && !line.contains("hush"), "a secret is shown: {line}");
    match port {
        Some(port) => line.replace(&format!(":{port}"), ":PORT"),
        None => line,
    }
}
