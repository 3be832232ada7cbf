//! Commands that say what is so in this folder, with or without a session.

use std::fmt::Write;

use anyhow::anyhow;
use rail_agent::memory::{Memory, MemoryPlaces};
use rail_config::settings::HookGroup;
use rail_config::{Which, With, show_toml};
use rail_permit::{Mode, Rule};

use super::{Ground, Offered, offered};
use crate::Failure;
use crate::clock::Now;
use crate::table::{Side, lines};

/// The commands there are.
pub(super) fn help(ground: &Ground) -> String {
    let row = |each: Offered| vec![format!("/{} {}", each.name, each.hint).trim_end().to_owned(), each.help];
    let remote = ground.live.iter().flat_map(|live| &live.offered).map(|each| Offered {
        name: each.name.clone(),
        hint: each.hint.clone(),
        help: each.help.clone(),
    });
    let rows: Vec<Vec<String>> = offered(&ground.prepared).into_iter().chain(remote).map(row).collect();
    let mut out = lines(&[Side::Left, Side::Left], &rows);
    for problem in ground.prepared.brought.commands.problems() {
        let _ = writeln!(out, "warning: {problem}");
    }
    out
}

/// The models that can be asked for.
pub(super) fn models(ground: &Ground) -> String {
    let routing = &ground.prepared.loaded.routing;
    let mut out = String::new();
    for (name, provider) in &routing.providers {
        let models: Vec<&str> = provider.models.keys().map(String::as_str).collect();
        let models = if models.is_empty() { "any that it serves".to_owned() } else { models.join(", ") };
        let _ = writeln!(out, "{name}: {models}");
    }
    for (alias, target) in &ground.prepared.loaded.settings.aliases {
        let _ = writeln!(out, "{alias} = {target}");
    }
    out + "`/model NAME` switches a session that goes on, `-m NAME` says it for one run\n"
}

/// What is allowed, asked about and denied.
pub(super) fn permissions(ground: &Ground) -> Result<String, Failure> {
    let policy = ground.prepared.policy()?;
    let mode = match ground.live.as_ref().map_or(policy.mode, |live| in_force(live.mode)) {
        Mode::Default => "default: what writes, runs or uses the network is asked about",
        Mode::AcceptEdits => "accept-edits: files of the workspace are edited without asking",
        Mode::Plan => "plan: only what reads is done",
        Mode::Bypass => "bypass: nothing is asked about; hard denials still hold",
    };
    let mut out = format!("mode {mode}\n");
    let lists: [(&str, &[Rule]); 3] =
        [("allow", &policy.rules.allow), ("ask", &policy.rules.ask), ("deny", &policy.rules.deny)];
    for (word, rules) in lists {
        for rule in rules {
            let _ = writeln!(out, "{word} {}  ({})", rule.text, rule.origin);
        }
    }
    Ok(out)
}

fn in_force(mode: rail_proto::Mode) -> Mode {
    match mode {
        rail_proto::Mode::Default => Mode::Default,
        rail_proto::Mode::AcceptEdits => Mode::AcceptEdits,
        rail_proto::Mode::Plan => Mode::Plan,
        rail_proto::Mode::Bypass => Mode::Bypass,
    }
}

/// The memory files that are loaded.
pub(super) fn memory(ground: &Ground) -> Result<String, Failure> {
    let user = ground.prepared.loaded.places.as_ref().map(|places| places.config.as_path());
    let names = &ground.prepared.loaded.settings.agent.memory_files;
    let places = MemoryPlaces::find(&ground.prepared.workspace, user, ground.prepared.env.home(), names);
    let found = Memory::new(places, || Now::read().instant).begin();
    let mut out = String::new();
    for file in &found.files {
        let _ = writeln!(out, "{}  {} tokens", file.path.display(), rail_route::tokens(&file.text));
    }
    for below in &found.below.files {
        let _ = writeln!(out, "{}  read when its folder is entered", below.display());
    }
    for note in &found.notes {
        let _ = writeln!(out, "warning: {note}");
    }
    if out.is_empty() {
        out = format!("there are no memory files; `/init` writes one ({})\n", names.join(", "));
    }
    Ok(out)
}

/// The hooks of each moment.
pub(super) fn hooks(ground: &Ground) -> String {
    let value = serde_json::to_value(&ground.prepared.loaded.settings.hooks).unwrap_or_default();
    let mut out = String::new();
    for (moment, groups) in value.as_object().into_iter().flatten() {
        let groups: Vec<HookGroup> = serde_json::from_value(groups.clone()).unwrap_or_default();
        for group in groups {
            let matcher = group.matcher.as_deref().unwrap_or("*");
            for hook in &group.hooks {
                let _ = writeln!(out, "{moment} {matcher}: {}", hook.command);
            }
        }
    }
    if out.is_empty() { "there are no hooks\n".to_owned() } else { out }
}

/// The settings with their origins, or those whose keys begin so.
pub(super) fn config(key: &str, ground: &Ground) -> Result<String, Failure> {
    if key.is_empty() {
        return Ok(show_toml(&ground.prepared.loaded, Which::Changed, With::Origins));
    }
    let all = rail_config::show_json(&ground.prepared.loaded, Which::All, With::Origins);
    let mut out = String::new();
    for (path, said) in all.as_object().into_iter().flatten() {
        let is_meant = path == key || path.strip_prefix(key).is_some_and(|rest| rest.starts_with(['.', '[']));
        if is_meant {
            let value = said.get("value").unwrap_or(said);
            let origin = said.get("origin").and_then(serde_json::Value::as_str).unwrap_or("built in");
            let _ = writeln!(out, "{path} = {value}  ({origin})");
        }
    }
    if out.is_empty() {
        return Err(Failure::Usage(anyhow!("there is no setting `{key}`; `rail config show --all` has all")));
    }
    Ok(out)
}
