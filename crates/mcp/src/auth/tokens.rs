//! One server's tokens, as its client uses them.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rail_stdx::Secret;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::address::Address;
use super::ask::Asker;
use super::client::Client;
use super::grant::{self, Grant, Refused, Renewed};
use super::store::{Key, Store};
use super::{AuthError, Clock, Outside, Settings, challenge, discover};

/// A token that is refused so few seconds after it was given would be refused again after a renewal.
const FRESH: u64 = 10;

/// The tokens of one server: kept in a file that processes share, renewed by one of them at a time.
pub struct Tokens {
    pub(super) inner: Arc<Inner>,
    /// Renewals. Each runs to its end, also when nobody waits for it any more: a refresh token is good for one use, and what
    /// it was exchanged for must be kept.
    renewals: Mutex<JoinSet<()>>,
}

pub(super) struct Inner {
    pub(super) settings: Settings,
    pub(super) server: Address,
    pub(super) key: Key,
    pub(super) store: Store,
    pub(super) asker: Asker,
    pub(super) clock: Arc<dyn Clock>,
    /// One renewal at a time in this process; the lock in the file system does the same between processes.
    renewing: tokio::sync::Mutex<()>,
}

/// What a server answered in place of a result.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    /// The status.
    pub status: u16,
    /// Its headers `WWW-Authenticate`, joined by commas; empty without one.
    pub www_authenticate: &'a str,
    /// The token that was sent.
    pub token: Option<&'a Secret>,
}

/// What to do about a refusal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// There is another token now: send the request again, once.
    Retry,
    /// A person must log in.
    NeedsLogin {
        /// The scopes that the server missed, if that is why. The login asks for them by itself.
        scope: Option<String>,
    },
    /// No token would help.
    Final,
}

/// How things stand with a server's tokens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Status {
    /// Nobody is logged in.
    LoggedOut,
    /// Somebody is.
    LoggedIn {
        /// The authorisation server.
        issuer: String,
        /// What was granted, if that was said.
        scope: Option<String>,
        /// When the token ends, in Unix seconds, if that was said.
        expires: Option<u64>,
        /// Whether it is renewed without a person.
        renewable: bool,
    },
    /// Somebody was: the token has ended and can't be renewed.
    Expired,
    /// Somebody is, but the server wants more scopes; the next login asks for these.
    NeedsScope(String),
}

impl Tokens {
    /// The tokens of the server that these settings name. Nothing is read or asked yet.
    pub fn new(settings: Settings, outside: Outside) -> Result<Self, AuthError> {
        let server = Address::of_server(&settings.url).map_err(|bad| AuthError::Server {
            url: settings.url.split('?').next().unwrap_or_default().to_owned(),
            why: bad.to_string(),
        })?;
        let client = match (&settings.client, &settings.client_metadata_url) {
            (Some(own), _) => format!("id {}", own.id),
            (None, Some(document)) => format!("document {document}"),
            (None, None) => "registered".to_owned(),
        };
        let asker = Asker::new(outside.transport, settings.proxy.clone(), settings.authorities.clone());
        let inner = Inner {
            key: Key { server: server.canonical(), client },
            store: Store::at(outside.file),
            asker,
            clock: outside.clock,
            renewing: tokio::sync::Mutex::default(),
            server,
            settings,
        };
        Ok(Self { inner: Arc::new(inner), renewals: Mutex::default() })
    }

    /// The token to send, renewed if it ends soon. None when there is none, or none that can be renewed: the server will say
    /// whether it wants one.
    pub async fn token(&self) -> Result<Option<Secret>, AuthError> {
        let Some(grant) = self.inner.grant()? else { return Ok(None) };
        let now = self.inner.clock.unix();
        if grant.is_good(now) {
            return Ok(Some(grant.access_token));
        }
        match self.renewed(None).await {
            // The old one is still good for this request, and the next will try again.
            Err(_) if !grant.has_ended(now) => Ok(Some(grant.access_token)),
            renewed => renewed,
        }
    }

    /// What to do about a refusal: whether a renewal helps is found out here.
    pub async fn refused(&self, refusal: Refusal<'_>) -> Result<Verdict, AuthError> {
        let said = challenge::bearer(refusal.www_authenticate);
        let grant = self.inner.grant()?;
        let kept = grant.as_ref().map(|grant| &grant.access_token);
        let lacks_scope = said.error.as_deref() == Some("insufficient_scope");
        match refusal.status {
            401 => {}
            403 if lacks_scope => {}
            _ => return Ok(Verdict::Final),
        }
        // Another process may have logged in or renewed in the meantime.
        let now = self.inner.clock.unix();
        if kept != refusal.token && grant.as_ref().is_some_and(|grant| !grant.has_ended(now)) {
            return Ok(Verdict::Retry);
        }
        if lacks_scope {
            return self.inner.wants(grant.and_then(|grant| grant.scope), said.scope).await;
        }
        let needs_login = Ok(Verdict::NeedsLogin { scope: None });
        let (Some(grant), Some(token)) = (&grant, refusal.token) else { return needs_login };
        if now.checked_sub(grant.obtained).is_some_and(|age| age < FRESH) {
            return needs_login;
        }
        match self.renewed(Some(token.clone())).await? {
            Some(_) => Ok(Verdict::Retry),
            None => needs_login,
        }
    }

    /// The token to send after a refusal, for one more try. That there is none is an error which says what a person can do.
    pub async fn token_after(&self, refusal: Refusal<'_>) -> Result<Secret, AuthError> {
        let server = self.inner.server.canonical();
        match self.refused(refusal).await? {
            Verdict::Retry => self.token().await?.ok_or(AuthError::LoginNeeded { server, scope: None }),
            Verdict::NeedsLogin { scope } => Err(AuthError::LoginNeeded { server, scope }),
            Verdict::Final => Err(AuthError::Forbidden { server, status: refusal.status }),
        }
    }

    /// How things stand, as the file says.
    pub fn status(&self) -> Result<Status, AuthError> {
        let Some(entry) = self.inner.store.entry(&self.inner.key)? else { return Ok(Status::LoggedOut) };
        let Some(grant) = entry.grant else { return Ok(Status::LoggedOut) };
        if let Some(scope) = entry.wanted_scope {
            return Ok(Status::NeedsScope(scope));
        }
        let renewable = grant.refresh_token.is_some();
        if grant.has_ended(self.inner.clock.unix()) && !renewable {
            return Ok(Status::Expired);
        }
        let Grant { issuer, scope, expires, .. } = grant;
        Ok(Status::LoggedIn { issuer, scope, expires, renewable })
    }

    /// The token after a renewal; None when a person must log in.
    async fn renewed(&self, refused: Option<Secret>) -> Result<Option<Secret>, AuthError> {
        let (send, receive) = oneshot::channel();
        let inner = Arc::clone(&self.inner);
        {
            let mut renewals = self.renewals.lock().unwrap_or_else(PoisonError::into_inner);
            while renewals.try_join_next().is_some() {}
            renewals.spawn(async move {
                let renewed = inner.renew(refused).await;
                // Whoever waited may be gone; the file has the result.
                let _ = send.send(renewed);
            });
        }
        receive.await.unwrap_or(Err(AuthError::Ended))
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens").field("key", &self.inner.key).finish_non_exhaustive()
    }
}

impl Inner {
    pub(super) fn grant(&self) -> Result<Option<Grant>, AuthError> {
        let grant = self.store.entry(&self.key)?.and_then(|entry| entry.grant);
        Ok(grant.map(|grant| Grant { client: self.with_secret(grant.client), ..grant }))
    }

    /// The secret of a configured client is in the settings and nowhere else.
    fn with_secret(&self, client: Client) -> Client {
        match &self.settings.client {
            Some(own) => Client { secret: own.secret.clone(), ..client },
            None => client,
        }
    }

    /// The client as it is kept.
    pub(super) fn without_secret(&self, client: Client) -> Client {
        match &self.settings.client {
            Some(_) => Client { secret: None, ..client },
            None => client,
        }
    }

    async fn renew(&self, refused: Option<Secret>) -> Result<Option<Secret>, AuthError> {
        let _here = self.renewing.lock().await;
        let _everywhere = self.store.lock_renewal(&self.key).await?;
        let Some(grant) = self.grant()? else { return Ok(None) };
        let now = self.clock.unix();
        // Whoever had the lock before may have done it.
        if grant.is_good(now) && refused.as_ref() != Some(&grant.access_token) {
            return Ok(Some(grant.access_token));
        }
        let Some(refresh_token) = &grant.refresh_token else { return Ok(None) };
        let what = "the address to get tokens at";
        let endpoint = discover::usable(what, &grant.token_endpoint, self.server.reach())?;
        match grant::renew(&self.asker, &grant, refresh_token, &endpoint, now).await? {
            Renewed::Grant(grant) => {
                let token = grant.access_token.clone();
                let client = self.without_secret(grant.client.clone());
                let kept = Grant { client, ..*grant };
                self.store.change(&self.key, move |entry| entry.grant = Some(kept)).await?;
                Ok(Some(token))
            }
            // A client that was set and is wrong is put right in the settings; a login would not help.
            Renewed::Refused(Refused::Client, why) if self.settings.client.is_some() => Err(why),
            Renewed::Refused(refused, _) => {
                let forget = move |entry: &mut super::store::Entry| {
                    entry.grant = None;
                    if refused == Refused::Client {
                        entry.registration = None;
                    }
                };
                self.store.change(&self.key, forget).await?;
                Ok(None)
            }
        }
    }

    /// The server wants more scopes: the next login asks for them, and for those there are.
    async fn wants(&self, granted: Option<String>, missed: Option<String>) -> Result<Verdict, AuthError> {
        if let Some(missed) = &missed {
            let wanted = join_scopes([granted.unwrap_or_default().as_str(), missed]);
            self.store.change(&self.key, move |entry| entry.wanted_scope = wanted).await?;
        }
        Ok(Verdict::NeedsLogin { scope: missed })
    }
}

/// Several lists of scopes as one, each scope once; None when there is none.
pub(super) fn join_scopes<'a>(lists: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut all: Vec<&str> = Vec::new();
    for scope in lists.into_iter().flat_map(str::split_whitespace) {
        if !all.contains(&scope) {
            all.push(scope);
        }
    }
    (!all.is_empty()).then(|| all.join(" "))
}
