//! Gemini CLI.

use std::path::Path;

use serde_json::json;

use super::client::Client;
use super::launch::{Launch, Pointing, over};

pub(super) const CLIENT: Client =
    Client { name: "gemini", title: "Gemini CLI", package: "@google/gemini-cli", launch };

/// The folder that it takes for the user's home.
const HOME: &str = "gemini";
const SETTINGS: &str = "gemini/.gemini/settings.json";

/// The window that it believes every model to have.
const BELIEVED: f64 = 1_048_576.0;

/// What would make it go to a cloud, or sign in as someone.
const ELSEWHERE: [&str; 8] = [
    "CODE_ASSIST_ENDPOINT",
    "GEMINI_API_KEY_AUTH_MECHANISM",
    "GEMINI_CLI_CUSTOM_HEADERS",
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_API_VERSION",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_VERTEX_BASE_URL",
];

fn launch(pointing: &Pointing<'_>) -> Launch {
    let Pointing { url, token, aim, env, .. } = pointing;
    let mut settings = json!({
        // Without it the way to sign in that the user last chose counts, and without any it takes no key for another address.
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
    });
    if let Some(window) = aim.window {
        // It makes a conversation shorter at this share of the window that it believes in.
        #[expect(clippy::cast_precision_loss, reason = "a share needs no sixteen digits")]
        let share = (window as f64 * 0.7 / BELIEVED).min(0.5);
        settings = over(settings, json!({"model": {"compressionThreshold": share}}));
    }
    // Settings come from files only, and those of the system must be root's: so it gets a home of its own, in which all but the
    // settings is the user's.
    let own = env
        .get("GEMINI_CLI_HOME")
        .or(env.get("HOME"))
        .map(Path::new)
        .unwrap_or(Path::new("/"))
        .join(".gemini");
    let launch = Launch::default()
        .unset(&ELSEWHERE)
        .set("GOOGLE_GEMINI_BASE_URL", *url)
        .set("GEMINI_API_KEY", token.reveal())
        .set("GEMINI_CLI_HOME", pointing.file(HOME).display().to_string())
        .file_over(SETTINGS, &own.join("settings.json"), settings)
        .like(Path::new("gemini/.gemini"), &own, "settings.json");
    match &aim.asked {
        Some(name) => launch.set("GEMINI_MODEL", in_a_path(name)),
        None => launch.set_unless_said(env, "GEMINI_MODEL", aim.model()),
    }
}

/// A model's name as it can stand in a path, where Gemini CLI writes it as it is.
fn in_a_path(name: &str) -> String {
    [("%", "%25"), ("/", "%2F"), (":", "%3A"), ("?", "%3F"), ("#", "%23")]
        .iter()
        .fold(name.to_owned(), |name, (sign, escaped)| name.replace(sign, escaped))
}
