//! Keys that were pasted where they don't belong, so that a message about that place does not repeat them.

/// What the keys of well-known providers begin with.
const BEGINNINGS: &[&str] = &[
    "sk-",
    "sk_",
    "rk-",
    "AIza",
    "AQ.",
    "gsk_",
    "xai-",
    "hf_",
    "nvapi-",
    "pplx-",
    "r8_",
    "fw_",
    "csk-",
    "ms-",
    "tgp_",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "eyJ",
];

/// Shorter words are names.
const SHORTEST: usize = 20;

/// Whether a word looks like a key of a well-known provider.
pub(crate) fn is_key(word: &str) -> bool {
    word.len() >= SHORTEST
        && word.contains(|c: char| c.is_ascii_digit())
        && BEGINNINGS.iter().any(|begin| word.starts_with(begin))
}

/// The text with `***` for each word that looks like a key.
pub(crate) fn hide(text: &str) -> String {
    let of_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut out = String::new();
    for part in text.split_inclusive(|c: char| !of_word(c)) {
        let word = part.trim_end_matches(|c: char| !of_word(c));
        let after = part.get(word.len()..).unwrap_or_default();
        out.push_str(&without_key(word));
        out.push_str(after);
    }
    out
}

/// A word may be a path, `providers.NAME.key` or `SWITCHRAIL_PROVIDERS__NAME__KEY`, with a key as one of its parts.
fn without_key(word: &str) -> String {
    let shown = |part: &str| if is_key(part) { "***".to_owned() } else { part.to_owned() };
    let parts = |part: &str| part.split("__").map(shown).collect::<Vec<_>>().join("__");
    if is_key(word) { shown(word) } else { word.split('.').map(parts).collect::<Vec<_>>().join(".") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_hidden_and_names_are_not() {
        for (text, expected) in [
            ("`sk-ant-api03-abcdefghij1234567890` is no target", "`***` is no target"),
            ("providers.sk-proj-abcdefghij1234567890.base_url", "providers.***.base_url"),
            ("SWITCHRAIL_PROVIDERS__gsk_abcdefghij1234567890__KEY", "SWITCHRAIL_PROVIDERS__***__KEY"),
            ("a=AIzaSyD-abcdefghijklmnop1234567,m", "a=***,m"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.x1", "***"),
            ("`/srv/sk-ant-api03-abcdefghij1234567890`", "`/srv/***`"),
            ("qwen,unsloth/qwen3-235b-a22b-gguf/x-00001-of-00003.gguf", ""),
            ("sk-short; ms-marco-minilm-l-twelve-version; sk-learn-notebooks-folder", ""),
            ("", ""),
        ] {
            let expected = if expected.is_empty() { text } else { expected };
            assert_eq!(hide(text), expected);
        }
    }
}
