//! What a dashboard needs, as JSON: `/api/*`, `/metrics`, and the page at `/`.
//!
//! Reading changes nothing. What changes something is a POST of JSON, which no page of another site can send.

mod answer;
mod config;
mod events;
mod explain;
mod health;
mod home;
mod keys;
mod query;
mod requests;
mod routes;
mod sessions;
mod status;
mod usage;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use rail_ledger::Key;

use crate::Gateway;
use crate::body::Body;
use answer::Wrong;

pub(crate) use query::decoded;

/// The gateway's own pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Page<'a> {
    Home,
    Metrics,
    Status,
    Models,
    Requests,
    Request(&'a str),
    Health,
    Routes,
    Explain,
    Usage,
    Series,
    Keys,
    Config,
    Sessions,
    Events,
    /// Below `/api`, but nothing.
    Nothing,
}

/// Among a request's extensions it says that the program sent it which the gateway was started for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guest;

/// Who may see a page on a gateway that has keys or a guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Seen {
    /// Whoever was let in.
    ByAll,
    /// Who has an admin's key; on a gateway without keys everybody but a guest.
    ByAdmins,
}

/// Answers a request for one of the gateway's own pages; none when there is no such page.
///
/// The door has let the request in. If it came with a key, that is among its extensions; if a guest sent it, [`Guest`] is.
pub(crate) async fn page(gateway: &Gateway, request: &Request<Bytes>) -> Option<Response<Body>> {
    let page = Page::at(request.uri().path())?;
    let answered = answer(gateway, page, request).await;
    Some(answered.unwrap_or_else(|wrong| answer::wrong(gateway, &wrong)))
}

async fn answer(
    gateway: &Gateway,
    page: Page<'_>,
    request: &Request<Bytes>,
) -> Result<Response<Body>, Wrong> {
    check_method(page, request)?;
    let whose = request.extensions();
    let is_admin = whose.get::<Guest>().is_none() && whose.get::<Key>().is_none_or(|key| key.admin);
    if page.seen() == Seen::ByAdmins && !is_admin {
        let message = "this page is for keys that were made with `rail key create NAME --admin`";
        return Err(Wrong::new(StatusCode::FORBIDDEN, message));
    }
    let query = request.uri().query().unwrap_or_default();
    let query = query::Query::read(query, page.parameters())?;
    match page {
        Page::Home => home::home(gateway, request).await,
        Page::Metrics => Ok(health::metrics(gateway)),
        Page::Status => status::status(gateway).await,
        Page::Models => Ok(routes::models(gateway)),
        Page::Requests => requests::list(gateway, &query).await,
        Page::Request(id) => requests::one(gateway, id).await,
        Page::Health => Ok(health::health(gateway)),
        Page::Routes => Ok(routes::routes(gateway)),
        Page::Explain => explain::explain(gateway, &query, request.body()),
        Page::Usage => usage::usage(gateway, &query).await,
        Page::Series => usage::series(gateway, &query).await,
        Page::Keys => keys::keys(gateway).await,
        Page::Config => config::config(gateway, &query),
        Page::Sessions => Ok(sessions::sessions(gateway, &query)?),
        Page::Events => events::events(gateway, request),
        Page::Nothing => {
            let message =
                format!("there is no page `{}`; docs/gateway-api.md lists them", request.uri().path());
            Err(Wrong::new(StatusCode::NOT_FOUND, message))
        }
    }
}

fn check_method(page: Page<'_>, request: &Request<Bytes>) -> Result<(), Wrong> {
    let method = request.method();
    let allow = if page == Page::Explain { "POST" } else { "GET, HEAD" };
    if !allow.split(", ").any(|allowed| method == allowed) {
        let message = format!("`{}` takes {allow}, not {method}", request.uri().path());
        return Err(Wrong { allow: Some(allow), ..Wrong::new(StatusCode::METHOD_NOT_ALLOWED, message) });
    }
    // A page of another site can send forms and text, but not JSON without being asked first, and nobody answers that.
    let kind =
        request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if method == Method::POST && !kind.eq_ignore_ascii_case("application/json") {
        let message = "send it with `content-type: application/json`";
        return Err(Wrong::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    Ok(())
}

impl<'a> Page<'a> {
    fn at(path: &'a str) -> Option<Self> {
        Some(match path {
            "/" => Self::Home,
            "/metrics" => Self::Metrics,
            "/api/status" => Self::Status,
            "/api/models" => Self::Models,
            "/api/requests" => Self::Requests,
            "/api/health" => Self::Health,
            "/api/routes" => Self::Routes,
            "/api/explain" => Self::Explain,
            "/api/usage" => Self::Usage,
            "/api/usage/series" => Self::Series,
            "/api/keys" => Self::Keys,
            "/api/config" => Self::Config,
            "/api/sessions" => Self::Sessions,
            "/api/events" => Self::Events,
            path => match path.strip_prefix("/api/requests/") {
                Some(id) if !id.is_empty() => Self::Request(id),
                Some(_) => Self::Nothing,
                None if path == "/api" || path.starts_with("/api/") => Self::Nothing,
                None => return None,
            },
        })
    }

    fn seen(self) -> Seen {
        match self {
            Self::Home | Self::Metrics | Self::Status | Self::Nothing => Seen::ByAll,
            Self::Models
            | Self::Requests
            | Self::Request(_)
            | Self::Health
            | Self::Routes
            | Self::Explain
            | Self::Usage
            | Self::Series
            | Self::Keys
            | Self::Config
            | Self::Sessions
            | Self::Events => Seen::ByAdmins,
        }
    }

    /// The parameters that its query may have.
    fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::Requests => &["limit", "before"],
            Self::Explain => &["protocol", "path", "model", "client"],
            Self::Usage => &["since", "until", "by"],
            Self::Series => &["since", "until", "step"],
            Self::Config => &["all"],
            Self::Sessions => &["limit"],
            Self::Home
            | Self::Metrics
            | Self::Status
            | Self::Models
            | Self::Request(_)
            | Self::Health
            | Self::Routes
            | Self::Keys
            | Self::Events
            | Self::Nothing => &[],
        }
    }
}

#[cfg(test)]
mod documented;
#[cfg(test)]
mod tests;
