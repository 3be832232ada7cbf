//! Values of the wrong type, made right where the schema leaves one meaning. A value whose type is allowed is left alone.

use rail_model::Map;
use serde_json::{Number, Value};

use crate::json::{self, MAX_DEPTH, State};
use crate::path::Path;
use crate::schema::{Fuel, Kind, Schema, Types};
use crate::{Repair, Step};

/// How often a value may have been encoded as a string.
pub(crate) const MAX_ENCODINGS: usize = 3;

/// Mends the types in arguments, as deep as the schema goes.
pub(crate) fn coerce(arguments: &mut Map, schema: Schema<'_>, fuel: &Fuel, repairs: &mut Vec<Repair>) {
    // Taken out for the time being: what works on any value works on the whole of them too.
    let mut whole = Value::Object(std::mem::take(arguments));
    let mut coercion = Coercion { fuel, repairs: Vec::new() };
    coercion.inside(&mut whole, schema, &Path::Root("arguments"));
    repairs.append(&mut coercion.repairs);
    if let Value::Object(mended) = whole {
        *arguments = mended;
    }
}

struct Coercion<'f> {
    fuel: &'f Fuel,
    repairs: Vec<Repair>,
}

impl Coercion<'_> {
    fn visit(&mut self, value: &mut Value, schema: Schema<'_>, path: &Path<'_>) {
        let types = schema.types_within(self.fuel);
        if !types.has(Kind::of(value)) {
            let Some(converted) = convert(value, schema, types) else { return };
            *value = converted;
            self.note(Step::Coerced, path);
        }
        self.inside(value, schema, path);
    }

    /// Mends the members or elements of a value whose own type is right.
    fn inside(&mut self, value: &mut Value, schema: Schema<'_>, path: &Path<'_>) {
        let fuel = self.fuel;
        fuel.deeper(|| match value {
            Value::Object(map) => {
                self.members(map, schema, path);
                self.branches(value, schema, path);
            }
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    if let Some(schema) = schema.item(at) {
                        self.visit(item, schema, &Path::Item(path, at));
                    }
                }
                self.branches(value, schema, path);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        });
    }

    fn members(&mut self, map: &mut Map, schema: Schema<'_>, path: &Path<'_>) {
        let mut dropped = Vec::new();
        for (name, value) in map.iter_mut() {
            let Some(declared) = schema.property(name) else { continue };
            let here = Path::Member(path, name);
            if value.is_null() && !schema.requires(name) && !declared.types_within(self.fuel).has(Kind::Null)
            {
                self.note(Step::Dropped, &here);
                dropped.push(name.clone());
            } else {
                self.visit(value, declared, &here);
            }
        }
        if !dropped.is_empty() {
            map.retain(|name, _| !dropped.contains(name));
        }
    }

    /// Tries the alternatives that allow this type, until the value fits one.
    fn branches(&mut self, value: &mut Value, schema: Schema<'_>, path: &Path<'_>) {
        let branches = schema.branches();
        if branches.is_empty() || schema.fits(value, self.fuel) {
            return;
        }
        let kind = Kind::of(value);
        let mut tried = Vec::new();
        for branch in branches.into_iter().filter(|branch| branch.types_within(self.fuel).has(kind)) {
            let mut attempt = Coercion { fuel: self.fuel, repairs: Vec::new() };
            let mut copy = value.clone();
            attempt.inside(&mut copy, branch, path);
            if branch.fits(&copy, self.fuel) {
                *value = copy;
                self.repairs.append(&mut attempt.repairs);
                return;
            }
            tried.push((copy, attempt.repairs));
        }
        // With one way to go, half a repair makes the answer to the model shorter; with several it would be a guess.
        if let (1, Some((copy, mut repairs))) = (tried.len(), tried.pop()) {
            *value = copy;
            self.repairs.append(&mut repairs);
        }
    }

    fn note(&mut self, step: Step, path: &Path<'_>) {
        self.repairs.push(Repair::new(step, path.to_string()));
    }
}

fn convert(value: &Value, schema: Schema<'_>, types: Types) -> Option<Value> {
    match value {
        Value::String(text) => from_string(text, types).or_else(|| lone(value, schema, types)),
        Value::Number(_) | Value::Bool(_) if types.without(Kind::Null) == Types::STRING => {
            Some(Value::String(value.to_string()))
        }
        Value::Number(_) | Value::Bool(_) => lone(value, schema, types),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// What a string spells, if it is of one of these types.
fn from_string(text: &str, types: Types) -> Option<Value> {
    let word = text.trim();
    if types.has(Kind::Boolean) {
        if word.eq_ignore_ascii_case("true") {
            return Some(Value::Bool(true));
        }
        if word.eq_ignore_ascii_case("false") {
            return Some(Value::Bool(false));
        }
    }
    if types.has(Kind::Null) && matches!(word, "null" | "None") {
        return Some(Value::Null);
    }
    number_of(word, types).map(Value::Number).or_else(|| container(word, types))
}

/// The number that a text spells; where only integers are allowed, without the fraction that says nothing.
pub(crate) fn number_of(word: &str, types: Types) -> Option<Number> {
    let number = json::number(word)?;
    if types.has(Kind::Number) {
        // One beyond what numbers can hold would become infinite at its reader.
        return number.as_f64().is_some().then_some(number);
    }
    if !types.has(Kind::Integer) || Kind::of(&Value::Number(number.clone())) != Kind::Integer {
        return None;
    }
    if word.contains(['.', 'e', 'E']) {
        let whole = number.as_f64().filter(|n| n.abs() < 9e15)?;
        return Some(Number::from(whole as i64));
    }
    Some(number)
}

/// The list or object that a text holds, encoded once or more often.
pub(crate) fn container(text: &str, types: Types) -> Option<Value> {
    if !types.has(Kind::Array) && !types.has(Kind::Object) {
        return None;
    }
    let mut text = std::borrow::Cow::Borrowed(text.trim());
    for _ in 0..MAX_ENCODINGS {
        if !text.starts_with(['{', '[', '"', '(']) {
            return None;
        }
        let read = json::read_tolerant(&text).ok().filter(|read| read.state == State::Complete)?;
        if !text.get(read.end..)?.trim().is_empty() {
            return None;
        }
        match read.value {
            Value::String(inner) => text = inner.trim().to_owned().into(),
            value => return (types.has(Kind::of(&value)) && depth(&value) < MAX_DEPTH / 2).then_some(value),
        }
    }
    None
}

/// A scalar where a list of strings is asked for is a list of one.
fn lone(value: &Value, schema: Schema<'_>, types: Types) -> Option<Value> {
    let strings = schema.item(0).is_some_and(|item| item.types().without(Kind::Null) == Types::STRING);
    // Text that began as a list or object and could not be read is broken, not one element.
    let broken = |text: &str| text.is_empty() || text.trim_start().starts_with(['[', '{']);
    if !types.has(Kind::Array) || !strings || value.as_str().is_some_and(broken) {
        return None;
    }
    Some(Value::Array(vec![value.clone()]))
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[cfg(test)]
mod tests;
