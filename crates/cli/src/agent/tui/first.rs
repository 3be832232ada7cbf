//! The first run: what was found, what may be used, what is missing and what to do next.

use std::collections::BTreeMap;
use std::io::{BufRead, Write as _, stderr, stdin};
use std::path::Path;

use rail_config::found::from_environment;
use rail_config::{Env, Inputs, Places, check};
use rail_stdx::{Access, replace};

use crate::Failure;
use crate::agent::open::Prepared;
use crate::output::harmless;

/// The inputs without the keys that the user does not want to be used. A key that was found and that nobody configured is named and asked about once.
pub(super) fn allowed_keys(inputs: Inputs) -> Result<Inputs, Failure> {
    let configured = check(&inputs).loaded.is_none_or(|loaded| !loaded.settings.providers.is_empty());
    if configured {
        return Ok(inputs);
    }
    let Ok(places) = Places::find(&inputs.env, &inputs.working_folder) else { return Ok(inputs) };
    let file = places.state.join("keys.json");
    let mut answers = read(&file);
    let variables: BTreeMap<String, String> =
        inputs.env.all().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut changed = false;
    for found in from_environment(&variables) {
        let Some(key) = found.key.filter(|key| !answers.contains_key(key)) else { continue };
        let Some(answer) = asked(&key, &found.provider.name, &found.provider.base_url) else { continue };
        answers.insert(key, answer);
        changed = true;
    }
    if changed {
        keep(&file, &answers);
    }
    let refused = |name: &str| answers.get(name) == Some(&false);
    let env: Env = inputs.env.all().filter(|(name, _)| !refused(name)).collect();
    Ok(Inputs { env, ..inputs })
}

fn read(file: &Path) -> BTreeMap<String, bool> {
    std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// Answers that can't be kept are asked for again.
fn keep(file: &Path, answers: &BTreeMap<String, bool>) {
    let Ok(text) = serde_json::to_vec_pretty(answers) else { return };
    let _ = replace(file, &text, Access::Owner);
}

/// Whether a key may be used; None where the terminal is closed before that.
fn asked(key: &str, provider: &str, address: &str) -> Option<bool> {
    let question = format!(
        "{key} is set in the environment. May rail use it, to ask {provider} at {address}? (y/n)\n> "
    );
    loop {
        let mut err = stderr().lock();
        err.write_all(harmless(&question).as_bytes()).and_then(|()| err.flush()).ok()?;
        drop(err);
        let mut line = String::new();
        if stdin().lock().read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Some(true),
            "n" | "no" => return Some(false),
            _ => {}
        }
    }
}

/// What the user should know at the beginning of a session.
pub(super) fn notes(prepared: &Prepared) -> Vec<String> {
    let loaded = &prepared.loaded;
    if loaded.routing.providers.is_empty() {
        return vec![NOTHING.to_owned()];
    }
    if !loaded.settings.providers.is_empty() {
        return Vec::new();
    }
    let listed = loaded.listed_providers(prepared.env.home());
    let line = |one: &rail_config::ListedProvider<'_>| format!("- {}: {}", one.provider.name, one.origin);
    let found: Vec<String> = listed.iter().map(line).collect();
    vec![format!(
        "Nothing is configured; this was found and is used:\n\n{}\n\n`rail init` writes a configuration.",
        found.join("\n")
    )]
}

const NOTHING: &str = "\
**No model is set up yet.** One of these gives you one:

- `rail init` asks a few questions and writes a configuration
- `export ANTHROPIC_API_KEY=…` (or `OPENAI_API_KEY`, `GEMINI_API_KEY`, `DASHSCOPE_API_KEY`, …), then `rail` again
- start Ollama, LM Studio or llama.cpp on this machine, then `rail` again

`rail demo` shows the agent at work without any.";

/// Keeps a theme in the user's configuration.
pub(super) fn keep_theme(prepared: &Prepared, name: &str) -> Result<(), String> {
    let Some(places) = &prepared.loaded.places else {
        return Err("there is no home folder to keep the theme in".to_owned());
    };
    rail_config::keep_theme(places, name).map_err(|error| error.to_string())
}
