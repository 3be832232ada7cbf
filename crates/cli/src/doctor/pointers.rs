//! Settings of clients by which they go elsewhere than to our gateway when they are started by themselves.

use std::path::{Path, PathBuf};

use rail_config::import::read_json;
use rail_config::{plain, shown_address};
use serde_json::Value;

use super::Cx;

/// Where a client may be told to go.
struct Pointer {
    client: &'static str,
    place: Place,
    /// What is written there.
    what: What,
}

enum Place {
    /// A variable.
    Variable(&'static str),
    /// A key in a file; `*` is any key. A path that begins with `~/` is in the home, another in the working folder.
    File(&'static str, &'static [&'static str]),
}

/// What a setting is.
#[derive(Clone, Copy)]
enum What {
    /// An address.
    Address,
    /// A switch: that it is set says it all.
    Switch,
    /// A name; these lead nowhere else.
    Name(&'static [&'static str]),
}

const fn variable(client: &'static str, name: &'static str, what: What) -> Pointer {
    Pointer { client, place: Place::Variable(name), what }
}

const fn file(client: &'static str, path: &'static str, key: &'static [&'static str], what: What) -> Pointer {
    Pointer { client, place: Place::File(path, key), what }
}

const POINTERS: &[Pointer] = &[
    variable("claude", "ANTHROPIC_BASE_URL", What::Address),
    variable("claude", "CLAUDE_CODE_USE_BEDROCK", What::Switch),
    variable("claude", "CLAUDE_CODE_USE_FOUNDRY", What::Switch),
    variable("claude", "CLAUDE_CODE_USE_VERTEX", What::Switch),
    file("claude", "~/.claude/settings.json", &["env", "ANTHROPIC_BASE_URL"], What::Address),
    file("claude", "~/.claude/settings.json", &["env", "CLAUDE_CODE_USE_BEDROCK"], What::Switch),
    file("claude", "~/.claude/settings.json", &["env", "CLAUDE_CODE_USE_FOUNDRY"], What::Switch),
    file("claude", "~/.claude/settings.json", &["env", "CLAUDE_CODE_USE_VERTEX"], What::Switch),
    file("claude", ".claude/settings.json", &["env", "ANTHROPIC_BASE_URL"], What::Address),
    file("claude", ".claude/settings.local.json", &["env", "ANTHROPIC_BASE_URL"], What::Address),
    variable("codex", "OPENAI_BASE_URL", What::Address),
    file("codex", "~/.codex/config.toml", &["model_provider"], What::Name(&["openai", "switchrail"])),
    variable("gemini", "GOOGLE_GEMINI_BASE_URL", What::Address),
    variable("gemini", "GOOGLE_GENAI_USE_VERTEXAI", What::Switch),
    variable("gemini", "GOOGLE_GENAI_USE_GCA", What::Switch),
    file(
        "gemini",
        "~/.gemini/settings.json",
        &["security", "auth", "selectedType"],
        What::Name(&["gemini-api-key"]),
    ),
    variable("qwen", "OPENAI_BASE_URL", What::Address),
    file("qwen", "~/.qwen/settings.json", &["security", "auth", "baseUrl"], What::Address),
    file("qwen", "~/.qwen/settings.json", &["security", "auth", "selectedType"], What::Name(&["openai"])),
    file(
        "opencode",
        "~/.config/opencode/opencode.json",
        &["provider", "*", "options", "baseURL"],
        What::Address,
    ),
    file("opencode", "opencode.json", &["provider", "*", "options", "baseURL"], What::Address),
];

/// Where a client goes by its own settings, other than to our gateway.
pub(super) fn elsewhere(cx: &Cx, client: &str) -> Vec<String> {
    let listen = cx.checked.loaded.as_ref().map(|loaded| loaded.settings.gateway.listen.clone());
    let listen = listen.unwrap_or_default();
    let mut told = Vec::new();
    for Pointer { place, what, .. } in POINTERS.iter().filter(|pointer| pointer.client == client) {
        let said = match place {
            Place::Variable(name) => {
                let value = cx.inputs.env.get(name).map(|value| Value::from(value.to_owned()));
                value.into_iter().map(|value| (format!("`{name}`"), value)).collect()
            }
            Place::File(path, key) => in_file(cx, path, key),
        };
        told.extend(said.into_iter().filter_map(|(place, value)| leads(&place, &value, *what, &listen)));
    }
    told
}

/// What a file says under a key, each with where it stands.
fn in_file(cx: &Cx, path: &str, key: &[&str]) -> Vec<(String, Value)> {
    let Some(full) = resolved(cx, path) else { return Vec::new() };
    let Some(settings) = read(&full) else { return Vec::new() };
    let place = |way: Vec<String>| format!("{} says `{}`", cx.shown(&full), plain(&way.join(".")));
    under(&settings, key).into_iter().map(|(way, value)| (place(way), value.clone())).collect()
}

fn resolved(cx: &Cx, path: &str) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(inner) => cx.inputs.env.home().map(|home| home.join(inner)),
        None => Some(cx.inputs.working_folder.join(path)),
    }
}

/// The longest settings that are read.
const LONGEST: u64 = 4 << 20;

/// Settings of another program; what can't be read says nothing, as the program itself will tell.
fn read(path: &Path) -> Option<Value> {
    path.metadata().ok().filter(|data| data.is_file() && data.len() <= LONGEST)?;
    let text = std::fs::read_to_string(path).ok()?;
    match path.extension().is_some_and(|ending| ending == "toml") {
        true => toml::from_str(&text).ok(),
        false => read_json(&text).ok(),
    }
}

/// All values under a key, each with its way.
fn under<'a>(value: &'a Value, key: &[&str]) -> Vec<(Vec<String>, &'a Value)> {
    let Some((first, rest)) = key.split_first() else { return vec![(Vec::new(), value)] };
    let Some(table) = value.as_object() else { return Vec::new() };
    let inner = table.iter().filter(|(name, _)| *first == "*" || *first == name.as_str());
    let below = inner.flat_map(|(name, value)| {
        under(value, rest).into_iter().map(move |(mut way, value)| {
            way.insert(0, name.clone());
            (way, value)
        })
    });
    below.collect()
}

/// Where a setting leads; None for nowhere else than to the gateway.
fn leads(place: &str, value: &Value, what: What, listen: &str) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match what {
        What::Address if text.is_empty() || (!listen.is_empty() && text.contains(listen)) => None,
        What::Address => Some(format!("{place}: {}", shown_address(&text))),
        What::Switch if matches!(text.as_str(), "" | "0" | "false") => None,
        What::Switch => Some(format!("{place} is set")),
        What::Name(usual) if text.is_empty() || usual.contains(&text.as_str()) => None,
        What::Name(_) => Some(format!("{place}: `{}`", plain(&text))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_setting_leads_elsewhere_unless_it_leads_to_the_gateway() {
        let lead = |value: Value, what: What| leads("x", &value, what, "127.0.0.1:4141");
        assert_eq!(lead(json!("http://127.0.0.1:4141"), What::Address), None);
        assert_eq!(
            lead(json!("https://u:p@h.test/v1?k=s"), What::Address),
            Some("x: https://***@h.test/v1?…".into())
        );
        assert_eq!((lead(json!("0"), What::Switch), lead(json!(false), What::Switch)), (None, None));
        assert_eq!(lead(json!(1), What::Switch), Some("x is set".into()));
        assert_eq!(lead(json!("openai"), What::Name(&["openai"])), None);
        assert_eq!(lead(json!("azure"), What::Name(&["openai"])), Some("x: `azure`".into()));
    }

    #[test]
    fn any_key_can_stand_for_a_star() {
        let value = json!({"provider": {"a": {"url": 1}, "b": {"url": 2}, "c": 3}, "other": {"url": 4}});
        let found = under(&value, &["provider", "*", "url"]);
        let found: Vec<(String, &Value)> =
            found.into_iter().map(|(way, value)| (way.join("."), value)).collect();
        assert_eq!(
            found,
            [("provider.a.url".to_owned(), &json!(1)), ("provider.b.url".to_owned(), &json!(2))]
        );
    }
}
