use http::header::{ACCEPT, AUTHORIZATION, HeaderValue};

use super::{Ask, Engine, Query, SearchFault, Sent, get};
use crate::place::with_query;

pub(super) fn sent(engine: &Engine, query: &Query) -> Result<Sent, SearchFault> {
    if engine.url.is_none() {
        return Err(SearchFault::NoAddress);
    }
    let base = engine.place("")?;
    let path = base.url().path().trim_end_matches('/');
    // Some write the address of the server, some that of its search.
    let path = if path.ends_with("/search") { path.to_owned() } else { format!("{path}/search") };
    let place =
        base.join(&path).map_err(|why| SearchFault::Address { engine: "SearXNG", why: why.to_string() })?;
    let place = with_query(&place, &[("q", &query.words_with_sites()), ("format", "json")]);
    let mut headers = vec![(ACCEPT, HeaderValue::from_static("application/json"))];
    if let Some(key) = &engine.key {
        let bad = |_| SearchFault::BadKey { engine: "SearXNG" };
        let mut key = HeaderValue::from_str(&format!("Bearer {}", key.reveal())).map_err(bad)?;
        key.set_sensitive(true);
        headers.push((AUTHORIZATION, key));
    }
    Ok(Sent { place, ask: Ask { headers, ..get() } })
}
