//! What the tests know of each client, apart from what `rail run` knows.

use std::path::Path;

use serde_json::{Value, json};

/// A client under test.
pub(super) struct Tested {
    pub(super) name: &'static str,
    pub(super) package: &'static str,
    pub(super) version: &'static str,
    /// The script of the package that puts its binary in its place.
    pub(super) finish: Option<&'static str>,
    /// Its name in the ledger.
    pub(super) known_as: &'static str,
    /// The protocol that it speaks.
    pub(super) protocol: &'static str,
    /// Arguments for a task without questions, the task last.
    pub(super) args: &'static [&'static str],
    /// The variables that point it at a gateway, `GATEWAY` in them.
    pub(super) env: &'static [(&'static str, &'static str)],
    /// Its calls: read a file, edit it, run a command.
    pub(super) calls: fn(&Files) -> [Call; 3],
    /// The user's own configuration, which points elsewhere, and must stay as it is.
    pub(super) own: &'static [(&'static str, &'static str)],
}

/// A call by name and arguments.
pub(super) type Call = (&'static str, Value);

/// What the task is about.
pub(super) struct Files {
    /// The path of the file, absolute.
    pub(super) notes: String,
}

impl Files {
    pub(super) fn of(folder: &Path) -> Self {
        Self { notes: folder.join("notes.txt").to_str().unwrap().to_owned() }
    }
}

pub(super) const BEFORE: &str = "colour = red\nsize = 3\n";
pub(super) const AFTER: &str = "colour = blue\nsize = 3\n";
const OLD: &str = "colour = red";
const NEW: &str = "colour = blue";
/// The command: it counts what is in the file by then.
const COUNT: &str = "wc -c < notes.txt > count.txt";

pub(super) const CLAUDE: Tested = Tested {
    name: "claude",
    package: "@anthropic-ai/claude-code",
    version: "2.1.325",
    finish: Some("install.cjs"),
    known_as: "claude-code",
    protocol: "anthropic",
    args: &["--allowedTools", "Read,Edit,Bash", "-p"],
    env: &[
        ("ANTHROPIC_BASE_URL", "GATEWAY"),
        ("ANTHROPIC_AUTH_TOKEN", "none"),
        ("ANTHROPIC_MODEL", "any"),
        ("ANTHROPIC_DEFAULT_HAIKU_MODEL", "any"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("ENABLE_TOOL_SEARCH", "false"),
    ],
    calls: |files| {
        [
            ("Read", json!({"file_path": files.notes})),
            ("Edit", json!({"file_path": files.notes, "old_string": OLD, "new_string": NEW})),
            ("Bash", json!({"command": COUNT, "description": "Count"})),
        ]
    },
    own: &[(
        ".claude/settings.json",
        r#"{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTHROPIC_API_KEY": "mine", "ANTHROPIC_MODEL": "mine"}}"#,
    )],
};

pub(super) const CODEX: Tested = Tested {
    name: "codex",
    package: "@openai/codex",
    version: "0.166.0",
    finish: None,
    known_as: "codex",
    protocol: "openai-responses",
    args: &[
        "-c",
        "features.plugins=false",
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
    ],
    env: &[("RAIL_TEST_TOKEN", "none")],
    calls: |_| {
        let patch = format!(
            "*** Begin Patch\n*** Update File: notes.txt\n@@\n-{OLD}\n+{NEW}\n size = 3\n*** End Patch\n"
        );
        [
            ("exec_command", json!({"cmd": "cat notes.txt"})),
            ("apply_patch", json!({"input": patch})),
            ("exec_command", json!({"cmd": COUNT})),
        ]
    },
    own: &[(
        ".codex/config.toml",
        "model = \"mine\"\nmodel_provider = \"mine\"\n[model_providers.mine]\nname = \"mine\"\nbase_url = \"http://127.0.0.1:9/v1\"\n",
    )],
};

pub(super) const GEMINI: Tested = Tested {
    name: "gemini",
    package: "@google/gemini-cli",
    version: "0.61.0",
    finish: None,
    known_as: "gemini-cli",
    protocol: "gemini",
    args: &["--skip-trust", "--yolo", "-p"],
    env: &[("GOOGLE_GEMINI_BASE_URL", "GATEWAY"), ("GEMINI_API_KEY", "none"), ("GEMINI_MODEL", "any")],
    calls: |_| {
        let edit = json!({
            "file_path": "notes.txt", "instruction": "make it blue", "old_string": OLD, "new_string": NEW,
        });
        [
            ("read_file", json!({"file_path": "notes.txt"})),
            ("replace", edit),
            ("run_shell_command", json!({"command": COUNT, "description": "Count"})),
        ]
    },
    own: &[(
        ".gemini/settings.json",
        r#"{"security": {"auth": {"selectedType": "oauth-personal"}}, "model": {"name": "mine"}}"#,
    )],
};

pub(super) const QWEN: Tested = Tested {
    name: "qwen",
    package: "@qwen-code/qwen-code",
    version: "0.24.4",
    finish: None,
    known_as: "qwen-code",
    protocol: "openai-chat",
    args: &["--yolo", "-p"],
    env: &[("OPENAI_BASE_URL", "GATEWAY/v1"), ("OPENAI_API_KEY", "none"), ("OPENAI_MODEL", "any")],
    calls: |files| {
        [
            ("read_file", json!({"file_path": files.notes})),
            ("edit", json!({"file_path": files.notes, "old_string": OLD, "new_string": NEW})),
            ("run_shell_command", json!({"command": COUNT, "is_background": false})),
        ]
    },
    own: &[(
        ".qwen/settings.json",
        r#"{"security": {"auth": {"selectedType": "openai"}}, "model": {"name": "mine"}, "modelProviders": {"openai": [{"id": "mine", "envKey": "MINE", "baseUrl": "http://127.0.0.1:9/v1"}]}, "$version": 4}"#,
    )],
};

pub(super) const OPENCODE: Tested = Tested {
    name: "opencode",
    package: "opencode-ai",
    version: "1.18.33",
    finish: Some("postinstall.mjs"),
    known_as: "opencode",
    protocol: "openai-chat",
    args: &["run"],
    env: &[(
        "OPENCODE_CONFIG_CONTENT",
        r#"{"provider": {"s": {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "GATEWAY/v1", "apiKey": "none"}, "models": {"any": {}}}}, "model": "s/any", "small_model": "s/any"}"#,
    )],
    calls: |files| {
        [
            ("read", json!({"filePath": files.notes})),
            ("edit", json!({"filePath": files.notes, "oldString": OLD, "newString": NEW})),
            ("bash", json!({"command": COUNT, "description": "Count"})),
        ]
    },
    own: &[(
        ".config/opencode/opencode.json",
        r#"{"$schema": "https://opencode.ai/config.json", "enabled_providers": ["anthropic"], "model": "anthropic/mine"}"#,
    )],
};
