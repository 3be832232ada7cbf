//! Engines that search the web.

mod brave;
mod fault;
mod searxng;
mod tavily;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use rail_stdx::Secret;
use serde_json::Value;

pub use fault::SearchFault;

use crate::connect::Reach;
use crate::exchange::{self, Ask, Deadline};
use crate::fetch::one_line;
use crate::{Fetcher, Place, html};

/// Which engines there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineKind {
    /// Brave Search.
    Brave,
    /// Tavily.
    Tavily,
    /// A server of SearXNG.
    Searxng,
}

/// An engine that can be asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Engine {
    /// Which it is.
    pub kind: EngineKind,
    /// Its key; SearXNG needs none.
    pub key: Option<Secret>,
    /// Its address, where it is not the usual one.
    pub url: Option<String>,
}

/// What is looked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Query {
    /// The words.
    pub words: String,
    /// How many results.
    pub count: usize,
    /// Only of these hosts and those under them.
    pub allowed_domains: Vec<String>,
    /// Of none of these hosts or those under them.
    pub blocked_domains: Vec<String>,
}

/// One result.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// Its title, without tags.
    pub title: String,
    /// Its address.
    pub url: String,
    /// What it is about, without tags.
    pub description: String,
    /// How old it is, in the engine's own words.
    pub age: Option<String>,
}

/// What an engine is sent.
struct Sent {
    place: Place,
    ask: Ask,
}

impl EngineKind {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Brave => "Brave",
            Self::Tavily => "Tavily",
            Self::Searxng => "SearXNG",
        }
    }

    /// The results in the body of its answer; None if it is none of its answers.
    pub fn results(self, body: &[u8]) -> Option<Vec<Found>> {
        let value: Value = serde_json::from_slice(body).ok()?;
        match self {
            Self::Brave => brave::results(&value),
            Self::Tavily | Self::Searxng => tavily::results(&value),
        }
    }

    /// The variable that holds its key, or its address where it needs no key.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Brave => "BRAVE_API_KEY",
            Self::Tavily => "TAVILY_API_KEY",
            Self::Searxng => "SEARXNG_URL",
        }
    }
}

impl Engine {
    /// The host that is spoken with.
    ///
    /// # Errors
    /// That its address can't be used.
    pub fn host(&self) -> Result<String, SearchFault> {
        self.place(match self.kind {
            EngineKind::Brave => brave::URL,
            EngineKind::Tavily => tavily::URL,
            EngineKind::Searxng => "",
        })
        .map(|place| place.host())
    }

    fn place(&self, usual: &str) -> Result<Place, SearchFault> {
        let url = self.url.as_deref().unwrap_or(usual);
        Place::parse(url)
            .map_err(|why| SearchFault::Address { engine: self.kind.name(), why: why.to_string() })
    }

    fn key(&self) -> Result<&Secret, SearchFault> {
        self.key
            .as_ref()
            .ok_or(SearchFault::NoKey { engine: self.kind.name(), variable: self.kind.variable() })
    }
}

impl Fetcher {
    /// Asks an engine. Its address is the user's own, so it may be anywhere; redirects are not followed, since a key goes with it.
    ///
    /// # Errors
    /// Why there are no results.
    pub async fn search(&self, engine: &Engine, query: &Query) -> Result<Vec<Found>, SearchFault> {
        let name = engine.kind.name();
        let Sent { place, ask } = match engine.kind {
            EngineKind::Brave => brave::sent(engine, query)?,
            EngineKind::Tavily => tavily::sent(engine, query)?,
            EngineKind::Searxng => searxng::sent(engine, query)?,
        };
        let limits = &self.limits;
        let deadline = Deadline::from_now(limits);
        let web = |fault| SearchFault::Web { engine: name, fault };
        let mut answer = exchange::ask(&self.dialler, &place, ask, limits, &deadline).await.map_err(web)?;
        let (status, retry) = (answer.status.as_u16(), answer.header(&RETRY_AFTER).map(one_line));
        let kind = answer.header(&CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
        let encoding = answer.header(&CONTENT_ENCODING).unwrap_or_default().to_owned();
        let body = answer.body(&place, limits, &deadline).await.map_err(web)?;
        let bytes = exchange::unpacked(&encoding, body, &place, limits).map_err(web)?;
        if status != 200 {
            return Err(SearchFault::of_status(engine.kind, status, retry, &bytes));
        }
        let not_json = || SearchFault::NotJson { engine: name, html: kind.contains("html") };
        let results = engine.kind.results(&bytes).ok_or_else(not_json)?;
        Ok(results.into_iter().filter(|found| query.wants(found)).take(query.count).collect())
    }
}

impl Query {
    /// Whether a result is of a host that is wanted; engines take such wishes as advice.
    fn wants(&self, found: &Found) -> bool {
        let Ok(place) = Place::parse(&found.url) else { return false };
        let host = place.host();
        let is_of = |domain: &String| {
            let domain = domain.trim().trim_start_matches("*.").trim_matches('.').to_ascii_lowercase();
            host.strip_suffix(domain.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let allowed = self.allowed_domains.is_empty() || self.allowed_domains.iter().any(is_of);
        allowed && !self.blocked_domains.iter().any(is_of)
    }

    /// The words with the hosts that are wanted, as most engines understand it.
    fn words_with_sites(&self) -> String {
        let allowed: Vec<String> =
            self.allowed_domains.iter().map(|domain| format!("site:{}", domain.trim())).collect();
        let blocked = self.blocked_domains.iter().map(|domain| format!(" -site:{}", domain.trim()));
        let allowed = if allowed.is_empty() { String::new() } else { format!(" ({})", allowed.join(" OR ")) };
        let allowed = if self.allowed_domains.len() == 1 { allowed.replace(['(', ')'], "") } else { allowed };
        format!("{}{allowed}{}", self.words, blocked.collect::<String>())
    }
}

/// A text of a result as people read it.
fn text(value: &Value, key: &str) -> String {
    html::plain(value[key].as_str().unwrap_or_default())
}

/// A request without a body.
fn get() -> Ask {
    Ask { method: http::Method::GET, headers: Vec::new(), body: Bytes::new(), reach: Reach::Configured }
}
