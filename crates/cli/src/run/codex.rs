//! Codex CLI.

use rail_gateway::codex_model;
use rail_route::ModelProfile;
use rail_wire::openai_responses;
use serde_json::{Value, json};

use super::aim::Aim;
use super::client::Client;
use super::launch::{Launch, Pointing};

pub(super) const CLIENT: Client =
    Client { name: "codex", title: "Codex CLI", package: "@openai/codex", launch };

const CATALOG: &str = "codex-models.json";
const TOKEN: &str = "RAIL_RUN_TOKEN";

/// What would make it sign in as someone.
const ELSEWHERE: [&str; 2] = ["CODEX_API_KEY", "OPENAI_BASE_URL"];

fn launch(pointing: &Pointing<'_>) -> Launch {
    let Pointing { url, token, aim, .. } = pointing;
    let provider = [
        ("name", text("Switchrail")),
        ("base_url", text(&format!("{url}/v1"))),
        ("env_key", text(TOKEN)),
        ("wire_api", text("responses")),
        ("supports_websockets", "false".to_owned()),
        // The gateway has tried all there is, and tells that it still waits.
        ("request_max_retries", "2".to_owned()),
        ("stream_idle_timeout_ms", "3600000".to_owned()),
    ];
    let mut settings = vec![
        ("model".to_owned(), text(aim.model())),
        ("model_provider".to_owned(), text("switchrail")),
        ("analytics.enabled".to_owned(), "false".to_owned()),
        ("check_for_update_on_startup".to_owned(), "false".to_owned()),
    ];
    settings.extend(provider.map(|(key, value)| (format!("model_providers.switchrail.{key}"), value)));
    if aim.protocol != openai_responses::ID {
        // Only OpenAI runs the search that it declares, and a request with it would count as one for the web.
        settings.push(("web_search".to_owned(), text("disabled")));
    }
    let mut launch = Launch::default().unset(&ELSEWHERE).set(TOKEN, token.reveal());
    if !knows(aim) {
        let path = pointing.file(CATALOG).display().to_string();
        settings.push(("model_catalog_json".to_owned(), text(&path)));
        launch = launch.file(CATALOG, catalog(aim));
    }
    launch.args =
        settings.into_iter().flat_map(|(key, value)| ["-c".to_owned(), format!("{key}={value}")]).collect();
    launch
}

/// Whether Codex has a prompt and figures of its own for whoever answers. Others may have such a name too, and other figures.
fn knows(aim: &Aim) -> bool {
    let its_own = aim.protocol == openai_responses::ID && aim.first.model == aim.model();
    its_own && aim.model().starts_with("gpt-")
}

/// The list of models that Codex knows: the one that is asked for, as its profile has it.
fn catalog(aim: &Aim) -> Value {
    let Aim { window, vision, thinking, .. } = *aim;
    let profile = ModelProfile { window, vision, thinking, ..ModelProfile::default() };
    json!({"models": [codex_model(aim.model(), &profile, 0)]})
}

/// A string as TOML has it.
fn text(value: &str) -> String {
    Value::from(value).to_string()
}
