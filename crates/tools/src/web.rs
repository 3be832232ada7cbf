//! The web as a session's tools use it.

use std::future::Future;
use std::sync::{Arc, OnceLock};

use rail_config::settings::{self, SearchEngine};
use rail_stdx::{Proxies, Secret};
use rail_tool::{Session, ToolCx, ToolFault};
use rail_web::{Allowed, Engine, EngineKind, Fetcher, Limits, WebSetup};

/// The session's fetcher, with the pages that it keeps.
#[derive(Default)]
struct Kept(OnceLock<Arc<Fetcher>>);

/// The session's fetcher, made when first asked for.
pub(crate) fn fetcher(session: &Session) -> Result<Arc<Fetcher>, ToolFault> {
    let kept = session.services.get::<Kept>();
    if let Some(fetcher) = kept.0.get() {
        return Ok(Arc::clone(fetcher));
    }
    let setup = setup(&session.web, |name| variable(session, name)).map_err(ToolFault::new)?;
    Ok(Arc::clone(kept.0.get_or_init(|| Arc::new(Fetcher::new(setup)))))
}

/// The session's engine, if there is one that can be asked.
pub(crate) fn engine(session: &Session) -> Option<Engine> {
    engine_of(&session.web, |name| variable(session, name))
}

/// Whether the web can be searched with these settings and variables. Where it can't, `web_search` need not be declared.
pub fn has_engine(web: &settings::Web, variable: impl Fn(&str) -> Option<String>) -> bool {
    engine_of(web, variable).is_some()
}

/// Does work that ends when nobody wants its result any more.
pub(crate) async fn cancellable<T>(cx: &ToolCx, work: impl Future<Output = T>) -> Result<T, ToolFault> {
    tokio::select! {
        biased;
        () = cx.cancel().cancelled() => Err(ToolFault::new("the call was cancelled before the web answered")),
        done = work => Ok(done),
    }
}

fn variable(session: &Session, name: &str) -> Option<String> {
    let found = session.env.iter().rev().find(|(known, _)| known == name);
    found.and_then(|(_, value)| value.to_str()).map(str::to_owned)
}

fn setup(web: &settings::Web, variable: impl Fn(&str) -> Option<String>) -> Result<WebSetup, String> {
    let allowed = Allowed::parse(web.allow_private.iter().map(|place| &place.0)).map_err(|wrong| {
        format!("web.allow_private: {wrong}; the user should correct it in the configuration")
    })?;
    let proxies = match web.proxy.as_deref() {
        Some("direct") => Proxies::default(),
        Some(proxy) => Proxies::only(Secret::new(proxy.to_owned())),
        None => Proxies::from_variables(variable),
    };
    let bytes = |size: settings::Size| usize::try_from(size.0).unwrap_or(usize::MAX);
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let limits = Limits {
        total: web.timeout.0,
        connect: web.connect_timeout.0,
        header: web.header_timeout.0,
        idle: web.idle_timeout.0,
        body_bytes: bytes(web.max_body),
        unpacked_bytes: bytes(web.max_unpacked),
        unpacked_ratio: count(web.max_unpacked_ratio),
        chars: count(web.max_chars),
        redirects: count(web.max_redirects),
        kept: web.cache.0,
        kept_bytes: bytes(web.cache_size),
    };
    Ok(WebSetup { limits, allowed, proxies, ca: None })
}

fn engine_of(web: &settings::Web, variable: impl Fn(&str) -> Option<String>) -> Option<Engine> {
    let settings::WebSearch { engine, key, url } = &web.search;
    let variable = |kind: EngineKind| variable(kind.variable()).filter(|value| !value.trim().is_empty());
    let key = |kind| key.as_ref().map(|key| key.0.clone()).or_else(|| variable(kind).map(Secret::new));
    let url = url.as_ref().map(|url| url.0.clone());
    let keyed = |kind| Some(Engine { kind, key: Some(key(kind)?), url: url.clone() });
    let searxng = || {
        let url = url.clone().or_else(|| variable(EngineKind::Searxng))?;
        let key = web.search.key.as_ref().map(|key| key.0.clone());
        Some(Engine { kind: EngineKind::Searxng, key, url: Some(url) })
    };
    match engine {
        SearchEngine::Off => None,
        SearchEngine::Brave => keyed(EngineKind::Brave),
        SearchEngine::Tavily => keyed(EngineKind::Tavily),
        SearchEngine::Searxng => searxng(),
        // A key of the configuration is for an engine that it names; without one Brave is meant.
        SearchEngine::Auto => {
            searxng().or_else(|| keyed(EngineKind::Brave)).or_else(|| keyed(EngineKind::Tavily))
        }
    }
}

#[cfg(test)]
mod tests {
    use rail_config::settings::{Address, SecretText};

    use super::*;

    #[test]
    fn which_engine_is_asked() {
        let check = |engine, key: Option<&str>, url: Option<&str>, env: &[(&str, &str)], expected: &str| {
            let mut web = settings::Web::default();
            web.search.engine = engine;
            web.search.key = key.map(|key| SecretText(Secret::new(key.to_owned())));
            web.search.url = url.map(|url| Address(url.to_owned()));
            let variable = |name: &str| {
                env.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let found = engine_of(&web, variable).map(|engine| {
                let key = engine.key.as_ref().map(|key| key.reveal().to_owned());
                format!("{:?} {key:?} {:?}", engine.kind, engine.url)
            });
            assert_eq!(found.as_deref().unwrap_or("none"), expected, "{engine:?} {key:?} {url:?} {env:?}");
        };
        use SearchEngine::{Auto, Brave, Off, Searxng, Tavily};
        let both: &[(&str, &str)] = &[("TAVILY_API_KEY", "t"), ("BRAVE_API_KEY", "b")];
        check(Auto, None, None, &[], "none");
        check(Auto, None, None, &[("BRAVE_API_KEY", " ")], "none");
        check(Auto, None, None, both, "Brave Some(\"b\") None");
        check(Auto, None, None, &both[..1], "Tavily Some(\"t\") None");
        check(Auto, Some("k"), None, both, "Brave Some(\"k\") None");
        check(Auto, None, Some("http://s"), both, "Searxng None Some(\"http://s\")");
        check(Auto, None, None, &[("SEARXNG_URL", "http://e")], "Searxng None Some(\"http://e\")");
        check(Tavily, None, None, both, "Tavily Some(\"t\") None");
        check(Brave, None, Some("https://b.example"), both, "Brave Some(\"b\") Some(\"https://b.example\")");
        check(Searxng, None, None, both, "none");
        check(Off, Some("k"), Some("http://s"), both, "none");
    }
}
