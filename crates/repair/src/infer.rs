use rail_model::Map;

use crate::schema::Schema;
use crate::{Catalog, Effect, Tool};

/// The only declared tool that these arguments fit: it declares all their keys, and they have all that it requires.
pub(crate) fn infer<'a>(arguments: &Map, catalog: &'a Catalog) -> Option<&'a Tool> {
    let mut fitting = catalog.tools().iter().filter(|tool| !tool.free_text && fits(arguments, tool));
    let tool = fitting.next().filter(|_| fitting.next().is_none())?;
    // No keys are no evidence, which is too little for a tool that acts.
    let harmless = match tool.effect {
        Effect::Reads => true,
        Effect::Acts => false,
    };
    (harmless || !arguments.is_empty()).then_some(tool)
}

fn fits(arguments: &Map, tool: &Tool) -> bool {
    let schema = Schema::of(tool);
    arguments.keys().all(|key| schema.declares(key))
        && schema.required().all(|key| arguments.contains_key(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::catalog;
    use serde_json::json;

    fn map(text: &str) -> Map {
        serde_json::from_str(text).unwrap()
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
        ];
        let declared = catalog(&tools);
        for (arguments, expected) in table {
            assert_eq!(
                infer(&map(arguments), &declared).map(|tool| tool.name.as_str()),
                expected,
                "{arguments}"
            );
        }
        let two = catalog(&[("list", Effect::Reads, path.clone()), ("walk", Effect::Reads, path)]);
        assert_eq!(infer(&map(r#"{"path":"y"}"#), &two), None);
        let time = catalog(&[("time", Effect::Reads, none.clone())]);
        assert!(infer(&Map::new(), &time).is_some());
        assert_eq!(infer(&Map::new(), &catalog(&[("reset", Effect::Acts, none)])), None);
    }
}
