//! Tokens: got for a code, renewed, and given back.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use rail_stdx::Secret;
use serde::{Deserialize, Deserializer, Serialize};

use super::address::Address;
use super::ask::{Answer, Asker, Question};
use super::client::{Client, Method};
use super::discover::Issuer;
use super::{AuthError, form, hidden};

/// Tokens are renewed so many seconds before they end, or a quarter of their life where that is less: a clock may be wrong and
/// a request takes its time.
const AHEAD: u64 = 60;
/// Longer lives are cut: a sum must not run over.
const LONGEST: u64 = 10 * 365 * 86_400;

/// What an authorisation server granted, with all that is needed to renew it. Its `Debug` shows no token.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Grant {
    pub(super) issuer: String,
    pub(super) resource: String,
    pub(super) token_endpoint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) revocation_endpoint: Option<String>,
    pub(super) client: Client,
    #[serde(with = "hidden")]
    pub(super) access_token: Secret,
    #[serde(default, with = "hidden::optional", skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<Secret>,
    /// In Unix seconds.
    pub(super) obtained: u64,
    /// In Unix seconds; None where nothing was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
}

impl Grant {
    /// Whether the token can still be sent, and for a while.
    pub(super) fn is_good(&self, now: u64) -> bool {
        let ahead = |expires: u64| AHEAD.min(expires.saturating_sub(self.obtained) / 4);
        self.expires.is_none_or(|expires| now < expires.saturating_sub(ahead(expires)))
    }

    /// Whether the token has ended for certain.
    pub(super) fn has_ended(&self, now: u64) -> bool {
        self.expires.is_some_and(|expires| now >= expires)
    }
}

/// What a code is exchanged with.
pub(super) struct Exchange<'a> {
    pub(super) issuer: &'a Issuer,
    pub(super) client: &'a Client,
    pub(super) resource: &'a str,
    pub(super) redirect: &'a str,
    pub(super) code: &'a Secret,
    pub(super) verifier: &'a Secret,
    /// What was asked for; it is what was granted where the server says nothing.
    pub(super) scope: Option<&'a str>,
}

/// How a renewal ended.
pub(super) enum Renewed {
    Grant(Box<Grant>),
    /// The server wants a login again; why, its own words say.
    Refused(Refused, AuthError),
}

/// What a server refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    Grant,
    /// It does not know us any more: a registration is of no use either.
    Client,
}

/// The tokens for a code.
pub(super) async fn exchange(asker: &Asker, wanted: &Exchange<'_>, now: u64) -> Result<Grant, AuthError> {
    let issuer = wanted.issuer;
    let fields = vec![
        ("grant_type", "authorization_code"),
        ("code", wanted.code.reveal()),
        ("redirect_uri", wanted.redirect),
        ("code_verifier", wanted.verifier.reveal()),
        ("resource", wanted.resource),
    ];
    let answer =
        ask(asker, "the exchange of the login for a token", &issuer.token, wanted.client, fields).await?;
    if !answer.is_success() || answer.reason().is_some() {
        return Err(answer.refusal());
    }
    let granted: Granted = bearer(&answer, &issuer.token)?;
    Ok(Grant {
        issuer: issuer.name.clone(),
        resource: wanted.resource.to_owned(),
        token_endpoint: issuer.token.as_str().to_owned(),
        revocation_endpoint: issuer.revoke.as_ref().map(|address| address.as_str().to_owned()),
        client: wanted.client.clone(),
        access_token: granted.access_token,
        refresh_token: granted.refresh_token.filter(|token| !token.is_empty()),
        obtained: now,
        expires: granted.expires_in.map(|life| now + life.min(LONGEST)),
        scope: granted.scope.or_else(|| wanted.scope.map(str::to_owned)),
    })
}

/// Renews a grant. A server that gives no new refresh token means that the old one stays.
pub(super) async fn renew(
    asker: &Asker,
    grant: &Grant,
    refresh_token: &Secret,
    endpoint: &Address,
    now: u64,
) -> Result<Renewed, AuthError> {
    let fields = vec![
        ("grant_type", "refresh_token"),
        ("refresh_token", refresh_token.reveal()),
        ("resource", &grant.resource),
    ];
    let answer = ask(asker, "the renewal of the token", endpoint, &grant.client, fields).await?;
    if let Some(refused) = refused(&answer) {
        return Ok(Renewed::Refused(refused, answer.refusal()));
    }
    if !answer.is_success() {
        return Err(answer.refusal());
    }
    let granted: Granted = bearer(&answer, endpoint)?;
    Ok(Renewed::Grant(Box::new(Grant {
        access_token: granted.access_token,
        refresh_token: granted
            .refresh_token
            .filter(|token| !token.is_empty())
            .or_else(|| grant.refresh_token.clone()),
        obtained: now,
        expires: granted.expires_in.map(|life| now + life.min(LONGEST)),
        scope: granted.scope.or_else(|| grant.scope.clone()),
        ..grant.clone()
    })))
}

/// What a server refused for good; None where it granted, or where it may be better later.
fn refused(answer: &Answer) -> Option<Refused> {
    if answer.status >= 500 || matches!(answer.status, 408 | 429) {
        return None;
    }
    match answer.reason()?.as_str() {
        "temporarily_unavailable" | "server_error" | "slow_down" => None,
        "invalid_client" | "unauthorized_client" => Some(Refused::Client),
        _ => Some(Refused::Grant),
    }
}

/// Gives a grant back (RFC 7009): the token that renews it, or the only one there is.
pub(super) async fn revoke(asker: &Asker, grant: &Grant, endpoint: &Address) -> Result<(), AuthError> {
    let (token, hint) = match &grant.refresh_token {
        Some(token) => (token, "refresh_token"),
        None => (&grant.access_token, "access_token"),
    };
    let fields = vec![("token", token.reveal()), ("token_type_hint", hint)];
    let answer = ask(asker, "giving the token back", endpoint, &grant.client, fields).await?;
    if answer.is_success() { Ok(()) } else { Err(answer.refusal()) }
}

async fn ask(
    asker: &Asker,
    what: &'static str,
    address: &Address,
    client: &Client,
    mut fields: Vec<(&str, &str)>,
) -> Result<Answer, AuthError> {
    let mut headers = vec![
        ("accept", Secret::new("application/json")),
        ("content-type", Secret::new("application/x-www-form-urlencoded")),
    ];
    let secret = client.secret.as_ref().map(Secret::reveal).unwrap_or_default();
    match client.method {
        Method::None => fields.push(("client_id", &client.id)),
        Method::Post => fields.extend([("client_id", client.id.as_str()), ("client_secret", secret)]),
        // RFC 6749, section 2.3.1: both are written as in a form first.
        Method::Basic => {
            let pair = format!("{}:{}", form::escaped(&client.id), form::escaped(secret));
            headers.push(("authorization", Secret::new(format!("Basic {}", STANDARD.encode(pair)))));
        }
    }
    let hidden = ["code", "code_verifier", "refresh_token", "token"];
    let secrets = fields.iter().filter(|(name, _)| hidden.contains(name)).map(|(_, value)| *value);
    let secrets = secrets.chain([secret]).collect();
    let body = Some(Bytes::from(form::encode(fields.iter().copied())));
    asker.send(&Question { what, address, headers, body, secrets }).await
}

fn bearer(answer: &Answer, address: &Address) -> Result<Granted, AuthError> {
    let granted: Granted = answer.json()?;
    let problem = if !granted.token_type.eq_ignore_ascii_case("bearer") {
        "its token is not of the type `Bearer`"
    } else if granted.access_token.is_empty() || !is_sendable(&granted.access_token) {
        "its token can't be sent in a header"
    } else {
        return Ok(granted);
    };
    let what = "the token";
    Err(AuthError::Unreadable { what, host: address.host(), why: problem.to_owned() })
}

/// What stands behind `Bearer` in a header (RFC 6750), and a little more: some servers are not strict.
fn is_sendable(token: &Secret) -> bool {
    token.reveal().bytes().all(|byte| byte.is_ascii_graphic())
}

#[derive(Deserialize)]
struct Granted {
    #[serde(with = "hidden")]
    access_token: Secret,
    token_type: String,
    #[serde(default, deserialize_with = "seconds")]
    expires_in: Option<u64>,
    #[serde(default, with = "hidden::optional")]
    refresh_token: Option<Secret>,
    scope: Option<String>,
}

/// Some servers write the number as a text, or with a fraction.
fn seconds<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(from)?;
    let text = match value {
        Some(serde_json::Value::Number(number)) => number.to_string(),
        Some(serde_json::Value::String(text)) => text,
        Some(_) | None => return Ok(None),
    };
    Ok(text.split('.').next().and_then(|whole| whole.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(expires: Option<u64>) -> Grant {
        Grant {
            issuer: "https://auth.test".into(),
            resource: "https://a.test/mcp".into(),
            token_endpoint: "https://auth.test/token".into(),
            revocation_endpoint: None,
            client: Client {
                id: "c".into(),
                secret: Some(Secret::new("client-secret")),
                method: Method::Basic,
            },
            access_token: Secret::new("access-secret"),
            refresh_token: Some(Secret::new("refresh-secret")),
            obtained: 1000,
            expires,
            scope: None,
        }
    }

    #[test]
    fn a_token_is_renewed_a_while_before_it_ends() {
        let states = |expires, now| (grant(expires).is_good(now), grant(expires).has_ended(now));
        assert_eq!(states(Some(4600), 4539), (true, false));
        assert_eq!(states(Some(4600), 4540), (false, false));
        assert_eq!(states(Some(4600), 4600), (false, true));
        // A short life is not spent with renewals.
        assert_eq!(states(Some(1020), 1014), (true, false));
        assert_eq!(states(Some(1020), 1015), (false, false));
        assert_eq!(states(None, u64::MAX), (true, false));
        assert_eq!(states(Some(5), 1000), (false, true));
    }

    #[test]
    fn nothing_of_a_grant_is_shown() {
        assert!(!format!("{:?}", grant(None)).contains("-secret"));
    }

    #[test]
    fn lives_are_read_as_servers_write_them() {
        for (written, read) in [
            ("3600", Some(3600)),
            ("\"3600\"", Some(3600)),
            ("12.5", Some(12)),
            ("null", None),
            ("-1", None),
            ("[]", None),
        ] {
            let text = format!(r#"{{"access_token":"a","token_type":"bearer","expires_in":{written}}}"#);
            assert_eq!(serde_json::from_str::<Granted>(&text).unwrap().expires_in, read, "{written}");
        }
    }
}
