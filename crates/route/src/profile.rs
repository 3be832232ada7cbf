use rail_model::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the code needs to know of a model at a provider.
#[derive(Clone, PartialEq, Debug)]
pub struct ModelProfile {
    /// Tokens of input and output together; None when nobody knows.
    pub window: Option<u64>,
    /// The most tokens of input, where that is less than the window.
    pub max_input: Option<u64>,
    /// The most tokens it gives out.
    pub max_output: Option<u64>,
    /// Whether it sees images.
    pub vision: bool,
    /// How it calls tools.
    pub tools: ToolStyle,
    /// Its family, where the text of its calls alone does not tell (`harmony`, `hunyuan`, …).
    pub family: Option<String>,
    /// Its template ends with the opener of a reasoning block, so that answers begin inside it.
    pub starts_in_reasoning: bool,
    /// Its server escapes `&`, `<`, `>` and quotes in arguments as HTML entities.
    pub escapes_entities: bool,
    /// The built-in mapping of tool and parameter names that it needs, by name.
    pub mapping: Option<String>,
    /// The dialect of tool names it knows best: `native`, `claude`, `gemini`, `codex`.
    pub dialect: String,
    /// How it is told to think.
    pub thinking: Thinks,
    /// Its user text begins with `/no_think ` unless thinking is wanted.
    pub no_think: bool,
    /// Takes no `temperature`, `top_p` and the like.
    pub fixed_sampling: bool,
    /// The highest temperature it takes.
    pub max_temperature: Option<f64>,
    /// The field for the output limit is `max_completion_tokens`.
    pub max_completion_tokens: bool,
    /// Takes the `developer` role.
    pub developer_role: bool,
    /// Whether reasoning is sent back with the history.
    pub reasoning_back: ReasoningBack,
    /// Takes images inside tool results.
    pub image_in_tool_result: bool,
    /// Takes free-text tools.
    pub custom_tools: bool,
    /// Takes `stream_options.include_usage`.
    pub stream_usage: bool,
    /// A model of up to about four billion parameters, which needs a lean prompt.
    pub small: bool,
    /// What it costs; None when nobody knows, which is not the same as nothing.
    pub price: Option<Price>,
}

impl Default for ModelProfile {
    /// What holds of a model and a server that nothing is known of.
    fn default() -> Self {
        Self {
            window: None,
            max_input: None,
            max_output: None,
            vision: false,
            tools: ToolStyle::Mixed,
            family: None,
            starts_in_reasoning: false,
            escapes_entities: false,
            mapping: None,
            dialect: "native".to_owned(),
            thinking: Thinks::AsAsked,
            no_think: false,
            fixed_sampling: false,
            max_temperature: None,
            max_completion_tokens: false,
            developer_role: false,
            reasoning_back: ReasoningBack::Never,
            image_in_tool_result: false,
            custom_tools: false,
            stream_usage: true,
            small: false,
            price: None,
        }
    }
}

impl ModelProfile {
    /// The most input that leaves room for this much output; None when nobody knows the window.
    pub fn room(&self, output: u64) -> Option<u64> {
        let output = output.min(self.max_output.unwrap_or(output));
        let shared = self.window.map(|window| window.saturating_sub(output));
        match (shared, self.max_input) {
            (Some(shared), Some(own)) => Some(shared.min(own)),
            (one, other) => one.or(other),
        }
    }

    /// What this usage costs in US dollars; None when the price or the usage is not known.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        let price = self.price.as_ref()?;
        if usage.input.is_none() && usage.output.is_none() {
            return None;
        }
        let input = usage.all_input();
        let rate = price.tiers.iter().filter(|tier| input > tier.over).max_by_key(|tier| tier.over);
        let (new, read, write, output) = match rate {
            None => (price.input, price.cache_read, price.cache_write, price.output),
            Some(tier) => (tier.input, tier.cache_read, tier.cache_write, tier.output),
        };
        let count = |tokens: Option<u64>| tokens.unwrap_or_default() as f64;
        let dollars = count(usage.input) * new
            + count(usage.cache_read) * read.unwrap_or(new)
            + count(usage.cache_write) * write.unwrap_or(new)
            + usage.all_output() as f64 * output;
        Some(dollars / 1e6)
    }

    /// Takes over what the patch says.
    pub fn apply(&mut self, patch: &ProfilePatch) {
        // Named one by one, so that a field that is added and not taken over does not compile.
        let ProfilePatch {
            window,
            max_input,
            max_output,
            vision,
            tools,
            family,
            starts_in_reasoning,
            escapes_entities,
            mapping,
            dialect,
            thinking,
            no_think,
            fixed_sampling,
            max_temperature,
            max_completion_tokens,
            developer_role,
            reasoning_back,
            image_in_tool_result,
            custom_tools,
            stream_usage,
            small,
            price,
        } = patch;
        keep(&mut self.window, window);
        keep(&mut self.max_input, max_input);
        keep(&mut self.max_output, max_output);
        set(&mut self.vision, vision);
        set(&mut self.tools, tools);
        keep(&mut self.family, family);
        set(&mut self.starts_in_reasoning, starts_in_reasoning);
        set(&mut self.escapes_entities, escapes_entities);
        keep(&mut self.mapping, mapping);
        set(&mut self.dialect, dialect);
        set(&mut self.thinking, thinking);
        set(&mut self.no_think, no_think);
        set(&mut self.fixed_sampling, fixed_sampling);
        keep(&mut self.max_temperature, max_temperature);
        set(&mut self.max_completion_tokens, max_completion_tokens);
        set(&mut self.developer_role, developer_role);
        set(&mut self.reasoning_back, reasoning_back);
        set(&mut self.image_in_tool_result, image_in_tool_result);
        set(&mut self.custom_tools, custom_tools);
        set(&mut self.stream_usage, stream_usage);
        set(&mut self.small, small);
        keep(&mut self.price, price);
    }
}

fn set<T: Clone>(slot: &mut T, said: &Option<T>) {
    if let Some(value) = said {
        slot.clone_from(value);
    }
}

fn keep<T: Clone>(slot: &mut Option<T>, said: &Option<T>) {
    if said.is_some() {
        slot.clone_from(said);
    }
}

/// How a model calls tools.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ToolStyle {
    /// By its protocol's own calls, and they can be trusted: nothing is looked for in its text.
    Native,
    /// By its protocol's own calls or in its text, whichever comes.
    #[default]
    Mixed,
    /// Only as JSON in its text, after being taught so in the prompt.
    Prompted,
    /// Not at all.
    None,
}

/// How a model is told to think.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Thinks {
    /// In the form it was asked for.
    #[default]
    AsAsked,
    /// By a token budget.
    Budget,
    /// By letting it decide.
    Adaptive,
    /// By an effort word.
    Effort,
    /// Not at all: it rejects the field.
    Never,
}

/// Whether reasoning is sent back with the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReasoningBack {
    /// No.
    #[default]
    Never,
    /// Where there is some.
    WhereThereIs,
    /// On every assistant message, empty if need be.
    Always,
}

/// What a million tokens cost, in US dollars.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that came from no cache.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Input read from the provider's cache; as `input` when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Input written to the provider's cache; as `input` when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
    /// What longer requests cost instead, by rising length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
}

/// What a million tokens of a long request cost, in US dollars.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Holds for requests with more tokens of input than this, cached ones included.
    pub over: u64,
    /// Input that came from no cache.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Input read from the provider's cache; as `input` when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Input written to the provider's cache; as `input` when not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

/// What somebody says of a model: each field that is set replaces that of the profile below it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ProfilePatch {
    /// Tokens of input and output together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The most tokens of input, where that is less than the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_input: Option<u64>,
    /// The most tokens it gives out; a request for more is lowered to this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Whether it sees images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// How it calls tools. `native`: by its protocol's own calls, and its text is left alone; `mixed`: calls in its text are
    /// found too; `prompted`: it is taught to write calls as JSON; `none`: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolStyle>,
    /// Its family, where the text of its calls alone does not tell: `harmony`, `hunyuan`, `ernie`, `functionary_v3.2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub family: Option<String>,
    /// Its template ends with the opener of a reasoning block and its server does not tell reasoning apart, so that the text
    /// of an answer begins inside the reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_in_reasoning: Option<bool>,
    /// Its server escapes `&`, `<`, `>` and quotes in arguments as HTML entities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escapes_entities: Option<bool>,
    /// The built-in mapping of tool and parameter names that it needs: a dialect, `lm-studio-qwen` or `aistudio-proxy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping: Option<String>,
    /// The dialect of tool names it knows best: `native`, `claude`, `gemini` or `codex`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// How it is told to think: `as-asked`, `budget` (tokens), `adaptive` (it decides), `effort` (a word), `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinks>,
    /// User text begins with `/no_think ` unless thinking is wanted; for hybrid Qwen3 models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_think: Option<bool>,
    /// It takes no `temperature`, `top_p` and the like; they are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_sampling: Option<bool>,
    /// The highest temperature it takes; a higher one is lowered to this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_temperature: Option<f64>,
    /// The field for the output limit is `max_completion_tokens` (openai-chat).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_completion_tokens: Option<bool>,
    /// It takes the `developer` role; if not, `system` is sent (openai-chat).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub developer_role: Option<bool>,
    /// Whether reasoning is sent back with the history: `never`, `where-there-is`, or `always` (on every assistant message,
    /// empty if need be).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_back: Option<ReasoningBack>,
    /// It takes images inside tool results; if not, they follow in a message of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_in_tool_result: Option<bool>,
    /// It takes free-text tools; if not, they are declared as functions with one string.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_tools: Option<bool>,
    /// It takes `stream_options.include_usage` (openai-chat).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_usage: Option<bool>,
    /// It has up to about four billion parameters and gets a lean prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub small: Option<bool>,
    /// What a million tokens cost, in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A patch that says something else than the default profile in every field.
    fn everything() -> ProfilePatch {
        let price = Price { input: 1.0, output: 2.0, ..Price::default() };
        ProfilePatch {
            window: Some(1),
            max_input: Some(2),
            max_output: Some(3),
            vision: Some(true),
            tools: Some(ToolStyle::Native),
            family: Some("harmony".into()),
            starts_in_reasoning: Some(true),
            escapes_entities: Some(true),
            mapping: Some("gemini".into()),
            dialect: Some("codex".into()),
            thinking: Some(Thinks::Never),
            no_think: Some(true),
            fixed_sampling: Some(true),
            max_temperature: Some(0.5),
            max_completion_tokens: Some(true),
            developer_role: Some(true),
            reasoning_back: Some(ReasoningBack::Always),
            image_in_tool_result: Some(true),
            custom_tools: Some(true),
            stream_usage: Some(false),
            small: Some(true),
            price: Some(price),
        }
    }

    #[test]
    fn every_field_can_be_patched() {
        let lines = |profile: &ModelProfile| -> Vec<String> {
            format!("{profile:#?}")
                .lines()
                .filter(|line| line.starts_with("    ") && line.contains(": "))
                .map(str::to_owned)
                .collect()
        };
        let before = ModelProfile::default();
        let mut after = before.clone();
        after.apply(&everything());
        let same: Vec<String> =
            lines(&before).into_iter().filter(|line| lines(&after).contains(line)).collect();
        assert_eq!(same, Vec::<String>::new(), "not patched");

        let mut again = after.clone();
        again.apply(&ProfilePatch::default());
        assert_eq!(again, after, "an empty patch says nothing");
    }

    #[test]
    fn a_patch_is_written_and_read_with_all_its_fields() {
        let text = serde_json::to_string(&everything()).unwrap();
        assert_eq!(serde_json::from_str::<ProfilePatch>(&text).unwrap(), everything(), "{text}");
        let unknown = toml::from_str::<ProfilePatch>("windov = 1").unwrap_err().to_string();
        assert!(unknown.contains("unknown field `windov`"), "{unknown}");
    }

    #[test]
    fn a_window_is_shared_by_input_and_output() {
        let profile = |window, max_input, max_output| ModelProfile {
            window,
            max_input,
            max_output,
            ..ModelProfile::default()
        };
        for (profile, output, room) in [
            (profile(None, None, None), 10, None),
            (profile(Some(100), None, None), 10, Some(90)),
            (profile(Some(100), None, Some(20)), 50, Some(80)),
            (profile(Some(400), Some(272), Some(128)), 100, Some(272)),
            (profile(Some(400), Some(350), Some(128)), 100, Some(300)),
            (profile(None, Some(30), None), 100, Some(30)),
            (profile(Some(10), None, None), 100, Some(0)),
        ] {
            assert_eq!(profile.room(output), room, "{profile:?}");
        }
    }

    #[test]
    fn costs() {
        let tier = Tier { over: 200_000, input: 2.0, output: 20.0, cache_read: Some(0.2), cache_write: None };
        let price = Price {
            input: 1.0,
            output: 10.0,
            cache_read: Some(0.1),
            cache_write: Some(1.25),
            // In any order.
            tiers: vec![
                tier,
                Tier {
                    over: 1_000,
                    input: 1.0,
                    output: 10.0,
                    cache_read: Some(0.1),
                    cache_write: Some(1.25),
                },
            ],
        };
        let flat = Price { input: 1.0, output: 10.0, ..Price::default() };
        let usage = |input, cache_read, cache_write, output, reasoning| Usage {
            input,
            cache_read,
            cache_write,
            output,
            reasoning,
            ..Usage::default()
        };
        let m = Some(1_000_000);
        for (price, usage, dollars) in [
            (None, usage(m, None, None, m, None), None),
            (Some(&price), usage(None, None, None, None, None), None),
            (Some(&price), usage(Some(100_000), None, None, Some(1000), None), Some(0.11)),
            (Some(&price), usage(Some(0), Some(100_000), Some(100_000), Some(0), None), Some(0.135)),
            (Some(&price), usage(Some(0), Some(200_000), Some(1), Some(0), Some(1000)), Some(0.060_002)),
            (Some(&flat), usage(Some(0), m, m, Some(0), None), Some(2.0)),
            (Some(&flat), usage(None, None, None, Some(500), Some(500)), Some(0.01)),
        ] {
            let profile = ModelProfile { price: price.cloned(), ..ModelProfile::default() };
            let found = profile.cost(&usage);
            assert_eq!(
                found.map(|found| (found * 1e9).round()),
                dollars.map(|dollars: f64| (dollars * 1e9).round())
            );
        }
    }
}
