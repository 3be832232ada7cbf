use http::Method;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use serde_json::{Value, json};

use super::{Ask, Engine, Found, Query, SearchFault, Sent, get, text};

pub(super) const URL: &str = "https://api.tavily.com/search";

pub(super) fn sent(engine: &Engine, query: &Query) -> Result<Sent, SearchFault> {
    let place = engine.place(URL)?;
    let key = format!("Bearer {}", engine.key()?.reveal());
    let mut key = HeaderValue::from_str(&key).map_err(|_| SearchFault::BadKey { engine: "Tavily" })?;
    key.set_sensitive(true);
    let mut body = json!({"query": query.words, "max_results": query.count, "search_depth": "basic"});
    if !query.allowed_domains.is_empty() {
        body["include_domains"] = json!(query.allowed_domains);
    }
    if !query.blocked_domains.is_empty() {
        body["exclude_domains"] = json!(query.blocked_domains);
    }
    let headers = vec![(AUTHORIZATION, key), (CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    let ask = Ask { method: Method::POST, headers, body: body.to_string().into(), ..get() };
    Ok(Sent { place, ask })
}

/// Tavily and SearXNG call their parts the same.
pub(super) fn results(value: &Value) -> Option<Vec<Found>> {
    let found = value["results"].as_array()?.iter().map(|result| {
        let date = ["published_date", "publishedDate"].iter().map(|key| text(result, key));
        Found {
            title: text(result, "title"),
            url: result["url"].as_str().unwrap_or_default().to_owned(),
            description: text(result, "content"),
            age: date.into_iter().find(|date| !date.is_empty()),
        }
    });
    Some(found.collect())
}
