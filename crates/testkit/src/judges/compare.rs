//! What an SDK saw or raised, against what it should have.

use serde_json::Value;

use super::Expected;

/// Names what of a line of the SDK's script does not fit.
pub fn compare(expected: &Expected, line: &Value, failures: &mut Vec<String>) {
    match (expected, line.get("saw"), line.get("raised")) {
        (Expected::Saw(expected), Some(saw), _) => {
            for (key, expected) in expected.as_object().into_iter().flatten() {
                if !same(expected, &saw[key]) {
                    failures.push(format!("{key} should be {}, is {}", short(expected), short(&saw[key])));
                }
            }
        }
        (Expected::Raised(expected), _, Some(raised)) => {
            let mut unmet = |what: &str, holds: bool| {
                if !holds {
                    failures.push(format!("{what} does not fit: raised {}", short(raised)));
                }
            };
            let mut ancestors = raised["ancestors"].as_array().into_iter().flatten();
            unmet("class", expected.class.is_none_or(|class| raised["class"] == class));
            unmet("ancestor", expected.ancestor.is_none_or(|class| ancestors.any(|kind| kind == class)));
            unmet("status", expected.status.is_none_or(|status| raised["status"] == status));
            unmet("message", raised["message"].as_str().unwrap_or_default().contains(expected.says));
            unmet("retry-after", expected.retry_after.is_none_or(|delay| raised["retry_after"] == delay));
        }
        (Expected::Saw(_), None, Some(raised)) => failures.push(format!("raised {}", short(raised))),
        (Expected::Raised(_), Some(saw), None) => {
            failures.push(format!("raised nothing, saw {}", short(saw)))
        }
        _ => failures.push(format!("`{line}` says neither what was seen nor what was raised")),
    }
}

/// Equal as JSON values, numbers by their value and not by their spelling.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(600) {
        Some((end, _)) => format!("{}… ({} bytes)", text.get(..end).unwrap_or_default(), text.len()),
        None => text,
    }
}
