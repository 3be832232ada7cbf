//! Brings a JSON Schema into the subset that `parameters` takes: a protocol buffer, in which an unknown key is an error.
//!
//! Only schemas are cleaned, never data: it goes deeper only where a schema stands, so a property may be named
//! `properties` or `$ref`, and `default` and `example` stay as they are.

use rail_model::Loss;
use serde_json::{Map, Value};

use super::schema_words::{BOUND, KNOWN, REWRITTEN, anything, implied, merge, type_of, types, values};

/// A schema that refers to itself, or many times to others, must not grow without end.
const MAX_NODES: usize = 5000;
const MAX_DEPTH: usize = 40;

/// The parameters of a function; None when it takes none, because an object without properties is refused.
pub(super) fn parameters(schema: &Value, path: &str, losses: &mut Vec<Loss>) -> Option<Value> {
    let cleaned = clean(schema, path, losses);
    let has_fields = cleaned.get("properties").is_some_and(Value::is_object);
    if has_fields {
        return Some(cleaned);
    }
    if cleaned.get("type").and_then(Value::as_str) != Some("OBJECT") {
        losses.push(Loss::new(path, "gemini takes only an object with properties here; left out"));
    }
    None
}

/// The schema as the API takes it. What had to go is a loss.
pub(super) fn clean(schema: &Value, path: &str, losses: &mut Vec<Loss>) -> Value {
    let mut cleaner = Cleaner { root: schema, open: Vec::new(), nodes: 0, depth: 0, losses };
    Value::Object(cleaner.schema(schema, path))
}

struct Cleaner<'a> {
    root: &'a Value,
    open: Vec<String>,
    nodes: usize,
    depth: usize,
    losses: &'a mut Vec<Loss>,
}

impl Cleaner<'_> {
    fn lose(&mut self, path: &str, key: &str, reason: &str) {
        self.losses.push(Loss::new(format!("{path}.{key}"), reason));
    }

    fn schema(&mut self, schema: &Value, path: &str) -> Map<String, Value> {
        if self.nodes > MAX_NODES || self.depth > MAX_DEPTH {
            self.losses
                .push(Loss::new(path, "the schema is too large for gemini; any value is allowed here"));
            return anything();
        }
        self.depth += 1;
        let before = self.open.len();
        let flat = self.flatten(schema, path);
        let out = self.shaped(&flat, path);
        self.open.truncate(before);
        self.depth -= 1;
        out
    }

    /// References followed, `allOf` and conditions merged: one plain object.
    fn flatten(&mut self, schema: &Value, path: &str) -> Map<String, Value> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return Map::new();
        }
        let mut flat = match schema {
            Value::Object(map) => map.clone(),
            // `true` allows anything and `false` nothing, which can't be said.
            Value::Bool(_) | Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Map::new()
            }
        };
        while let Some(place) = flat.shift_remove("$ref") {
            let target = place.as_str().and_then(|place| self.follow(place)).cloned();
            let Some(Value::Object(target)) = target else {
                self.lose(path, "$ref", "refers to itself or to nothing; any value is allowed here");
                break;
            };
            self.open.extend(place.as_str().map(str::to_owned));
            merge(&mut flat, target);
        }
        if let Some(Value::Array(all)) = flat.shift_remove("allOf") {
            // Each part may follow the same reference; what lies below may follow none of them again.
            let before = self.open.len();
            let mut followed = Vec::new();
            for part in &all {
                let part = self.flatten(part, path);
                followed.extend(self.open.drain(before..));
                merge(&mut flat, part);
            }
            self.open.extend(followed);
        }
        if flat.shift_remove("if").is_some() {
            self.lose(path, "if", "gemini has no conditions; both branches are offered");
        }
        for branch in ["then", "else"] {
            if let Some(branch) = flat.shift_remove(branch) {
                let mut branch = self.flatten(&branch, path);
                branch.shift_remove("required");
                merge(&mut flat, branch);
            }
        }
        flat
    }

    /// What a local reference stands for, unless it is being followed already.
    fn follow(&self, place: &str) -> Option<&Value> {
        let pointer = place.strip_prefix('#')?;
        if self.open.iter().any(|open| open == place) || pointer.is_empty() {
            return None;
        }
        self.root.pointer(&pointer.replace("%24", "$"))
    }

    fn shaped(&mut self, flat: &Map<String, Value>, path: &str) -> Map<String, Value> {
        let mut out = Map::new();
        self.annotations(flat, path, &mut out);
        let (mut types, mut null) = types(flat);
        let (mut branches, null_branch) = self.branches(flat, path);
        null |= null_branch;
        if let Some(Value::Array(values)) = values(flat) {
            null |= values.contains(&Value::Null);
            types = self.enumerate(&values, types, path, &mut out);
            if out.contains_key("enum") {
                // Nothing says more than the list of all values.
                branches.clear();
            }
        }
        if types.is_empty() && branches.is_empty() {
            types = implied(flat);
        }
        if null && types.is_empty() && branches.is_empty() {
            types = vec!["NULL"];
        } else if null {
            out.insert("nullable".to_owned(), Value::Bool(true));
        }
        match (types.as_slice(), branches.is_empty()) {
            ([], true) => {
                self.lose(path, "type", "gemini must be told a type; only simple values are allowed here");
                out.extend(anything());
            }
            ([only], true) => self.typed(only, flat, path, &mut out),
            (_, true) => {
                let list = types.iter().map(|name| {
                    let mut branch = Map::new();
                    self.typed(name, flat, path, &mut branch);
                    Value::Object(branch)
                });
                let list = list.collect();
                out.shift_remove("enum");
                out.insert("anyOf".to_owned(), Value::Array(list));
            }
            ([only], false) if *only == "OBJECT" && flat.get("properties").is_some_and(Value::is_object) => {
                self.lose(path, "anyOf", "gemini takes no choice beside properties; left out");
                self.typed(only, flat, path, &mut out);
            }
            (_, false) => self.choice(branches, &mut out),
        }
        out
    }

    fn annotations(&mut self, flat: &Map<String, Value>, path: &str, out: &mut Map<String, Value>) {
        for (key, value) in flat {
            let kept = match key.as_str() {
                "title" | "description" | "format" => value.is_string(),
                "default" | "example" => true,
                "nullable" => value.is_boolean(),
                key if KNOWN.contains(&key) || REWRITTEN.contains(&key) => continue,
                _ => false,
            };
            if kept {
                out.insert(key.clone(), value.clone());
            } else {
                self.lose(path, key, "gemini schemas have no such keyword; left out");
            }
        }
    }

    /// Allowed values: strings stay; others can't be enumerated, so the type stays and the description tells them.
    fn enumerate(
        &mut self,
        values: &[Value],
        types: Vec<&'static str>,
        path: &str,
        out: &mut Map<String, Value>,
    ) -> Vec<&'static str> {
        let said: Vec<&Value> = values.iter().filter(|value| !value.is_null()).collect();
        let mut kinds: Vec<&'static str> = Vec::new();
        for value in &said {
            let kind = type_of(value);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        if kinds == ["INTEGER", "NUMBER"] || kinds == ["NUMBER", "INTEGER"] {
            kinds = vec!["NUMBER"];
        }
        let spell = |value: &&Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let mut words: Vec<String> = Vec::new();
        if said.iter().any(|value| value.as_str() == Some("")) {
            self.lose(path, "enum", "gemini takes no empty words; left out");
        }
        for word in said.iter().map(spell) {
            if !words.contains(&word) && !word.is_empty() {
                words.push(word);
            }
        }
        match (kinds.as_slice(), types.as_slice()) {
            ([], _) => types,
            ([only], [] | [_]) if *only != "STRING" && types.first().is_none_or(|name| *name != "STRING") => {
                self.lose(
                    path,
                    "enum",
                    "gemini enumerates only strings; the values went into the description",
                );
                let before = out
                    .get("description")
                    .and_then(Value::as_str)
                    .map_or_else(String::new, |text| format!("{text} "));
                out.insert(
                    "description".to_owned(),
                    Value::from(format!("{before}One of: {}.", words.join(", "))),
                );
                if types.is_empty() { vec![only] } else { types }
            }
            _ => {
                if !words.is_empty() {
                    out.insert("enum".to_owned(), words.into());
                }
                vec!["STRING"]
            }
        }
    }

    /// The branches of a choice, and whether one of them is null.
    fn branches(&mut self, flat: &Map<String, Value>, path: &str) -> (Vec<Map<String, Value>>, bool) {
        let mut branches = Vec::new();
        let mut null = false;
        for key in ["anyOf", "oneOf"] {
            let Some(Value::Array(list)) = flat.get(key) else { continue };
            for (at, branch) in list.iter().enumerate() {
                let branch = self.schema(branch, &format!("{path}.{key}[{at}]"));
                if branch.get("type").and_then(Value::as_str) == Some("NULL") {
                    null = true;
                } else if !branches.contains(&branch) {
                    branches.push(branch);
                }
            }
        }
        (branches, null)
    }

    fn choice(&mut self, mut branches: Vec<Map<String, Value>>, out: &mut Map<String, Value>) {
        if branches.len() == 1
            && let Some(only) = branches.pop()
        {
            for (key, value) in only {
                out.entry(key).or_insert(value);
            }
            return;
        }
        out.insert("anyOf".to_owned(), Value::Array(branches.into_iter().map(Value::Object).collect()));
    }

    fn typed(&mut self, name: &str, flat: &Map<String, Value>, path: &str, out: &mut Map<String, Value>) {
        out.insert("type".to_owned(), Value::from(name));
        let fits = |key: &str| BOUND.iter().any(|(bound, types)| *bound == key && types.contains(&name));
        for (key, value) in flat {
            match (key.as_str(), value) {
                ("properties", Value::Object(fields)) if fits(key) => {
                    let fields = fields.iter().map(|(name, field)| {
                        (
                            name.clone(),
                            Value::Object(self.schema(field, &format!("{path}.properties.{name}"))),
                        )
                    });
                    let fields: Map<String, Value> = fields.collect();
                    if !fields.is_empty() {
                        out.insert(key.clone(), Value::Object(fields));
                    }
                }
                ("minimum" | "maximum", Value::Number(_)) if fits(key) => {
                    out.insert(key.clone(), value.clone());
                }
                ("pattern", Value::String(_)) if fits(key) => {
                    out.insert(key.clone(), value.clone());
                }
                (count, value) if count.starts_with("min") || count.starts_with("max") => {
                    let whole = value.as_u64().is_some()
                        || value.as_str().is_some_and(|text| text.parse::<u64>().is_ok());
                    if fits(key) && whole && !matches!(count, "minimum" | "maximum") {
                        out.insert(key.clone(), value.clone());
                    }
                }
                _ => {}
            }
        }
        match name {
            "ARRAY" => {
                let items = self.items(flat, path);
                out.insert("items".to_owned(), Value::Object(items));
            }
            "OBJECT" => self.names(flat, path, out),
            _ => {}
        }
    }

    /// An array must say what is in it.
    fn items(&mut self, flat: &Map<String, Value>, path: &str) -> Map<String, Value> {
        let inside = format!("{path}.items");
        let tuple = flat
            .get("prefixItems")
            .or_else(|| flat.get("items").filter(|items| items.is_array()))
            .and_then(Value::as_array);
        match (tuple, flat.get("items")) {
            (Some(tuple), _) => {
                self.lose(path, "prefixItems", "gemini has no tuples; each element may be any of theirs");
                let choice =
                    Value::Object(Map::from_iter([("anyOf".to_owned(), Value::Array(tuple.clone()))]));
                self.schema(&choice, &inside)
            }
            (None, Some(items)) => self.schema(items, &inside),
            (None, None) => anything(),
        }
    }

    /// Required and ordered names must be those of properties.
    fn names(&mut self, flat: &Map<String, Value>, path: &str, out: &mut Map<String, Value>) {
        for key in ["required", "propertyOrdering"] {
            let Some(Value::Array(names)) = flat.get(key) else { continue };
            let fields = out.get("properties").and_then(Value::as_object);
            let mut known: Vec<Value> = Vec::new();
            for name in names {
                if name.as_str().is_some_and(|name| fields.is_some_and(|fields| fields.contains_key(name)))
                    && !known.contains(name)
                {
                    known.push(name.clone());
                }
            }
            if known.len() < names.len() {
                self.lose(path, key, "names that are no properties were left out");
            }
            if !known.is_empty() {
                out.insert(key.to_owned(), Value::Array(known));
            }
        }
    }
}
