//! Tools and settings of a request.

use rail_model::{
    Effort, Extras, Format, Json, Opaque, Request, Sampling, Thinking, ThinkingMode, ToolChoice, ToolDecl,
    ToolKind,
};
use serde_json::{Number, Value};

use super::parts_in::{keep, need};
use super::schema_in::Reading;
use super::types::{Call, Declaration, GenerationConfig, Many, ThinkingConfig};
use super::{
    ALONE, ALONE_TOOLS, FIRST, ID, JSON_SCHEMA, LOWER_CASE, NO_MIME, OWN, SCHEMA, SCHEMA_NOTE, SCHEMA_UPPER,
    VALIDATED, schema_in,
};
use crate::error::WireError;

pub(super) fn tools(
    call: &mut Call<'_>,
    request: &mut Request,
    extras: &mut Extras,
) -> Result<(), WireError> {
    let Some(tools) = call.tools.take_if(|tools| !matches!(tools, Many::List(list) if list.is_empty()))
    else {
        return Ok(());
    };
    if tools.is_one() {
        extras.mark(ID, ALONE_TOOLS);
    }
    for (at, mut tool) in tools.into_vec().into_iter().enumerate() {
        let first = request.tools.len();
        let declared =
            tool.function_declarations.take_if(|list| !matches!(list, Many::List(list) if list.is_empty()));
        if let Some(declared) = declared {
            let alone = declared.is_one();
            for (index, declaration) in declared.into_vec().into_iter().enumerate() {
                let mut decl = function(declaration, &format!("tools[{at}].functionDeclarations[{index}]"))?;
                if alone {
                    decl.extras.mark(ID, ALONE);
                }
                request.tools.push(decl);
            }
        }
        let others = tool.leftovers();
        if others.is_empty() && request.tools.len() == first {
            request.tools.push(server(String::new(), None));
        }
        request.tools.extend(others.into_iter().map(|(name, value)| server(name, Some(value))));
        if let Some(decl) = request.tools.get_mut(first) {
            decl.extras.mark(ID, FIRST);
        }
    }
    Ok(())
}

/// A tool of the provider, under its own key.
fn server(name: String, value: Option<Value>) -> ToolDecl {
    let object = value.map(|value| (name.clone(), value)).into_iter().collect();
    let kind = ToolKind::Server(Opaque { origin: ID, value: Value::Object(object) });
    ToolDecl { name, description: None, kind, strict: None, cache: None, extras: Extras::NONE }
}

fn function(mut declaration: Declaration, path: &str) -> Result<ToolDecl, WireError> {
    let name = need(declaration.name.take(), "name", path)?;
    let description = declaration.description.take();
    let mut marks = Extras::NONE;
    let parameters = if let Some(schema) = declaration.parameters_json_schema.take() {
        marks.mark(ID, JSON_SCHEMA);
        Some(schema)
    } else {
        declaration.parameters.take().map(|schema| readable(schema, &mut marks))
    };
    let mut extras = Extras::rest(ID, declaration.leftovers());
    extras.merge(marks);
    let kind = ToolKind::Function { parameters };
    Ok(ToolDecl { name, description, kind, strict: None, cache: None, extras })
}

/// A schema as every protocol reads it; the extras note how to write it as it was.
fn readable(schema: Json, extras: &mut Extras) -> Json {
    let mut plain = schema.value();
    match schema_in::read(&mut plain) {
        Reading::Same => {
            extras.mark(ID, SCHEMA);
            return schema;
        }
        Reading::TheWayBack => extras.mark(ID, SCHEMA_UPPER),
        Reading::OneWay => extras.insert(ID, SCHEMA_NOTE, schema.value()),
    }
    Json::from(plain)
}

pub(super) fn tool_config(call: &mut Call<'_>, request: &mut Request, extras: &mut Extras) {
    let Some(mut config) = call.tool_config.take() else { return };
    let empty = config.clone().leftovers().is_empty();
    if let Some(calling) = &mut config.function_calling_config {
        let names = calling.allowed_function_names.take_if(|names| !names.is_empty());
        let choice = match (calling.mode.as_deref(), names.as_deref()) {
            (Some("AUTO"), None) => Some(ToolChoice::Auto),
            (Some("NONE"), None) => Some(ToolChoice::None),
            (Some("ANY"), None) => Some(ToolChoice::Any),
            (Some("ANY"), Some([only])) => Some(ToolChoice::Named(only.clone())),
            (Some("ANY"), Some(names)) => Some(ToolChoice::Among { names: names.to_vec(), required: true }),
            (Some("VALIDATED"), None) => Some(ToolChoice::Auto),
            (Some("VALIDATED"), Some(names)) => {
                Some(ToolChoice::Among { names: names.to_vec(), required: false })
            }
            (Some(_) | None, _) => None,
        };
        match choice {
            Some(choice) => {
                if calling.mode.take().as_deref() == Some("VALIDATED") {
                    extras.mark(ID, VALIDATED);
                }
                request.tool_choice = Some(choice);
                let left = std::mem::take(calling).leftovers();
                config.function_calling_config = None;
                if !left.is_empty() {
                    config
                        .rest
                        .get_or_insert_default()
                        .insert("functionCallingConfig".to_owned(), Value::Object(left));
                }
            }
            None => calling.allowed_function_names = calling.allowed_function_names.take().or(names),
        }
    }
    let left = config.leftovers();
    if empty || !left.is_empty() {
        extras.insert(ID, "toolConfig", Value::Object(left));
    }
}

pub(super) fn generation(call: &mut Call<'_>, request: &mut Request, extras: &mut Extras) {
    let Some(mut config) = call.generation_config.take() else { return };
    let empty = config.clone().leftovers().is_empty();
    request.sampling = Sampling {
        max_output: config.max_output_tokens.take().map(|count| count.0),
        temperature: config.temperature.take(),
        top_p: config.top_p.take(),
        top_k: config.top_k.take(),
        stop: config.stop_sequences.take_if(|stop| !stop.is_empty()).unwrap_or_default(),
        seed: config.seed.take(),
        frequency_penalty: config.frequency_penalty.take(),
        presence_penalty: config.presence_penalty.take(),
        count: config.candidate_count.take().map(|count| count.0),
        logprobs: config.response_logprobs.take(),
        top_logprobs: config.logprobs.take().map(|count| count.0),
    };
    request.thinking = config.thinking_config.take().map(thinking);
    format(&mut config, request, extras);
    let left = config.leftovers();
    if empty {
        extras.insert(ID, "generationConfig", Value::Object(left));
    } else {
        keep(extras, "generationConfig", left);
    }
}

fn thinking(mut config: ThinkingConfig) -> Thinking {
    let mut thinking = Thinking { show: config.include_thoughts.take(), ..Thinking::default() };
    let budget = config.thinking_budget.as_ref().and_then(Number::as_i64);
    let mut marks = Extras::NONE;
    match budget {
        Some(-1) => thinking.mode = Some(ThinkingMode::Adaptive),
        Some(0) => thinking.mode = Some(ThinkingMode::Off),
        Some(1..) => {
            thinking.mode = Some(ThinkingMode::On);
            thinking.budget = budget.and_then(|budget| u64::try_from(budget).ok());
        }
        Some(..-1) | None => {}
    }
    if thinking.mode.is_some() {
        config.thinking_budget = None;
    }
    if let Some(level) = config.thinking_level.take() {
        let effort = Effort::parse(&level);
        match &effort {
            Effort::Other(_) => config.thinking_level = Some(level),
            Effort::None
            | Effort::Minimal
            | Effort::Low
            | Effort::Medium
            | Effort::High
            | Effort::XHigh
            | Effort::Max => {
                if level == effort.word() {
                    marks.mark(ID, LOWER_CASE);
                } else if level != effort.word().to_ascii_uppercase() {
                    config.thinking_level = Some(level);
                }
                thinking.effort = Some(effort);
            }
        }
    }
    thinking.extras = Extras::rest(ID, config.leftovers());
    // An empty configuration is still one.
    marks.mark(ID, OWN);
    thinking.extras.merge(marks);
    thinking
}

fn format(config: &mut GenerationConfig, request: &mut Request, extras: &mut Extras) {
    let json = match config.response_mime_type.as_deref() {
        Some("application/json") => true,
        None => false,
        Some("text/plain") if config.response_schema.is_none() && config.response_json_schema.is_none() => {
            config.response_mime_type = None;
            request.format = Some(Format::Text);
            return;
        }
        Some(_) => return,
    };
    let schema = if let Some(schema) = config.response_json_schema.take() {
        extras.mark(ID, JSON_SCHEMA);
        Some(schema)
    } else {
        config.response_schema.take().map(|schema| readable(schema, extras))
    };
    request.format = match schema {
        Some(schema) => {
            if !json {
                extras.mark(ID, NO_MIME);
            }
            Some(Format::JsonSchema { name: None, description: None, schema: Some(schema), strict: None })
        }
        None if json => Some(Format::JsonObject),
        None => return,
    };
    config.response_mime_type = None;
}
