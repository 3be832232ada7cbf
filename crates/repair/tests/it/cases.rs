use serde_json::Value;

use crate::decode::{Case, Decoded};

/// What differs from what the case expects, by the corpus's own rules of comparison.
fn difference(case: &Case, got: &Decoded) -> Option<String> {
    let expect = &case.0["expect"];
    let calls = expect["calls"].as_array().cloned().unwrap_or_default();
    let incomplete: Vec<&str> =
        expect["incomplete"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !same(&Value::from(got.calls.clone()), &Value::from(calls.clone())) {
        return Some(format!(
            "calls\n   got {}\n  want {}",
            Value::from(got.calls.clone()),
            Value::from(calls)
        ));
    }
    if got.incomplete != incomplete {
        return Some(format!("incomplete: got {:?}, want {incomplete:?}", got.incomplete));
    }
    let reasoning = expect["reasoning"].as_str().unwrap_or_default();
    let content = expect["content"].as_str().unwrap_or_default();
    let stripped = case.0["tags"].as_array().into_iter().flatten().any(|tag| tag == "strip");
    if calls.is_empty() && incomplete.is_empty() && reasoning.is_empty() && !stripped {
        let text = case.text();
        return (got.content != text || !got.reasoning.is_empty())
            .then(|| format!("content\n   got {:?}\n  want {text:?}", got.content));
    }
    if collapse(&got.content) != collapse(content) {
        return Some(format!("content\n   got {:?}\n  want {content:?}", got.content));
    }
    if collapse(&got.reasoning) != collapse(reasoning) {
        return Some(format!("reasoning\n   got {:?}\n  want {reasoning:?}", got.reasoning));
    }
    let mut ids = got.ids.clone();
    ids.sort();
    ids.dedup();
    (ids.len() != got.ids.len() || ids.iter().any(String::is_empty)).then(|| format!("ids {:?}", got.ids))
}

/// Equal as JSON, with 1 equal to 1.0.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| same(value, other)))
        }
        _ => one == other,
    }
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_text_case_becomes_what_it_should() {
    let mut wrong = Vec::new();
    for case in Case::all().iter().filter(|case| case.is_text()) {
        let text = case.text();
        let got = case.decode([text.as_str()]);
        if let Some(difference) = difference(case, &got) {
            wrong.push(format!(
                "{} [{}] {difference}\n  text {:?}",
                case.id(),
                case.0["tier"].as_str().unwrap(),
                text.chars().take(300).collect::<String>()
            ));
        }
    }
    assert!(wrong.is_empty(), "{} cases are wrong:\n{}", wrong.len(), wrong.join("\n"));
}
