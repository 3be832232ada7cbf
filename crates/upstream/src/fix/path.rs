//! Places in a request's body, written `messages[].content[].cache_control`: `[]` is every element of a list.

use serde_json::Value;

/// Calls `act` with every value at this place; true when it changed one.
pub(super) fn each(body: &mut Value, path: &str, act: &dyn Fn(&mut Value) -> bool) -> bool {
    match split(path) {
        (Step::Here, _) => act(body),
        (Step::Every, rest) => {
            let mut changed = false;
            for item in body.as_array_mut().into_iter().flatten() {
                changed |= each(item, rest, act);
            }
            changed
        }
        (Step::Field(name), rest) => body.get_mut(name).is_some_and(|value| each(value, rest, act)),
    }
}

/// Takes a field out wherever it stands.
pub(super) fn remove(body: &mut Value, path: &str) -> bool {
    let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
    each(body, parent, &|value| {
        value.as_object_mut().is_some_and(|fields| fields.shift_remove(name).is_some())
    })
}

/// Gives a field this value; a field that is not there is added.
pub(super) fn set(body: &mut Value, path: &str, to: &Value) -> bool {
    let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
    each(body, parent, &|value| {
        let Some(fields) = value.as_object_mut() else { return false };
        fields.insert(name.to_owned(), to.clone()).as_ref() != Some(to)
    })
}

/// Gives a field of the body another name, at its old place; a field that has the new name already wins.
pub(super) fn rename(body: &mut Value, from: &str, to: &str) -> bool {
    let Some(fields) = body.as_object_mut() else { return false };
    if !fields.contains_key(from) {
        return false;
    }
    let kept = fields.contains_key(to);
    let old = std::mem::take(fields);
    let renamed = old.into_iter().filter(|(key, _)| !kept || key != from);
    fields.extend(renamed.map(|(key, value)| (if key == from { to.to_owned() } else { key }, value)));
    true
}

enum Step<'a> {
    Here,
    Every,
    Field(&'a str),
}

fn split(path: &str) -> (Step<'_>, &str) {
    let path = path.strip_prefix('.').unwrap_or(path);
    if path.is_empty() {
        return (Step::Here, "");
    }
    if let Some(rest) = path.strip_prefix("[]") {
        return (Step::Every, rest);
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    (Step::Field(name), rest)
}

/// The place that a provider means by `tools[0].custom.x`, `messages.1.content` or `('body', 'a')`, if there is something.
///
/// Names are compared without case and `_`, since servers answer in their own spelling. A name that is not there may be
/// the tag of a variant, as in `tools.0.custom.x`, and is passed over; the last one must be there.
pub(super) fn locate(body: &Value, segments: &[&str]) -> Option<String> {
    let (mut here, mut path, mut found) = (body, String::new(), false);
    for (at, segment) in segments.iter().enumerate() {
        found = false;
        let last = at + 1 == segments.len();
        if segment.parse::<usize>().is_ok() {
            let Some(items) = here.as_array() else { continue };
            here = segment.parse().ok().and_then(|at: usize| items.get(at)).or(items.first())?;
            path.push_str("[]");
            continue;
        }
        if let Some(items) = here.as_array() {
            path.push_str("[]");
            here = items.iter().find(|item| field(item, segment).is_some()).or(items.first())?;
        }
        // `text` of a text block may be the variant's tag and not its field; only an object or a list is gone into.
        if let Some((name, value)) = field(here, segment).filter(|(_, value)| last || !is_leaf(value)) {
            let dot = if path.is_empty() { "" } else { "." };
            path.push_str(&format!("{dot}{name}"));
            (here, found) = (value, true);
        }
    }
    found.then_some(path)
}

fn is_leaf(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn field<'a>(value: &'a Value, meant: &str) -> Option<(&'a String, &'a Value)> {
    let fields = value.as_object()?;
    let meant = squash(meant);
    fields.iter().find(|(name, _)| squash(name) == meant)
}

/// A name without case and separators.
pub(super) fn squash(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_found_in_any_spelling() {
        let body = json!({
            "presence_penalty": 1,
            "tools": [{"name": "a", "x": 1}, {"name": "b", "strict": true}],
            "generationConfig": {"topK": 4},
            "messages": [{"role": "user"}, {"role": "assistant", "content": [{"text": "t", "citations": []}]}],
        });
        for (segments, expected) in [
            (&["presencePenalty"][..], Some("presence_penalty")),
            (&["tools", "0", "custom", "x"], Some("tools[].x")),
            (&["tools", "strict"], Some("tools[].strict")),
            (&["generation_config", "top_k"], Some("generationConfig.topK")),
            (&["messages", "1", "content", "0", "text", "citations"], Some("messages[].content[].citations")),
            (&["messages", "1", "content", "0", "citations"], Some("messages[].content[].citations")),
            (&["body", "presence_penalty"], Some("presence_penalty")),
            (&["nothing"], None),
            (&["tools", "9", "strict"], None),
            (&[], None),
        ] {
            assert_eq!(locate(&body, segments).as_deref(), expected, "{segments:?}");
        }
    }

    #[test]
    fn places_are_changed() {
        let mut body = json!({"a": [{"b": 1, "c": 2}, {"b": 3}, 4], "max_tokens": 5, "z": 0});
        assert!(remove(&mut body, "a[].b") && !remove(&mut body, "a[].b"));
        assert!(rename(&mut body, "max_tokens", "max_completion_tokens"));
        assert!(!rename(&mut body, "max_tokens", "max_completion_tokens"));
        assert!(set(&mut body, "z", &json!(true)) && !set(&mut body, "z", &json!(true)));
        assert!(set(&mut body, "new", &json!(1)));
        assert_eq!(body.to_string(), r#"{"a":[{"c":2},{},4],"max_completion_tokens":5,"z":true,"new":1}"#);
    }
}
