//! A stand-in for the profile table until it is here: delete this file then.

use std::collections::BTreeMap;
use std::sync::Arc;

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
