//! Names of native calls that came in pieces, or not at all.

use rail_model::Map;
use serde_json::Value;

use crate::{Catalog, Effect, Tool};

/// Puts the pieces of a name together, by what the declared names allow.
pub(super) fn join(pieces: &[String], catalog: &Catalog) -> String {
    let mut name = String::new();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        name = match next(&name, piece, catalog) {
            Next::Same => continue,
            Next::Joined(joined) => joined,
            Next::Grown => piece.clone(),
            Next::Other if catalog.get(&name).is_some() => continue,
            Next::Other => name + piece,
        };
    }
    name
}

/// Whether a call that begins with this name can only be the call before it, whose name goes on.
pub(super) fn goes_on(name: &str, piece: &str, catalog: &Catalog) -> bool {
    match next(name, piece, catalog) {
        Next::Joined(_) | Next::Grown => true,
        Next::Same | Next::Other => false,
    }
}

/// Whether no declared name has more letters than these: nothing is to come.
pub(super) fn is_settled(name: &str, catalog: &Catalog) -> bool {
    let longer = |tool: &Tool| tool.name.len() > name.len() && tool.name.starts_with(name);
    catalog.tools().is_empty() || (catalog.get(name).is_some() && !catalog.tools().iter().any(longer))
}

/// What a piece does to the name so far.
enum Next {
    Same,
    Joined(String),
    Grown,
    Other,
}

fn next(name: &str, piece: &str, catalog: &Catalog) -> Next {
    if name == piece {
        return Next::Same;
    }
    let joined = [name, piece].concat();
    if catalog.tools().iter().any(|tool| tool.name.starts_with(&joined)) {
        return Next::Joined(joined);
    }
    let declared = |name: &str| catalog.get(name).is_some();
    if piece.starts_with(name) && (declared(piece) || !declared(name)) { Next::Grown } else { Next::Other }
}

/// The only declared tool that these arguments fit: it declares all their keys, and they have all that it requires.
pub(super) fn infer<'a>(arguments: &str, catalog: &'a Catalog) -> Option<&'a Tool> {
    let arguments: Map = serde_json::from_str(arguments).ok()?;
    let mut fitting = catalog.tools().iter().filter(|tool| !tool.free_text && fits(&arguments, tool));
    let tool = fitting.next().filter(|_| fitting.next().is_none())?;
    // No keys are no evidence, which is too little for a tool that acts.
    let harmless = match tool.effect {
        Effect::Reads => true,
        Effect::Acts => false,
    };
    (harmless || !arguments.is_empty()).then_some(tool)
}

fn fits(arguments: &Map, tool: &Tool) -> bool {
    let within = |key: &str| tool.schema.as_ref().and_then(|schema| schema.get(key));
    let properties = within("properties").and_then(Value::as_object);
    let required = within("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    arguments.keys().all(|key| properties.is_some_and(|properties| properties.contains_key(key)))
        && required.iter().filter_map(Value::as_str).all(|key| arguments.contains_key(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn catalog(tools: &[(&str, Effect, Value)]) -> Catalog {
        let mut catalog = Catalog::default();
        for (name, effect, schema) in tools {
            catalog.add(Tool { effect: *effect, ..Tool::new(*name, Some(schema.clone())) });
        }
        catalog
    }

    #[test]
    fn pieces_become_the_name_that_is_declared() {
        let declared = ["list", "list_dir", "aab", "get_time"].map(|name| (name, Effect::Reads, json!({})));
        let declared = catalog(&declared);
        let table: &[(&[&str], &str)] = &[
            (&["list", "_dir"], "list_dir"),
            (&["list", "list_dir"], "list_dir"),
            (&["li", "li", "list_dir"], "list_dir"),
            (&["get_time", "get_time"], "get_time"),
            (&["get_time", "", "tool"], "get_time"),
            (&["get_time", "get_time<|channel|>"], "get_time"),
            (&["a", "ab"], "aab"),
            (&["functions.li", "st_dir"], "functions.list_dir"),
            (&["functions.li", "functions.list_dir"], "functions.list_dir"),
            (&[], ""),
        ];
        for (pieces, expected) in table {
            let pieces: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
            assert_eq!(join(&pieces, &declared), *expected, "{pieces:?}");
        }
        let settled = ["list_dir", "get_time", "list", "get", "x"].map(|name| is_settled(name, &declared));
        assert_eq!(settled, [true, true, false, false, false]);
    }

    #[test]
    fn a_name_is_inferred_from_one_tool_only() {
        let path = json!({"properties": {"path": {}, "depth": {}}, "required": ["path"]});
        let text = json!({"properties": {"pattern": {}, "path": {}}, "required": ["pattern"]});
        let none = json!({"type": "object"});
        let tools = [("list", Effect::Reads, path.clone()), ("search", Effect::Reads, text)];
        let table = [
            (r#"{"pattern":"x","path":"y"}"#, Some("search")),
            (r#"{"path":"y"}"#, Some("list")),
            (r#"{"path":"y","else":1}"#, None),
            (r#"{"depth":1}"#, None),
            ("{}", None),
            ("[1]", None),
            (r#"{"path":"#, None),
        ];
        let declared = catalog(&tools);
        for (arguments, expected) in table {
            assert_eq!(infer(arguments, &declared).map(|tool| tool.name.as_str()), expected, "{arguments}");
        }
        let two = catalog(&[("list", Effect::Reads, path.clone()), ("walk", Effect::Reads, path)]);
        assert_eq!(infer(r#"{"path":"y"}"#, &two), None);
        let time = catalog(&[("time", Effect::Reads, none.clone())]);
        assert!(infer("{}", &time).is_some());
        assert_eq!(infer("{}", &catalog(&[("reset", Effect::Acts, none)])), None);
    }
}
