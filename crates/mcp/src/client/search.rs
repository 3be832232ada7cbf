//! Tools that are too many to be declared: one tool finds them, another calls them.

use std::sync::Arc;

use rail_permit::{Facet, Level};
use rail_tool::{
    Admitted, AnyTool, BoxFuture, Card, Example, FacetCx, Generation, InputFault, Lane, Shown, Telling,
    ToolCx, ToolFault, ToolOutput,
};
use serde_json::{Value, json};

use super::hub::Servers;
use super::names::cut;
use super::tool::Remote;

/// The names of the two.
pub(crate) const SEARCH: &str = "mcp_search";
pub(crate) const CALL: &str = "mcp_call";

/// Tools that are shown where nobody says how many, and at most.
const USUAL: usize = 5;
const MOST: usize = 20;
/// Characters of what a search shows; tools behind it are named only.
const SHOWN: usize = 16_000;
/// Servers that are named in the description.
const NAMED: usize = 40;

/// Finds tools of servers.
pub(crate) struct Search {
    servers: Arc<Servers>,
    about: String,
}

/// Calls a tool of a server by its name.
pub(crate) struct CallByName;

impl Search {
    pub(crate) fn new(servers: Arc<Servers>) -> Self {
        let states = servers.all.iter().filter(|server| server.spec.off.is_none());
        let each = states.map(|server| {
            let tools = server.lists().tools.len();
            format!("{} ({tools} {})", cut(&server.spec.name, 60), if tools == 1 { "tool" } else { "tools" })
        });
        let mut each: Vec<String> = each.collect();
        let more = each.len().saturating_sub(NAMED);
        each.truncate(NAMED);
        if more > 0 {
            each.push(format!("{more} more servers"));
        }
        let about = format!(
            "Finds tools of the connected MCP servers by words of what they do, and shows their names, descriptions and parameters. \
             Call a tool that was found with `{CALL}`. Servers: {}.",
            each.join(", ")
        );
        Self { servers, about }
    }
}

impl AnyTool for Search {
    fn card(&self) -> Card<'_> {
        Card {
            name: SEARCH,
            title: "Search MCP tools",
            summary: "Finds tools of MCP servers",
            prompt: &self.about,
            generation: Generation::Gen2,
            level: Level::None,
            lane: Lane::Shared,
            shown: Shown::Whole,
        }
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {
            "query": {"type": "string", "description": "Words of what the tool does or is called, such as `create issue`."},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "description": format!("How many tools are shown at most; {USUAL} by default.")},
        }, "required": ["query"]})
    }

    fn examples(&self) -> &'static [Example] {
        &[]
    }

    fn admit(&self, arguments: Value) -> Result<Box<dyn Admitted>, InputFault> {
        let query = arguments.get("query").and_then(Value::as_str);
        let wrong = || InputFault { path: "query".to_owned(), what: "must be a text".to_owned() };
        let limit =
            arguments.get("limit").and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.unwrap_or(USUAL).clamp(1, MOST);
        let query = query.ok_or_else(wrong)?.to_owned();
        Ok(Box::new(Searching { servers: Arc::clone(&self.servers), query, limit }))
    }
}

struct Searching {
    servers: Arc<Servers>,
    query: String,
    limit: usize,
}

impl Admitted for Searching {
    fn facets(&self, _: &FacetCx<'_>) -> Vec<Facet> {
        Vec::new()
    }

    fn run(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolFault>> {
        Box::pin(async move {
            // What is being connected may have what is looked for; how long that takes at most, each server's start limit says.
            tokio::select! {
                () = self.servers.settled() => {}
                () = cx.cancel().cancelled() => {}
            }
            Ok(ToolOutput::told(told(&self.servers.remotes(), &self.query, self.limit)))
        })
    }
}

/// What a search shows.
fn told(tools: &[Arc<Remote>], query: &str, limit: usize) -> Telling {
    let found = ranked(tools, query);
    let all = tools.len();
    if found.is_empty() {
        return Telling::said(format!(
            "None of the {all} tools of MCP servers fits these words. Try other words, such as the name of a server."
        ));
    }
    let shown = found.len().min(limit);
    let head = format!(
        "{} of {all} tools fit, the best {shown} of them first. Call one with ‹tool:{CALL}›.\n",
        found.len()
    );
    let mut text = String::new();
    for tool in found.iter().take(limit) {
        let listed = &tool.listed;
        let whole =
            format!("\n{}\n{}\nparameters: {}\n", tool.name, listed.description.trim(), listed.schema);
        if text.len() + whole.len() > SHOWN {
            text.push_str(&format!("\n{} (too long to be shown here; search for it alone)\n", tool.name));
        } else {
            text.push_str(&whole);
        }
    }
    Telling::said(head).then(Telling::shown(text))
}

/// The tools that fit the words, the best first.
fn ranked(tools: &[Arc<Remote>], query: &str) -> Vec<Arc<Remote>> {
    let wanted = words(query);
    let mut scored: Vec<(u32, &Arc<Remote>)> =
        tools.iter().map(|tool| (score(tool, &wanted), tool)).filter(|(score, _)| *score > 0).collect();
    // Those that fit as well stay in their order.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored.into_iter().map(|(_, tool)| Arc::clone(tool)).collect()
}

fn score(tool: &Remote, wanted: &[String]) -> u32 {
    let listed = &tool.listed;
    let name = words(&format!(
        "{} {} {}",
        tool.server.spec.name,
        listed.name,
        listed.title.as_deref().unwrap_or("")
    ));
    let says = words(&listed.description);
    let parameters = listed.schema.get("properties").and_then(Value::as_object);
    let parameters: Vec<String> =
        parameters.into_iter().flat_map(|all| all.keys()).flat_map(|name| words(name)).collect();
    let has = |all: &[String], word: &str, whole: u32, part: u32| {
        if all.iter().any(|one| one == word) {
            whole
        } else if word.len() > 2 && all.iter().any(|one| one.contains(word)) {
            part
        } else {
            0
        }
    };
    let one = |word: &String| has(&name, word, 12, 6) + has(&says, word, 4, 2) + has(&parameters, word, 3, 1);
    // Who asks for a tool by the name that it was shown means that one.
    let named = wanted.join("_") == words(&tool.name).join("_");
    wanted.iter().map(one).sum::<u32>() + if named { 1_000 } else { 0 }
}

/// The words of a text: `createIssue` and `create_issue` are two.
fn words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars() {
        let ends = !c.is_alphanumeric() || (c.is_uppercase() && was_lower);
        if ends && !word.is_empty() {
            all.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    if !word.is_empty() {
        all.push(word);
    }
    all
}

impl AnyTool for CallByName {
    fn card(&self) -> Card<'_> {
        Card {
            name: CALL,
            title: "Call an MCP tool",
            summary: "Calls a tool of an MCP server by its name",
            prompt: "Calls a tool of an MCP server that `mcp_search` found, by its whole name and with its own arguments.",
            generation: Generation::Gen2,
            level: Level::Execute,
            lane: Lane::Exclusive,
            shown: Shown::Whole,
        }
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {
            "name": {"type": "string", "description": "The tool's whole name, `mcp__server__tool`."},
            "arguments": {"type": "object", "description": "The tool's own arguments."},
        }, "required": ["name"]})
    }

    fn examples(&self) -> &'static [Example] {
        &[]
    }

    fn brings_others(&self) -> bool {
        true
    }

    fn stands_for(&self, arguments: &Value) -> Option<(String, Value)> {
        let name = arguments.get("name")?.as_str()?.to_owned();
        // Some models write the arguments as a text.
        let inner = match arguments.get("arguments") {
            None | Some(Value::Null) => json!({}),
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into()),
            Some(inner) => inner.clone(),
        };
        Some((name, inner))
    }

    fn admit(&self, arguments: Value) -> Result<Box<dyn Admitted>, InputFault> {
        match self.stands_for(&arguments) {
            Some((name, _)) => Ok(Box::new(Nobody { name })),
            None => Err(InputFault { path: "name".to_owned(), what: "must be a text".to_owned() }),
        }
    }
}

/// A call of a tool that there is not: all others are run as calls of their tools.
struct Nobody {
    name: String,
}

impl Admitted for Nobody {
    fn facets(&self, _: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Foreign]
    }

    fn run(self: Box<Self>, _: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolFault>> {
        let say = format!("no MCP server has a tool `{}`; find its name with ‹tool:{SEARCH}›", self.name);
        Box::pin(std::future::ready(Err(ToolFault::new(say))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_spelling() {
        assert_eq!(
            words("createIssue get_file-info X1 Über"),
            ["create", "issue", "get", "file", "info", "x1", "über"]
        );
    }

    #[test]
    fn a_call_by_name_is_a_call_of_that_tool() {
        let check = |arguments: Value, expected| assert_eq!(CallByName.stands_for(&arguments), expected);
        let args = json!({"a": 1});
        check(
            json!({"name": "mcp__a__b", "arguments": {"a": 1}}),
            Some(("mcp__a__b".to_owned(), args.clone())),
        );
        check(json!({"name": "mcp__a__b", "arguments": "{\"a\": 1}"}), Some(("mcp__a__b".to_owned(), args)));
        check(json!({"name": "mcp__a__b"}), Some(("mcp__a__b".to_owned(), json!({}))));
        check(json!({"arguments": {}}), None);
    }
}
