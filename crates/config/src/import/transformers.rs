//! What claude-code-router's transformers do, and what is done here instead.

use std::collections::BTreeMap;

use rail_model::ProtocolId;
use rail_wire::{anthropic, gemini, openai_responses};
use serde_json::{Map, Value};

use super::draft::{Draft, take_text};

/// What the transformers of one provider come to.
#[derive(Default)]
pub(super) struct Transformed {
    /// The protocol that they speak for the client.
    pub(super) protocol: Option<ProtocolId>,
    /// Headers that they add.
    pub(super) headers: Vec<(String, String)>,
    /// The output limit of each model that they name; of all under the blank name.
    pub(super) max_output: BTreeMap<String, u64>,
}

/// Transformers that need no counterpart, with what is done instead.
const INSTEAD: [(&str, &str); 17] = [
    ("deepseek", "what DeepSeek wants otherwise is in the model profiles"),
    ("groq", "what Groq wants otherwise is learned from its answers"),
    ("cerebras", "what Cerebras wants otherwise is learned from its answers"),
    ("openrouter", "OpenRouter's reasoning is read and written by `openai-chat`"),
    ("vercel", "what Vercel wants otherwise is learned from its answers"),
    ("openai", "`openai-chat` speaks OpenAI's own protocol"),
    ("tooluse", "calls in text are found and repaired, whatever `tool_choice` says"),
    ("enhancetool", "arguments of calls are repaired, and still streamed"),
    ("reasoning", "reasoning is read in every form that is known"),
    ("forcereasoning", "ask for thinking with the request, or set `thinking` in the model's profile"),
    ("extrathinktag", "reasoning in tags is read in every form that is known"),
    ("sampling", "sampling parameters that a model refuses are left out by its profile"),
    ("cleancache", "cache marks go only to those who know them"),
    ("streamoptions", "usage is asked for where the model's profile says so"),
    ("customparams", "set what the model needs in its profile, under `models`"),
    ("chutes-glm", "calls in text are found and repaired"),
    ("openai-compatible", "`openai-chat` speaks OpenAI's own protocol"),
];

/// Reads `transformer` of a provider: `use` for all its models, and under a model's name for that one.
pub(super) fn read(draft: &mut Draft, provider: &str, value: Option<Value>) -> Transformed {
    let mut all = Transformed::default();
    match value {
        Some(Value::Object(map)) => {
            for (key, value) in map {
                let model = if key == "use" { "" } else { key.as_str() };
                let entries = if key == "use" { Some(&value) } else { value.get("use") };
                used(draft, &mut all, (provider, model), entries);
            }
        }
        Some(list @ Value::Array(_)) => used(draft, &mut all, (provider, ""), Some(&list)),
        Some(_) => draft.note(format!("provider `{provider}`: its transformers are no object and no list")),
        None => {}
    }
    all
}

fn used(draft: &mut Draft, all: &mut Transformed, place: (&str, &str), entries: Option<&Value>) {
    let none = Vec::new();
    for entry in entries.and_then(Value::as_array).unwrap_or(&none) {
        let (name, options) = match entry {
            Value::String(name) => (name.as_str(), Map::new()),
            Value::Array(parts) => {
                let options = parts.get(1).and_then(Value::as_object).cloned().unwrap_or_default();
                (parts.first().and_then(Value::as_str).unwrap_or_default(), options)
            }
            Value::Object(map) => {
                let options = map.get("options").and_then(Value::as_object).cloned().unwrap_or_default();
                (map.get("name").and_then(Value::as_str).unwrap_or_default(), options)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => ("", Map::new()),
        };
        one(draft, all, place, (name, options));
    }
}

fn one(
    draft: &mut Draft,
    all: &mut Transformed,
    (provider, model): (&str, &str),
    (name, mut options): (&str, Map<String, Value>),
) {
    let of_model = if model.is_empty() { String::new() } else { format!(" (for `{model}`)") };
    let place = format!("provider `{provider}`: transformer `{name}`{of_model}");
    let known = name.to_lowercase();
    match known.as_str() {
        "anthropic" => all.protocol = Some(anthropic::ID),
        "gemini" => all.protocol = Some(gemini::ID),
        "openai-response" | "openai-responses" => all.protocol = Some(openai_responses::ID),
        "maxtoken" | "maxcompletiontokens" => {
            let limit =
                ["max_tokens", "max_completion_tokens"].iter().find_map(|key| options.get(*key)?.as_u64());
            match limit {
                Some(limit) => {
                    all.max_output.insert(model.to_owned(), limit);
                    options.clear();
                }
                None => draft.note(format!("{place}: it names no limit")),
            }
        }
        known if known.starts_with("vertex") => {
            draft.note(format!(
                "{place}: Google's sign-in for Vertex is not spoken; use a Gemini key instead"
            ));
        }
        known => match INSTEAD.iter().find(|(name, _)| *name == known) {
            Some((_, instead)) => draft.note(format!("{place} is not needed: {instead}")),
            None => draft.note(format!(
                "{place} is not known; if the provider does not answer without it, say what it does"
            )),
        },
    }
    if known == "openrouter" {
        for (key, header) in [("referer", "HTTP-Referer"), ("title", "X-Title")] {
            all.headers.extend(take_text(&mut options, &[key]).map(|value| (header.to_owned(), value)));
        }
    }
    // Empty lists and the like say nothing.
    options.retain(|_, value| {
        !matches!(value, Value::Null) && value.as_array().is_none_or(|list| !list.is_empty())
    });
    draft.left_over(&place, &options);
}
