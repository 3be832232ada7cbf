//! opencode.

use rail_config::import::read_json;
use serde_json::json;

use super::client::Client;
use super::launch::{Launch, Pointing, over};

pub(super) const CLIENT: Client =
    Client { name: "opencode", title: "opencode", package: "opencode-ai", launch };

const VARIABLE: &str = "OPENCODE_CONFIG_CONTENT";
const PROVIDER: &str = "switchrail";

fn launch(pointing: &Pointing<'_>) -> Launch {
    let Pointing { url, token, aim, env, .. } = pointing;
    let mut model = json!({"name": aim.model(), "attachment": aim.vision});
    if let (Some(context), output) = (aim.window, aim.output) {
        model = over(model, json!({"limit": {"context": context, "output": output.unwrap_or(8192)}}));
    }
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "Switchrail",
        // Answers of any length are waited for: the gateway has its own limits.
        "options": {"baseURL": format!("{url}/v1"), "apiKey": token.reveal(), "timeout": false},
        "models": {aim.model(): model},
    });
    let name = format!("{PROVIDER}/{}", aim.model());
    let config = json!({
        "provider": {PROVIDER: provider},
        // No other may be asked past the gateway.
        "enabled_providers": [PROVIDER],
        "model": name,
        "small_model": name,
    });
    let (mut launch, said) = (Launch::default(), env.get(VARIABLE).map(read_json).transpose());
    if let Err(problem) = &said {
        launch
            .warnings
            .push(format!("{VARIABLE} can't be read, so that what it says does not count here: {problem}"));
    }
    let said = said.ok().flatten().unwrap_or_default();
    launch
        .set(VARIABLE, over(said, config).to_string())
        .set("OPENCODE_DISABLE_AUTOUPDATE", "1")
        .set("OPENCODE_DISABLE_MODELS_FETCH", "1")
}
