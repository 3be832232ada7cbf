//! The tools that a model is told of, and the lines that teach them.

use rail_config::settings::Generation;
use rail_model::{CacheMark, Json, ToolDecl, ToolKind};
use rail_permit::Policy;
use rail_tool::{Limits, Registry};
use serde_json::{Map, Value};

/// The tools that a session has: those of its generation that its rules and its mode do not bar altogether.
pub fn available(registry: &Registry, generation: Generation, policy: &Policy) -> Registry {
    registry.up_to(generation).only(|card| !policy.bars(card.name, card.level))
}

/// A tool as a small model is told of it.
struct Lean {
    name: &'static str,
    says: &'static str,
    /// The parameters that it is told of; the tool takes the others as well.
    parameters: &'static [&'static str],
    /// The tool that makes up for it: it is told of only where that one is not there.
    unless: Option<&'static str>,
}

/// The tools of small models, in order. Each one more is read before every task, and is one more to choose wrongly: with `grep` beside
/// `bash`, a model of 1.5 billion parameters searched files for words it had made up instead of reading them.
const LEAN: &[Lean] = &[
    Lean {
        name: "read_file",
        says: "Show what is in a file. The first step before answering from it or changing it.",
        parameters: &["file_path", "offset", "limit"],
        unless: None,
    },
    Lean {
        name: "edit_file",
        says: "Replace text in a file that was read.",
        parameters: &["file_path", "old_string", "new_string"],
        unless: None,
    },
    Lean {
        name: "write_file",
        says: "Make a new file.",
        parameters: &["file_path", "content"],
        unless: None,
    },
    Lean {
        name: "bash",
        says: "Run a shell command in the project: programs, tests, grep, wc.",
        parameters: &["command"],
        unless: None,
    },
    Lean {
        name: "grep",
        says: "Find the files that have a text, by a regular expression.",
        parameters: &["pattern", "path"],
        unless: Some("bash"),
    },
    Lean { name: "list_directory", says: "List a folder.", parameters: &["path"], unless: None },
];

/// The declarations of a dialect, with a mark on the last: all of them are the same in every request.
pub(super) fn full(registry: &Registry, dialect: &str, limits: &Limits) -> Vec<ToolDecl> {
    marked(registry.shown(dialect, limits).map(|(_, declared)| declared).collect())
}

/// The few that a small model is told of, in few words.
pub(super) fn lean(registry: &Registry, dialect: &str) -> Vec<ToolDecl> {
    let spoken = registry.spoken(dialect);
    let tools = told(registry).filter_map(|lean| Some((lean, registry.get(lean.name)?)));
    marked(tools.map(|(lean, tool)| spoken.declared(shortened(tool.declare(), lean))).collect())
}

/// The native names of the tools that a small model is told of.
pub(super) fn lean_names(registry: &Registry) -> Vec<&'static str> {
    told(registry).map(|lean| lean.name).collect()
}

fn told(registry: &Registry) -> impl Iterator<Item = &'static Lean> {
    let there = |name: &str| registry.get(name).is_some();
    LEAN.iter().filter(move |lean| there(lean.name) && !lean.unless.is_some_and(there))
}

/// The native names of the tools that a dialect shows.
pub(super) fn full_names<'a>(registry: &'a Registry, dialect: &'a str) -> Vec<&'a str> {
    registry.in_dialect(dialect).map(|tool| tool.card().name).collect()
}

fn marked(mut tools: Vec<ToolDecl>) -> Vec<ToolDecl> {
    if let Some(last) = tools.last_mut() {
        last.cache = Some(CacheMark::default());
    }
    tools
}

fn shortened(mut tool: ToolDecl, lean: &Lean) -> ToolDecl {
    tool.description = Some(lean.says.to_owned());
    if let ToolKind::Function { parameters: Some(schema) } = &mut tool.kind {
        let whole = schema.value();
        let types = |name: &&str| {
            let kind = whole.get("properties")?.get(*name)?.get("type")?.clone();
            Some(((*name).to_owned(), Value::Object(Map::from_iter([("type".to_owned(), kind)]))))
        };
        let properties: Map<String, Value> = lean.parameters.iter().filter_map(types).collect();
        let mut short = Map::from_iter([("type".to_owned(), Value::from("object"))]);
        short.insert("properties".to_owned(), properties.into());
        short.extend(whole.get("required").map(|required| ("required".to_owned(), required.clone())));
        *schema = Json::from(Value::Object(short));
    }
    tool
}

/// The lines of a text that speak only of tools that are there. What stands between backticks is a tool; a line that begins with
/// "with" or "without" and a tool is for sessions that have it, or do not.
pub(super) fn lines_for(text: &str, names: &[&str]) -> String {
    let has = |name: &str| names.contains(&name);
    let mut out = String::new();
    for line in text.lines() {
        let after = |word: &str| line.strip_prefix(word).and_then(|rest| rest.split_once("`: "));
        let line = match (after("with `"), after("without `")) {
            (Some((name, _)), _) if !has(name) => continue,
            (_, Some((name, _))) if has(name) => continue,
            (Some((_, line)), _) | (None, Some((_, line))) => line,
            (None, None) => line,
        };
        if line.split('`').skip(1).step_by(2).all(has) {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tools_that_are_there_are_taught() {
        let text = "# Head\n- `a` and `b`.\nwithout `a`: - only `b`\nwithout `b`: - only `a`\nwith `b`: - more\n- none\n";
        for (names, expected) in [
            (&["a", "b"][..], "# Head\n- `a` and `b`.\n- more\n- none\n"),
            (&["b"], "# Head\n- only `b`\n- more\n- none\n"),
            (&["a"], "# Head\n- only `a`\n- none\n"),
            (&[], "# Head\n- none\n"),
        ] {
            assert_eq!(lines_for(text, names), expected, "{names:?}");
        }
    }

    #[test]
    fn every_lean_tool_is_one_that_there_is_with_all_it_needs() {
        let registry = rail_tools::registry();
        for lean in LEAN {
            let schema = registry.get(lean.name).unwrap().schema();
            for name in lean.parameters {
                assert!(schema["properties"][*name]["type"].is_string(), "{} {name}", lean.name);
            }
            for name in schema["required"].as_array().into_iter().flatten() {
                assert!(lean.parameters.contains(&name.as_str().unwrap()), "{} needs {name}", lean.name);
            }
        }
    }
}
