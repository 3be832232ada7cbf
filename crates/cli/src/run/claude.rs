//! Claude Code.

use super::client::Client;
use super::launch::{Launch, Pointing};

pub(super) const CLIENT: Client =
    Client { name: "claude", title: "Claude Code", package: "@anthropic-ai/claude-code", launch };

/// The sizes of models that it knows, each with a variable for its name.
const SIZES: [&str; 4] = ["opus", "sonnet", "haiku", "fable"];

/// What would make it go to a cloud, or sign in as someone.
const ELSEWHERE: [&str; 14] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_UNIX_SOCKET",
    "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_GATEWAY",
    "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_USE_VERTEX",
    "ANTHROPIC_SMALL_FAST_MODEL",
];

fn launch(pointing: &Pointing<'_>) -> Launch {
    let Pointing { url, token, aim, env, .. } = pointing;
    let mut launch = Launch::default()
        .unset(&ELSEWHERE)
        .set("ANTHROPIC_BASE_URL", *url)
        .set("ANTHROPIC_AUTH_TOKEN", token.reveal())
        // Without it the `env` of the user's settings.json counts more than these variables.
        .set("CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST", "1")
        .set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .set_unless_said(env, "API_TIMEOUT_MS", "3600000");
    for size in SIZES {
        let variable = format!("ANTHROPIC_DEFAULT_{}_MODEL", size.to_ascii_uppercase());
        launch = match &aim.asked {
            Some(name) => launch.set(&variable, name),
            // The size stays in the name, for the user's rules and aliases.
            None => launch.set_unless_said(env, &variable, format!("{}-{size}", aim.model())),
        };
    }
    launch = match &aim.asked {
        Some(name) => launch.set("ANTHROPIC_MODEL", name),
        None => launch.set_unless_said(env, "ANTHROPIC_MODEL", aim.model()),
    };
    if let Some(window) = aim.window {
        launch = launch.set_unless_said(env, "CLAUDE_CODE_MAX_CONTEXT_TOKENS", window.to_string());
    }
    if aim.protocol.name() != "anthropic" {
        // Tools that it finds by a search come as references that only Anthropic's models understand.
        launch = launch.set_unless_said(env, "ENABLE_TOOL_SEARCH", "false");
    }
    launch
}
