//! MiniMax's model that sees: no protocol of conversations, but one call with one image.

use std::sync::Arc;

use bytes::Bytes;
use rail_model::{ApiError, ErrorKind, Fault};
use rail_route::Provider;
use rail_stdx::Secret;
use rail_wire::HttpReply;
use serde_json::{Value, json};

use crate::models::fetch;
use crate::secrets::Secrets;
use crate::{Outgoing, Transport, Upstream, said};

/// Where it is asked, from the root of the provider's host.
const PATH: &str = "/v1/coding_plan/vlm";

impl Upstream {
    /// Asks MiniMax's `MiniMax-VL-01` about one image, a `data:` address, with each key of the provider until one is taken. Dropping the
    /// future cancels the request.
    ///
    /// # Errors
    /// What the provider said, or why it was not reached.
    pub async fn look(
        &self,
        provider: &Arc<Provider>,
        prompt: &str,
        image_url: &str,
    ) -> Result<String, ApiError> {
        let limit = provider.timeouts.first_token;
        let body = Bytes::from(json!({ "prompt": prompt, "image_url": image_url }).to_string());
        let slow = || {
            let problem =
                format!("no answer within {limit:?}; raise `timeouts.first_token` if that is usual");
            ApiError::new(ErrorKind::Timeout, problem)
        };
        let keys = provider.keys.iter().map(Some).chain(provider.keys.is_empty().then_some(None));
        let mut refused = slow();
        for key in keys {
            let asked = one(&*self.transport, provider, key, body.clone());
            match tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| Err(slow())) {
                Err(error) if error.fault() == Fault::Target => refused = error,
                answered => return answered,
            }
        }
        Err(refused)
    }
}

async fn one(
    transport: &dyn Transport,
    provider: &Arc<Provider>,
    key: Option<&Secret>,
    body: Bytes,
) -> Result<String, ApiError> {
    let json = ("content-type".to_owned(), Secret::new("application/json"));
    let bearer = key.map(|key| ("authorization".to_owned(), Secret::new(format!("Bearer {}", key.reveal()))));
    let own = provider.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    let own: Vec<(String, Secret)> = own.collect();
    let usual = [Some(json), bearer].into_iter().flatten();
    let mut headers: Vec<_> = usual.filter(|(name, _)| !own.iter().any(|(known, _)| known == name)).collect();
    headers.extend(own);
    let secrets = Secrets::with(provider, &headers, "");
    let call = Outgoing {
        provider: Arc::clone(provider),
        method: "POST".to_owned(),
        url: format!("{}{PATH}", root(&provider.base_url)),
        headers,
        body,
    };
    let reply = fetch(transport, call).await;
    let reply = reply.map_err(|error| ApiError::new(ErrorKind::Server, error.problem))?;
    read(&reply).map_err(|mut error| {
        said::settle(provider, &mut error);
        said::hide(&secrets, &mut error);
        error
    })
}

/// The scheme and the host of an address: the call does not stand under the version that others do.
fn root(base_url: &str) -> &str {
    let base_url = base_url.trim();
    let start = base_url.find("://").map_or(0, |at| at + 3);
    let rest = base_url.get(start..).unwrap_or_default();
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    base_url.get(..start + end).unwrap_or_default()
}

/// What it says of the image. It may refuse with a status of 200, and says so in the body.
fn read(reply: &HttpReply) -> Result<String, ApiError> {
    let body: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
    let status = &body["base_resp"];
    let code = status["status_code"].as_i64().unwrap_or_default();
    if !(200..300).contains(&reply.status) || code != 0 {
        let said = status["status_msg"].as_str().filter(|said| !said.is_empty());
        let said = said.or_else(|| body["error"]["message"].as_str()).unwrap_or("it gave no reason");
        let number = if code == 0 { i64::from(reply.status) } else { code };
        return Err(ApiError::new(kind(reply.status, code), format!("{number}: {said}")));
    }
    match body["content"].as_str().map(str::trim) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        Some(_) | None => Err(ApiError::new(ErrorKind::Server, "it said nothing of the image")),
    }
}

/// Which kind of failure it is, by its own numbers and else by the status.
fn kind(status: u16, code: i64) -> ErrorKind {
    match (code, status) {
        (1004 | 2049, _) | (0, 401) => ErrorKind::Authentication,
        (0, 403) => ErrorKind::Permission,
        (1008, _) | (0, 402) => ErrorKind::Quota,
        (1002 | 1039 | 1041 | 2056, _) | (0, 429) => ErrorKind::RateLimited,
        (1001, _) => ErrorKind::Timeout,
        (0, 404) => ErrorKind::NotFound,
        (1026 | 1027, _) => ErrorKind::Refused,
        (0, 400..500) | (2013, _) => ErrorKind::InvalidRequest,
        (_, _) => ErrorKind::Server,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_at_the_root() {
        for (base, expected) in [
            ("https://api.minimax.io/v1", "https://api.minimax.io"),
            ("https://api.minimaxi.com/anthropic/v1/", "https://api.minimaxi.com"),
            ("http://127.0.0.1:1", "http://127.0.0.1:1"),
            (" http://h?x ", "http://h"),
            ("", ""),
        ] {
            assert_eq!(root(base), expected, "{base}");
        }
    }

    #[test]
    fn answers_and_refusals() {
        for (status, body, expected) in [
            (200, r#"{"content":" a cat ","base_resp":{"status_code":0,"status_msg":"success"}}"#, "a cat"),
            (200, r#"{"content":"a cat"}"#, "a cat"),
            (200, r#"{"content":"","base_resp":{"status_code":0}}"#, "Server: it said nothing of the image"),
            (
                200,
                r#"{"base_resp":{"status_code":1004,"status_msg":"login fail"}}"#,
                "Authentication: 1004: login fail",
            ),
            (
                200,
                r#"{"base_resp":{"status_code":1008,"status_msg":"no balance"}}"#,
                "Quota: 1008: no balance",
            ),
            (
                200,
                r#"{"content":"x","base_resp":{"status_code":2013,"status_msg":"bad"}}"#,
                "InvalidRequest: 2013: bad",
            ),
            (401, r#"{"error":{"message":"no key"}}"#, "Authentication: 401: no key"),
            (500, "<html>", "Server: 500: it gave no reason"),
            (200, "[]", "Server: it said nothing of the image"),
        ] {
            let reply = HttpReply { status, headers: Vec::new(), body: body.as_bytes().to_vec() };
            let read = read(&reply).unwrap_or_else(|error| format!("{:?}: {}", error.kind, error.message));
            assert_eq!(read, expected, "{body}");
        }
    }
}
