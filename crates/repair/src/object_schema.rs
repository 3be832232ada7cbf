use rail_model::Map;
use serde_json::Value;

/// References that lead on for longer than this lead in a circle.
const MAX_HOPS: usize = 16;
/// Alternatives inside alternatives are looked at so deep: each level multiplies the work.
const MAX_NESTING: usize = 3;

/// The schema itself where `node` only refers to it.
pub(crate) fn resolve<'a>(node: &'a Value, root: &'a Value) -> &'a Value {
    let mut node = node;
    for _ in 0..MAX_HOPS {
        let target =
            node.get("$ref").and_then(Value::as_str).and_then(|to| root.pointer(to.strip_prefix('#')?));
        match target {
            Some(next) => node = next,
            None => break,
        }
    }
    node
}

/// What a schema says of an object: its properties, and whether others are welcome.
#[derive(Clone, Copy)]
pub(crate) struct ObjectShape<'a> {
    pub(crate) properties: &'a Map,
    required: Option<&'a Vec<Value>>,
    /// Other keys are declared as data, so one is only taken for a property that must be there.
    pub(crate) open: bool,
}

impl ObjectShape<'_> {
    pub(crate) fn requires(&self, key: &str) -> bool {
        self.required.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(key)))
    }
}

/// The shape of objects under a schema, where it has just one.
pub(crate) fn object<'a>(node: &'a Value, root: &'a Value) -> Option<ObjectShape<'a>> {
    let node = only(node, root, MAX_NESTING, |node| node.get("properties").is_some_and(Value::is_object))?;
    let open = match node.get("additionalProperties") {
        None | Some(Value::Bool(false)) => node.contains_key("patternProperties"),
        Some(_) => true,
    };
    Some(ObjectShape {
        properties: node.get("properties")?.as_object()?,
        required: node.get("required").and_then(Value::as_array),
        open,
    })
}

/// The schema of a list's items, where it has just one.
pub(crate) fn items<'a>(node: &'a Value, root: &'a Value) -> Option<&'a Value> {
    only(node, root, MAX_NESTING, |node| node.get("items").is_some_and(Value::is_object))?.get("items")
}

/// The one schema among `node` and its alternatives that is as asked for.
fn only<'a>(node: &'a Value, root: &'a Value, levels: usize, is: fn(&Map) -> bool) -> Option<&'a Map> {
    let node = resolve(node, root).as_object()?;
    if is(node) {
        return Some(node);
    }
    let levels = levels.checked_sub(1)?;
    let branches =
        ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|word| node.get(word)?.as_array()).flatten();
    let mut found = branches.filter_map(|branch| only(branch, root, levels, is));
    let first = found.next()?;
    found.next().is_none().then_some(first)
}
