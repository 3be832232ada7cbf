//! Logging in and out.

use std::time::Duration;

use bytes::Bytes;
use rail_stdx::Secret;
use serde_json::json;

use super::ask::{Answer, Question};
use super::callback::{Answered, Door, Expected, Unfit};
use super::client::{self, Client, Registration};
use super::discover::{self, Discovered, discover};
use super::grant::{self, Exchange, Grant};
use super::tokens::{Inner, Tokens, join_scopes};
use super::{AuthError, Browser, challenge, form, pkce};

/// A scope without which some servers give nothing to renew a token with.
const OFFLINE: &str = "offline_access";

/// A login that succeeded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoggedIn {
    /// The authorisation server.
    pub issuer: String,
    /// What was granted, if that was said.
    pub scope: Option<String>,
    /// Whether the token is renewed without a person.
    pub renewable: bool,
}

/// How a logout ended. In every case nothing is kept here any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoggedOut {
    /// Nobody was logged in.
    Nobody,
    /// The authorisation server took the token back.
    Revoked,
    /// The authorisation server takes none back: the token ends by itself.
    NotRevocable,
    /// The authorisation server should have taken it back and did not.
    NotRevoked(AuthError),
}

/// What one login sends and waits for.
struct Attempt {
    door: Door,
    client: Client,
    /// Registered for this login, and not kept yet.
    registration: Option<Registration>,
    verifier: Secret,
    expected: Expected,
    scope: Option<String>,
}

impl Tokens {
    /// Logs a person in: finds out where, registers us if need be, has the browser open the page, waits until it leads back, and
    /// keeps the tokens. Dropping the future ends the login.
    pub async fn login(&self, browser: &dyn Browser, limit: Duration) -> Result<LoggedIn, AuthError> {
        let inner = &self.inner;
        let said = inner.probe().await?;
        let heard = challenge::bearer(&said.header("www-authenticate"));
        let discovered =
            discover(&inner.asker, &inner.server, &heard).await.map_err(|error| match error {
                // Nothing to log in at, and nobody asked for it.
                AuthError::NoMetadata { server } if said.is_success() => AuthError::NotWanted { server },
                error => error,
            })?;
        let attempt = inner.attempt(&discovered, heard.scope.as_deref()).await?;
        browser.open(&attempt.url(&discovered));
        let code = attempt.code(browser, limit).await?;
        let grant = inner.exchange(&discovered, &attempt, &code).await;
        if grant.is_err() && attempt.registration.is_none() {
            // The server may have forgotten us: the next login registers again.
            inner.store.change(&inner.key, |entry| entry.registration = None).await?;
        }
        let grant = grant?;
        inner.keep(&grant, attempt.registration).await?;
        let Grant { issuer, scope, refresh_token, .. } = grant;
        Ok(LoggedIn { issuer, scope, renewable: refresh_token.is_some() })
    }

    /// Logs out: the token is given back where that is possible, and all that is kept for this server is removed.
    pub async fn logout(&self) -> Result<LoggedOut, AuthError> {
        let inner = &self.inner;
        let _alone = inner.store.lock_renewal(&inner.key).await?;
        let grant = inner.grant()?;
        inner
            .store
            .change(&inner.key, |entry| {
                (entry.registration, entry.grant, entry.wanted_scope) = (None, None, None)
            })
            .await?;
        let Some(grant) = grant else { return Ok(LoggedOut::Nobody) };
        let Some(endpoint) = &grant.revocation_endpoint else { return Ok(LoggedOut::NotRevocable) };
        let what = "the address to give tokens back at";
        let revoked = match discover::usable(what, endpoint, inner.server.reach()) {
            Ok(endpoint) => grant::revoke(&inner.asker, &grant, &endpoint).await,
            Err(error) => Err(error),
        };
        Ok(revoked.map_or_else(LoggedOut::NotRevoked, |()| LoggedOut::Revoked))
    }
}

impl Inner {
    /// Asks the server for what every client asks first, without a token, to hear what it says to that.
    async fn probe(&self) -> Result<Answer, AuthError> {
        let hello = json!({
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "switchrail", "version": env!("CARGO_PKG_VERSION") },
            },
        });
        let headers = vec![
            ("accept", Secret::new("application/json, text/event-stream")),
            ("content-type", Secret::new("application/json")),
        ];
        let (what, address) = ("the MCP server", &self.server);
        let body = Some(Bytes::from(hello.to_string()));
        self.asker.head(&Question { what, address, headers, body, secrets: Vec::new() }).await
    }

    async fn attempt(&self, discovered: &Discovered, asked: Option<&str>) -> Result<Attempt, AuthError> {
        let issuer = &discovered.issuer;
        let entry = self.store.entry(&self.key)?.unwrap_or_default();
        let known = entry.registration.filter(|known| self.is_usable(known, &issuer.name));
        let door = self.door(known.as_ref()).await?;
        let configured = client::configured(&self.settings, issuer);
        let (client, registration) = match (configured, known) {
            (Some(client), _) => (client, None),
            (None, Some(known)) if known.redirect == door.redirect() => (known.client, None),
            (None, _) => {
                let made = client::register(&self.asker, issuer, &door.redirect()).await?;
                (made.client.clone(), Some(made))
            }
        };
        let own = self.settings.scopes.join(" ");
        let supported = discovered.scopes.join(" ");
        let first = [own.as_str(), asked.unwrap_or_default(), &supported];
        let first = first.into_iter().find(|list| !list.is_empty()).unwrap_or_default();
        let offline = if issuer.scopes.iter().any(|scope| scope == OFFLINE) { OFFLINE } else { "" };
        let wanted = entry.wanted_scope.unwrap_or_default();
        Ok(Attempt {
            door,
            client,
            registration,
            verifier: pkce::random()?,
            expected: Expected {
                state: pkce::random()?,
                issuer: issuer.name.clone(),
                names_itself: issuer.names_itself,
                server: self.server.canonical(),
            },
            scope: join_scopes([first, &wanted, offline]),
        })
    }

    fn is_usable(&self, known: &Registration, issuer: &str) -> bool {
        known.issuer == issuer && known.expires.is_none_or(|expires| self.clock.unix() < expires)
    }

    /// The port that is set, or that of the registration, or any.
    async fn door(&self, known: Option<&Registration>) -> Result<Door, AuthError> {
        if let Some(port) = self.settings.redirect_port {
            return Door::open(port).await;
        }
        let port = known.and_then(|known| known.redirect.split(':').nth(2)?.split('/').next()?.parse().ok());
        if let Some(port) = port
            && let Ok(door) = Door::open(port).await
        {
            return Ok(door);
        }
        Door::open(0).await
    }

    async fn exchange(
        &self,
        discovered: &Discovered,
        attempt: &Attempt,
        code: &Secret,
    ) -> Result<Grant, AuthError> {
        let exchange = Exchange {
            issuer: &discovered.issuer,
            client: &attempt.client,
            resource: &discovered.resource,
            redirect: &attempt.door.redirect(),
            code,
            verifier: &attempt.verifier,
            scope: attempt.scope.as_deref(),
        };
        grant::exchange(&self.asker, &exchange, self.clock.unix()).await
    }

    async fn keep(&self, grant: &Grant, registration: Option<Registration>) -> Result<(), AuthError> {
        let grant = Grant { client: self.without_secret(grant.client.clone()), ..grant.clone() };
        // A renewal of the grant before must not end after this and be kept in its place.
        let _alone = self.store.lock_renewal(&self.key).await?;
        let keep = move |entry: &mut super::store::Entry| {
            entry.grant = Some(grant);
            entry.wanted_scope = None;
            if registration.is_some() {
                entry.registration = registration;
            }
        };
        self.store.change(&self.key, keep).await
    }
}

impl Attempt {
    /// The address that the person logs in at.
    fn url(&self, discovered: &Discovered) -> String {
        let (redirect, challenge) = (self.door.redirect(), pkce::challenge(&self.verifier));
        let mut fields = vec![
            ("response_type", "code"),
            ("client_id", &self.client.id),
            ("redirect_uri", &redirect),
            ("state", self.expected.state.reveal()),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("resource", &discovered.resource),
        ];
        if let Some(scope) = &self.scope {
            fields.push(("scope", scope));
            // OpenID Connect gives what renews a token only to who was asked for it.
            if scope.split(' ').any(|scope| scope == OFFLINE) {
                fields.push(("prompt", "consent"));
            }
        }
        let endpoint = discovered.issuer.authorize.as_str();
        let join = if endpoint.contains('?') { '&' } else { '?' };
        format!("{endpoint}{join}{}", form::encode(fields))
    }

    /// The code that the login ends with, by the browser or by hand.
    async fn code(&self, browser: &dyn Browser, limit: Duration) -> Answered {
        let unfit = Unfit::default();
        let answered = async {
            tokio::select! {
                answered = self.door.answer(&self.expected, &unfit) => answered,
                answered = self.pasted(browser) => answered,
            }
        };
        match tokio::time::timeout(limit, answered).await {
            Ok(answered) => answered,
            Err(_) if unfit.came() => {
                Err(AuthError::TooLate { limit, hint: " (an answer came that belongs to another login)" })
            }
            Err(_) => Err(AuthError::TooLate { limit, hint: "" }),
        }
    }

    async fn pasted(&self, browser: &dyn Browser) -> Answered {
        while let Some(text) = browser.pasted().await {
            match self.expected.read_pasted(&text) {
                Ok(answered) => return answered,
                Err(problem) => browser.unfit(&problem),
            }
        }
        std::future::pending().await
    }
}
