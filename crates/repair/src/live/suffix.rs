//! What is missing between the arguments that passed and the settled ones.

use serde_json::Value;

use super::scan::{Member, Scan};
use crate::Settled;
use crate::json;

/// What must follow the first `sent` bytes of `raw` so that they become the settled arguments; None if nothing can, because
/// a member that passed is not among them.
///
/// A member that came again later has another value by then. It is said again: the last value of a key stands, as it would
/// have in the model's own text.
pub(super) fn of(raw: &str, sent: usize, scan: &Scan, settled: &Settled) -> Option<String> {
    if settled.call.arguments == raw {
        return raw.get(sent..).map(str::to_owned);
    }
    let Some((open, finished)) = scan.members().split_last().filter(|_| sent > 0) else {
        return Some(settled.call.arguments.clone());
    };
    let arguments = settled.arguments.as_object()?;
    if !scan.members().iter().all(|member| arguments.contains_key(&member.key)) {
        return None;
    }
    let begun = decoded(raw, open)?;
    let whole = arguments.get(&open.key).and_then(Value::as_str);
    let rest = whole.and_then(|text| text.strip_prefix(begun.as_str()));
    let mut suffix = quoted(rest.unwrap_or_default()).split_off(1);
    let passed = |key: &str, value: &Value| match finished.iter().find(|member| member.key == key) {
        Some(member) => decoded(raw, member).as_deref() == value.as_str(),
        None => key == open.key && rest.is_some(),
    };
    for (key, value) in arguments.iter().filter(|(key, value)| !passed(key, value)) {
        suffix.push(',');
        suffix.push_str(&quoted(key));
        suffix.push(':');
        suffix.push_str(&json::write(value));
    }
    suffix.push('}');
    Some(suffix)
}

fn quoted(text: &str) -> String {
    json::write(&Value::String(text.to_owned()))
}

/// What the text of a member that passed says.
fn decoded(raw: &str, member: &Member) -> Option<String> {
    let text = raw.get(member.value.clone())?;
    match json::read_strict(&format!("\"{text}\"")) {
        Some((Value::String(said), _)) => Some(said),
        Some(_) | None => None,
    }
}
