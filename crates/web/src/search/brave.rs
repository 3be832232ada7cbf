use http::header::{ACCEPT, HeaderName, HeaderValue};
use serde_json::Value;

use super::{Ask, Engine, Found, Query, SearchFault, Sent, get, text};
use crate::place::with_query;

pub(super) const URL: &str = "https://api.search.brave.com/res/v1/web/search";

/// Results that it gives at most.
const MOST: usize = 20;

pub(super) fn sent(engine: &Engine, query: &Query) -> Result<Sent, SearchFault> {
    let place = engine.place(URL)?;
    let count = query.count.min(MOST).to_string();
    let place = with_query(&place, &[("q", &query.words_with_sites()), ("count", &count)]);
    let key = engine.key()?;
    let mut key = HeaderValue::from_str(key.reveal()).map_err(|_| SearchFault::BadKey { engine: "Brave" })?;
    key.set_sensitive(true);
    let headers = vec![
        (ACCEPT, HeaderValue::from_static("application/json")),
        (HeaderName::from_static("x-subscription-token"), key),
    ];
    Ok(Sent { place, ask: Ask { headers, ..get() } })
}

pub(super) fn results(value: &Value) -> Option<Vec<Found>> {
    // Nothing found is an answer without a part for it.
    let Some(list) = value["web"]["results"].as_array() else {
        return value.get("query").or_else(|| value.get("type")).map(|_| Vec::new());
    };
    let found = list.iter().map(|result| {
        let age = ["age", "page_age"].iter().map(|key| text(result, key)).find(|age| !age.is_empty());
        Found {
            title: text(result, "title"),
            url: result["url"].as_str().unwrap_or_default().to_owned(),
            description: text(result, "description"),
            age,
        }
    });
    Some(found.collect())
}
