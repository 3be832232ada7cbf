//! Qwen Code.

use std::path::Path;

use serde_json::json;

use super::client::Client;
use super::launch::{Launch, Pointing, over};

pub(super) const CLIENT: Client =
    Client { name: "qwen", title: "Qwen Code", package: "@qwen-code/qwen-code", launch };

const SETTINGS: &str = "qwen-settings.json";
const VARIABLE: &str = "QWEN_CODE_SYSTEM_SETTINGS_PATH";
const USUAL: &str = "/etc/qwen-code/settings.json";

/// What would make it choose another model or another way.
const ELSEWHERE: [&str; 4] = ["QWEN_MODEL", "QWEN_CODE_MODEL", "QWEN_DEFAULT_AUTH_TYPE", "OPENAI_API_BASE"];

fn launch(pointing: &Pointing<'_>) -> Launch {
    let Pointing { url, token, aim, env, .. } = pointing;
    let base = format!("{url}/v1");
    // Reasoning and answers of any length are waited for: the gateway has its own limits.
    let mut generation = json!({"timeout": 3_600_000});
    if let Some(window) = aim.window {
        generation = over(generation, json!({"contextWindowSize": window}));
    }
    let model = json!({
        "id": aim.model(), "name": aim.model(), "envKey": "OPENAI_API_KEY", "baseUrl": base,
        "generationConfig": generation,
    });
    let settings = json!({
        // Without these the model and the way to sign in that the user last chose count.
        "security": {"auth": {"selectedType": "openai"}},
        "model": {"name": aim.model()},
        "modelProviders": {"openai": [model]},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false},
    });
    Launch::default()
        .unset(&ELSEWHERE)
        .set("OPENAI_BASE_URL", base)
        .set("OPENAI_API_KEY", token.reveal())
        .set("OPENAI_MODEL", aim.model())
        .set(VARIABLE, pointing.file(SETTINGS).display().to_string())
        .file_over(SETTINGS, Path::new(env.get(VARIABLE).unwrap_or(USUAL)), settings)
}
