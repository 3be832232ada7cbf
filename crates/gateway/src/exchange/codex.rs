//! What Codex wants to know of a model.

use rail_route::{ModelProfile, Thinks};
use serde_json::{Value, json};

/// The window of a model of which nobody knows it: large enough to work in, small enough for most.
const WINDOW: u64 = 128_000;
/// Tokens of a command's output that Codex shows to a model.
const OUTPUT: u64 = 10_000;

/// What a model is told that Codex has no prompt for. It knows its own models only, and without a prompt it would take none.
const INSTRUCTIONS: &str = include_str!("codex.md");

/// The entry of one model in Codex's catalogue, as `/models?client_version=` answers and `model_catalog_json` holds it. It says
/// what any known version of Codex wants to be told; each takes no notice of fields that it does not know.
pub fn codex_model(name: &str, profile: &ModelProfile, priority: usize) -> Value {
    let window = profile.window.or(profile.max_input).unwrap_or(WINDOW);
    let thinks = match profile.thinking {
        Thinks::Budget | Thinks::Adaptive | Thinks::Effort => true,
        Thinks::AsAsked | Thinks::Never => false,
    };
    let levels: &[(&str, &str)] = if thinks {
        &[("low", "Quick answers"), ("medium", "The usual"), ("high", "For hard problems")]
    } else {
        &[]
    };
    let levels: Vec<Value> = levels
        .iter()
        .map(|(effort, description)| json!({"effort": effort, "description": description}))
        .collect();
    let modalities: &[&str] = if profile.vision { &["text", "image"] } else { &["text"] };
    let mut model = json!({
        "slug": name,
        "display_name": name,
        "description": "served by Switchrail",
        "supported_reasoning_levels": levels,
        "shell_type": "unified_exec",
        "visibility": "list",
        "supported_in_api": true,
        "priority": priority,
        "additional_speed_tiers": [],
        "service_tiers": [],
        "availability_nux": null,
        "upgrade": null,
        "base_instructions": INSTRUCTIONS,
        "include_skills_usage_instructions": true,
        "supports_reasoning_summaries": thinks,
        "supports_reasoning_summary_parameter": thinks,
        "default_reasoning_summary": "auto",
        "support_verbosity": false,
        "default_verbosity": null,
        "apply_patch_tool_type": "freeform",
        "web_search_tool_type": "text",
        "truncation_policy": {"mode": "tokens", "limit": OUTPUT},
        "supports_parallel_tool_calls": true,
        "supports_image_detail_original": false,
        "context_window": window,
        "max_context_window": window,
        "auto_compact_token_limit": null,
        "effective_context_window_percent": 95,
        "experimental_supported_tools": [],
        "input_modalities": modalities,
        "supports_search_tool": false,
        "prefer_websockets": false,
        "use_responses_lite": false,
    });
    if let (true, Some(fields)) = (thinks, model.as_object_mut()) {
        fields.insert("default_reasoning_level".to_owned(), Value::from("medium"));
    }
    model
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_model_is_told() {
        let known = ModelProfile {
            window: Some(200_000),
            vision: true,
            thinking: Thinks::Effort,
            ..ModelProfile::default()
        };
        let model = codex_model("coding", &known, 3);
        let fields = ["slug", "priority", "context_window", "input_modalities", "default_reasoning_level"];
        let told: Vec<String> = fields.iter().map(|field| model[field].to_string()).collect();
        assert_eq!(told, ["\"coding\"", "3", "200000", "[\"text\",\"image\"]", "\"medium\""]);
        let unknown = codex_model("m", &ModelProfile::default(), 0);
        let told: Vec<String> = fields.iter().map(|field| unknown[field].to_string()).collect();
        assert_eq!(told, ["\"m\"", "0", "128000", "[\"text\"]", "null"]);
    }

    /// Fields without a default in the versions of Codex up to 0.120.
    #[test]
    fn nothing_that_codex_demands_is_missing() {
        let model = codex_model("m", &ModelProfile::default(), 0);
        let demanded = [
            "slug",
            "display_name",
            "supported_reasoning_levels",
            "shell_type",
            "visibility",
            "supported_in_api",
            "priority",
            "base_instructions",
            "supports_reasoning_summaries",
            "support_verbosity",
            "truncation_policy",
            "supports_parallel_tool_calls",
            "experimental_supported_tools",
        ];
        for field in demanded {
            assert!(!model[field].is_null(), "{field}");
        }
    }
}
