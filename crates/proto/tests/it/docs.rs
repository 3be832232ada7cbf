//! `docs/events.md`, made from the events themselves.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use rail_proto::SessionEvent;
use serde_json::{Value, json};

use crate::examples::examples;

const HEAD: &str = "# Events

What the agent tells a front end, and what `rail -p --output-format events` prints: one JSON object a line, `{\"seq\", \"type\", \"data\"}`, with `seq` counted
from 1. Readers pass over types and fields that they do not know: there may be more of them.

A *step* is one request and what comes of it. A message is `{\"role\", \"parts\"}`, with one of `text`, `thinking`, `redacted`, `refusal`, `tool_call`,
`tool_result`, `media` and `opaque` as the `body` of each part. Usage is in disjoint counts: `input` (without what came from a cache), `cache_read`, `cache_write`,
`output` (without `reasoning`), `reasoning`; what nobody reported is absent.

What is streamed (`text`, `thinking`, `calling`) is repeated whole by `said`; `restarted` makes void what was streamed of its step. A task ends with
`done`, a session with `closed`.

<!-- Written by `INSTA_UPDATE=always cargo test -p rail-proto docs`. -->

";

#[test]
fn docs_tell_every_event() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.md");
    let fresh = reference(&schemars::schema_for!(SessionEvent).to_value());
    #[expect(clippy::disallowed_methods, reason = "the switch of all golden files")]
    let is_update = std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always");
    if is_update {
        std::fs::write(&path, fresh).unwrap();
    } else {
        assert!(
            std::fs::read_to_string(&path).unwrap_or_default() == fresh,
            "docs/events.md is stale; run `INSTA_UPDATE=always cargo test -p rail-proto docs` and read the diff"
        );
    }
}

#[test]
fn every_event_has_an_example_that_can_be_read() {
    let schema = schemars::schema_for!(SessionEvent).to_value();
    let named: BTreeSet<&str> = variants(&schema).map(name).collect();
    let shown: Vec<Value> = examples().iter().map(|event| serde_json::to_value(event).unwrap()).collect();
    let told: BTreeSet<&str> = shown.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(named, told);
    for (event, written) in examples().iter().zip(&shown) {
        assert_eq!(&serde_json::from_value::<SessionEvent>(written.clone()).unwrap(), event);
    }
}

fn variants(schema: &Value) -> impl Iterator<Item = &Value> {
    schema["oneOf"].as_array().unwrap().iter()
}

fn name(variant: &Value) -> &str {
    variant["properties"]["type"]["const"].as_str().unwrap()
}

fn reference(schema: &Value) -> String {
    let mut out = HEAD.to_owned();
    for variant in variants(schema) {
        let name = name(variant);
        let data = &variant["properties"]["data"];
        let _ = writeln!(out, "## `{name}`\n\n{}\n", meaning(variant));
        match data["$ref"].as_str() {
            Some(place) => described(type_name(place), &schema["$defs"][type_name(place)], &mut out),
            None if data["type"] == "object" => fields(data, &mut out),
            None if data.is_null() => out.push_str("It has no data.\n\n"),
            None => {
                let _ = writeln!(out, "`data` is {}.\n", kind(data));
            }
        }
        let example = examples()
            .iter()
            .map(|event| serde_json::to_value(event).unwrap())
            .find(|event| event["type"] == name);
        let example = example.unwrap_or_default();
        let line = json!({"seq": 7, "type": name, "data": example.get("data").cloned().unwrap_or_default()});
        let _ = writeln!(out, "```json\n{line}\n```\n");
    }
    out.push_str("## Types\n\n");
    for (name, described_by) in types(schema) {
        let _ = writeln!(out, "### {name}\n\n{}\n", meaning(described_by));
        described(name, described_by, &mut out);
    }
    out.trim_end().to_owned() + "\n"
}

/// The types that are fields of others; what is the whole of an event stands with that.
fn types(schema: &Value) -> Vec<(&str, &Value)> {
    let whole: BTreeSet<&str> = variants(schema)
        .filter_map(|variant| variant["properties"]["data"]["$ref"].as_str())
        .map(type_name)
        .filter(|name| *name != "Mode")
        .collect();
    let all = schema["$defs"].as_object().unwrap().iter();
    all.map(|(name, of)| (name.as_str(), of)).filter(|(name, _)| !whole.contains(name)).collect()
}

fn type_name(place: &str) -> &str {
    place.rsplit('/').next().unwrap_or(place)
}

/// What a type is: its fields, or what it can be.
fn described(name: &str, of: &Value, out: &mut String) {
    let Some(variants) = of["oneOf"].as_array() else { return fields(of, out) };
    for variant in variants {
        let said = meaning(variant);
        let word = |value: &Value| value.as_str().map(str::to_owned);
        let tags = variant["properties"].as_object();
        let tag =
            tags.and_then(|tags| tags.iter().find_map(|(key, value)| Some((key, word(&value["const"])?))));
        let (shown, rest) = match (word(&variant["const"]), tag) {
            (Some(word), _) => (format!("`\"{word}\"`"), None),
            (None, Some((key, word))) => (format!("`\"{key}\": \"{word}\"`"), Some(key)),
            (None, None) => panic!("{name}: {variant}"),
        };
        let _ = writeln!(out, "- {shown}: {said}{}", rest.map(|tag| inner(variant, tag)).unwrap_or_default());
    }
    out.push('\n');
}

/// The fields of a variant beside its tag, in a sentence.
fn inner(variant: &Value, tag: &str) -> String {
    let fields = variant["properties"].as_object().unwrap().iter().filter(|(key, _)| *key != tag);
    let told: Vec<String> = fields
        .map(|(key, of)| match meaning(of).as_str() {
            "" => format!(" `{key}` is {}.", kind(of)),
            said => format!(" `{key}` is {}: {said}", kind(of)),
        })
        .collect();
    told.concat()
}

fn fields(of: &Value, out: &mut String) {
    let Some(properties) = of["properties"].as_object() else {
        let _ = writeln!(out, "It is {}.\n", kind(of));
        return;
    };
    out.push_str("| field | value | meaning |\n| --- | --- | --- |\n");
    for (key, of) in properties {
        let _ = writeln!(out, "| `{key}` | {} | {} |", kind(of), meaning(of));
    }
    out.push('\n');
}

fn meaning(of: &Value) -> String {
    of["description"].as_str().unwrap_or_default().replace("\n\n", " ").replace('\n', " ").replace('|', "\\|")
}

/// What a value is, in a word or two.
fn kind(of: &Value) -> String {
    if let Some(place) = of["$ref"].as_str() {
        return type_name(place).to_owned();
    }
    if let Some(items) = of["prefixItems"].as_array() {
        return format!("({})", items.iter().map(kind).collect::<Vec<_>>().join(", "));
    }
    let several = of["type"].as_array().or_else(|| of["anyOf"].as_array());
    if let Some(several) = several {
        let kinds =
            several.iter().map(|one| if one.is_string() { word(one.as_str().unwrap()) } else { kind(one) });
        return kinds.collect::<Vec<_>>().join(" or ");
    }
    let words: Vec<String> = match (of["oneOf"].as_array(), of["enum"].as_array()) {
        (Some(several), _) => several.iter().map(|one| format!("`{}`", one["const"])).collect(),
        (None, Some(several)) => several.iter().map(|one| format!("`{one}`")).collect(),
        (None, None) => Vec::new(),
    };
    if !words.is_empty() {
        return words.join(" or ");
    }
    match of["type"].as_str() {
        Some("array") => format!("a list of {}", kind(&of["items"])),
        Some(plain) => word(plain),
        None => "JSON".to_owned(),
    }
}

fn word(plain: &str) -> String {
    match plain {
        "string" => "text",
        "integer" | "number" => "number",
        "boolean" => "true or false",
        "null" => "null",
        other => other,
    }
    .to_owned()
}
