//! How code is written here, as files of tools say, and rule files of other agents.

use serde_json::Value;

use super::listing::Listing;
use super::manifests::{one_line, toml_of};

/// As many settings of a file as say something.
const MOST_SETTINGS: usize = 8;

/// Each file that says something of style, with what it says.
pub(super) fn style(listing: &Listing) -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |file: &str, says: String| all.push((file.to_owned(), says));
    for file in ["rustfmt.toml", ".rustfmt.toml", "ruff.toml", ".ruff.toml"] {
        if listing.has(file) {
            add(file, settings(&toml_of(listing.text(file))));
        }
    }
    if listing.has(".editorconfig") {
        add(".editorconfig", editorconfig(listing.text(".editorconfig")));
    }
    let project = toml_of(listing.text("pyproject.toml"));
    for tool in ["ruff", "black", "isort", "mypy"] {
        if let Some(said) = project.pointer(&format!("/tool/{tool}")) {
            add("pyproject.toml", format!("{tool}: {}", settings(said)).trim_end_matches(": ").to_owned());
        }
    }
    let package: Value = serde_json::from_str(listing.text("package.json")).unwrap_or_default();
    if let Some(said) = package.get("prettier").filter(|said| said.is_object()) {
        add("package.json", format!("prettier: {}", settings(said)));
    }
    for file in [".prettierrc", ".prettierrc.json"] {
        if listing.has(file) {
            add(file, settings(&serde_json::from_str(listing.text(file)).unwrap_or_default()));
        }
    }
    let compiler: Value = serde_json::from_str(listing.text("tsconfig.json")).unwrap_or_default();
    if compiler.pointer("/compilerOptions/strict") == Some(&Value::Bool(true)) {
        add("tsconfig.json", "strict".to_owned());
    }
    for file in PRESENT.into_iter().filter(|file| listing.has(file)) {
        add(file, String::new());
    }
    all
}

/// Files of tools whose presence says enough.
const PRESENT: [&str; 17] = [
    ".clang-format",
    ".clang-tidy",
    ".eslintrc.cjs",
    ".eslintrc.js",
    ".eslintrc.json",
    ".eslintrc.yml",
    ".golangci.yaml",
    ".golangci.yml",
    ".pre-commit-config.yaml",
    ".prettierrc.js",
    ".prettierrc.yaml",
    ".rubocop.yml",
    "biome.json",
    "clippy.toml",
    "eslint.config.js",
    "eslint.config.mjs",
    "eslint.config.ts",
];

/// Simple settings, as they would be written.
fn settings(value: &Value) -> String {
    let simple = |value: &Value| matches!(value, Value::Bool(_) | Value::Number(_) | Value::String(_));
    let table = value.as_object();
    let said = table.into_iter().flatten().filter(|(_, value)| simple(value));
    let said = said.filter_map(|(key, value)| one_line(&format!("{key} = {value}")));
    said.take(MOST_SETTINGS).collect::<Vec<_>>().join(", ")
}

/// What counts for all files.
fn editorconfig(text: &str) -> String {
    let mut said = Vec::new();
    let mut counts = true;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            counts = line == "[*]";
        } else if let (true, false, Some((key, value))) =
            (counts, line.starts_with(['#', ';']), line.split_once('='))
        {
            let key = key.trim();
            if key != "root" {
                said.extend(one_line(&format!("{key} = {}", value.trim())));
            }
        }
    }
    said.truncate(MOST_SETTINGS);
    said.join(", ")
}

/// Rule files by their paths.
const RULES: [&str; 9] = [
    "CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
    ".cursorrules",
    ".clinerules",
    ".windsurfrules",
    ".github/copilot-instructions.md",
    ".junie/guidelines.md",
    "CONTRIBUTING.md",
];
/// Folders whose files are rules.
const RULE_FOLDERS: [&str; 4] =
    [".cursor/rules/", ".clinerules/", ".windsurf/rules/", ".github/instructions/"];
/// More of them are told as a folder.
const MOST_RULES: usize = 12;

/// Rule files of other tools, and those of this one deeper down.
pub(super) fn rules(listing: &Listing) -> Vec<String> {
    let mut rules: Vec<String> =
        RULES.iter().filter(|path| listing.has(path)).map(|path| (*path).to_owned()).collect();
    for folder in RULE_FOLDERS {
        rules.extend(listing.below(folder).map(str::to_owned));
    }
    rules.extend(listing.below("").filter(|path| path.ends_with("/AGENTS.md")).map(str::to_owned));
    rules.retain(|path| !path.chars().any(|c| c.is_control() || c == '`'));
    rules.truncate(MOST_RULES);
    rules
}
