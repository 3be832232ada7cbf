use std::collections::BTreeMap;
use std::fmt::Write as _;

use rail_model::{
    CallKind, Json, Map, Message, Part, PartBody, Request, Role, ToolCall, ToolChoice, ToolDecl, ToolKind,
    ToolResult,
};
use serde_json::{Value, json};

use crate::object_schema::resolve;

/// Rewrites a request for a model without tools of its own: it is taught in the system prompt to write calls as JSON.
///
/// Earlier calls become text in the same shape, and their results text of the user's. What becomes of a message depends
/// only on those before it, so a conversation that grows keeps the bytes it was sent with and provider caches still hit.
/// Read the answer with `Profile::prompted`, or the calls in it stay text.
pub fn prompt(request: &Request) -> Request {
    let mut prompted =
        Request { tools: Vec::new(), tool_choice: None, parallel_tools: None, ..request.clone() };
    prompted.system.extend(lesson(request));
    let mut names = BTreeMap::new();
    for message in &mut prompted.messages {
        rewrite(message, &mut names);
    }
    prompted
}

/// The part of the system prompt that says which tools there are and how to call them.
fn lesson(request: &Request) -> Option<Part> {
    let all: Vec<&ToolDecl> = request.tools.iter().filter(|tool| is_ours(tool)).collect();
    let last = all.last()?;
    let mut part = Part::text(match choice(request.tool_choice.as_ref()) {
        Choice::Forbidden => "Do not write tool calls in this answer; answer in plain text.".to_owned(),
        Choice::Open { only, rule } => {
            let offered: Vec<&ToolDecl> = all
                .iter()
                .filter(|tool| only.is_none_or(|only| only.contains(&tool.name)))
                .copied()
                .collect();
            let example = rule.example(&offered)?;
            teach(&offered, example, &rule, request.parallel_tools)
        }
    });
    // The tools were worth caching up to their last mark, and now they stand here.
    part.cache.clone_from(&last.cache);
    Some(part)
}

/// A tool that the provider runs itself can't be called by text.
fn is_ours(tool: &ToolDecl) -> bool {
    match tool.kind {
        ToolKind::Function { .. } | ToolKind::Custom { .. } => true,
        ToolKind::Server(_) => false,
    }
}

/// What the model may do with the tools.
enum Choice<'a> {
    Forbidden,
    Open { only: Option<&'a [String]>, rule: Rule<'a> },
}

/// Whether the model must call.
enum Rule<'a> {
    May,
    Must,
    MustThis(&'a str),
}

fn choice(choice: Option<&ToolChoice>) -> Choice<'_> {
    match choice {
        Some(ToolChoice::None) => Choice::Forbidden,
        None | Some(ToolChoice::Auto | ToolChoice::Opaque(_)) => Choice::Open { only: None, rule: Rule::May },
        Some(ToolChoice::Any) => Choice::Open { only: None, rule: Rule::Must },
        Some(ToolChoice::Named(name)) => Choice::Open { only: None, rule: Rule::MustThis(name) },
        Some(ToolChoice::Among { names, required }) => {
            Choice::Open { only: Some(names), rule: if *required { Rule::Must } else { Rule::May } }
        }
    }
}

impl Rule<'_> {
    /// The tool that the example calls: the one that must be called, or else the first that takes something.
    fn example<'t>(&self, tools: &[&'t ToolDecl]) -> Option<&'t ToolDecl> {
        let named = match self {
            Self::MustThis(name) => tools.iter().find(|tool| tool.name == *name),
            Self::May | Self::Must => None,
        };
        let telling = || {
            tools.iter().find(|tool| sample_arguments(tool).as_object().is_some_and(|map| !map.is_empty()))
        };
        named.or_else(telling).or(tools.first()).copied()
    }

    fn words(&self) -> String {
        match self {
            Self::May => "Call a tool only when you need what it gives or does. Otherwise answer in plain text, without such a block.".to_owned(),
            Self::Must => "You must call at least one tool in this answer.".to_owned(),
            Self::MustThis(name) => format!("You must call the tool `{name}` in this answer."),
        }
    }
}

fn teach(tools: &[&ToolDecl], example: &ToolDecl, rule: &Rule<'_>, parallel: Option<bool>) -> String {
    let mut text =
        "# Tools\n\nYou can call these tools. Their parameters are given as JSON Schema.\n".to_owned();
    for tool in tools {
        // Writing to a string can't fail.
        let _ = write!(text, "\n## {}\n", tool.name);
        if let Some(description) = tool.description.as_deref().map(str::trim).filter(|text| !text.is_empty())
        {
            let _ = writeln!(text, "{description}");
        }
        let _ = writeln!(text, "Parameters: {}", parameters(tool));
    }
    let call = json!({"tool_calls": [{"tool": example.name, "args": sample_arguments(example)}]});
    let several = match parallel {
        Some(false) => "Write exactly one call in the list.",
        None | Some(true) => "Calls that do not depend on each other may stand in one list.",
    };
    let _ = write!(
        text,
        "\n# How to call\n\nTo call a tool, end your answer with one block of exactly this form, the values in it being only an example:\n\n\
         ```json\n{call}\n```\n\n\
         - `tool` is the name of a tool above, `args` an object that keeps its schema. Write valid JSON and no other keys.\n\
         - {several}\n\
         - {}\n\
         - Write nothing after the block. Stop there and wait: the results come in the next message.\n\
         - Never write a result yourself, and never say that you did something that no result shows.",
        rule.words()
    );
    text
}

/// The schema in one line.
fn parameters(tool: &ToolDecl) -> String {
    match &tool.kind {
        ToolKind::Function { parameters: Some(schema) } => compact(schema),
        ToolKind::Custom { .. } => {
            json!({"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]})
                .to_string()
        }
        ToolKind::Function { parameters: None } | ToolKind::Server(_) => {
            json!({"type": "object", "properties": {}}).to_string()
        }
    }
}

fn compact(json: &Json) -> String {
    match json.value() {
        // Too deep for a tree: as it was written, then.
        Value::Null => json.text().to_owned(),
        value => value.to_string(),
    }
}

/// Arguments that show what a call looks like: those that must be there, or else the first.
fn sample_arguments(tool: &ToolDecl) -> Value {
    match &tool.kind {
        ToolKind::Function { parameters: Some(schema) } => {
            let schema = schema.value();
            sample_object(&schema, &schema, 4)
        }
        ToolKind::Custom { .. } => json!({"input": "<input>"}),
        ToolKind::Function { parameters: None } | ToolKind::Server(_) => json!({}),
    }
}

fn sample_object(node: &Value, root: &Value, depth: usize) -> Value {
    let node = resolve(node, root);
    let Some(properties) = node.get("properties").and_then(Value::as_object) else { return json!({}) };
    let required: Vec<&str> = node
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let wanted = properties.iter().filter(|(name, _)| required.contains(&name.as_str()));
    let first = properties.iter().take(usize::from(required.is_empty()));
    let sample = |(name, node): (&String, &Value)| (name.clone(), sample_value(name, node, root, depth));
    Value::Object(wanted.chain(first).map(sample).collect::<Map>())
}

fn sample_value(name: &str, node: &Value, root: &Value, depth: usize) -> Value {
    let node = resolve(node, root);
    let given = node.get("const").or_else(|| node.get("enum")?.get(0)).or_else(|| node.get("default"));
    if let Some(given) = given {
        return given.clone();
    }
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    let kinds = match node.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().find(|kind| *kind != "null"),
        other => other,
    };
    match kinds.and_then(Value::as_str).map(str::to_ascii_lowercase).as_deref() {
        Some("integer" | "number") => 1.into(),
        Some("boolean") => true.into(),
        Some("array") => {
            node.get("items").map(|items| sample_value(name, items, root, depth)).into_iter().collect()
        }
        Some("object") => sample_object(node, root, depth),
        None if node.get("properties").is_some() => sample_object(node, root, depth),
        _ => format!("<{name}>").into(),
    }
}

/// Makes text of a message's calls and results; `names` are the tools of the calls so far, by the calls' ids.
fn rewrite(message: &mut Message, names: &mut BTreeMap<String, String>) {
    let is_tool = |part: &Part| matches!(part.body, PartBody::ToolCall(_) | PartBody::ToolResult(_));
    if message.role != Role::Tool && !message.parts.iter().any(is_tool) {
        return;
    }
    let mut parts = Vec::with_capacity(message.parts.len());
    let mut calls: Vec<(ToolCall, Part)> = Vec::new();
    for part in std::mem::take(&mut message.parts) {
        match &part.body {
            PartBody::ToolCall(call) => {
                names.insert(call.id.as_str().to_owned(), call.name.clone());
                calls.push((call.clone(), part));
                continue;
            }
            PartBody::ToolResult(result) => {
                parts.extend(told_calls(&mut calls));
                parts.extend(told_result(result, &part, names));
                continue;
            }
            PartBody::Text(_)
            | PartBody::Refusal(_)
            | PartBody::Thinking(_)
            | PartBody::Redacted(_)
            | PartBody::Media(_)
            | PartBody::Opaque(_) => {}
        }
        parts.extend(told_calls(&mut calls));
        parts.push(part);
    }
    parts.extend(told_calls(&mut calls));
    let role = match message.role {
        Role::Tool => Role::User,
        Role::System | Role::User | Role::Assistant => message.role,
    };
    // How its origin wrote the message says nothing of what has become of it.
    *message = Message::new(role, parts);
}

/// Calls that stand side by side as one block, in the shape that is taught.
fn told_calls(calls: &mut Vec<(ToolCall, Part)>) -> Option<Part> {
    let (_, last) = calls.last()?;
    let cache = last.cache.clone();
    let each: Vec<String> = calls
        .drain(..)
        .map(|(call, _)| {
            format!(r#"{{"tool":{},"args":{}}}"#, Value::from(call.name.as_str()), arguments(&call))
        })
        .collect();
    let mut part = Part::text(format!("```json\n{{\"tool_calls\":[{}]}}\n```", each.join(",")));
    part.cache = cache;
    Some(part)
}

/// The arguments as an object in the model's own spelling; what is none is kept as a string.
fn arguments(call: &ToolCall) -> String {
    let text = call.arguments.trim();
    match call.kind {
        CallKind::Custom => json!({"input": call.arguments}).to_string(),
        CallKind::Function if text.is_empty() => "{}".to_owned(),
        CallKind::Function => match Json::parse(text.to_owned()) {
            Ok(json) if json.is_object() => text.to_owned(),
            Ok(_) | Err(_) => Value::from(text).to_string(),
        },
    }
}

/// A result as the user's text, in a fence that nothing in it can close; what is not text stays a part of its own.
fn told_result(result: &ToolResult, part: &Part, names: &BTreeMap<String, String>) -> Vec<Part> {
    let id = result.id.as_str();
    let tool = result.name.as_deref().or_else(|| names.get(id).map(String::as_str)).unwrap_or("unknown tool");
    let kind = if result.is_error == Some(true) { "Error from" } else { "Result of" };
    let mut told = vec![];
    let mut text = format!("{kind} `{tool}` (call `{id}`):");
    for inner in &result.content {
        match &inner.body {
            PartBody::Text(words) | PartBody::Refusal(words) | PartBody::Thinking(words) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&fenced(words));
            }
            PartBody::Media(_) | PartBody::Opaque(_) | PartBody::Redacted(_) => {
                told.push(Part::text(std::mem::take(&mut text)));
                told.push(inner.clone());
            }
            PartBody::ToolCall(_) | PartBody::ToolResult(_) => {}
        }
    }
    if result.content.is_empty() {
        text.push_str("\n(no output)");
    }
    told.push(Part::text(text));
    told.retain(|part| part.as_text() != Some(""));
    if let Some(last) = told.last_mut() {
        last.cache.clone_from(&part.cache);
    }
    told
}

fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}")
}
