//! Who we are for an authorisation server: configured, described by a document, or registered (RFC 7591).

use bytes::Bytes;
use rail_stdx::Secret;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ask::{Asker, Question};
use super::discover::Issuer;
use super::{AuthError, Settings, hidden};

const WHAT: &str = "the registration of this program";

/// Who asks for tokens. Its `Debug` shows no secret.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Client {
    pub(super) id: String,
    #[serde(default, with = "hidden::optional", skip_serializing_if = "Option::is_none")]
    pub(super) secret: Option<Secret>,
    pub(super) method: Method,
}

/// How a client shows who it is at the token endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Method {
    #[serde(rename = "none")]
    None,
    #[serde(rename = "client_secret_basic")]
    Basic,
    #[serde(rename = "client_secret_post")]
    Post,
}

/// A registration that an authorisation server made for us.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Registration {
    pub(super) issuer: String,
    /// Where its logins lead back to. Many servers take no other port, so the next login tries to have the same.
    pub(super) redirect: String,
    pub(super) client: Client,
    /// When its secret ends, in Unix seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires: Option<u64>,
}

/// The client that the settings name; None where one must be registered.
pub(super) fn configured(settings: &Settings, issuer: &Issuer) -> Option<Client> {
    if let Some(own) = &settings.client {
        let method = method_of(&issuer.methods, own.secret.is_some());
        return Some(Client { id: own.id.clone(), secret: own.secret.clone(), method });
    }
    let document = settings.client_metadata_url.as_ref().filter(|_| issuer.takes_documents)?;
    Some(Client { id: document.clone(), secret: None, method: Method::None })
}

/// Registers us at an authorisation server, to be led back to this address.
pub(super) async fn register(
    asker: &Asker,
    issuer: &Issuer,
    redirect: &str,
) -> Result<Registration, AuthError> {
    let none = || AuthError::NoClient { issuer: issuer.name.clone() };
    let address = issuer.register.as_ref().ok_or_else(none)?;
    let asked = json!({
        "client_name": "Switchrail",
        "application_type": "native",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted(&issuer.methods),
    });
    let headers =
        vec![("accept", Secret::new("application/json")), ("content-type", Secret::new("application/json"))];
    let body = Some(Bytes::from(asked.to_string()));
    let answer = asker.send(&Question { what: WHAT, address, headers, body, secrets: Vec::new() }).await?;
    if !answer.is_success() {
        return Err(answer.refusal());
    }
    let made: Registered = answer.json()?;
    let secret = made.client_secret.filter(|secret| !secret.is_empty());
    let method =
        made.token_endpoint_auth_method.unwrap_or_else(|| method_of(&issuer.methods, secret.is_some()));
    Ok(Registration {
        issuer: issuer.name.clone(),
        redirect: redirect.to_owned(),
        client: Client { id: made.client_id, secret, method },
        expires: made.client_secret_expires_at.filter(|at| *at > 0),
    })
}

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    #[serde(default, with = "hidden::optional")]
    client_secret: Option<Secret>,
    client_secret_expires_at: Option<u64>,
    token_endpoint_auth_method: Option<Method>,
}

/// A program on somebody's machine keeps no secret, so it asks for none where that is possible.
fn wanted(methods: &[String]) -> Method {
    let has = |wanted: &str| methods.iter().any(|method| method == wanted);
    if has("none") {
        Method::None
    } else if has("client_secret_basic") {
        Method::Basic
    } else if has("client_secret_post") {
        Method::Post
    } else {
        Method::None
    }
}

fn method_of(methods: &[String], has_secret: bool) -> Method {
    let has = |wanted: &str| methods.iter().any(|method| method == wanted);
    match has_secret {
        false => Method::None,
        true if !has("client_secret_basic") && has("client_secret_post") => Method::Post,
        true => Method::Basic,
    }
}
