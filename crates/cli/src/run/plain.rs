//! Any program: the variables by which SDKs and clients find their servers.

use super::launch::{Launch, Pointing};

/// What would make an SDK go elsewhere.
const ELSEWHERE: [&str; 8] = [
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "GOOGLE_API_KEY",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "OPENAI_ORG_ID",
];

pub(super) fn launch(pointing: &Pointing<'_>) -> Launch {
    let Pointing { url, token, .. } = pointing;
    let openai = format!("{url}/v1");
    Launch::default()
        .unset(&ELSEWHERE)
        .set("ANTHROPIC_BASE_URL", *url)
        .set("ANTHROPIC_API_KEY", token.reveal())
        .set("OPENAI_BASE_URL", &openai)
        .set("OPENAI_API_BASE", openai.as_str())
        .set("OPENAI_API_KEY", token.reveal())
        .set("GOOGLE_GEMINI_BASE_URL", *url)
        .set("GEMINI_API_KEY", token.reveal())
}
