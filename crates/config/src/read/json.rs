use super::Source;
use crate::json::{self, Json, JsonError, JsonMember, JsonValue, Syntax};
use crate::tree::{Member, Node, Table, Value};
use crate::{Problem, Problems};

/// Reads JSON; comments as in JavaScript are let pass.
pub(super) fn read(source: &Source<'_>) -> Result<Node, Problems> {
    let wrong = |JsonError { at, text }| source.problem(at, format!("this is no JSON: {text}"));
    let json = json::read(source.text, Syntax::Json).map_err(wrong)?;
    match &json.value {
        JsonValue::Table(_) => Ok(node(source, json)?),
        JsonValue::Null
        | JsonValue::Bool(_)
        | JsonValue::Number(_)
        | JsonValue::Text(_)
        | JsonValue::List(_) => {
            Err(source.problem(json.at, "this is no JSON: a configuration begins with `{`").into())
        }
    }
}

fn node(source: &Source<'_>, json: Json) -> Result<Node, Problem> {
    let value = match json.value {
        JsonValue::Null => Value::Other("null"),
        JsonValue::Bool(value) => Value::Bool(value),
        JsonValue::Number(number) => self::number(&number),
        JsonValue::Text(text) => Value::text(&text),
        JsonValue::List(list) => {
            Value::List(list.into_iter().map(|item| node(source, item)).collect::<Result<_, _>>()?)
        }
        JsonValue::Table(members) => Value::Table(table(source, members)?),
    };
    Ok(Node { origin: source.origin(json.at), value })
}

fn table(source: &Source<'_>, members: Vec<JsonMember>) -> Result<Table, Problem> {
    let mut table = Table::new();
    for JsonMember { at, key, json } in members {
        let member = Member { key: source.origin(at), node: node(source, json)? };
        if let Some(first) = table.insert(key.clone(), member) {
            let text = format!(
                "this is no JSON: the key `{key}` is there already, at {}; remove one of the two",
                first.key
            );
            return Err(source.problem(at, text));
        }
    }
    Ok(table)
}

fn number(number: &serde_json::Number) -> Value {
    let is_whole = !number.to_string().contains(['.', 'e', 'E']);
    match (number.as_i64(), number.as_f64()) {
        (Some(number), _) => Value::Integer(number),
        (None, Some(number)) if number.is_finite() && !is_whole => Value::Float(number),
        (None, Some(_) | None) => Value::Other("a number that is too large"),
    }
}
