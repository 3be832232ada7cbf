//! What a model is told of tools, in the names that it is shown.

use rail_model::{Json, ToolDecl, ToolKind};
use rail_repair::Mapping;
use serde_json::Value;

use crate::telling::TOOL;
use crate::{Limits, Registry};

/// The names in which a model is shown tools; the native ones by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dialect(Option<(&'static str, &'static Mapping)>);

impl Dialect {
    /// The dialect of this name; the native one if there is none.
    pub fn named(name: &str) -> Self {
        let known = Mapping::names().find(|known| *known == name);
        Self(known.and_then(|known| Some((known, Mapping::builtin(known)?))))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.0.map_or("native", |(name, _)| name)
    }

    fn present(self, native: &ToolDecl) -> ToolDecl {
        self.0.map_or_else(|| native.clone(), |(_, mapping)| mapping.present(native))
    }
}

/// How a dialect speaks of the tools of a registry.
#[derive(Clone, Debug, Default)]
pub struct Spoken {
    dialect: Dialect,
    /// The native name of each tool, and the dialect's.
    tools: Vec<(String, String)>,
    /// The same for the parameters of each tool, in the order of the tools.
    parameters: Vec<Vec<(String, String)>>,
}

/// The names that count where a tool speaks: a parameter may have the name of a tool, and then its own is meant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Names<'a> {
    own: &'a [(String, String)],
    tools: &'a [(String, String)],
}

impl<'a> Names<'a> {
    /// What one of the tool's own parameters is in the dialect.
    pub(crate) fn own(&self, native: &str) -> Option<&'a str> {
        Names { tools: &[], ..*self }.find(native)
    }

    /// What a native name is in the dialect.
    pub(crate) fn find(&self, native: &str) -> Option<&'a str> {
        let (own, native) = match native.strip_prefix(TOOL) {
            Some(tool) => (&[][..], tool),
            None => (self.own, native),
        };
        let mut all = own.iter().chain(self.tools);
        all.find(|(name, _)| name == native).map(|(_, shown)| shown.as_str())
    }
}

impl Spoken {
    /// How a dialect speaks of these tools.
    pub(crate) fn of(registry: &Registry, dialect: Dialect) -> Self {
        let mut spoken = Self { dialect, ..Self::default() };
        for tool in registry.tools() {
            let native = tool.declare();
            let shown = dialect.present(&native);
            spoken.parameters.push(names(&native).into_iter().zip(names(&shown)).collect());
            spoken.tools.push((native.name, shown.name));
        }
        spoken
    }

    /// The dialect.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The names that count in what a tool says of itself.
    pub(crate) fn names(&self, tool: &str) -> Names<'_> {
        let at = self.tools.iter().position(|(native, _)| native == tool);
        let own = at.and_then(|at| self.parameters.get(at)).map(Vec::as_slice).unwrap_or_default();
        Names { own, tools: &self.tools }
    }

    /// What a tool is called.
    pub(crate) fn tool<'a>(&'a self, native: &'a str) -> &'a str {
        Names { own: &[], tools: &self.tools }.find(native).unwrap_or(native)
    }

    /// A text in which every tool that stands between backticks is called as the dialect does.
    pub fn text(&self, text: &str) -> String {
        renamed(text, &Names { own: &[], tools: &self.tools })
    }

    /// A native declaration as the dialect has it: its names, and its texts with tools and its own parameters called so.
    pub fn declared(&self, native: ToolDecl) -> ToolDecl {
        let shown = self.dialect.present(&native);
        rewritten(shown, &|text| self.renamed(text, &native.name))
    }

    /// A text of a tool's own, such as its prompt, in which every name that stands between backticks is the dialect's.
    pub(crate) fn renamed(&self, text: &str, tool: &str) -> String {
        renamed(text, &self.names(tool))
    }
}

/// A declaration whose texts name the limits in force.
pub(crate) fn in_force(declared: ToolDecl, limits: &Limits) -> ToolDecl {
    rewritten(declared, &|text| limits.told(text))
}

/// A declaration with other words in all its texts.
fn rewritten(mut declared: ToolDecl, text: &dyn Fn(&str) -> String) -> ToolDecl {
    declared.description = declared.description.as_deref().map(text);
    if let ToolKind::Function { parameters: Some(schema) } = &mut declared.kind {
        let mut value = schema.value();
        described(&mut value, text);
        *schema = Json::from(value);
    }
    declared
}

/// The parameters of a tool, in order.
fn names(tool: &ToolDecl) -> Vec<String> {
    let ToolKind::Function { parameters: Some(schema) } = &tool.kind else { return Vec::new() };
    let schema = schema.value();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
}

fn described(node: &mut Value, rewrite: &dyn Fn(&str) -> String) {
    match node {
        Value::Object(map) => {
            for (key, value) in map.iter_mut() {
                match value {
                    Value::String(text) if key == "description" => *text = rewrite(text),
                    other => described(other, rewrite),
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|item| described(item, rewrite)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

pub(crate) fn renamed(text: &str, names: &Names<'_>) -> String {
    let pieces: Vec<&str> = text
        .split('`')
        .enumerate()
        .map(|(at, piece)| if at % 2 == 1 { names.find(piece).unwrap_or(piece) } else { piece })
        .collect();
    pieces.join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_between_backticks_are_the_dialect_s() {
        let pair = |(native, shown): (&str, &str)| (native.to_owned(), shown.to_owned());
        let (own, tools) =
            ([("glob", "include")].map(pair), [("read_file", "Read"), ("glob", "Glob")].map(pair));
        let names = Names { own: &own, tools: &tools };
        let check = |text: &str, expected: &str| assert_eq!(renamed(text, &names), expected);
        check("Use `read_file` first; a read_file is no name.", "Use `Read` first; a read_file is no name.");
        check(
            "`glob` is its own parameter, `glob*` is none",
            "`include` is its own parameter, `glob*` is none",
        );
        check("an open ` read_file", "an open ` read_file");
        check("", "");
    }
}
