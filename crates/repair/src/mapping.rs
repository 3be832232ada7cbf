use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use rail_model::{Json, Map, ToolDecl, ToolKind};
use serde::Deserialize;
use serde_json::Value;

use crate::object_schema::resolve;
use crate::renames::{PairFault, Renames, join, rename_keys};

/// How somebody else names our tools and their parameters: a dialect, a provider's habits, a user's own.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(try_from = "Written")]
pub struct Mapping {
    pub(crate) tools: Vec<ToolMapping>,
}

/// One tool of a mapping.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ToolMapping {
    /// The name that is shown.
    pub(crate) name: String,
    /// Other names for it that are understood.
    pub(crate) also: Vec<String>,
    /// The native tool.
    pub(crate) native: String,
    /// The parameter names that are shown.
    pub(crate) shown: Renames,
    /// Those, and all others that are understood.
    pub(crate) understood: Renames,
}

/// Why a mapping is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MappingError {
    /// A pair of parameter names is not one.
    #[error("tool `{tool}`: {why}")]
    Parameter {
        /// The tool whose parameters are mapped.
        tool: String,
        /// What is wrong with the pair.
        why: String,
    },
    /// Two parameters would be shown for one, so calls could not be brought home.
    #[error(
        "tool `{tool}`: `{native}` is shown by two names; keep one under `parameters` and put the other under `understood`"
    )]
    ShownTwice {
        /// The tool whose parameters are mapped.
        tool: String,
        /// The native parameter.
        native: String,
    },
    /// One name stands for two tools.
    #[error("`{name}` is the name of two tools; leave one out")]
    NamedTwice {
        /// The name.
        name: String,
    },
}

/// A mapping as it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    tools: Vec<WrittenTool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTool {
    name: String,
    native: String,
    #[serde(default)]
    also: Vec<String>,
    #[serde(default)]
    parameters: BTreeMap<String, String>,
    #[serde(default)]
    understood: BTreeMap<String, String>,
}

impl TryFrom<Written> for Mapping {
    type Error = MappingError;

    fn try_from(written: Written) -> Result<Self, MappingError> {
        let mut names = BTreeSet::new();
        let mut tools = Vec::with_capacity(written.tools.len());
        for tool in written.tools {
            for name in std::iter::once(&tool.name).chain(&tool.also) {
                if !names.insert(name.clone()) {
                    return Err(MappingError::NamedTwice { name: name.clone() });
                }
            }
            tools.push(ToolMapping::try_from(tool)?);
        }
        Ok(Self { tools })
    }
}

impl TryFrom<WrittenTool> for ToolMapping {
    type Error = MappingError;

    fn try_from(written: WrittenTool) -> Result<Self, MappingError> {
        let WrittenTool { name, native, also, parameters, understood: more } = written;
        let fault = |why: PairFault| MappingError::Parameter { tool: name.clone(), why: why.to_string() };
        let mut shown = Renames::default();
        parameters.iter().try_for_each(|(theirs, home)| shown.pair(theirs, home)).map_err(fault)?;
        let mut homes = BTreeSet::new();
        if let Some((_, _, home)) = shown.iter().find(|(place, _, home)| !homes.insert((*place, *home))) {
            return Err(MappingError::ShownTwice { tool: name.clone(), native: home.to_owned() });
        }
        let mut understood = shown.clone();
        more.iter().try_for_each(|(theirs, home)| understood.pair(theirs, home)).map_err(fault)?;
        Ok(Self { name, also, native, shown, understood })
    }
}

/// A mapping that comes with the program.
pub(crate) struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) mapping: Mapping,
}

/// What a mapping that comes with the program describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A set of tools under names of its own: parameters that it does not name are called as at home.
    Dialect,
    /// The habits of a provider's models.
    Provider,
}

macro_rules! file {
    ($folder:literal, $name:literal) => {
        ($name, include_str!(concat!("../data/", $folder, "/", $name, ".toml")))
    };
}

/// A dialect is one file in `data/dialects/` and one line here.
pub(crate) const DIALECTS: &[(&str, &str)] = &[
    file!("dialects", "native"),
    file!("dialects", "claude"),
    file!("dialects", "gemini"),
    file!("dialects", "codex"),
];

/// A provider's habits are one file in `data/providers/` and one line here.
pub(crate) const PROVIDERS: &[(&str, &str)] =
    &[file!("providers", "aistudio-proxy"), file!("providers", "lm-studio-qwen")];

pub(crate) static BUILTIN: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
    let dialects = DIALECTS.iter().map(|file| (Kind::Dialect, file));
    let providers = PROVIDERS.iter().map(|file| (Kind::Provider, file));
    // A test reads every file, so that none is empty here by mistake.
    let read = |(kind, (name, text)): (Kind, &(&'static str, &str))| Builtin {
        name,
        kind,
        mapping: toml::from_str(text).unwrap_or_default(),
    };
    dialects.chain(providers).map(read).collect()
});

impl Mapping {
    /// The mapping of this name that comes with the program.
    pub fn builtin(name: &str) -> Option<&'static Self> {
        BUILTIN.iter().find(|builtin| builtin.name == name).map(|builtin| &builtin.mapping)
    }

    /// The names of the mappings that come with the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILTIN.iter().map(|builtin| builtin.name)
    }

    /// The native tool that one of its names stands for.
    pub fn native(&self, name: &str) -> Option<&str> {
        let named = |tool: &&ToolMapping| tool.name == name || tool.also.iter().any(|also| also == name);
        self.tools.iter().find(named).map(|tool| tool.native.as_str())
    }

    /// Shows a native tool under the names of this mapping; a tool that it does not know stays as it is.
    pub fn present(&self, tool: &ToolDecl) -> ToolDecl {
        let mut shown = tool.clone();
        let Some(entry) = self.tools.iter().find(|entry| entry.native == tool.name) else {
            return shown;
        };
        shown.name.clone_from(&entry.name);
        if let ToolKind::Function { parameters: Some(schema) } = &mut shown.kind {
            let native = schema.value();
            let renamed = present(&native, &native, &entry.shown, "");
            if renamed != native {
                *schema = Json::from(renamed);
            }
        }
        shown
    }

    /// Brings a call in the names of this mapping home; what it does not know stays as it is.
    ///
    /// The other direction of [`present`](Self::present). Nothing is lost: an argument whose native name is already taken keeps its own.
    pub fn bring_home(&self, name: &str, mut arguments: Map) -> (String, Map) {
        let known = |entry: &&ToolMapping| entry.name == name || entry.also.iter().any(|also| also == name);
        let Some(entry) = self.tools.iter().find(known) else {
            return (name.to_owned(), arguments);
        };
        home_keys(&mut arguments, &entry.understood, "");
        (entry.native.clone(), arguments)
    }
}

fn home(value: &mut Value, renames: &Renames, place: &str) {
    match value {
        Value::Object(map) => home_keys(map, renames, place),
        Value::Array(list) => {
            let place = format!("{place}[]");
            list.iter_mut().for_each(|item| home(item, renames, &place));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn home_keys(map: &mut Map, renames: &Renames, place: &str) {
    rename_keys(map, |key| renames.native(place, key).map(str::to_owned));
    for (key, value) in map.iter_mut() {
        let below = join(place, key);
        if renames.reach(&below) {
            home(value, renames, &below);
        }
    }
}

/// The schema at `place` with its properties under the names of `renames`.
fn present(node: &Value, root: &Value, renames: &Renames, place: &str) -> Value {
    if !renames.reach(place) {
        return node.clone();
    }
    // A definition may be shared by other places, so what is renamed here is written out here.
    let Value::Object(node) = resolve(node, root) else { return node.clone() };
    let properties = node.get("properties").and_then(Value::as_object);
    let shown = |key: &str| -> String {
        let theirs = renames.theirs(place, key).filter(|theirs| {
            // Another parameter of that name would be hidden.
            properties.is_none_or(|all| !all.contains_key(*theirs) || renames.theirs(place, theirs).is_some())
        });
        theirs.unwrap_or(key).to_owned()
    };
    let below = |value: &Value, place: &str| present(value, root, renames, place);
    let mut renamed = Map::new();
    for (keyword, value) in node {
        let value = match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let each =
                    properties.iter().map(|(key, value)| (shown(key), below(value, &join(place, key))));
                Value::Object(each.collect())
            }
            ("required" | "propertyOrdering", Value::Array(names)) => {
                let each = names
                    .iter()
                    .map(|name| name.as_str().map_or_else(|| name.clone(), |name| shown(name).into()));
                each.collect()
            }
            ("items", Value::Object(_)) => below(value, &format!("{place}[]")),
            ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => {
                branches.iter().map(|branch| below(branch, place)).collect()
            }
            (_, other) => other.clone(),
        };
        renamed.insert(keyword.clone(), value);
    }
    Value::Object(renamed)
}

#[cfg(test)]
mod tests {
    use rail_model::Extras;
    use serde_json::json;

    use super::*;

    fn mapping(text: &str) -> Result<Mapping, String> {
        toml::from_str(text).map_err(|why: toml::de::Error| why.message().to_owned())
    }

    fn declared(name: &str, schema: &Value) -> ToolDecl {
        ToolDecl {
            name: name.into(),
            description: None,
            kind: ToolKind::Function { parameters: Some(Json::from(schema)) },
            strict: None,
            cache: None,
            extras: Extras::NONE,
        }
    }

    fn object(value: Value) -> Map {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_name_mapped_to_itself_keeps_its_value() {
        let same = mapping(
            "[[tools]]\nname = \"g\"\nnative = \"knowledge_graph\"\nparameters = { action = \"action\" }",
        )
        .unwrap();
        let arguments = object(json!({"action": "read_graph", "x": 1}));
        assert_eq!(same.bring_home("g", arguments.clone()), ("knowledge_graph".into(), arguments.clone()));
        let builtin = Mapping::builtin("lm-studio-qwen").unwrap();
        assert_eq!(builtin.bring_home("knowledge_graph", arguments.clone()).1, arguments);
    }

    #[test]
    fn nothing_is_lost_on_the_way_home() {
        let two = mapping(
            "[[tools]]\nname = \"t\"\nnative = \"n\"\nparameters = { a = \"x\" }\nunderstood = { b = \"x\", y = \"z\", z = \"y\" }",
        )
        .unwrap();
        for (arguments, expected) in [
            (json!({"a": 1, "x": 2}), json!({"a": 1, "x": 2})),
            (json!({"b": 1, "a": 2}), json!({"x": 1, "a": 2})),
            (json!({"y": 1, "q": 0, "z": 2}), json!({"z": 1, "q": 0, "y": 2})),
        ] {
            let (name, home) = two.bring_home("t", object(arguments.clone()));
            assert_eq!(
                (name.as_str(), Value::Object(home).to_string()),
                ("n", expected.to_string()),
                "{arguments}"
            );
        }
        assert_eq!(
            two.bring_home("other", object(json!({"a": 1}))),
            ("other".into(), object(json!({"a": 1})))
        );
    }

    #[test]
    fn a_tool_is_shown_with_its_nested_names() {
        let codex = Mapping::builtin("codex").unwrap();
        let native = json!({
            "type": "object",
            "properties": {"todos": {"type": "array", "items": {"$ref": "#/$defs/todo"}}, "note": {"$ref": "#/$defs/todo"}},
            "required": ["todos"],
            "$defs": {"todo": {"properties": {"content": {"type": "string"}, "status": {}}, "required": ["content"]}},
        });
        let shown = codex.present(&declared("todo_write", &native));
        let expected = json!({
            "type": "object",
            "properties": {
                "plan": {
                    "type": "array",
                    "items": {"properties": {"step": {"type": "string"}, "status": {}}, "required": ["step"]},
                },
                "note": {"$ref": "#/$defs/todo"},
            },
            "required": ["plan"],
            "$defs": {"todo": {"properties": {"content": {"type": "string"}, "status": {}}, "required": ["content"]}},
        });
        let ToolKind::Function { parameters: Some(schema) } = shown.kind else { panic!("a function") };
        assert_eq!((shown.name.as_str(), schema.text()), ("update_plan", expected.to_string().as_str()));
    }

    #[test]
    fn a_shown_name_hides_no_other() {
        let gemini = Mapping::builtin("gemini").unwrap();
        let native = json!({"properties": {"path": {}, "dir_path": {}}});
        let shown = gemini.present(&declared("glob", &native));
        assert_eq!(shown, declared("glob", &native));
        let other = declared("somebody_elses", &native);
        assert_eq!(gemini.present(&other), other);
    }

    #[test]
    fn what_is_wrong_with_a_mapping_is_said() {
        let tool = "[[tools]]\nname = \"t\"\nnative = \"n\"\n";
        for (text, expected) in [
            (format!("{tool}parameters = {{ a = \"b.c\" }}"), "tool `t`: `a` and `b.c` are not equally deep"),
            (format!("{tool}parameters = {{ a = \"x\", b = \"x\" }}"), "tool `t`: `x` is shown by two names"),
            (
                format!("{tool}parameters = {{ a = \"x\" }}\nunderstood = {{ a = \"y\" }}"),
                "tool `t`: `a` means both `x` and `y`",
            ),
            (format!("{tool}{tool}"), "`t` is the name of two tools"),
            (format!("{tool}colour = 1"), "unknown field `colour`"),
        ] {
            let found = mapping(&text).unwrap_err();
            assert!(found.contains(expected), "{found}");
        }
    }
}
