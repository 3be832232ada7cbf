use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Source;
use crate::tree::{Member, Node, Table, Value};
use crate::{Origin, Problems};

pub(super) fn read(source: &Source<'_>) -> Result<Node, Problems> {
    let (table, errors) = DeTable::parse_recoverable(source.text);
    if errors.is_empty() {
        let origin = |at: usize| source.origin(at);
        return Ok(Node { origin: origin(0), value: Value::Table(members(table.into_inner(), &origin)) });
    }
    let problems = errors.iter().map(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let (message, hint) = (error.message(), hint(error.message()));
        let message = message.trim_end_matches(", expected literal string");
        source.problem(at, format!("this is no TOML: {message}{hint}"))
    });
    let mut problems: Vec<_> = problems.collect();
    problems.sort();
    // What follows on the same line is most often an echo of the first.
    problems.dedup_by(|next, first| line(&next.origin) == line(&first.origin));
    Err(Problems(problems))
}

fn line(origin: &Origin) -> Option<usize> {
    match origin {
        Origin::File { at, .. } => Some(at.line),
        Origin::BuiltIn | Origin::Found(_) | Origin::Variable(_) | Origin::Flag(_) => None,
    }
}

/// What to do, where the reader's own words do not say it.
fn hint(message: &str) -> &'static str {
    let hints = [
        ("string values must be quoted", "; write text in quotes: key = \"value\""),
        ("invalid basic string, expected `\"`", "; close the text on its line"),
        ("duplicate key", "; remove one of the two"),
        ("unquoted keys", "; write a key with other characters than letters, digits, `-` and `_` in quotes"),
        ("key with no value", "; write key = \"value\""),
        ("cannot extend value", "; write all keys of this table either inside its braces or under headings"),
        ("recurs", "; nothing here needs such depth"),
    ];
    hints.iter().find(|(words, _)| message.contains(words)).map_or("", |(_, hint)| hint)
}

pub(super) fn value(text: &str, origin: &Origin) -> Option<Node> {
    let value = DeValue::parse(text.trim()).ok()?;
    Some(node(value, &|_| origin.clone()))
}

pub(super) fn path(text: &str) -> Option<Vec<String>> {
    let line = format!("{text} = 1");
    let table = DeTable::parse(&line).ok()?.into_inner();
    let mut keys = Vec::new();
    let mut table = Some(table);
    while let Some(there) = table.take() {
        let [(key, value)] = <[_; 1]>::try_from(there.into_iter().collect::<Vec<_>>()).ok()?;
        keys.push(key.into_inner().into_owned());
        if let DeValue::Table(inner) = value.into_inner() {
            table = Some(inner);
        }
    }
    Some(keys)
}

fn members(table: DeTable<'_>, origin: &dyn Fn(usize) -> Origin) -> Table {
    let members = table.into_iter().map(|(key, value)| {
        let member = Member { key: origin(key.span().start), node: node(value, origin) };
        (key.into_inner().into_owned(), member)
    });
    members.collect()
}

fn node(value: Spanned<DeValue<'_>>, origin: &dyn Fn(usize) -> Origin) -> Node {
    let at = value.span().start;
    let value = match value.into_inner() {
        DeValue::String(text) => Value::text(&text),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Integer(number),
            Err(_) => Value::Other("a number that is too large"),
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Value::Float(number),
            Ok(_) | Err(_) => Value::Other("a number that is not finite"),
        },
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Array(list) => Value::List(list.into_iter().map(|item| node(item, origin)).collect()),
        DeValue::Table(table) => Value::Table(members(table, origin)),
    };
    Node { origin: origin(at), value }
}
