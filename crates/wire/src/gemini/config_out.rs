//! Tools and settings of a request, as the API takes them.

use rail_model::{
    Effort, Extras, Format, Json, Loss, Map, NOTE, Request, Thinking, ThinkingMode, ToolChoice, ToolDecl,
    ToolKind,
};
use serde_json::{Number, Value};

use super::types::{Calling, Declaration, GenerationConfig, Many, ThinkingConfig, Tool, ToolConfig};
use super::{
    ALONE, ALONE_TOOLS, FIRST, ID, JSON_SCHEMA, LOWER_CASE, NO_MIME, OWN, SCHEMA, SCHEMA_NOTE, SCHEMA_UPPER,
    VALIDATED, schema, schema_in,
};
use crate::effort;
use crate::protocol::{TargetSpec, ThinkingStyle};
use crate::restore::CUSTOM_FIELD;
use crate::shape::Count;

/// The most stop strings the API takes.
const MAX_STOPS: usize = 5;

pub(super) fn tools(request: &Request, losses: &mut Vec<Loss>) -> Option<Many<Tool>> {
    let mut objects: Vec<(Vec<Declaration>, bool, Map)> = Vec::new();
    for (at, decl) in request.tools.iter().enumerate() {
        let path = format!("tools[{at}]");
        if objects.is_empty() || decl.extras.marked(ID, FIRST) {
            objects.push((Vec::new(), decl.extras.marked(ID, ALONE), Map::new()));
        }
        let Some((declared, _, others)) = objects.last_mut() else { continue };
        match &decl.kind {
            ToolKind::Server(opaque) => match opaque.value.as_object().filter(|_| opaque.origin == ID) {
                Some(map) => others.extend(map.clone()),
                None => losses.push(Loss::new(path, "a tool that another provider runs; left out")),
            },
            ToolKind::Function { parameters } => {
                declared.push(declaration(decl, parameters.as_ref(), &path, losses))
            }
            ToolKind::Custom { .. } => {
                losses.push(Loss::new(
                    path.as_str(),
                    "gemini has no free-text tools; offered as a function with one string",
                ));
                let schema = free_text();
                declared.push(declaration(decl, Some(&schema), &path, losses));
            }
        }
    }
    let own = |decl: &ToolDecl| decl.extras.marked(ID, FIRST);
    let spelled = objects.into_iter().filter_map(|(declared, alone, others)| {
        let some = !declared.is_empty();
        if !some && others.is_empty() && !request.tools.iter().any(own) {
            return None;
        }
        let declared = some.then(|| Many::spelled(declared, alone));
        Some(Tool { function_declarations: declared, ..Tool::default() }.with_rest(Some(&others)))
    });
    let list: Vec<Tool> = spelled.collect();
    (!list.is_empty()).then(|| Many::spelled(list, request.extras.marked(ID, ALONE_TOOLS)))
}

fn free_text() -> Json {
    let field = Map::from_iter([("type".to_owned(), Value::from("string"))]);
    let fields = Map::from_iter([(CUSTOM_FIELD.to_owned(), Value::Object(field))]);
    let required = Value::Array(vec![Value::from(CUSTOM_FIELD)]);
    Json::from(Value::Object(Map::from_iter([
        ("type".to_owned(), Value::from("object")),
        ("properties".to_owned(), Value::Object(fields)),
        ("required".to_owned(), required),
    ])))
}

fn declaration(
    decl: &ToolDecl,
    parameters: Option<&Json>,
    path: &str,
    losses: &mut Vec<Loss>,
) -> Declaration {
    let mut out = Declaration {
        name: Some(decl.name.clone()),
        description: decl.description.clone(),
        ..Declaration::default()
    };
    let marked = |mark: &str| decl.extras.marked(ID, mark);
    let note = decl.extras.get(ID, SCHEMA_NOTE);
    match parameters {
        None => {}
        Some(schema) if marked(JSON_SCHEMA) => out.parameters_json_schema = Some(schema.clone()),
        Some(schema) if marked(SCHEMA) => out.parameters = Some(schema.clone()),
        Some(schema) if marked(SCHEMA_UPPER) => {
            out.parameters = Some(Json::from(schema_in::to_proto(&schema.value())));
        }
        Some(schema) => {
            let clean = || schema::parameters(&schema.value(), &format!("{path}.parameters"), losses);
            out.parameters = note.cloned().or_else(clean).map(Json::from);
        }
    }
    if decl.strict == Some(true) {
        losses.push(Loss::new(format!("{path}.strict"), "gemini has no strict functions; left out"));
    }
    out.with_rest(without_notes(&decl.extras).as_ref())
}

/// The kept fields that are written back as they are.
pub(super) fn without_notes(extras: &Extras) -> Option<Map> {
    let mut kept = extras.owned_by(ID)?.clone();
    kept.retain(|key, _| !key.starts_with(NOTE));
    Some(kept)
}

pub(super) fn tool_config(request: &Request, losses: &mut Vec<Loss>) -> Option<ToolConfig> {
    let kept = request.extras.get(ID, "toolConfig").and_then(Value::as_object);
    let own = request.origin == Some(ID);
    let callable = request.tools.iter().any(|decl| !matches!(decl.kind, ToolKind::Server(_)));
    let validated = request.extras.marked(ID, VALIDATED);
    let (mode, names) = match &request.tool_choice {
        None => (None, None),
        // The API refuses a choice among no functions.
        Some(_) if !callable && !own => (None, None),
        Some(ToolChoice::Auto) => (Some(if validated { "VALIDATED" } else { "AUTO" }), None),
        Some(ToolChoice::None) => (Some("NONE"), None),
        Some(ToolChoice::Any) => (Some("ANY"), None),
        Some(ToolChoice::Named(name)) => (Some("ANY"), Some(vec![name.clone()])),
        Some(ToolChoice::Among { names, required }) => {
            (Some(if *required { "ANY" } else { "VALIDATED" }), Some(names.clone()))
        }
        Some(ToolChoice::Opaque(_)) => {
            losses.push(Loss::new(
                "tool_choice",
                "a choice that only its own protocol knows; the model decides",
            ));
            (None, None)
        }
    };
    if mode.is_none() && kept.is_none() {
        return None;
    }
    let mut config = ToolConfig::default().with_rest(kept);
    if let Some(mode) = mode {
        let inside = kept.and_then(|kept| kept.get("functionCallingConfig")).and_then(Value::as_object);
        let calling =
            Calling { mode: Some(mode.to_owned()), allowed_function_names: names, ..Calling::default() };
        config.function_calling_config = Some(calling.with_rest(inside));
    }
    Some(config)
}

pub(super) fn generation(
    request: &Request,
    target: &TargetSpec,
    losses: &mut Vec<Loss>,
) -> Option<GenerationConfig> {
    let kept = request.extras.get(ID, "generationConfig").and_then(Value::as_object);
    let own = request.origin == Some(ID);
    let sampling = &request.sampling;
    let mut stop = sampling.stop.clone();
    if !own && stop.len() > MAX_STOPS {
        stop.truncate(MAX_STOPS);
        losses.push(Loss::new(
            "stop",
            format!("gemini takes {MAX_STOPS} stop strings; the others were left out"),
        ));
    }
    let mut config = GenerationConfig {
        temperature: sampling.temperature.clone(),
        top_p: sampling.top_p.clone(),
        top_k: sampling.top_k.clone(),
        candidate_count: sampling.count.map(Count),
        max_output_tokens: sampling.max_output.map(Count),
        stop_sequences: (!stop.is_empty()).then_some(stop),
        presence_penalty: sampling.presence_penalty.clone(),
        frequency_penalty: sampling.frequency_penalty.clone(),
        seed: seed(request, losses),
        response_logprobs: sampling.logprobs,
        logprobs: sampling.top_logprobs.filter(|count| own || *count > 0).map(Count),
        thinking_config: request.thinking.as_ref().and_then(|asked| thinking(asked, own, target, losses)),
        ..GenerationConfig::default()
    };
    format(request, &mut config, losses);
    let config = config.with_rest(kept);
    let says = kept.is_some() || !config.clone().leftovers().is_empty();
    says.then_some(config)
}

/// The API holds a seed in 32 bits.
fn seed(request: &Request, losses: &mut Vec<Loss>) -> Option<Number> {
    let seed = request.sampling.seed.clone()?;
    if request.origin == Some(ID) || seed.as_i64().is_some_and(|seed| i32::try_from(seed).is_ok()) {
        return Some(seed);
    }
    losses.push(Loss::new("seed", "gemini takes seeds of 32 bits; left out"));
    None
}

fn format(request: &Request, config: &mut GenerationConfig, losses: &mut Vec<Loss>) {
    let own = request.origin == Some(ID);
    let marked = |mark: &str| request.extras.marked(ID, mark);
    match &request.format {
        None => {}
        Some(Format::Text) => config.response_mime_type = own.then(|| "text/plain".to_owned()),
        Some(Format::JsonObject) => config.response_mime_type = Some("application/json".to_owned()),
        Some(Format::JsonSchema { name, description, schema, strict: _ }) => {
            config.response_mime_type = (!marked(NO_MIME)).then(|| "application/json".to_owned());
            match schema {
                None => {}
                Some(schema) if marked(SCHEMA) => config.response_schema = Some(schema.clone()),
                Some(schema) if marked(SCHEMA_UPPER) => {
                    config.response_schema = Some(Json::from(schema_in::to_proto(&schema.value())))
                }
                Some(schema) => match request.extras.get(ID, SCHEMA_NOTE) {
                    Some(original) => config.response_schema = Some(Json::from(original)),
                    None => config.response_json_schema = Some(schema.clone()),
                },
            }
            for (key, said) in
                [("format.name", name.is_some()), ("format.description", description.is_some())]
            {
                if said {
                    losses.push(Loss::new(key, "gemini has no such field beside the schema; left out"));
                }
            }
        }
        Some(Format::Opaque(_)) => {
            losses.push(Loss::new("format", "a form that only its own protocol knows; left out"))
        }
    }
}

/// How to think, by what was asked and what the target understands.
fn thinking(
    asked: &Thinking,
    own: bool,
    target: &TargetSpec,
    losses: &mut Vec<Loss>,
) -> Option<ThinkingConfig> {
    let off = asked.mode == Some(ThinkingMode::Off) || asked.effort == Some(Effort::None);
    let thinks = matches!(asked.mode, Some(ThinkingMode::On | ThinkingMode::Adaptive));
    let dynamic = || Some(Number::from(-1));
    let (budget, level) = match target.thinking {
        ThinkingStyle::AsAsked if own => (own_budget(asked), own_level(asked)),
        ThinkingStyle::Never => {
            losses.push(Loss::new("thinking", "this model can't be told to think; left out"));
            return None;
        }
        ThinkingStyle::Effort if off => {
            losses.push(Loss::new(
                "thinking",
                "this model can't stop thinking; asked for as little as possible",
            ));
            (None, Some("MINIMAL".to_owned()))
        }
        ThinkingStyle::AsAsked | ThinkingStyle::Budget | ThinkingStyle::Adaptive if off => {
            (Some(Number::from(0)), None)
        }
        ThinkingStyle::AsAsked if asked.budget.is_some() => {
            (effort::tokens(asked, losses).map(Number::from), None)
        }
        ThinkingStyle::Budget => {
            let budget = effort::tokens(asked, losses).map(Number::from);
            (budget.or_else(|| thinks.then(dynamic).flatten()), None)
        }
        ThinkingStyle::Effort => (None, effort::word(asked, losses).map(|effort| level(&effort, losses))),
        ThinkingStyle::AsAsked | ThinkingStyle::Adaptive => match effort::word(asked, losses) {
            Some(effort) => (None, Some(level(&effort, losses))),
            None => (thinks.then(dynamic).flatten(), None),
        },
    };
    // Where others think at all they show it, unless told not to.
    let show = asked.show.or_else(|| (!own && !off && thinks).then_some(true));
    let config =
        ThinkingConfig { include_thoughts: show, thinking_budget: budget, thinking_level: level, rest: None };
    let config = config.with_rest(asked.extras.owned_by(ID));
    let says = asked.extras.marked(ID, OWN) || !config.clone().leftovers().is_empty();
    says.then_some(config)
}

fn own_budget(asked: &Thinking) -> Option<Number> {
    match asked.mode {
        Some(ThinkingMode::Adaptive) => Some(Number::from(-1)),
        Some(ThinkingMode::Off) => Some(Number::from(0)),
        Some(ThinkingMode::On) | None => asked.budget.map(Number::from),
    }
}

fn own_level(asked: &Thinking) -> Option<String> {
    let word = asked.effort.as_ref().filter(|_| asked.extras.get(ID, "thinkingLevel").is_none())?.word();
    Some(if asked.extras.marked(ID, LOWER_CASE) { word.to_owned() } else { word.to_ascii_uppercase() })
}

/// The API knows four levels.
fn level(effort: &Effort, losses: &mut Vec<Loss>) -> String {
    let level = match effort {
        Effort::None | Effort::Minimal => "MINIMAL",
        Effort::Low => "LOW",
        Effort::Medium | Effort::Other(_) => "MEDIUM",
        Effort::High | Effort::XHigh | Effort::Max => "HIGH",
    };
    effort::renamed(effort, level, losses);
    level.to_owned()
}

/// Settings the protocol has no field for.
pub(super) fn unsaid(request: &Request, losses: &mut Vec<Loss>) {
    if request.parallel_tools == Some(false) {
        losses.push(Loss::new("parallel_tools", "gemini can't be kept to one call at a time; left out"));
    }
    if request.user.is_some() {
        losses.push(Loss::new("user", "gemini has no field for the end user; left out"));
    }
}
