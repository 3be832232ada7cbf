//! Commands that list what Markdown files bring.

use std::fmt::Write;
use std::path::Path;

use rail_agent::commands::{ByModel, Owner};
use rail_agent::skills::{ByUser, Skill, from};
use rail_agent::team::types::{AgentType, Tools};

use super::Ground;

/// The longest description in a list; the whole one is in the file.
const DESCRIPTION: usize = 200;

/// The skills: what each is for, who may use it, whose it is and where.
pub(super) fn skills(ground: &Ground) -> String {
    let skills = &ground.prepared.brought.skills;
    let mut out = String::new();
    for skill in &skills.all {
        let _ = writeln!(out, "{}: {}", skill.name, line(&skill.description));
        let _ = writeln!(out, "  {}{}; {}", from(skill.owner), users(skill), skill.folder.display());
        if !skill.allowed_tools.is_empty() {
            let _ = writeln!(out, "  allows while it is used: {}", skill.allowed_tools.join(", "));
        }
    }
    if out.is_empty() {
        out.push_str(
            "there are no skills; a folder `.switchrail/skills/NAME` with a `SKILL.md` in it is one\n",
        );
    }
    warned(out, &skills.problems)
}

/// Who may use a skill, where that is not everybody.
fn users(skill: &Skill) -> &'static str {
    match (skill.by_model, skill.by_user) {
        (ByModel::Allowed, ByUser::Allowed) => "",
        (ByModel::Allowed, ByUser::Never) => ", only for models",
        (ByModel::Never, ByUser::Allowed) => ", only when you call for it",
        (ByModel::Never, ByUser::Never) => ", used by nobody",
    }
}

/// The types of agents: what each is for, its tools and model, and where it is from.
pub(super) fn agents(ground: &Ground) -> String {
    let agents = &ground.prepared.brought.agents;
    let mut out = String::new();
    for kind in &agents.all {
        let _ = writeln!(out, "{}: {}", kind.name, line(&kind.description));
        let model = kind.model.as_deref().unwrap_or("the session's");
        let _ = writeln!(out, "  tools {}; model {model}; {}", tools(kind), origin(kind));
    }
    warned(out, &agents.problems)
}

fn tools(kind: &AgentType) -> String {
    let listed = match &kind.tools {
        Tools::All => "all".to_owned(),
        Tools::ReadOnly => "those that only read".to_owned(),
        Tools::Reviewing => "those that only read, and git as far as it only reads".to_owned(),
        Tools::Named(names) if names.is_empty() => "none".to_owned(),
        Tools::Named(names) => names.join(", "),
    };
    match kind.without.as_slice() {
        [] => listed,
        without => format!("{listed} without {}", without.join(", ")),
    }
}

fn origin(kind: &AgentType) -> String {
    let path = |path: &Path| path.display().to_string();
    match (&kind.path, kind.owner) {
        (Some(file), Owner::Project(_) | Owner::User | Owner::BuiltIn) => path(file),
        (None, owner) => from(owner).to_owned(),
    }
}

/// A text in one line, cut.
fn line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    match text.char_indices().nth(DESCRIPTION) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn warned(mut out: String, problems: &[String]) -> String {
    for problem in problems {
        let _ = writeln!(out, "warning: {problem}");
    }
    out
}
