use rail_model::Map;
use serde_json::Value;
use serde_json::value::RawValue;

use super::args::Call;
use super::json::Scanned;
use super::members::Members;
use crate::json::State;
use crate::schema::Schema;
use crate::{Catalog, Found, Step};

const NAME_KEYS: &[&str] =
    &["name", "tool", "tool_name", "toolName", "function", "function_name", "action", "recipient_name"];
const ARGUMENTS_KEYS: &[&str] =
    &["arguments", "args", "parameters", "params", "input", "tool_input", "action_input", "kwargs"];
const LIST_KEYS: &[&str] = &["tool_calls", "tool_uses"];
const WRAPPER_KEYS: &[&str] = &["function_call", "function"];
const EXTRA_KEYS: &[&str] =
    &["id", "type", "call_id", "tool_call_id", "index", "thought", "reasoning", "explanation"];

/// Whether a key can hold a tool's name.
pub(super) fn is_name_key(key: &str) -> bool {
    NAME_KEYS.contains(&key)
}

/// Whether a key can hold arguments.
pub(super) fn is_arguments_key(key: &str) -> bool {
    ARGUMENTS_KEYS.contains(&key)
}

/// Whether a key may stand in a call but says nothing that matters.
pub(super) fn is_extra_key(key: &str) -> bool {
    EXTRA_KEYS.contains(&key)
}

/// Whether an object that begins with this key may be a call.
pub(super) fn may_begin_call(key: &str) -> bool {
    [NAME_KEYS, ARGUMENTS_KEYS, LIST_KEYS, WRAPPER_KEYS, EXTRA_KEYS].iter().any(|keys| keys.contains(&key))
}

/// How much the surroundings prove.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Proof {
    /// Markup that exists only for calls.
    Strong,
    /// Only the shape.
    Weak,
}

/// The calls in a JSON value between markup that exists only for calls. None when it is none.
pub(super) fn strong(text: &str, catalog: &Catalog, end: Scanned) -> Option<Vec<Call>> {
    calls(text, catalog, Proof::Strong, end)
}

/// The calls in a JSON value that stands in plain text: only exact shapes and declared names. None when it is none.
pub(super) fn weak(text: &str, catalog: &Catalog, end: Scanned) -> Option<Vec<Call>> {
    calls(text, catalog, Proof::Weak, end)
}

fn calls(text: &str, catalog: &Catalog, proof: Proof, end: Scanned) -> Option<Vec<Call>> {
    let shape = Shape { catalog, proof };
    if let Ok(raw) = serde_json::from_str::<&RawValue>(text) {
        return shape.read(raw, false, WRAPPINGS).filter(|calls| !calls.is_empty());
    }
    let read = crate::json::read_tolerant(text).ok()?;
    let fixed = read.value.to_string();
    let raw: &RawValue = serde_json::from_str(&fixed).ok()?;
    let mut calls =
        shape.read(raw, read.state != State::Complete, WRAPPINGS).filter(|calls| !calls.is_empty())?;
    if read.state == State::OpenString && calls.last().is_some_and(|last| ends_in_name(text, last, catalog)) {
        return None;
    }
    // A closer proves that the model was done; only its brackets are missing.
    let closed = read.state == State::OpenContainer && end == Scanned::Closer;
    let cut = match read.state {
        State::OpenContainer if !closed => Some("{"),
        State::OpenString => Some("{\""),
        State::Complete | State::OpenContainer => None,
    };
    let mended = [(read.mended && !closed, Step::Tolerant), (closed, Step::Closed)];
    for (_, step) in mended.into_iter().filter(|(is_so, _)| *is_so) {
        calls.iter_mut().for_each(|call| call.mended.push(step));
    }
    if let (Some(open), Some(last)) = (cut, calls.last_mut()) {
        last.arguments = cut_arguments(&last.arguments, proof, read.state).unwrap_or_else(|| open.to_owned());
        last.cut = true;
    }
    Some(calls)
}

/// A call stands in a wrapper or two; deeper ones are nobody's way to write it, and would be read once for each level.
const WRAPPINGS: usize = 5;

/// The arguments of a call that the text ended in, as JSON that nobody may take for whole: it ends the way it was cut. None when
/// nothing of them is of use.
fn cut_arguments(arguments: &str, proof: Proof, state: State) -> Option<String> {
    // Where they were encoded as a string, the string is what is whole.
    let text = serde_json::from_str::<String>(arguments).unwrap_or_else(|_| arguments.to_owned());
    let is_nothing = matches!(text.trim(), "" | "null" | "{}");
    let surely_cut = Some("{\"".to_owned());
    match state {
        State::Complete | State::OpenString => None,
        // Without markup, what has no arguments was no call yet.
        State::OpenContainer if is_nothing && proof == Proof::Weak => surely_cut,
        State::OpenContainer if is_nothing => None,
        State::OpenContainer => text.trim_end().strip_suffix('}').map(str::to_owned).or(surely_cut),
    }
}

struct Shape<'a> {
    catalog: &'a Catalog,
    proof: Proof,
}

impl Shape<'_> {
    /// The calls in a value; `open` says that the text ended within it, `wrappings` how many more may stand around them.
    fn read(&self, raw: &RawValue, open: bool, wrappings: usize) -> Option<Vec<Call>> {
        if raw.get().starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
            let last = items.len();
            let calls: Option<Vec<Vec<Call>>> = items
                .into_iter()
                .zip(1..)
                .map(|(item, nth)| self.object(item, open && nth == last, wrappings))
                .collect();
            return calls.map(|calls| calls.into_iter().flatten().collect());
        }
        self.object(raw, open, wrappings)
    }

    fn object(&self, raw: &RawValue, open: bool, wrappings: usize) -> Option<Vec<Call>> {
        let inside = wrappings.checked_sub(1)?;
        let members: Members<'_> = serde_json::from_str(raw.get()).ok()?;
        if let Some((_, list)) = members.first_of(LIST_KEYS) {
            return if list.get().starts_with('[')
                && members.only(&[LIST_KEYS, EXTRA_KEYS, &["role", "content"]])
            {
                self.read(list, open, inside).filter(|calls| !calls.is_empty())
            } else {
                None
            };
        }
        if let Some((_, inner)) =
            members.first_of(WRAPPER_KEYS).filter(|(_, inner)| inner.get().starts_with('{'))
        {
            return if members.only(&[WRAPPER_KEYS, EXTRA_KEYS]) {
                self.object(inner, open, inside)
            } else {
                None
            };
        }
        self.call(&members, open, inside)
    }

    fn call(&self, members: &Members<'_>, open: bool, inside: usize) -> Option<Vec<Call>> {
        let (name_key, name) = members.first_of(NAME_KEYS)?;
        let name: String = serde_json::from_str(name.get()).ok()?;
        let tool = match self.catalog.find(&name) {
            Found::Tool(tool, _) => Some(tool),
            Found::Unknown(_) => None,
        };
        let arguments = members.first_of(ARGUMENTS_KEYS).filter(|(key, _)| *key != name_key);
        if name.ends_with("multi_tool_use.parallel") || name == "parallel" && tool.is_none() {
            return self.object(arguments?.1, open, inside);
        }
        if tool.is_none() && (self.proof == Proof::Weak || !may_be_name(&name))
            || members.get("description").is_some()
            || members.get("$schema").is_some()
        {
            return None;
        }
        let named_tool = matches!(name_key, "tool" | "tool_name" | "toolName");
        let text = match arguments {
            Some((arguments_key, arguments)) => {
                let known = members.only(&[&[name_key], &[arguments_key], EXTRA_KEYS]);
                let exact = known && may_be_arguments(arguments);
                if looks_like_schema(arguments) || (self.proof == Proof::Weak && !exact) {
                    return None;
                }
                arguments.get().to_owned()
            }
            // Its arguments were still to come.
            None if open && members.only(&[&[name_key], EXTRA_KEYS]) => "{}".to_owned(),
            None => self.flattened(members, name_key, named_tool, tool.map(Schema::of))?,
        };
        let id = members
            .get("id")
            .and_then(|id| serde_json::from_str::<String>(id.get()).ok())
            .filter(|id| is_given_id(id));
        Some(vec![Call { id, ..Call::new(name, text) }])
    }

    /// A call without a key for its arguments: they stand beside the name, or there are none.
    fn flattened(
        &self,
        members: &Members<'_>,
        name_key: &str,
        named_tool: bool,
        schema: Option<Schema<'_>>,
    ) -> Option<String> {
        if self.proof == Proof::Weak && !named_tool {
            return None;
        }
        let rest: Vec<(&str, &RawValue)> = members
            .iter()
            .filter(|(key, _)| {
                *key != name_key && (!EXTRA_KEYS.contains(key) || declares(schema.as_ref(), key))
            })
            .collect();
        if rest.is_empty() {
            let needs = schema.is_some_and(|schema| schema.required().next().is_some());
            return (self.proof == Proof::Strong || !needs).then(|| "{}".to_owned());
        }
        if self.proof == Proof::Weak && !rest.iter().all(|(key, _)| declares(schema.as_ref(), key)) {
            return None;
        }
        let members: Vec<String> =
            rest.iter().map(|(key, value)| format!("{}: {}", Value::from(*key), value.get())).collect();
        Some(format!("{{{}}}", members.join(", ")))
    }
}

/// Mistral's ids, which must go back as they are; what other models put there is made up and the same in every answer.
pub(super) fn is_given_id(id: &str) -> bool {
    id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn declares(schema: Option<&Schema<'_>>, key: &str) -> bool {
    schema.is_some_and(|schema| schema.declares(key))
}

/// Whether the text ends within the name of a call, so that nobody can say which tool was meant.
fn ends_in_name(text: &str, call: &Call, catalog: &Catalog) -> bool {
    let named = text.strip_suffix(call.name.as_str()).is_some_and(|before| before.ends_with(['"', '\'']));
    named && call.arguments == "{}" && catalog.get(&call.name).is_none()
}

/// Whether a tool could have this name; a placeholder in an explanation is none.
fn may_be_name(name: &str) -> bool {
    name.contains(char::is_alphanumeric) && !name.contains(['<', '>', '{', '}'])
}

/// Whether a value can stand for arguments: an object, a text that may hold one, or nothing at all.
fn may_be_arguments(value: &RawValue) -> bool {
    let value = value.get();
    value.starts_with(['{', '"']) || value == "null" || value.starts_with('[') && is_one_or_none(value)
}

/// A list of nothing, or of one object.
fn is_one_or_none(list: &str) -> bool {
    let items: Result<Vec<&RawValue>, _> = serde_json::from_str(list);
    items.is_ok_and(|items| items.len() <= 1 && items.iter().all(|item| item.get().starts_with('{')))
}

/// `{"type": "object", "properties": …}`: the declaration of a tool rather than a call of it.
fn looks_like_schema(arguments: &RawValue) -> bool {
    let map: Result<Map, _> = serde_json::from_str(arguments.get());
    map.is_ok_and(|map| {
        map.get("type").is_some_and(|kind| kind == "object") && map.contains_key("properties")
    })
}
