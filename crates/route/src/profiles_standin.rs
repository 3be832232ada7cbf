//! A stand-in for the profile table until it is here: delete this file then, and with it its lines in `lib.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rail_model::Usage;

use crate::{ModelProfile, Provider, ReasoningBack, Thinks, ToolStyle};

/// What is known of models, by name.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    known: BTreeMap<String, Arc<ModelProfile>>,
}

impl Profiles {
    /// What is known of a provider's model.
    pub fn of(&self, provider: &Provider, model: &str) -> Arc<ModelProfile> {
        let mut profile = self.known.get(model).map_or_else(unknown, |known| (**known).clone());
        if let Some(window) = provider.models.get(model).and_then(|patch| patch.window) {
            profile.window = Some(window);
        }
        Arc::new(profile)
    }

    /// Says what is known of a model.
    pub fn set(&mut self, model: &str, change: impl FnOnce(&mut ModelProfile)) {
        let mut profile = unknown();
        change(&mut profile);
        self.known.insert(model.to_owned(), Arc::new(profile));
    }
}

impl ModelProfile {
    /// The most input that leaves room for this much output; None when nobody knows the window.
    pub fn room(&self, output: u64) -> Option<u64> {
        let output = output.min(self.max_output.unwrap_or(output));
        self.window.map(|window| window.saturating_sub(output))
    }

    /// What this usage costs in US dollars; None when the price is not known.
    #[expect(
        clippy::cast_precision_loss,
        reason = "token counts are far below the 2^53 that a float holds exactly"
    )]
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        let price = self.price.as_ref()?;
        let count = |tokens: Option<u64>| tokens.unwrap_or_default() as f64;
        let dollars = count(usage.input) * price.input
            + count(usage.cache_read) * price.cache_read.unwrap_or(price.input)
            + usage.all_output() as f64 * price.output;
        Some(dollars / 1e6)
    }
}

fn unknown() -> ModelProfile {
    ModelProfile {
        window: None,
        max_output: None,
        vision: true,
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
        price: None,
    }
}
