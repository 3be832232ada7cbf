//! Which models are asked about images, outside of the conversation.

use std::sync::Arc;

use crate::asked::{Asked, asked};
use crate::profiles::is_local;
use crate::{Attempt, ModelProfile, Plan, Provider, Routing, Skipped, Target};

/// The model of MiniMax that sees: one image a call, and an API of its own.
const MINIMAX_VL: &str = "MiniMax-VL-01";

/// All that the choice of a vision model is made of.
#[derive(Clone, Copy, Debug)]
pub struct VisionInput<'a> {
    /// What the configuration says, and what is found besides.
    pub routing: &'a Routing,
    /// The model that the user has chosen for images, or several: `provider,model;provider,model`.
    pub configured: Option<&'a str>,
    /// Who answers in the conversation.
    pub main: Option<&'a Target>,
}

/// Somebody whose models are known to see.
struct Maker {
    /// The usual names of its provider.
    names: &'static [&'static str],
    /// Where it is.
    hosts: &'static [&'static str],
    /// Its models that are asked, the first one first.
    models: &'static [&'static str],
}

/// In the order in which they are asked.
const MAKERS: [Maker; 4] = [MINIMAX, OPENAI, ANTHROPIC, GEMINI];

const MINIMAX: Maker = Maker {
    names: &["minimax", "minimax-cn"],
    hosts: &["api.minimax.io", "api.minimaxi.com", "api.minimax.chat"],
    models: &[MINIMAX_VL],
};
const OPENAI: Maker = Maker { names: &["openai"], hosts: &["api.openai.com"], models: &["gpt-5-mini"] };
const ANTHROPIC: Maker = Maker {
    names: &["anthropic"],
    hosts: &["api.anthropic.com"],
    models: &["claude-opus-4-6", "claude-opus-4-5"],
};
const GEMINI: Maker = Maker {
    names: &["gemini"],
    hosts: &["generativelanguage.googleapis.com"],
    models: &["gemini-3.8-flash"],
};
/// Where pictures of pages are read.
const OPENROUTER: Maker =
    Maker { names: &["openrouter"], hosts: &["openrouter.ai"], models: &["google/gemini-3.8-flash"] };

/// Whether a model is MiniMax's that sees, which is asked through an API of its own.
pub fn is_minimax_vl(target: &Target) -> bool {
    target.model.eq_ignore_ascii_case(MINIMAX_VL)
}

/// Who is asked about images, in this order: those that the user chose, and nobody else; otherwise a model of the main model's
/// provider, then those of MiniMax, OpenAI, Anthropic and Gemini, each where there is a key. None when there is nobody.
pub fn vision(input: &VisionInput<'_>) -> Option<Plan> {
    if let Some(configured) = input.configured {
        return Some(named_vision(input.routing, configured));
    }
    let mut line = Line::new(input.routing);
    if let Some(main) = input.main {
        line.beside(main);
    }
    for maker in &MAKERS {
        line.of(maker, "there is a key for it");
    }
    line.plan("no image model is configured")
}

/// Who is asked about pictures of pages: those that the user chose for images, and nobody else; otherwise a Gemini Flash through
/// OpenRouter where there is a key, then who is asked about images.
pub fn document_vision(input: &VisionInput<'_>) -> Option<Plan> {
    if let Some(configured) = input.configured {
        return Some(named_vision(input.routing, configured));
    }
    let mut line = Line::new(input.routing);
    for provider in keyed(input.routing, &OPENROUTER) {
        let flash = |model: &&String| {
            model.starts_with("google/gemini") && model.contains("flash") && !model.contains("lite")
        };
        let own = provider.models.keys().rfind(flash).map(String::as_str);
        let models = own.into_iter().chain(OPENROUTER.models.iter().copied()).take(1);
        models.for_each(|model| line.add(Target::new(&provider.name, model), "it reads pages well"));
    }
    let images = vision(input);
    for attempt in images.iter().flat_map(|plan| &plan.attempts) {
        line.add(attempt.target.clone(), &attempt.why);
    }
    line.plan("no image model is configured").or(images)
}

/// Who is asked when models are named as users write them: `provider,model`, `provider/model`, a model, an alias, and several of
/// them with `;` between them. Whoever names a model knows that it sees.
pub fn named_vision(routing: &Routing, names: &str) -> Plan {
    let mut line = Line::new(routing);
    let mut unknown = Vec::new();
    for name in names.split(';').map(str::trim).filter(|name| !name.is_empty()) {
        match meant(routing, name) {
            Some(targets) => targets.into_iter().for_each(|target| line.add(target, "it was asked for")),
            None => unknown.push(format!("`{name}`")),
        }
    }
    let why = match unknown.as_slice() {
        [] => "named for images".to_owned(),
        unknown => format!("nobody has a model {}; write `provider,model`", unknown.join(" or ")),
    };
    Plan { asked: names.to_owned(), ..line.into_plan(&why) }
}

/// The targets that a name means.
fn meant(routing: &Routing, name: &str) -> Option<Vec<Target>> {
    match asked(routing, name) {
        Asked::Targets(targets, _) => Some(targets),
        Asked::Virtual(virtual_model, _) => {
            let chain = routing.chains.get(&virtual_model)?;
            let sees = |target: &&Target| {
                let provider = routing.providers.get(&target.provider);
                provider.is_some_and(|provider| routing.profiles.of(provider, &target.model).vision)
            };
            Some(chain.0.iter().filter(sees).cloned().collect())
        }
        Asked::Classified(_) => {
            let (provider, model) = name.split_once('/')?;
            let known = routing.providers.keys().find(|known| known.eq_ignore_ascii_case(provider))?;
            (!model.is_empty()).then(|| vec![Target::new(known, model)])
        }
    }
}

/// Those who are asked, as they come.
struct Line<'a> {
    routing: &'a Routing,
    attempts: Vec<Attempt>,
    skipped: Vec<Skipped>,
}

impl<'a> Line<'a> {
    fn new(routing: &'a Routing) -> Self {
        Self { routing, attempts: Vec::new(), skipped: Vec::new() }
    }

    fn add(&mut self, target: Target, why: &str) {
        if self.attempts.iter().any(|known| known.target == target) {
            return;
        }
        let provider = self.routing.providers.get(&target.provider);
        let unusable = match provider {
            None => Some(format!("the provider `{}` is not configured", target.provider)),
            Some(provider) => provider.unusable.clone(),
        };
        match (provider, unusable) {
            (Some(provider), None) => {
                let known = self.routing.profiles.of(provider, &target.model);
                // What is chosen here sees, whatever the table knows of it.
                let profile = Arc::new(ModelProfile { vision: true, ..ModelProfile::clone(&known) });
                let (provider, why) = (Arc::clone(provider), why.to_owned());
                self.attempts.push(Attempt { target, provider, profile, why });
            }
            (_, unusable) => self.skipped.push(Skipped { target, why: unusable.unwrap_or_default() }),
        }
    }

    /// The models of a maker, at each provider that is its and has a key.
    fn of(&mut self, maker: &Maker, why: &str) {
        for provider in keyed(self.routing, maker) {
            maker.models.iter().for_each(|model| self.add(Target::new(&provider.name, *model), why));
        }
    }

    /// The models of the provider that the main model is of.
    fn beside(&mut self, main: &Target) {
        let Some(provider) = self.routing.providers.get(&main.provider) else { return };
        let maker = MAKERS.iter().find(|maker| maker.has(provider) && has_key(provider));
        let why = "it is of the main model's provider";
        let own = |line: &mut Self, maker: &Maker| {
            maker.models.iter().for_each(|model| line.add(Target::new(&main.provider, *model), why));
        };
        match maker {
            Some(maker) if maker.names == MINIMAX.names => {
                own(self, maker);
                self.configured_beside(main, why);
            }
            Some(maker) => {
                self.configured_beside(main, why);
                own(self, maker);
            }
            None => self.configured_beside(main, why),
        }
    }

    /// The first of the configured models of the main model's provider that sees: the main model itself before others.
    fn configured_beside(&mut self, main: &Target, why: &str) {
        let Some(provider) = self.routing.providers.get(&main.provider) else { return };
        let all = self.routing.targets_of(&main.provider);
        let sees = |target: &&Target| self.routing.profiles.of(provider, &target.model).vision;
        let for_images = self.routing.chains.get("imageProcessing").map_or(&[][..], |chain| &chain.0);
        let place = |target: &&Target| (*target != main, !for_images.contains(target));
        if let Some(target) = all.iter().filter(sees).min_by_key(place) {
            self.add(target.clone(), why);
        }
    }

    fn plan(self, why: &str) -> Option<Plan> {
        (!self.attempts.is_empty()).then(|| self.into_plan(why))
    }

    fn into_plan(self, why: &str) -> Plan {
        Plan {
            asked: "an image model".to_owned(),
            virtual_model: None,
            why: why.to_owned(),
            estimated: 0,
            attempts: self.attempts,
            skipped: self.skipped,
        }
    }
}

impl Maker {
    /// Whether a provider is this maker's: by its address, or by its name where that is not a server of the user's own, which has
    /// its own models and may answer whatever model is named.
    fn has(&self, provider: &Provider) -> bool {
        let host = host(&provider.base_url);
        let named = self.names.iter().any(|name| provider.name.eq_ignore_ascii_case(name));
        self.hosts.iter().any(|known| host.eq_ignore_ascii_case(known)) || (named && !is_local(provider))
    }
}

/// The providers of a maker that can be asked and have a key, by name.
fn keyed<'a>(routing: &'a Routing, maker: &'a Maker) -> impl Iterator<Item = &'a Arc<Provider>> {
    let usable = |provider: &&Arc<Provider>| provider.unusable.is_none() && has_key(provider);
    routing.providers.values().filter(usable).filter(|provider| maker.has(provider))
}

/// Whether a provider is told who asks.
fn has_key(provider: &Provider) -> bool {
    const SAY_WHO: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];
    let says = |(name, _): &(String, _)| SAY_WHO.iter().any(|known| name.eq_ignore_ascii_case(known));
    provider.keys.iter().any(|key| !key.is_empty()) || provider.headers.iter().any(says)
}

/// The host of an address, without its port.
fn host(base_url: &str) -> &str {
    let rest = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|c| c.is_ascii_digit()) => name,
        Some(_) | None => host,
    }
}

#[cfg(test)]
mod tests {
    use rail_model::ProtocolId;
    use rail_stdx::Secret;

    use super::*;
    use crate::{Alias, AliasTo, ProfilePatch};

    /// Providers as `name base_url key models`, where `-` is nothing and a model with `*` sees.
    fn routing(providers: &[&str]) -> Routing {
        let mut routing = Routing::default();
        for line in providers {
            let mut words = line.split(' ');
            let mut word = || words.next().filter(|word| *word != "-").unwrap_or_default();
            let (name, base_url, key) = (word(), word(), word());
            let protocol = ProtocolId::new("openai-chat");
            let mut provider = Provider::new(name, protocol, base_url);
            provider.keys.extend((!key.is_empty()).then(|| Secret::new(key)));
            provider.unusable = (key == "unset").then(|| "its key is not set".to_owned());
            for model in words {
                let patch = ProfilePatch { vision: Some(model.ends_with('*')), ..ProfilePatch::default() };
                provider.models.insert(model.trim_end_matches('*').to_owned(), patch);
            }
            routing.providers.insert(name.to_owned(), Arc::new(provider));
        }
        routing
    }

    fn shown(plan: Option<Plan>) -> String {
        let Some(plan) = plan else { return "nobody".to_owned() };
        let targets: Vec<String> = plan.attempts.iter().map(|attempt| attempt.target.to_string()).collect();
        assert!(plan.attempts.iter().all(|attempt| attempt.profile.vision));
        let skipped: Vec<String> =
            plan.skipped.iter().map(|skipped| format!("!{}: {}", skipped.target, skipped.why)).collect();
        let why = if targets.is_empty() && skipped.is_empty() { vec![plan.why] } else { Vec::new() };
        [targets, skipped, why].concat().join("; ")
    }

    const MINIMAX: &str = "minimax https://api.minimax.io/v1 sk MiniMax-M2";
    const OPENAI: &str = "openai https://api.openai.com/v1 sk gpt-blind";
    const ANTHROPIC: &str = "anthropic https://api.anthropic.com/v1 sk claude-blind";
    const GEMINI: &str = "gemini https://generativelanguage.googleapis.com/v1beta sk gemini-blind";
    const QWEN: &str = "qwen https://dashscope.aliyuncs.com/v1 sk qwen-coder qwen-vl*";
    const DEEP: &str = "deep https://api.deepseek.com/v1 sk deep-coder";
    const OLLAMA: &str = "ollama http://127.0.0.1:11434/v1 - llava* coder";

    #[test]
    fn every_row_of_the_choice() {
        let all = [MINIMAX, OPENAI, ANTHROPIC, GEMINI, QWEN];
        let behind = "minimax,MiniMax-VL-01; openai,gpt-5-mini; anthropic,claude-opus-4-6; \
                      anthropic,claude-opus-4-5; gemini,gemini-3.8-flash";
        for (providers, configured, main, expected) in [
            // Chosen by the user: that, and nobody else.
            (&all[..], Some("qwen,qwen-vl"), "openai,gpt-blind", "qwen,qwen-vl"),
            (
                &all,
                Some("gone,x;qwen,qwen-vl"),
                "qwen,q",
                "qwen,qwen-vl; !gone,x: the provider `gone` is not configured",
            ),
            // The main model is MiniMax's.
            (&[MINIMAX], None, "minimax,MiniMax-M2", "minimax,MiniMax-VL-01"),
            (
                &["minimax https://api.minimax.io/v1 sk MiniMax-M3*"],
                None,
                "minimax,MiniMax-M3",
                "minimax,MiniMax-VL-01; minimax,MiniMax-M3",
            ),
            (&["mm https://api.minimaxi.com/anthropic/v1 sk M"], None, "mm,M", "mm,MiniMax-VL-01"),
            (&["minimax https://api.minimax.io/v1 - M"], None, "minimax,M", "nobody"),
            // The main model's provider has one that sees.
            (&[QWEN], None, "qwen,qwen-coder", "qwen,qwen-vl"),
            (&[OLLAMA], None, "ollama,coder", "ollama,llava"),
            (&["openai https://api.openai.com/v1 sk a* b*"], None, "openai,b", "openai,b; openai,gpt-5-mini"),
            (&[QWEN, OPENAI], None, "qwen,qwen-coder", "qwen,qwen-vl; openai,gpt-5-mini"),
            // It is OpenAI's or Anthropic's, and lists none.
            (
                &all,
                None,
                "openai,gpt-blind",
                "openai,gpt-5-mini; minimax,MiniMax-VL-01; anthropic,claude-opus-4-6; anthropic,claude-opus-4-5; gemini,gemini-3.8-flash",
            ),
            (
                &[ANTHROPIC],
                None,
                "anthropic,claude-blind",
                "anthropic,claude-opus-4-6; anthropic,claude-opus-4-5",
            ),
            (&[GEMINI], None, "gemini,gemini-blind", "gemini,gemini-3.8-flash"),
            // Its provider has none: who has a key is asked, in order.
            (&[DEEP, MINIMAX, OPENAI, ANTHROPIC, GEMINI], None, "deep,deep-coder", behind),
            (
                &[DEEP, ANTHROPIC],
                None,
                "deep,deep-coder",
                "anthropic,claude-opus-4-6; anthropic,claude-opus-4-5",
            ),
            (&["work https://api.openai.com/v1 sk x"], None, "gone,x", "work,gpt-5-mini"),
            // By the name where the address is a gateway; not where it is a server of the user's own.
            (&["openai https://llm.example.com/v1 sk x"], None, "openai,x", "openai,gpt-5-mini"),
            (&["openai http://127.0.0.1:8080/v1 sk x"], None, "openai,x", "nobody"),
            // Without a key there is nobody.
            (&[DEEP], None, "deep,deep-coder", "nobody"),
            (&["openai https://api.openai.com/v1 unset x"], None, "openai,x", "nobody"),
            (&["openai https://api.openai.com/v1 - x"], None, "deep,x", "nobody"),
            (&[], None, "", "nobody"),
        ] {
            let routing = routing(providers);
            let main: Option<Target> = main.parse().ok();
            let plan = vision(&VisionInput { routing: &routing, configured, main: main.as_ref() });
            assert_eq!(shown(plan), expected, "{providers:?} {configured:?} {main:?}");
        }
    }

    #[test]
    fn a_token_in_a_header_is_as_good_as_a_key() {
        let mut routing = routing(&["anthropic https://api.anthropic.com/v1 - x"]);
        let provider = Arc::make_mut(routing.providers.get_mut("anthropic").unwrap());
        provider.headers.push(("Authorization".to_owned(), Secret::new("Bearer t")));
        let plan = vision(&VisionInput { routing: &routing, configured: None, main: None });
        assert_eq!(shown(plan), "anthropic,claude-opus-4-6; anthropic,claude-opus-4-5");
    }

    #[test]
    fn names_as_users_write_them() {
        let mut routing = routing(&[QWEN, OPENAI, "router https://openrouter.ai/api/v1 sk google/gemini-x*"]);
        let to = AliasTo::Chain("qwen,qwen-vl;openai,gpt-x".parse().unwrap());
        routing.aliases.push(Alias { name: "eyes".to_owned(), to, origin: String::new() });
        routing.chains.insert("imageProcessing".to_owned(), "qwen,qwen-coder;qwen,qwen-vl".parse().unwrap());
        for (names, expected) in [
            ("qwen,qwen-vl", "qwen,qwen-vl"),
            ("qwen,qwen-vl; openai,gpt-x", "qwen,qwen-vl; openai,gpt-x"),
            ("qwen/qwen-vl;OpenAI/gpt-x;", "qwen,qwen-vl; openai,gpt-x"),
            ("openai/org/model", "openai,org/model"),
            ("google/gemini-x", "router,google/gemini-x"),
            ("qwen-vl", "qwen,qwen-vl"),
            ("eyes", "qwen,qwen-vl; openai,gpt-x"),
            ("imageProcessing", "qwen,qwen-vl"),
            ("nobody", "nobody has a model `nobody`; write `provider,model`"),
            ("nobody/x;qwen/", "nobody has a model `nobody/x` or `qwen/`; write `provider,model`"),
            ("", "named for images"),
        ] {
            assert_eq!(shown(Some(named_vision(&routing, names))), expected, "{names}");
        }
    }

    #[test]
    fn pages_are_read_through_openrouter_where_there_is_a_key() {
        let router = "openrouter https://openrouter.ai/api/v1 sk x";
        let newer = "or https://openrouter.ai/api/v1 sk google/gemini-3.8-flash google/gemini-4-flash google/gemini-4-flash-lite";
        for (providers, configured, expected) in [
            (&[router][..], None, "openrouter,google/gemini-3.8-flash"),
            (&[newer], None, "or,google/gemini-4-flash"),
            (&[router, OPENAI], None, "openrouter,google/gemini-3.8-flash; openai,gpt-5-mini"),
            // Who chose one for images has chosen who sees them: a key for somebody else changes nothing.
            (&[router, QWEN], Some("qwen,qwen-vl"), "qwen,qwen-vl"),
            (&["openrouter https://openrouter.ai/api/v1 - x", OPENAI], None, "openai,gpt-5-mini"),
            (&[DEEP], Some("gone,x"), "!gone,x: the provider `gone` is not configured"),
            (&[DEEP], None, "nobody"),
        ] {
            let routing = routing(providers);
            let plan = document_vision(&VisionInput { routing: &routing, configured, main: None });
            assert_eq!(shown(plan), expected, "{providers:?} {configured:?}");
        }
    }

    #[test]
    fn hosts() {
        for (url, expected) in [
            ("https://api.openai.com/v1", "api.openai.com"),
            ("http://user@h:1/v1", "h"),
            ("http://[::1]:80/x", "[::1]"),
            ("h", "h"),
            ("", ""),
        ] {
            assert_eq!(host(url), expected);
        }
    }

    #[test]
    fn the_model_with_an_api_of_its_own() {
        assert!(is_minimax_vl(&Target::new("x", "minimax-vl-01")));
        assert!(!is_minimax_vl(&Target::new("minimax", "MiniMax-M3")));
    }
}
