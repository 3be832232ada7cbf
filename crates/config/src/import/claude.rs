mod env;
mod servers;

use rail_route::Target;
use serde_json::{Map, Value};

use super::draft::{Draft, take, take_map, take_text, texts};
use super::{ImportError, Imported, json};
use crate::format;
use env::Env;

const WHAT: &str = "the settings of Claude Code";

/// Moments of a session at which hooks run, here as there.
const MOMENTS: [&str; 12] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "Stop",
    "SessionEnd",
];

/// What is left alone, with what to do instead.
const INSTEAD: [(&str, &str); 6] = [
    (
        "apiKeyHelper",
        "no program is asked for keys; put the key into a variable, a file or the keyring (`env:`, `file:`, `keyring:`)",
    ),
    ("statusLine", "the status line is built in"),
    ("enableAllProjectMcpServers", "servers that a project brings are asked about once"),
    ("enabledMcpjsonServers", "servers that a project brings are asked about once"),
    ("disabledMcpjsonServers", "servers that a project brings are asked about once"),
    ("sandbox", "use `--sandbox off|workspace|read-only`"),
];

/// Reads Claude Code's `settings.json`, `.mcp.json` or `.claude.json`: whichever of their keys are there.
pub fn claude(text: &str) -> Result<Imported, ImportError> {
    claude_with(Some(text), &[])
}

/// Reads Claude Code's settings, and beside them the MCP servers of other files of its, each with its name; of two servers with
/// one name the first counts.
pub fn claude_with(settings: Option<&str>, servers: &[(&str, &str)]) -> Result<Imported, ImportError> {
    let mut root = settings.map_or_else(|| Ok(Map::new()), object)?;
    let mut draft = Draft::new("From Claude Code's settings, by `rail config import claude`.");
    if settings.is_some() {
        let model = take_text(&mut root, &["model"]);
        Env::read(take_map(&mut root, &["env"])).write(&mut draft, model);
    }
    permissions(&mut draft, take_map(&mut root, &["permissions"]));
    hooks(&mut draft, take_map(&mut root, &["hooks"]));
    let mut all = take_map(&mut root, &["mcpServers"]);
    for (file, text) in servers {
        let mut said = object(text).unwrap_or_else(|error| {
            draft.note(format!("{file} is left out: {}", error.problem));
            Map::new()
        });
        for (name, server) in take_map(&mut said, &["mcpServers"]) {
            match all.contains_key(&name) {
                true => draft
                    .note(format!("MCP server `{name}` of {file} is left out: one of that name is there")),
                false => {
                    draft.note(format!("MCP server `{name}` comes from {file}; look at what it starts"));
                    all.insert(name, server);
                }
            }
        }
    }
    servers::write(&mut draft, all);
    projects(&mut draft, &take_map(&mut root, &["projects"]));
    for (key, instead) in INSTEAD {
        if take(&mut root, &[key]).is_some() {
            draft.note(format!("`{key}`: {instead}"));
        }
    }
    root.shift_remove("$schema");
    draft.left_over("settings", &root);
    Ok(draft.finish())
}

fn object(text: &str) -> Result<Map<String, Value>, ImportError> {
    let wrong = |problem: String| ImportError { what: WHAT, problem };
    match json::read(text).map_err(wrong)? {
        Value::Object(map) => Ok(map),
        _ => Err(wrong("it is no JSON object".to_owned())),
    }
}

fn permissions(draft: &mut Draft, mut said: Map<String, Value>) {
    if said.is_empty() {
        return;
    }
    draft.table(&["permissions"]);
    if let Some(mode) = take_text(&mut said, &["defaultMode"]) {
        match mode.as_str() {
            "default" => draft.pair("mode", "default"),
            "acceptEdits" => draft.pair("mode", "accept-edits"),
            "plan" => draft.pair("mode", "plan"),
            "bypassPermissions" => draft.pair("mode", "bypass"),
            other => {
                draft.note(format!("permissions.defaultMode: there is no mode `{other}`; `default` holds"))
            }
        }
    }
    for list in ["allow", "ask", "deny"] {
        if said.get(list).is_some_and(Value::is_array) {
            let rules = texts(take(&mut said, &[list]).as_ref());
            let (rules, wrong): (Vec<_>, Vec<_>) =
                rules.into_iter().partition(|rule| format::wrong("permission-rule", rule).is_none());
            if !wrong.is_empty() {
                draft.note(format!(
                    "permissions.{list}: {} of its texts are no rules and are left out",
                    wrong.len()
                ));
            }
            draft.list(list, &rules);
        }
    }
    for folder in texts(take(&mut said, &["additionalDirectories"]).as_ref()) {
        draft.note(format!("permissions.additionalDirectories: start with `--add-dir {folder}`"));
    }
    if take(&mut said, &["disableBypassPermissionsMode"]).is_some() {
        draft.note("permissions.disableBypassPermissionsMode: hard denials hold in every mode; `bypass` itself can't be switched off");
    }
    draft.left_over("permissions", &said);
}

fn hooks(draft: &mut Draft, mut said: Map<String, Value>) {
    for moment in MOMENTS {
        let groups =
            if said.get(moment).is_some_and(Value::is_array) { take(&mut said, &[moment]) } else { None };
        for group in groups.as_ref().and_then(Value::as_array).into_iter().flatten() {
            hook_group(draft, moment, group);
        }
    }
    for moment in said.keys() {
        draft.note(format!("hooks.{moment}: there is no such moment here"));
    }
}

fn hook_group(draft: &mut Draft, moment: &str, group: &Value) {
    let Value::Object(mut group) = group.clone() else {
        return draft.note(format!("hooks.{moment}: a group is no object"));
    };
    let listed = take(&mut group, &["hooks"]);
    let mut commands = Vec::new();
    for hook in listed.as_ref().and_then(Value::as_array).into_iter().flatten() {
        let mut hook = hook.as_object().cloned().unwrap_or_default();
        let kind = take_text(&mut hook, &["type"]).unwrap_or_else(|| "command".to_owned());
        match (kind.as_str(), take_text(&mut hook, &["command"])) {
            ("command", Some(command)) => {
                let seconds = hook.get("timeout").and_then(Value::as_i64).filter(|seconds| *seconds > 0);
                if seconds.is_some() {
                    hook.shift_remove("timeout");
                }
                commands.push((command, seconds));
                draft.left_over(&format!("hooks.{moment}"), &hook);
            }
            (kind, _) => draft
                .note(format!("hooks.{moment}: a hook of the kind `{kind}` is left out; hooks are commands")),
        }
    }
    if commands.is_empty() {
        return;
    }
    draft.element(&["hooks", moment]);
    if let Some(matcher) = take_text(&mut group, &["matcher"]) {
        draft.pair("matcher", matcher);
    }
    for (command, seconds) in commands {
        draft.element(&["hooks", moment, "hooks"]);
        draft.pair("type", "command");
        draft.pair("command", command);
        if let Some(seconds) = seconds {
            draft.pair("timeout", seconds);
        }
    }
    draft.left_over(&format!("hooks.{moment}"), &group);
}

/// Servers that `.claude.json` keeps for single projects.
fn projects(draft: &mut Draft, projects: &Map<String, Value>) {
    for (folder, project) in projects {
        let servers = project.get("mcpServers").and_then(Value::as_object);
        for name in servers.into_iter().flat_map(Map::keys) {
            draft.note(format!(
                "MCP server `{name}` of {folder}: add it there with `rail mcp add -s local {name} …`"
            ));
        }
    }
}

/// A target of the one provider that Claude Code has.
fn target(provider: &str, model: &str) -> Option<Target> {
    // Claude Code marks the long window so; no endpoint knows it.
    let model = model.trim().trim_end_matches("[1m]");
    (!model.is_empty() && !model.contains([',', ';'])).then(|| Target::new(provider, model))
}
