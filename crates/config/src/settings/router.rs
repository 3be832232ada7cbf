use std::collections::BTreeMap;

use rail_route::{Options, Rule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ChainText;

/// The chain of each virtual model: the targets that are tried, first to last. A virtual model without one is served by `default`'s.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RouterSettings {
    /// Whatever is nothing else, and every virtual model without a chain of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<ChainText>,
    /// Requests that declare tools, other than web and image tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coding: Option<ChainText>,
    /// Requests with an image in the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_processing: Option<ChainText>,
    /// Requests with more tokens than `router.options.long_context_threshold`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_context: Option<ChainText>,
    /// Requests whose tools are web tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web_search: Option<ChainText>,
    /// Requests that ask for thinking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<ChainText>,
    /// Thresholds and matching modes.
    pub options: Options,
    /// Virtual models of your own: `[[router.rules]]`, the lowest priority first.
    pub rules: Vec<Rule>,
    /// Chains of the virtual models that `[[router.rules]]` name.
    #[serde(flatten)]
    pub own: BTreeMap<String, ChainText>,
}

impl RouterSettings {
    /// Every chain with its virtual model.
    pub fn chains(&self) -> impl Iterator<Item = (&str, &ChainText)> {
        let built_in = [
            ("default", &self.default),
            ("coding", &self.coding),
            ("imageProcessing", &self.image_processing),
            ("longContext", &self.long_context),
            ("webSearch", &self.web_search),
            ("reasoning", &self.reasoning),
        ];
        let built_in = built_in.into_iter().filter_map(|(name, chain)| Some((name, chain.as_ref()?)));
        built_in.chain(self.own.iter().map(|(name, chain)| (name.as_str(), chain)))
    }
}
