use rail_model::Map;
use serde_json::Value;

use super::call::Unnamed;
use super::literal::{Choices, Literals};
use super::unnamed_key;
use crate::text::args::Call;
use crate::{Catalog, Found, Step};

/// A call as it was written.
#[derive(Clone, PartialEq, Debug)]
struct Written {
    name: String,
    unnamed: Vec<Value>,
    named: Map,
}

/// Reads all calls in a text that is known whole. Where quotes within quotes were not escaped, the calls are taken only if
/// there is exactly one way to read them. None when there is none, or more.
pub(super) fn calls(text: &str, catalog: &Catalog, unnamed: Unnamed) -> Option<Vec<Call>> {
    let finish = |written: Vec<Written>| -> Option<Vec<Call>> {
        written.into_iter().map(|written| settle(written, catalog, unnamed)).collect()
    };
    if let Some(written) = all(&mut Literals::new(text, None)) {
        return finish(written);
    }
    let mut choices = Choices::default();
    let mut only: Option<Vec<Written>> = None;
    loop {
        if let Some(written) = all(&mut Literals::new(text, Some(&mut choices))) {
            if only.as_ref().is_some_and(|only| *only != written) {
                return None;
            }
            only = Some(written);
        }
        if choices.is_spent() {
            return None;
        }
        if !choices.turn() {
            break;
        }
    }
    let mut calls = finish(only?)?;
    calls.iter_mut().for_each(|call| call.mended.push(Step::Tolerant));
    Some(calls)
}

fn all(text: &mut Literals<'_>) -> Option<Vec<Written>> {
    let mut written = Vec::new();
    loop {
        text.blanks();
        match text.peek() {
            None => return (!written.is_empty()).then_some(written),
            Some(b',' | b';' | b'[' | b']') => text.at += 1,
            Some(_) => written.push(call(text)?),
        }
    }
}

fn call(text: &mut Literals<'_>) -> Option<Written> {
    let name = text.word(&['.', '-'])?.to_owned();
    text.take("(").then_some(())?;
    if name == "print" {
        let begun = text.at;
        text.blanks();
        if text.word(&['.', '-']).is_some() && text.peek() == Some(b'(') {
            text.at = begun;
            text.blanks();
            let inner = call(text)?;
            text.blanks();
            return text.take(")").then_some(inner);
        }
        text.at = begun;
    }
    let mut written = Written { name, unnamed: Vec::new(), named: Map::new() };
    let mut comma = true;
    loop {
        text.blanks();
        if text.take(")") {
            return Some(written);
        }
        if !comma {
            return None;
        }
        argument(text, &mut written)?;
        text.blanks();
        comma = text.take(",");
    }
}

fn argument(text: &mut Literals<'_>, written: &mut Written) -> Option<()> {
    if text.take("**") {
        let Value::Object(members) = text.value()? else { return None };
        for (key, value) in members {
            if written.named.insert(key, value).is_some() {
                return None;
            }
        }
        return Some(());
    }
    let begun = text.at;
    if let Some(key) = text.word(&[]) {
        text.blanks();
        if text.take("=") {
            let value = text.value()?;
            return written.named.insert(key.to_owned(), value).is_none().then_some(());
        }
    }
    text.at = begun;
    // Python wants arguments without a name first, and that tells many wrong readings from the right one.
    if !written.named.is_empty() {
        return None;
    }
    written.unnamed.push(text.value()?);
    Some(())
}

/// The call that is meant: arguments without a name go to the parameters that they stand for.
fn settle(written: Written, catalog: &Catalog, rule: Unnamed) -> Option<Call> {
    let Written { name, unnamed, mut named } = written;
    if unnamed.is_empty() {
        return Some(Call::new(name, Value::from(named).to_string()));
    }
    let tool = match catalog.find(&name) {
        Found::Tool(tool, _) => Some(tool),
        Found::Unknown(_) => None,
    };
    let declares =
        |key: &String| tool.map(crate::schema::Schema::of).is_some_and(|schema| schema.declares(key));
    match rule {
        Unnamed::Refused => return None,
        Unnamed::Mapped | Unnamed::Kept => {}
    }
    if let ([Value::Object(members)], true) = (unnamed.as_slice(), named.is_empty())
        && members.keys().all(declares)
    {
        return Some(Call::new(name, Value::from(members.clone()).to_string()));
    }
    let keys: Option<Vec<String>> =
        tool.and_then(|tool| (0..unnamed.len()).map(|index| unnamed_key(tool, index)).collect());
    match keys {
        Some(keys) if !keys.iter().any(|key| named.contains_key(key)) => {
            let mut arguments: Map = keys.into_iter().zip(unnamed).collect();
            arguments.append(&mut named);
            Some(Call::new(name, Value::from(arguments).to_string()))
        }
        // What they stand for is for the model to say; that it called is sure.
        Some(_) | None if rule == Unnamed::Kept && named.is_empty() => {
            Some(Call::new(name, Value::from(unnamed).to_string()))
        }
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rail_model::{Extras, Json, ToolDecl, ToolKind};
    use serde_json::{Value, json};

    use super::calls;
    use crate::text::python::Unnamed;
    use crate::{Catalog, Step};

    fn catalog() -> Catalog {
        let tool = |name: &str, parameters: Value| ToolDecl {
            name: name.into(),
            description: None,
            kind: ToolKind::Function { parameters: Some(Json::from(&parameters)) },
            strict: None,
            cache: None,
            extras: Extras::NONE,
        };
        Catalog::new(&[
            tool(
                "run",
                json!({"properties": {"command": {"type": "string"}, "n": {}}, "required": ["command"]}),
            ),
            tool("now", json!({"properties": {}})),
        ])
    }

    fn read(text: &str, unnamed: Unnamed) -> Option<Vec<(String, Value, bool)>> {
        let calls = calls(text, &catalog(), unnamed)?;
        Some(
            calls
                .into_iter()
                .map(|call| {
                    let arguments = serde_json::from_str(&call.arguments).unwrap();
                    (call.name, arguments, call.mended == [Step::Tolerant])
                })
                .collect(),
        )
    }

    fn one(arguments: Value, mended: bool) -> Option<Vec<(String, Value, bool)>> {
        Some(vec![("run".to_owned(), arguments, mended)])
    }

    #[test]
    fn quotes_in_quotes_count_only_if_one_reading_is_left() {
        for (text, expected) in [
            ("run(command='sed -n '1p' f')", one(json!({"command": "sed -n '1p' f"}), true)),
            ("[run(command='print('x')', n=1)]", one(json!({"command": "print('x')", "n": 1}), true)),
            ("run(command='grep 'a', 'b' f')", one(json!({"command": "grep 'a', 'b' f"}), true)),
            ("run(command=\"say \"hi\" now\")", one(json!({"command": "say \"hi\" now"}), true)),
            ("run(command='it's')", one(json!({"command": "it's"}), true)),
            // Two readings: `n` is a parameter, or part of the command.
            ("run(command='a 'b', n='c')", None),
            ("run(command='a' b)", None),
            ("run(command='a", None),
            ("run(command='a') or so", None),
        ] {
            assert_eq!(read(text, Unnamed::Mapped), expected, "{text}");
        }
    }

    #[test]
    fn arguments_without_a_name_find_theirs() {
        for (text, unnamed, expected) in [
            ("run('ls')", Unnamed::Mapped, one(json!({"command": "ls"}), false)),
            ("run('ls', 2)", Unnamed::Mapped, one(json!({"command": "ls", "n": 2}), false)),
            ("run('ls', n=2)", Unnamed::Mapped, one(json!({"command": "ls", "n": 2}), false)),
            ("run({'command': 'ls'})", Unnamed::Mapped, one(json!({"command": "ls"}), false)),
            ("run(**{'command': 'ls'})", Unnamed::Refused, one(json!({"command": "ls"}), false)),
            ("run('ls')", Unnamed::Refused, None),
            ("run('ls', command='ls')", Unnamed::Kept, None),
            ("run(1, 2, 3)", Unnamed::Mapped, None),
            ("run(1, 2, 3)", Unnamed::Kept, one(json!([1, 2, 3]), false)),
            ("run(n=1, 'ls')", Unnamed::Kept, None),
            ("run(n=1, n=2)", Unnamed::Kept, None),
            ("print(run(n=1))", Unnamed::Refused, one(json!({"n": 1}), false)),
        ] {
            assert_eq!(read(text, unnamed), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_ends(text in "(run\\(|now\\(|command=|n=|['\"(),\\[\\]{}:#a-c 0-9\n]){0,60}") {
            let _ = read(&text, Unnamed::Kept);
        }
    }

    #[test]
    fn hostile_quotes_cost_little() {
        let text = format!("run(command='{}", "a', n='".repeat(4000));
        assert_eq!(read(&text, Unnamed::Kept), None);
    }
}
