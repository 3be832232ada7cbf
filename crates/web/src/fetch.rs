use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue, LOCATION, RETRY_AFTER,
};
use http::{Method, StatusCode};
use rail_stdx::Proxies;
use tokio::time::Instant;

use crate::cache::Cache;
use crate::connect::{Dialler, Reach};
use crate::exchange::{self, Answer, Ask, Body, Deadline};
use crate::page::{Raw, is_no_text};
use crate::tls::Tls;
use crate::unpack::Extent;
use crate::{Allowed, Limits, Page, Place, Resolve, System, WebFault};

/// What is asked for: pages as text before anything else.
const WANTED: &str =
    "text/markdown, text/html, application/xhtml+xml, application/json;q=0.9, text/*;q=0.9, */*;q=0.5";

/// What a fetcher must be told.
#[derive(Clone, Debug, Default)]
pub struct WebSetup {
    /// How much a page may take.
    pub limits: Limits,
    /// Places that are not on the public internet and may be spoken with.
    pub allowed: Allowed,
    /// The proxies to go through.
    pub proxies: Proxies,
    /// A PEM file with authorities to trust besides the system's.
    pub ca: Option<PathBuf>,
}

/// Fetches pages, behind all guards, and keeps them for a while.
pub struct Fetcher {
    pub(crate) dialler: Dialler,
    pub(crate) limits: Limits,
    cache: Cache,
}

/// What came of an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fetched {
    /// Its page.
    Page(Arc<Page>),
    /// It sends on to another host, which nobody was asked about.
    Elsewhere {
        /// Where it was sent on from.
        from: String,
        /// Where to.
        to: String,
    },
}

/// What came of an address and its redirects.
pub(crate) enum Followed {
    /// The head of an answer, and where it is from.
    Answer(Place, Box<Answer>),
    /// It sends on to another host.
    Elsewhere {
        /// Where it was sent on from.
        from: String,
        /// Where to.
        to: String,
    },
}

impl Fetcher {
    /// A fetcher that asks the system for the addresses of names.
    pub fn new(setup: WebSetup) -> Self {
        Self::resolving(setup, Arc::new(System))
    }

    /// The same with somebody else who knows the addresses of names.
    pub fn resolving(setup: WebSetup, resolver: Arc<dyn Resolve>) -> Self {
        let WebSetup { limits, allowed, proxies, ca } = setup;
        let dialler = Dialler { resolver, allowed, proxies, tls: Tls::new(ca) };
        Self { dialler, limits, cache: Cache::default() }
    }

    /// The page of an address, or where it sends on to.
    ///
    /// A redirect is followed to the same host only: another host is another question of permission. `www.` before a name is
    /// another host. What is asked for is as secure as the address says: plain ones stay plain, and a secure one is never followed to
    /// a plain one. Dropping the future ends the request.
    ///
    /// # Errors
    /// Why there is no page.
    pub async fn fetch(&self, place: &Place) -> Result<Fetched, WebFault> {
        if let Some(page) = self.cache.get(place.as_str(), Instant::now(), self.limits.kept) {
            return Ok(Fetched::Page(page));
        }
        let deadline = Deadline::from_now(&self.limits);
        match self.follow(place, WANTED, &deadline).await? {
            Followed::Elsewhere { from, to } => Ok(Fetched::Elsewhere { from, to }),
            Followed::Answer(at, answer) => {
                let page = Arc::new(self.page(&at, *answer, &deadline).await?);
                self.cache.keep(place.as_str(), &page, Instant::now(), self.limits.kept_bytes);
                Ok(Fetched::Page(page))
            }
        }
    }

    /// The answer of an address, after all redirects that are followed.
    pub(crate) async fn follow(
        &self,
        place: &Place,
        wanted: &'static str,
        deadline: &Deadline,
    ) -> Result<Followed, WebFault> {
        let mut at = place.clone();
        let mut seen = vec![at.as_str().to_owned()];
        loop {
            let answer = self.ask(&at, wanted, deadline).await?;
            let Some(next) = onward(&at, &answer)? else {
                return Ok(Followed::Answer(at, Box::new(answer)));
            };
            if next.host() != at.host() {
                return Ok(Followed::Elsewhere {
                    from: at.as_str().to_owned(),
                    to: next.as_str().to_owned(),
                });
            }
            if at.is_secure() && !next.is_secure() {
                let why = "it would leave the secure connection; ask for it by itself if you need it";
                return Err(redirect(&at, next.as_str(), why));
            }
            let is_known = seen.iter().any(|known| known == next.as_str());
            if is_known || seen.len() > self.limits.redirects {
                return Err(WebFault::Circle {
                    url: place.as_str().to_owned(),
                    limit: self.limits.redirects,
                });
            }
            seen.push(next.as_str().to_owned());
            at = next;
        }
    }

    async fn ask(
        &self,
        place: &Place,
        wanted: &'static str,
        deadline: &Deadline,
    ) -> Result<Answer, WebFault> {
        let headers = vec![(ACCEPT, HeaderValue::from_static(wanted))];
        let ask = Ask { method: Method::GET, headers, body: Bytes::new(), reach: Reach::Guarded };
        exchange::ask(&self.dialler, place, ask, &self.limits, deadline).await
    }

    async fn page(&self, place: &Place, mut answer: Answer, deadline: &Deadline) -> Result<Page, WebFault> {
        good(place, &answer)?;
        let content_type = one_line(answer.header(&CONTENT_TYPE).unwrap_or_default());
        let encoding = answer.header(&CONTENT_ENCODING).unwrap_or_default().to_owned();
        let length = answer.header(&CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
        if is_no_text(&content_type)
            && let Some(length) = length
        {
            let raw = Raw { bytes: &[], sent: length, cut: false, content_type: &content_type };
            return Ok(Page::read(place, &raw, self.limits.chars));
        }
        let body = answer.body(place, &self.limits, deadline).await?;
        // The connection is of no use any more.
        drop(answer);
        let (place, limits) = (place.clone(), self.limits);
        let read = tokio::task::spawn_blocking(move || read(&place, &limits, &content_type, &encoding, body));
        read.await.unwrap_or_else(|error| Err(WebFault::Misconfigured(error.to_string())))
    }
}

/// Whether an answer is one.
pub(crate) fn good(place: &Place, answer: &Answer) -> Result<(), WebFault> {
    if answer.status.is_success() {
        return Ok(());
    }
    Err(WebFault::Status {
        url: place.as_str().to_owned(),
        status: answer.status.as_u16(),
        retry_after: answer.header(&RETRY_AFTER).map(one_line),
    })
}

/// Long pages take a while, so it is done on a thread of its own.
fn read(
    place: &Place,
    limits: &Limits,
    content_type: &str,
    encoding: &str,
    body: Body,
) -> Result<Page, WebFault> {
    let (sent, cut) = (body.bytes.len(), body.extent == Extent::Cut);
    let bytes = exchange::unpacked(encoding, body, place, limits)?;
    let raw = Raw { bytes: &bytes, sent, cut, content_type };
    Ok(Page::read(place, &raw, limits.chars))
}

/// Where an answer sends on to, if it does.
fn onward(at: &Place, answer: &Answer) -> Result<Option<Place>, WebFault> {
    match answer.status {
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => {}
        _ => return Ok(None),
    }
    let to = answer.headers.get(LOCATION).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let Some(to) = to else { return Err(redirect(at, "", "it does not say where to")) };
    let to = one_line(&to);
    at.join(&to).map(Some).map_err(|why| redirect(at, &to, &why.to_string()))
}

fn redirect(at: &Place, to: &str, why: &str) -> WebFault {
    WebFault::Redirect { url: at.as_str().to_owned(), to: to.to_owned(), why: why.to_owned() }
}

/// What a server says, in one short line.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(500).collect()
}
