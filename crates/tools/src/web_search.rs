use std::fmt::Write;

use rail_tool::{
    Card, Display, Example, Facet, FacetCx, Generation, Lane, Level, Shown, Telling, Tool, ToolCx, ToolFault,
    ToolOutput,
};
use rail_web::{Found, Query};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::web::{cancellable, engine, fetcher};
use crate::words;

/// Results when the call does not say.
const USUAL: u32 = 5;
/// Results at most.
const MOST: u32 = 20;
/// Characters of a description.
const DESCRIPTION: usize = 1_000;

/// Searches the web.
pub(crate) struct WebSearch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What to look for.
    query: String,
    /// How many results: 5 by default, 20 at most.
    #[schemars(range(min = 1))]
    count: Option<u32>,
    /// Only results of these hosts.
    allowed_domains: Option<Vec<String>>,
    /// No results of these hosts.
    blocked_domains: Option<Vec<String>>,
}

impl Tool for WebSearch {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "web_search",
        title: "Web search",
        summary: "Searches the web",
        prompt: include_str!("prompts/web_search.md"),
        generation: Generation::Gen4,
        level: Level::Network,
        lane: Lane::Shared,
        shown: Shown::Whole,
    };

    /// The engine is the user's own choice, so it is the tool that is asked about and no host.
    fn facets(_: &Input, _: &FacetCx<'_>) -> Vec<Facet> {
        Vec::new()
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let words = input.query.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            return Err(ToolFault::new("‹query› is empty; say what to look for"));
        }
        let engine = engine(cx.session()).ok_or_else(|| ToolFault::new(UNCONFIGURED))?;
        let count = input.count.unwrap_or(USUAL).clamp(1, MOST);
        let query = Query {
            words,
            count: usize::try_from(count).unwrap_or(usize::MAX),
            allowed_domains: input.allowed_domains.unwrap_or_default(),
            blocked_domains: input.blocked_domains.unwrap_or_default(),
        };
        cx.progress().say(&format!("asking {}", engine.kind.name()));
        let fetcher = fetcher(cx.session())?;
        let found = cancellable(&cx, fetcher.search(&engine, &query)).await?;
        let found = found.map_err(|fault| ToolFault::new(Telling::shown(fault.to_string())))?;
        let count = words::count(found.len() as u64, "result");
        let text = listed(&query.words, &found);
        Ok(ToolOutput::told(text).shown(Display::Summary(count)))
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

const UNCONFIGURED: &str = "there is no engine to search the web with; the user can set `BRAVE_API_KEY` or `TAVILY_API_KEY`, or write `url = \"https://SERVER\"` of a SearXNG under [web.search] in the configuration. If you know the page's address, use ‹web_fetch›";

fn listed(words: &str, found: &[Found]) -> Telling {
    let head = format!("Search results for: \"{words}\"\n");
    if found.is_empty() {
        let told = Telling::shown(head);
        return told.then(Telling::said("\nNothing was found; use fewer or other words."));
    }
    let mut text = head;
    for (at, Found { title, url, description, age }) in found.iter().enumerate() {
        let age = age.as_ref().map(|age| format!(" ({age})")).unwrap_or_default();
        let title = if title.is_empty() { "(no title)" } else { title };
        let url: String = url.chars().filter(|c| !c.is_control() && !c.is_whitespace()).collect();
        // Writing to a string can't fail.
        let _ = write!(text, "\n{}. {title}{age}\n   {url}\n", at + 1);
        let description: String = description.chars().take(DESCRIPTION).collect();
        if !description.is_empty() {
            let _ = writeln!(text, "   {description}");
        }
    }
    Telling::shown(text.trim_end().to_owned())
}

const EXAMPLES: &[Example] = &[Example {
    about: "Without an engine",
    files: &[],
    read: &[],
    input: r#"{"query": "rust edition 2024"}"#,
    output: "there is no engine to search the web with; the user can set `BRAVE_API_KEY` or `TAVILY_API_KEY`, or write `url = \"https://SERVER\"` of a SearXNG under [web.search] in the configuration. If you know the page's address, use `web_fetch`",
    after: &[],
}];
