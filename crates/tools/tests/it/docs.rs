//! `docs/tools.md`, made from the tools themselves.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use rail_model::{ToolDecl, ToolKind};
use rail_tool::{AnyTool, Example, Generation, Lane, Level, Limits, Registry, Shown};
use serde_json::Value;

const DIALECTS: [&str; 4] = ["native", "claude", "gemini", "codex"];

const HEAD: &str = "# Tools

What a model can do in your folder. A session runs at one generation and has all tools up to it (`agent.generation`, `gen4` when not
said). Models are shown the names that they know best, a *dialect*; calls by any name of any dialect are understood.

`rail tool list` prints the tools, `rail tool run NAME --input JSON` runs one through the whole executor: repair, permission,
sandbox, but without your hooks, which are for sessions. What a call needs to be allowed is in [permissions.md](permissions.md).

<!-- Written by `INSTA_UPDATE=always cargo test -p rail-tools docs`. -->

";

#[test]
fn docs_tell_every_tool() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
    let fresh = reference(&rail_tools::registry());
    #[expect(clippy::disallowed_methods, reason = "the switch of all golden files")]
    let is_update = std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
    if is_update {
        fs::write(&path, fresh).unwrap();
    } else {
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == fresh,
            "docs/tools.md is stale; run `INSTA_UPDATE=always cargo test -p rail-tools docs` and read the diff"
        );
    }
}

#[test]
fn every_parameter_has_a_meaning() {
    for tool in rail_tools::registry().tools() {
        let schema = tool.schema();
        let mut silent = Vec::new();
        for (name, property) in schema["properties"].as_object().unwrap() {
            if property["description"].as_str().is_none_or(str::is_empty) {
                silent.push(name.clone());
            }
        }
        assert_eq!(silent, Vec::<String>::new(), "`{}`", tool.card().name);
    }
}

#[test]
fn what_is_declared_with_every_request_is_small() {
    let size = |tool: ToolDecl| {
        let ToolKind::Function { parameters } = tool.kind else { return 0 };
        let schema = parameters.map(|parameters| parameters.value().to_string()).unwrap_or_default();
        tool.name.len() + tool.description.unwrap_or_default().len() + schema.len()
    };
    for (generation, tokens) in
        [(Generation::Gen2, 2_500), (Generation::Gen3, 3_650), (Generation::Gen4, 4_150)]
    {
        let declared = rail_tools::registry().up_to(generation);
        let bytes: usize = declared.shown("claude", &Limits::default()).map(|(_, tool)| size(tool)).sum();
        assert!(bytes < tokens * 4, "{generation:?}: about {} tokens", bytes / 4);
    }
}

#[test]
fn tools_are_called_as_their_dialect_calls_them() {
    let registry = rail_tools::registry();
    let said = |dialect: &str, tool: &str| {
        let limits = Limits::default();
        let shown = registry.shown(dialect, &limits).find(|(known, _)| known.card().name == tool);
        shown.and_then(|(_, declared)| declared.description).unwrap()
    };
    assert!(said("native", "write_file").contains("To change a part of a file use `edit_file`"));
    assert!(said("claude", "write_file").contains("To change a part of a file use `Edit`"));
    assert!(said("gemini", "write_file").contains("To change a part of a file use `replace`"));
    // The parameter of this name, not the tool.
    assert!(said("claude", "grep").contains("Narrow with `path`, `glob` ("));
    assert!(said("gemini", "grep").contains("Narrow with `dir_path`, `include` ("));
}

fn reference(registry: &Registry) -> String {
    let declared = DIALECTS.map(|dialect| shown(registry, dialect));
    let mut out = HEAD.to_owned();
    out.push_str("| tool | for people | since | needs | claude | gemini | codex |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    for tool in registry.tools() {
        let card = tool.card();
        let names = [1, 2, 3].map(|at| {
            declared[at].get(card.name).map_or("–".to_owned(), |tool| format!("`{}`", tool.name))
        });
        let name = card.name;
        let since = since(tool.as_ref());
        let needs = needs(card.level);
        writeln!(out, "| [`{name}`](#{name}) | {} | {since} | {needs} | {} |", card.title, names.join(" | "))
            .unwrap();
    }
    for tool in registry.tools() {
        section(&mut out, tool.as_ref(), &declared);
    }
    out
}

fn shown(registry: &Registry, dialect: &str) -> BTreeMap<String, ToolDecl> {
    let named = |(tool, declared): (&dyn AnyTool, ToolDecl)| (tool.card().name.to_owned(), declared);
    registry.shown(dialect, &Limits::default()).map(named).collect()
}

fn section(out: &mut String, tool: &dyn AnyTool, declared: &[BTreeMap<String, ToolDecl>; 4]) {
    let card = tool.card();
    let lane = match card.lane {
        Lane::Shared => "may run beside other calls",
        Lane::Exclusive => "runs alone",
    };
    let how = match card.shown {
        Shown::Whole => String::new(),
        Shown::Brief => ", is declared in short and explained when first used".to_owned(),
        Shown::InDialect(dialect) => format!(", is shown in the `{dialect}` dialect only"),
    };
    write!(
        out,
        "\n## {}\n\n{}. It needs {}, {lane}{how}.\n\n",
        card.name,
        card.summary.trim_end_matches('.'),
        needs(card.level)
    )
    .unwrap();
    out.push_str(
        "| parameter | type | claude | gemini | codex | meaning |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let schema = tool.schema();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (at, (name, property)) in schema["properties"].as_object().unwrap().iter().enumerate() {
        let names = [1, 2, 3].map(|dialect| {
            let properties = declared[dialect].get(card.name).and_then(parameters);
            // A dialect renames parameters and keeps their order.
            let name = properties.and_then(|properties| properties.as_object()?.keys().nth(at).cloned());
            name.map_or("–".to_owned(), |name| format!("`{name}`"))
        });
        let star = if required.contains(&name.as_str()) { "" } else { ", optional" };
        let meaning = cell(&Limits::default().told(property["description"].as_str().unwrap_or_default()));
        writeln!(out, "| `{name}` | {}{star} | {} | {meaning} |", kind(property), names.join(" | ")).unwrap();
    }
    write!(
        out,
        "\nWhat a model is told:\n\n````text\n{}\n````\n",
        Limits::default().told(card.prompt.trim_end())
    )
    .unwrap();
    tool.examples().iter().for_each(|example| show(out, example));
}

fn parameters(declared: &ToolDecl) -> Option<Value> {
    match &declared.kind {
        ToolKind::Function { parameters } => {
            parameters.as_ref().map(|schema| schema.value()["properties"].clone())
        }
        ToolKind::Custom { .. } | ToolKind::Server(_) => None,
    }
}

fn show(out: &mut String, example: &Example) {
    write!(
        out,
        "\n{}:\n\n````json\n{}\n````\n\n````text\n{}\n````\n",
        example.about,
        example.input,
        example.output.trim_end()
    )
    .unwrap();
}

fn kind(property: &Value) -> String {
    let of = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(values) = property["enum"].as_array() {
        let words: Vec<String> = values.iter().filter_map(of).map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    match &property["type"] {
        Value::String(kind) if kind == "array" => format!("list of {}", kind_of_items(property)),
        Value::String(kind) => kind.clone(),
        Value::Array(kinds) => {
            kinds.iter().filter_map(of).filter(|kind| kind != "null").collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    }
}

fn kind_of_items(property: &Value) -> String {
    property["items"]["type"].as_str().unwrap_or("values").to_owned()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn since(tool: &dyn AnyTool) -> String {
    serde_json::to_value(tool.card().generation).unwrap().as_str().unwrap().to_owned()
}

fn needs(level: Level) -> &'static str {
    match level {
        Level::None => "nothing",
        Level::Read => "leave to read",
        Level::Write => "leave to write",
        Level::Execute => "leave to run programs",
        Level::Network => "leave to use the network",
    }
}
