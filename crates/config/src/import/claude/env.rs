use rail_wire::anthropic;
use serde_json::{Map, Value};

use super::target;
use crate::endpoint;
use crate::found;
use crate::import::draft::{Draft, take_text, wait};

/// The provider's name in what is written.
const PROVIDER: &str = "anthropic";
/// Claude Code's words for its models, with the variable that says what each stands for.
const WORDS: [(&str, &str); 3] = [
    ("opus", "ANTHROPIC_DEFAULT_OPUS_MODEL"),
    ("sonnet", "ANTHROPIC_DEFAULT_SONNET_MODEL"),
    ("haiku", "ANTHROPIC_DEFAULT_HAIKU_MODEL"),
];

/// The `env` block.
pub(super) struct Env {
    left: Map<String, Value>,
}

impl Env {
    /// The block; numbers and the like are taken as their text.
    pub(super) fn read(map: Map<String, Value>) -> Self {
        let text = |value: Value| match value {
            Value::Number(_) | Value::Bool(_) => Value::String(value.to_string()),
            other => other,
        };
        Self { left: map.into_iter().map(|(name, value)| (name, text(value))).collect() }
    }

    fn take(&mut self, name: &str) -> Option<String> {
        take_text(&mut self.left, &[name])
    }

    /// Writes the provider, the chains and the aliases; `model` is that of the settings, beside the block.
    pub(super) fn write(mut self, draft: &mut Draft, model: Option<String>) {
        let words: Vec<(&str, Option<String>)> = WORDS.map(|(word, name)| (word, self.take(name))).to_vec();
        let asked = self.take("ANTHROPIC_MODEL").or(model);
        let small = self.take("ANTHROPIC_SMALL_FAST_MODEL");
        let small = small.or_else(|| words.iter().find(|(word, _)| *word == "haiku")?.1.clone());
        let agents = self.take("CLAUDE_CODE_SUBAGENT_MODEL");
        let main = asked.as_deref().and_then(|asked| meant(draft, asked, &words));
        let agents = agents.as_deref().and_then(|asked| meant(draft, asked, &words));
        let named = words.iter().filter_map(|(_, model)| model.as_ref());
        let mut models: Vec<String> = Vec::new();
        for model in main.iter().chain(named).chain(&small).chain(&agents) {
            let model = target(PROVIDER, model).map(|target| target.model);
            models.extend(model.filter(|model| !models.contains(model)));
        }
        self.provider(draft, &models);
        if let Some(target) = main.as_deref().and_then(|model| target(PROVIDER, model)) {
            draft.table(&["router"]);
            draft.pair("default", target.to_string());
        }
        for (name, purpose, model) in
            [("background", "background", small), ("subAgents", "sub-agent", agents)]
        {
            let Some(target) = model.as_deref().and_then(|model| target(PROVIDER, model)) else { continue };
            draft.element(&["router", "rules"]);
            draft.pair("name", name);
            draft.pair("chain", target.to_string());
            draft.pair("purpose", purpose);
        }
        let aliases: Vec<_> = words
            .iter()
            .filter_map(|(word, model)| Some((*word, target(PROVIDER, model.as_ref()?)?)))
            .collect();
        if !aliases.is_empty() {
            draft.table(&["aliases"]);
            for (word, target) in aliases {
                draft.pair(word, target.to_string());
            }
        }
        self.rest(draft);
    }

    fn provider(&mut self, draft: &mut Draft, models: &[String]) {
        let url = self.take("ANTHROPIC_BASE_URL");
        let (key, token) = (self.take("ANTHROPIC_API_KEY"), self.take("ANTHROPIC_AUTH_TOKEN"));
        let headers = self.take("ANTHROPIC_CUSTOM_HEADERS");
        let total = self.left.get("API_TIMEOUT_MS").and_then(wait);
        let proxy = self.take("HTTPS_PROXY").or_else(|| self.take("https_proxy"));
        let proxy = proxy.or_else(|| self.take("HTTP_PROXY")).or_else(|| self.take("http_proxy"));
        let given = url.is_some() || key.is_some() || token.is_some() || headers.is_some() || proxy.is_some();
        if !given && models.is_empty() {
            return;
        }
        draft.table(&["providers", PROVIDER]);
        draft.pair("protocol", anthropic::ID.name());
        let url = url.filter(|url| {
            let good = endpoint::is_http(url);
            if !good {
                draft.note("env.ANTHROPIC_BASE_URL is no http address; Anthropic's own is written");
            }
            good
        });
        let url = url.unwrap_or_else(|| "https://api.anthropic.com".to_owned());
        draft.base_url("env.ANTHROPIC_BASE_URL", &url, anthropic::ID);
        let mut sent = Vec::new();
        match (key, token) {
            (None, None) => {
                draft.remark("No key was in the settings.");
                draft.pair("key", "env:ANTHROPIC_API_KEY");
                draft.note("no key is in the settings, and a login of Claude Code's can't be used; set ANTHROPIC_API_KEY");
            }
            (key, token) => {
                if let Some(key) = key {
                    let key = draft.secret("CLAUDE_API_KEY", &key);
                    draft.pair("key", key);
                }
                let bearer =
                    token.map(|token| draft.secret("CLAUDE_AUTHORIZATION", &format!("Bearer {token}")));
                sent.extend(bearer.map(|bearer| ("authorization".to_owned(), bearer)));
            }
        }
        for line in headers.iter().flat_map(|headers| headers.lines()).filter(|line| !line.trim().is_empty())
        {
            match line.split_once(':') {
                Some((name, value)) => {
                    let value = draft.secret(&format!("CLAUDE_HEADER_{}", name.trim()), value.trim());
                    sent.push((name.trim().to_owned(), value));
                }
                None => draft.note("env.ANTHROPIC_CUSTOM_HEADERS: a line has no `:`"),
            }
        }
        if !sent.is_empty() {
            draft.inline("headers", &sent);
        }
        if let Some(proxy) = proxy {
            let proxy = draft.address("CLAUDE_PROXY", &proxy);
            draft.pair("proxy", proxy);
        }
        if let Some(total) = total {
            self.left.shift_remove("API_TIMEOUT_MS");
            draft.inline("timeouts", &[("total".to_owned(), total)]);
        }
        if !models.is_empty() {
            draft.list("models", models);
        }
    }

    /// Notes what nothing was made of.
    fn rest(self, draft: &mut Draft) {
        for name in self.left.keys() {
            let instead = match name.as_str() {
                "CLAUDE_CODE_USE_BEDROCK" | "CLAUDE_CODE_USE_VERTEX" | "CLAUDE_CODE_USE_FOUNDRY" => {
                    "the clouds' own sign-ins are not spoken; use a provider with a key"
                }
                "NO_PROXY" | "no_proxy" => "it is read from the environment; export it there",
                "MAX_THINKING_TOKENS" => "thinking is asked for with each request",
                "CLAUDE_CODE_MAX_OUTPUT_TOKENS" => {
                    "set `max_output` in the model's profile, under `[models]`"
                }
                _ => "it is not read here; commands see the environment that `rail` was started with",
            };
            draft.note(format!("env.{name}: {instead}"));
        }
    }
}

/// The model that a word of Claude Code's stands for, or the name itself.
fn meant(draft: &mut Draft, asked: &str, words: &[(&str, Option<String>)]) -> Option<String> {
    let word = asked.trim_end_matches("[1m]").to_lowercase();
    // It plans with the one and writes with the other; one of them serves here.
    let word = if matches!(word.as_str(), "opusplan" | "best") { "opus" } else { word.as_str() };
    if word == "default" {
        draft.note("`model` is `default`, so no chain is written for it");
        return None;
    }
    let Some((_, own)) = words.iter().find(|(known, _)| *known == word) else {
        return Some(asked.to_owned());
    };
    if let Some(own) = own {
        return Some(own.clone());
    }
    let known = found::known(PROVIDER)?;
    let model = known.models.into_iter().find(|model| model.contains(word))?;
    draft.note(format!("`{asked}` is a word of Claude Code's; `{model}` is written for it"));
    Some(model)
}
