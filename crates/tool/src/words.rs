//! What a model is told of tools, in the names that it is shown.

use std::sync::Arc;

use rail_model::{Json, ToolDecl, ToolKind};
use rail_repair::Mapping;
use serde_json::Value;

use crate::AnyTool;

/// The tools that a dialect calls otherwise: the native name, and the dialect's.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Words(Vec<(String, String)>);

impl Words {
    /// The words of a dialect.
    pub(crate) fn of(tools: &[Arc<dyn AnyTool>], dialect: &Mapping) -> Self {
        let pair = |tool: &Arc<dyn AnyTool>| {
            let native = tool.declare();
            let shown = dialect.present(&native).name;
            (native.name, shown)
        };
        Self(tools.iter().map(pair).collect())
    }

    /// A declaration whose texts call tools and its own parameters as the dialect does.
    pub(crate) fn said(&self, mut declared: ToolDecl, native: &ToolDecl) -> ToolDecl {
        // A parameter may have the name of a tool; in the tool's own texts it is the parameter that is meant.
        let mut words: Vec<(String, String)> = names(native).into_iter().zip(names(&declared)).collect();
        words.extend(self.0.iter().cloned());
        declared.description = declared.description.map(|text| renamed(&text, &words));
        if let ToolKind::Function { parameters: Some(schema) } = &mut declared.kind {
            let mut value = schema.value();
            described(&mut value, &words);
            *schema = Json::from(value);
        }
        declared
    }
}

/// The parameters of a tool, in order.
fn names(tool: &ToolDecl) -> Vec<String> {
    let ToolKind::Function { parameters: Some(schema) } = &tool.kind else { return Vec::new() };
    let schema = schema.value();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
}

fn described(node: &mut Value, words: &[(String, String)]) {
    match node {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match value {
                    Value::String(text) if key == "description" => *text = renamed(text, words),
                    other => described(other, words),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|item| described(item, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A text in which every name that stands between backticks is the dialect's.
fn renamed(text: &str, words: &[(String, String)]) -> String {
    let pieces: Vec<&str> = text
        .split('`')
        .enumerate()
        .map(|(at, piece)| {
            let word = words.iter().find(|(native, _)| at % 2 == 1 && native == piece);
            word.map_or(piece, |(_, shown)| shown)
        })
        .collect();
    pieces.join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_between_backticks_are_the_dialect_s() {
        let words = [("glob", "include"), ("read_file", "Read"), ("glob", "Glob")]
            .map(|(native, shown)| (native.to_owned(), shown.to_owned()));
        let check = |text: &str, expected: &str| assert_eq!(renamed(text, &words), expected);
        check("Use `read_file` first; a read_file is no name.", "Use `Read` first; a read_file is no name.");
        check(
            "`glob` is its own parameter, `glob*` is none",
            "`include` is its own parameter, `glob*` is none",
        );
        check("an open ` read_file", "an open ` read_file");
        check("", "");
    }
}
