use std::collections::BTreeMap;

use rail_model::Map;
use serde_json::Value;

use crate::known::{self, Synonym};
use crate::object_schema::{self as shapes, ObjectShape};
use crate::renames::{Renames, join, rename_keys};
use crate::words::squash;
use crate::{Repair, Step, Tool};

/// Renames parameters that the tool does not declare to ones that it does.
///
/// The tool's name as the model wrote it does not matter: parameters of all dialects are understood whatever the call is named.
/// A name is changed only if the one it becomes is declared and absent: what was said outright always wins. What a name
/// stands for depends on nothing else in the call, so a second run changes nothing.
pub(crate) fn rename(arguments: &mut Map, tool: &Tool, repairs: &mut Vec<Repair>) {
    let Some(root) = tool.schema() else { return };
    let understood = known::understood(&tool.name);
    let names = Names { tool, root, understood, declared: known::declared(&tool.name) };
    names.rename(arguments, root, "", "arguments", repairs);
}

/// What names mean to one tool.
struct Names<'a> {
    tool: &'a Tool,
    root: &'a Value,
    /// What names mean to the native tool that this one stands for.
    understood: Option<&'static Renames>,
    /// What this tool's own parameters mean.
    declared: Option<&'static Renames>,
}

/// How sure it is that a name stands for another: of several names for one parameter, only a sure one counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sureness {
    /// The same name in another spelling, or one that a mapping in force names.
    Same,
    /// Another word for it.
    Likely,
}

impl Names<'_> {
    /// Renames the keys of the object at `place`, a path of native names; `path` is where it is in the call.
    fn rename(&self, map: &mut Map, node: &Value, place: &str, path: &str, repairs: &mut Vec<Repair>) {
        let Some(shape) = shapes::object(node, self.root) else { return };
        if map.keys().any(|key| !shape.properties.contains_key(key)) {
            let changes = self.changes(map, &shape, place);
            for name in map.keys().filter_map(|key| changes.get(key)) {
                repairs.push(Repair::new(Step::Parameter, join(path, name)));
            }
            rename_keys(map, |key| changes.get(key).cloned());
        }
        for (key, value) in map.iter_mut().filter(|(_, value)| value.is_object() || value.is_array()) {
            let Some(node) = shape.properties.get(key) else { continue };
            let native = self.declared.and_then(|names| names.native(place, &squash(key))).unwrap_or(key);
            self.below(value, node, &join(place, native), &join(path, key), repairs);
        }
    }

    fn below(&self, value: &mut Value, node: &Value, place: &str, path: &str, repairs: &mut Vec<Repair>) {
        match value {
            Value::Object(map) => self.rename(map, node, place, path, repairs),
            Value::Array(list) => {
                let Some(node) = shapes::items(node, self.root) else { return };
                let place = format!("{place}[]");
                for (at, item) in
                    list.iter_mut().enumerate().filter(|(_, item)| item.is_object() || item.is_array())
                {
                    self.below(item, node, &place, &format!("{path}[{at}]"), repairs);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The undeclared keys of an object that get another name.
    fn changes(&self, map: &Map, shape: &ObjectShape<'_>, place: &str) -> BTreeMap<String, String> {
        let properties = Properties::new(shape);
        let mut wanted = BTreeMap::<&str, Vec<(&str, Sureness)>>::new();
        for (key, value) in map.iter().filter(|(key, _)| !shape.properties.contains_key(*key)) {
            if let Some((target, sureness)) = self.target(key, value, &properties, place) {
                wanted.entry(target).or_default().push((key, sureness));
            }
        }
        let mut changes = BTreeMap::new();
        for (target, sources) in wanted {
            let free = !map.contains_key(target) && (!shape.open || shape.requires(target));
            if let Some(source) = winner(&sources).filter(|_| free) {
                changes.insert(source.to_owned(), target.to_owned());
            }
        }
        changes
    }

    /// The declared parameter that a name stands for.
    fn target<'p>(
        &self,
        key: &str,
        value: &Value,
        properties: &Properties<'p>,
        place: &str,
    ) -> Option<(&'p str, Sureness)> {
        let squashed = squash(key);
        if let Some(native) = self.tool.renames.native(place, &squashed) {
            let target = properties.exactly(native).or_else(|| self.declared_as(native, properties, place));
            if let Some(target) = target {
                return Some((target, Sureness::Same));
            }
        }
        if let Some(same) = properties.spelled(&squashed) {
            return only(same).map(|target| (target, Sureness::Same));
        }
        // The words of the table are names of arguments; inside them the same word may be data of any kind.
        if place.is_empty() {
            let synonyms = known::synonyms(&squashed).iter();
            let found: Vec<(&Synonym, &'p str)> = synonyms
                .filter_map(|synonym| Some((synonym, only(properties.spelled(&synonym.name)?)?)))
                .collect();
            match found.as_slice() {
                [] => {}
                [(synonym, target)] => {
                    return plausible(value, synonym.at_least).then_some((*target, Sureness::Likely));
                }
                _ => return None,
            }
        }
        let native = self.understood?.native(place, &squashed)?;
        self.declared_as(native, properties, place).map(|target| (target, Sureness::Likely))
    }

    /// The declared parameter that means a native one.
    fn declared_as<'p>(&self, native: &str, properties: &Properties<'p>, place: &str) -> Option<&'p str> {
        let declared = self.declared?;
        let found = properties.all().filter(|(squashed, _)| declared.native(place, squashed) == Some(native));
        only(&found.map(|(_, name)| name).collect::<Vec<_>>())
    }
}

/// Declared parameters by their squashed names.
struct Properties<'p>(BTreeMap<String, Vec<&'p str>>);

impl<'p> Properties<'p> {
    fn new(shape: &ObjectShape<'p>) -> Self {
        let mut names = BTreeMap::<_, Vec<&str>>::new();
        for name in shape.properties.keys() {
            names.entry(squash(name)).or_default().push(name);
        }
        Self(names)
    }

    fn spelled(&self, squashed: &str) -> Option<&[&'p str]> {
        self.0.get(squashed).map(Vec::as_slice)
    }

    fn exactly(&self, name: &str) -> Option<&'p str> {
        self.spelled(&squash(name))?.iter().find(|known| **known == name).copied()
    }

    fn all(&self) -> impl Iterator<Item = (&str, &'p str)> {
        self.0.iter().flat_map(|(squashed, names)| names.iter().map(move |name| (squashed.as_str(), *name)))
    }
}

fn only<'p>(names: &[&'p str]) -> Option<&'p str> {
    if let [name] = names { Some(name) } else { None }
}

/// The key that gets the name that several want: the only sure one, or else the only one at all.
fn winner<'k>(sources: &[(&'k str, Sureness)]) -> Option<&'k str> {
    let sure: Vec<&str> =
        sources.iter().filter(|(_, sureness)| *sureness == Sureness::Same).map(|(key, _)| *key).collect();
    match sure.as_slice() {
        [] => only(&sources.iter().map(|(key, _)| *key).collect::<Vec<_>>()),
        sure => only(sure),
    }
}

fn plausible(value: &Value, at_least: Option<f64>) -> bool {
    let Some(least) = at_least else { return true };
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    number.is_some_and(|number| number >= least)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{Catalog, Mapping};

    fn tool(name: &str, parameters: &[&str]) -> Tool {
        let properties: Map = parameters.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
        Tool::new(name, Some(json!({"type": "object", "properties": properties})))
    }

    /// The arguments after renaming, as text so that their order shows, and the places of the repairs.
    fn renamed(tool: &Tool, arguments: Value) -> (String, Vec<String>) {
        let Value::Object(mut map) = arguments else { panic!("arguments are an object") };
        let mut repairs = Vec::new();
        rename(&mut map, tool, &mut repairs);
        assert!(repairs.iter().all(|repair| repair.step == Step::Parameter));
        (Value::Object(map).to_string(), repairs.into_iter().map(|repair| repair.path).collect())
    }

    fn check(tool: &Tool, arguments: Value, expected: Value, paths: &[&str]) {
        let found = renamed(tool, arguments.clone());
        let paths = paths.iter().map(|path| format!("arguments.{path}")).collect();
        assert_eq!(found, (expected.to_string(), paths), "{arguments}");
    }

    fn unchanged(tool: &Tool, arguments: Value) {
        check(tool, arguments.clone(), arguments, &[]);
    }

    #[test]
    fn spelling_then_synonyms() {
        let read = tool("read_file", &["file_path", "offset", "limit"]);
        for key in ["filePath", "file-path", "FILE_PATH", "path", "target_file", "AbsolutePath"] {
            check(
                &read,
                json!({key: "a", "limit": 2}),
                json!({"file_path": "a", "limit": 2}),
                &["file_path"],
            );
        }
        let search = tool("web_search", &["query", "max_results"]);
        check(
            &search,
            json!({"num_results": 3, "q": "x"}),
            json!({"max_results": 3, "query": "x"}),
            &["max_results", "query"],
        );
    }

    #[test]
    fn what_was_said_outright_wins() {
        let read = tool("read_file", &["file_path"]);
        unchanged(&read, json!({"path": "a", "file_path": "b"}));
        unchanged(&tool("list_dir", &["path", "file_path"]), json!({"path": "a"}));
        unchanged(&tool("x", &["limit", "max_results"]), json!({"limit": 1}));
    }

    #[test]
    fn two_names_for_one_are_none_unless_one_is_the_same() {
        let read = tool("read_file", &["file_path"]);
        unchanged(&read, json!({"path": "a", "file": "b"}));
        unchanged(&read, json!({"filePath": "a", "file-path": "b"}));
        check(
            &read,
            json!({"path": "a", "filePath": "b"}),
            json!({"path": "a", "file_path": "b"}),
            &["file_path"],
        );
        // One name for two is none either.
        unchanged(&tool("find", &["pattern", "query"]), json!({"q": "x"}));
        unchanged(&tool("find", &["fooBar", "foo_bar"]), json!({"foo-bar": "x"}));
    }

    #[test]
    fn a_timeout_must_be_plausible() {
        let run = tool("run_command", &["command", "timeout_ms"]);
        check(&run, json!({"timeout": 900}), json!({"timeout_ms": 900}), &["timeout_ms"]);
        check(&run, json!({"timeout": "5000"}), json!({"timeout_ms": "5000"}), &["timeout_ms"]);
        for value in [json!(99), json!("30"), json!("30s"), json!(true), json!(null), json!(-1)] {
            unchanged(&run, json!({"timeout": value}));
        }
        // The unit of somebody else's `timeout` is not known; that of our own is.
        unchanged(&tool("shell", &["timeout"]), json!({"timeout_ms": 5000}));
        check(
            &tool("bash", &["timeout"]),
            json!({"timeout_ms": 5000}),
            json!({"timeout": 5000}),
            &["timeout"],
        );
        unchanged(&tool("shell", &["timeout_ms"]), json!({"timeout": 5}));
    }

    #[test]
    fn open_objects_give_up_a_key_only_for_one_that_must_be_there() {
        let mut schema = tool("x", &["content", "path"]).schema().unwrap().clone();
        schema["additionalProperties"] = json!({"type": "string"});
        schema["required"] = json!(["path"]);
        let open = Tool::new("x", Some(schema));
        check(&open, json!({"text": "a", "dir": "b"}), json!({"text": "a", "path": "b"}), &["path"]);
    }

    #[test]
    fn names_inside_lists_and_objects() {
        let graph = Tool::new(
            "knowledge_graph",
            Some(json!({
                "properties": {
                    "action": {},
                    "entities": {"type": "array", "items": {"$ref": "#/$defs/entity"}},
                    "options": {"anyOf": [{"type": "null"}, {"properties": {"dryRun": {}}}]},
                    "free": {"type": "object"},
                },
                "$defs": {"entity": {"properties": {"name": {}, "entityType": {}, "observations": {}}}},
            })),
        );
        check(
            &graph,
            json!({
                "action": "create_entities",
                "nodes": [{"name": "a", "type": "b"}, {"entity_type": "c", "text": "d"}, 7],
                "options": {"dry_run": true},
                "free": {"Action": 1},
            }),
            json!({
                "action": "create_entities",
                "entities": [{"name": "a", "entityType": "b"}, {"entityType": "c", "text": "d"}, 7],
                "options": {"dryRun": true},
                "free": {"Action": 1},
            }),
            &["entities", "entities[0].entityType", "entities[1].entityType", "options.dryRun"],
        );
    }

    #[test]
    fn a_declared_dialect_understands_the_others() {
        let gemini = tool("search_file_content", &["pattern", "dir_path", "include"]);
        check(
            &gemini,
            json!({"pattern": "x", "path": "src", "glob": "*.rs"}),
            json!({"pattern": "x", "dir_path": "src", "include": "*.rs"}),
            &["dir_path", "include"],
        );
        let claude = tool("Grep", &["pattern", "path", "glob"]);
        check(
            &claude,
            json!({"query": "x", "dir_path": "src", "include": "*.rs"}),
            json!({"pattern": "x", "path": "src", "glob": "*.rs"}),
            &["pattern", "path", "glob"],
        );
        let old_gemini = tool("read_file", &["absolute_path", "offset"]);
        check(&old_gemini, json!({"file_path": "/a"}), json!({"absolute_path": "/a"}), &["absolute_path"]);
    }

    #[test]
    fn parameters_of_every_dialect_are_understood_whatever_is_shown() {
        let dialects: Vec<&Mapping> =
            ["native", "claude", "gemini", "codex"].map(|name| Mapping::builtin(name).unwrap()).into();
        let [native, ..] = dialects.as_slice() else { panic!("dialects") };
        let find =
            |mapping: &'static Mapping, home: &str| mapping.tools.iter().find(|tool| tool.native == home);
        for home in &native.tools {
            let keys: Vec<&str> =
                home.shown.iter().filter(|(place, ..)| place.is_empty()).map(|(_, _, key)| key).collect();
            let named: Vec<_> = dialects.iter().filter_map(|dialect| find(dialect, &home.native)).collect();
            for shown in &named {
                let shown_keys: Vec<&str> =
                    keys.iter().map(|key| shown.shown.theirs("", key).unwrap_or(key)).collect();
                let tool = tool(&shown.name, &shown_keys);
                for spoken in &named {
                    for (key, expected) in keys.iter().zip(&shown_keys) {
                        let key = spoken.shown.theirs("", key).unwrap_or(key);
                        let (found, _) = renamed(&tool, json!({key: 1000}));
                        assert_eq!(found, json!({*expected: 1000}).to_string(), "{key} for {}", tool.name);
                    }
                }
            }
        }
    }

    #[test]
    fn mappings_in_force_come_first() {
        let user: Mapping = toml::from_str(
            "[[tools]]\nname = \"put\"\nnative = \"write_file\"\nunderstood = { path = \"content\", where = \"file_path\" }",
        )
        .unwrap();
        let mut catalog = Catalog::default();
        catalog.add(tool("write_file", &["file_path", "content"]));
        let catalog = catalog.with(&user);
        check(
            &catalog.tools()[0],
            json!({"path": "text", "where": "a.md"}),
            json!({"content": "text", "file_path": "a.md"}),
            &["content", "file_path"],
        );
    }

    #[test]
    fn the_cases_of_the_corpus() {
        let mut seen = 0;
        for line in include_str!("../tests/corpus/cases.jsonl").lines() {
            let case: Value = serde_json::from_str(line).unwrap();
            if !case["id"].as_str().unwrap().starts_with("pr-") {
                continue;
            }
            let text: String =
                case["chunks"].as_array().unwrap().iter().map(|chunk| chunk.as_str().unwrap()).collect();
            let call = text.trim_start_matches("<tool_call>").trim_end_matches("</tool_call>");
            let call: Value = serde_json::from_str(call).unwrap();
            let declared = &case["tools"][0];
            let tool = Tool::new(declared["name"].as_str().unwrap(), Some(declared["parameters"].clone()));
            let (arguments, _) = renamed(&tool, call["arguments"].clone());
            let arguments: Value = serde_json::from_str(&arguments).unwrap();
            assert_eq!(arguments, case["expect"]["calls"][0]["arguments"], "{}", case["id"]);
            seen += 1;
        }
        assert_eq!(seen, 10);
    }

    const KEYS: &[&str] = &[
        "path",
        "file_path",
        "filePath",
        "file",
        "q",
        "query",
        "pattern",
        "content",
        "text",
        "limit",
        "max_results",
        "timeout",
        "timeout_ms",
        "nodes",
        "entities",
        "type",
        "entityType",
        "entity_type",
        "include",
        "glob",
        "other",
    ];

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!(null)),
            any::<u16>().prop_map(|n| json!(n)),
            "[a-z]{0,3}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            let keys = proptest::sample::select(KEYS);
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((keys, inner), 0..6).prop_map(|pairs| pairs
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn renaming_twice_is_renaming_once(
            arguments in values().prop_filter("arguments are an object", Value::is_object),
            name in proptest::sample::select(&["grep", "knowledge_graph", "read_file", "run_command", "x"][..]),
            declared in proptest::sample::subsequence(KEYS, 0..KEYS.len()),
            open in any::<bool>(),
        ) {
            let mut schema = tool(name, &declared).schema().cloned().unwrap_or_default();
            if open {
                schema["additionalProperties"] = json!(true);
                schema["required"] = json!(["file_path", "pattern"]);
            }
            // Every value may be the same object again, or a list of them.
            if let Some(properties) = schema["properties"].as_object_mut() {
                properties.values_mut().for_each(|node| *node = json!({"anyOf": [{"$ref": "#"}, {"items": {"$ref": "#"}}]}));
            }
            let tool = Tool::new(name, Some(schema));
            let before = arguments.to_string();
            let (once, _) = renamed(&tool, arguments);
            let (twice, repairs) = renamed(&tool, serde_json::from_str(&once).unwrap());
            prop_assert_eq!(&once, &twice);
            prop_assert!(repairs.is_empty());
            // No value is lost, whatever its key is called.
            prop_assert_eq!(before.matches(':').count(), once.matches(':').count());
        }
    }
}
