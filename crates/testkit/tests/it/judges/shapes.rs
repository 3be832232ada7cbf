//! What the requests in `asks/` say, in short; the same whichever SDK sends them.

pub(super) fn of(sdk: &str, ask: &str) -> Option<&'static str> {
    let shape = match (sdk, ask) {
        ("anthropic", "image") => include_str!("../../judges/shapes/anthropic.image.txt"),
        ("anthropic", "rich") => include_str!("../../judges/shapes/anthropic.rich.txt"),
        ("openai-chat", "image") => include_str!("../../judges/shapes/openai-chat.image.txt"),
        ("openai-chat", "rich") => include_str!("../../judges/shapes/openai-chat.rich.txt"),
        ("openai-responses", "image") => include_str!("../../judges/shapes/openai-responses.image.txt"),
        ("openai-responses", "rich") => include_str!("../../judges/shapes/openai-responses.rich.txt"),
        ("gemini", "image") => include_str!("../../judges/shapes/gemini.image.txt"),
        ("gemini", "rich") => include_str!("../../judges/shapes/gemini.rich.txt"),
        _ => return None,
    };
    Some(shape)
}
