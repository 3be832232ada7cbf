use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Address, PrivatePlace, SecretText, Size, Wait};

/// How pages of the web are fetched and searched for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Web {
    /// Places that are not on the public internet and may be fetched all the same: `127.0.0.1:8080`, `10.0.0.0/8`, `[::1]:3000`, `intranet.example`, `*.intranet.example`; each but a network may have a port. A name counts wherever it leads, an address whatever name led to it.
    pub allow_private: Vec<PrivatePlace>,
    /// How long a page may take, redirects included.
    pub timeout: Wait,
    /// How long a connection may take: the name, the socket, the proxy and TLS together.
    pub connect_timeout: Wait,
    /// How long the head of an answer may take after that.
    pub header_timeout: Wait,
    /// How long the next piece of a page may take.
    pub idle_timeout: Wait,
    /// How much of a page is read; of a longer one that is its beginning, and the result says so.
    pub max_body: Size,
    /// How large a page may be without its compression.
    pub max_unpacked: Size,
    /// How many times the size that was sent a page may have without its compression, beyond the first megabyte.
    #[schemars(range(min = 1))]
    pub max_unpacked_ratio: u32,
    /// How many characters of a page's text are kept; the whole result is cut besides, as `tools.output_chars` says.
    #[schemars(range(min = 1))]
    pub max_chars: u32,
    /// How many characters of a page's text a small model is given to answer from.
    #[schemars(range(min = 1))]
    pub model_chars: u32,
    /// A page of no more characters is given as it is, also where a question is asked about it.
    pub short_chars: u32,
    /// How many redirects to the same host are followed.
    pub max_redirects: u32,
    /// How long a page is kept, so that it is not fetched again.
    pub cache: Wait,
    /// How much of all pages is kept.
    pub cache_size: Size,
    /// The proxy to go through: `http://host:port`, or `direct` for none. When not said, the environment's (`HTTPS_PROXY`, `NO_PROXY`, …) is used. Behind a proxy only the proxy knows where a name leads, so names are judged by their spelling alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "proxy"))]
    pub proxy: Option<String>,
    /// The engine that searches the web.
    pub search: WebSearch,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            allow_private: Vec::new(),
            timeout: Wait(Duration::from_secs(60)),
            connect_timeout: Wait(Duration::from_secs(10)),
            header_timeout: Wait(Duration::from_secs(30)),
            idle_timeout: Wait(Duration::from_secs(15)),
            max_body: Size(10_000_000),
            max_unpacked: Size(50_000_000),
            max_unpacked_ratio: 200,
            max_chars: 500_000,
            model_chars: 100_000,
            short_chars: 6_000,
            max_redirects: 5,
            cache: Wait(Duration::from_secs(900)),
            cache_size: Size(20_000_000),
            proxy: None,
            search: WebSearch::default(),
        }
    }
}

/// The engine that searches the web. Without one the tool `web_search` is not declared.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebSearch {
    /// Which engine.
    pub engine: SearchEngine,
    /// Its key. When not said, `BRAVE_API_KEY` or `TAVILY_API_KEY` of the environment; SearXNG needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<SecretText>,
    /// Its address: for SearXNG that of your server (else `SEARXNG_URL` of the environment), for the others one in place of the usual. It may be a private one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Address>,
}

/// Which engine searches the web.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SearchEngine {
    /// The first that can be asked: SearXNG where there is a `url` or `SEARXNG_URL`, Brave by `BRAVE_API_KEY`, Tavily by `TAVILY_API_KEY`.
    #[default]
    Auto,
    /// Brave Search.
    Brave,
    /// Tavily.
    Tavily,
    /// A server of SearXNG.
    Searxng,
    /// None.
    Off,
}
