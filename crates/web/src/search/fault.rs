use serde_json::Value;

use super::EngineKind;
use crate::WebFault;
use crate::fetch::one_line;

/// Why a search gave nothing. No message holds a key.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SearchFault {
    /// There is no key.
    #[error(
        "{engine} needs a key; the user can set `{variable}`, or write `key` under [web.search] in the configuration"
    )]
    NoKey {
        /// The engine.
        engine: &'static str,
        /// The variable that holds it.
        variable: &'static str,
    },
    /// The key can't be sent.
    #[error("the key for {engine} holds characters that can't be sent; the user should write it again")]
    BadKey {
        /// The engine.
        engine: &'static str,
    },
    /// SearXNG has no usual address.
    #[error("SearXNG has no address; the user can write `url` under [web.search] in the configuration")]
    NoAddress,
    /// The address can't be used.
    #[error(
        "the address of {engine} can't be used: {why}; it stands in `url` under [web.search] in the configuration"
    )]
    Address {
        /// The engine.
        engine: &'static str,
        /// What is wrong.
        why: String,
    },
    /// It could not be asked.
    #[error("{engine} could not be asked: {fault}")]
    Web {
        /// The engine.
        engine: &'static str,
        /// Why.
        fault: WebFault,
    },
    /// It refused.
    #[error("{engine} answered {status}{}; {way}", said.as_ref().map(|said| format!(" ({said})")).unwrap_or_default())]
    Status {
        /// The engine.
        engine: &'static str,
        /// The status.
        status: u16,
        /// What it said.
        said: Option<String>,
        /// What to do.
        way: String,
    },
    /// It answered with something else than results.
    #[error("{engine} answered with {} instead of results; the user should check `url` under [web.search]{}", if *html { "a web page" } else { "something" }, if *engine == "SearXNG" { ", and that `json` is among `search.formats` in its settings.yml" } else { "" })]
    NotJson {
        /// The engine.
        engine: &'static str,
        /// Whether it was a page.
        html: bool,
    },
}

impl SearchFault {
    pub(super) fn of_status(kind: EngineKind, status: u16, retry: Option<String>, body: &[u8]) -> Self {
        let key =
            format!("the user should check the key (`{}`, or `key` under [web.search])", kind.variable());
        let way = match (status, kind, retry) {
            (401 | 403, EngineKind::Searxng, _) => {
                "the user should see that `json` is among `search.formats` in its settings.yml, and whether it wants a key".to_owned()
            }
            (401 | 403, EngineKind::Brave | EngineKind::Tavily, _) => key,
            // Brave answers a wrong key with it.
            (422, EngineKind::Brave, _) => format!("{key}, or ask with fewer words"),
            (402 | 432 | 433, _, _) => "its plan is used up; the user can raise it, or choose another engine".to_owned(),
            (429 | 503, _, Some(after)) => format!("it asks to try again after `{after}` (seconds, or a date)"),
            (429, _, None) => "too many searches; wait a little, then try again".to_owned(),
            (300..=399, _, _) => "it sends on to another address, which is not followed with a key; the user should write that address into `url` under [web.search]".to_owned(),
            (500..=599, _, _) => "try again later, or go on without a search".to_owned(),
            _ => "ask in other words, or go on without a search".to_owned(),
        };
        Self::Status { engine: kind.name(), status, said: said(body), way }
    }
}

/// What an engine says of its refusal, in one line.
fn said(body: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let places = ["/error/detail", "/detail/error", "/error/message", "/detail", "/message", "/error"];
    let text = places.iter().find_map(|place| value.pointer(place)?.as_str())?;
    let line: String = one_line(text).chars().take(200).collect();
    Some(line).filter(|line| !line.trim().is_empty())
}
