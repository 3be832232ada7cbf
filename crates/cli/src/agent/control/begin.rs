//! How a client begins: what it has for us, and what it is told.

use std::sync::Arc;
use std::time::Duration;

use rail_agent::hooks::{CallbackGroup, CallbackHooks};
use serde_json::{Map, Value, json};

use super::client::Client;
use crate::agent::slash::Offered;

/// The hooks that a client registers, which are called back.
pub(crate) fn hooks(said: &Map<String, Value>, client: &Arc<Client>) -> Option<CallbackHooks> {
    let groups = groups(said.get("hooks")?);
    (!groups.is_empty()).then(|| CallbackHooks { groups, calls: Arc::clone(client) as _ })
}

fn groups(hooks: &Value) -> Vec<CallbackGroup> {
    let group = |event: &str, group: &Value| CallbackGroup {
        event: event.to_owned(),
        matcher: group.get("matcher").and_then(Value::as_str).map(str::to_owned),
        callbacks: texts(group.get("hookCallbackIds")),
        limit: group
            .get("timeout")
            .and_then(Value::as_f64)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
    };
    let events = hooks.as_object().into_iter().flatten();
    events
        .flat_map(|(event, groups)| groups.as_array().into_iter().flatten().map(move |of| group(event, of)))
        .collect()
}

/// A system prompt that the client gives: a text, or several.
pub(crate) fn prompt(said: &Map<String, Value>, key: &str) -> Option<String> {
    let text = match said.get(key)? {
        Value::String(text) => text.clone(),
        list => texts(Some(list)).join("\n\n"),
    };
    (!text.is_empty()).then_some(text)
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// What a client is told when it begins.
pub(crate) fn welcome(commands: &[Offered], models: &[String]) -> Value {
    let commands = commands
        .iter()
        .map(|each| json!({"name": each.name, "description": each.help, "argumentHint": each.hint}));
    let models = models.iter().map(|model| json!({"value": model, "displayName": model, "description": ""}));
    json!({
        "commands": commands.collect::<Vec<_>>(),
        "agents": [],
        "output_style": "default",
        "available_output_styles": ["default"],
        "models": models.collect::<Vec<_>>(),
        "account": {},
        "hooks_applied": true,
        "hook_on_failure_supported": false,
        "pid": std::process::id(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_are_read() {
        let hooks = json!({
            "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["hook_0", "hook_1"], "timeout": 2.5}],
            "Stop": [{"matcher": null, "hookCallbackIds": ["hook_2"]}],
        });
        let group = |event: &str, matcher: Option<&str>, callbacks: &[&str], limit| CallbackGroup {
            event: event.to_owned(),
            matcher: matcher.map(str::to_owned),
            callbacks: callbacks.iter().map(|id| (*id).to_owned()).collect(),
            limit,
        };
        let expected = [
            group("PreToolUse", Some("Bash"), &["hook_0", "hook_1"], Some(Duration::from_millis(2500))),
            group("Stop", None, &["hook_2"], None),
        ];
        assert_eq!(groups(&hooks), expected);
    }

    #[test]
    fn prompts_are_texts_or_lists() {
        let said = json!({"systemPrompt": ["a", "b"], "appendSystemPrompt": "c", "empty": ""});
        let said = said.as_object().unwrap();
        assert_eq!(prompt(said, "systemPrompt").as_deref(), Some("a\n\nb"));
        assert_eq!(prompt(said, "appendSystemPrompt").as_deref(), Some("c"));
        assert_eq!(prompt(said, "empty"), None);
        assert_eq!(prompt(said, "none"), None);
    }
}
