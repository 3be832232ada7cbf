//! Tools and the choice among them, both ways.

use rail_model::{Extras, Json, Loss, Map, Opaque, ProtocolId, Request, ToolChoice, ToolDecl, ToolKind};
use serde_json::{Value, json};

use super::content::peek;
use super::types::{Call, Choice, Tool};
use super::{CHOSEN_CUSTOM, ID, NAME, SPACE, flat_name, kept_fields, missing, object};
use crate::arguments;
use crate::error::{WireError, parse_at};

pub(super) fn read_all(call: &mut Call, request: &mut Request) -> Result<(), WireError> {
    if let Some(list) = call.tools.take_if(|list| !list.is_empty()) {
        for (at, json) in list.iter().enumerate() {
            request.tools.extend(read(json, &format!("tools[{at}]"))?);
        }
    }
    read_choice(call, request)
}

fn read(json: &Json, path: &str) -> Result<Vec<ToolDecl>, WireError> {
    let kind = peek(json, path)?.kind.ok_or_else(|| missing("type").under(path))?;
    match &*kind {
        "function" | "custom" => Ok(vec![one(json, path)?]),
        "namespace" => {
            let flat = namespace(json, path)?;
            Ok(if flat.is_empty() { vec![server(json, &kind)] } else { flat })
        }
        _ => Ok(vec![server(json, &kind)]),
    }
}

fn one(json: &Json, path: &str) -> Result<ToolDecl, WireError> {
    let mut tool: Tool = parse_at(ID, json.text(), path)?;
    let kind = match tool.kind.take().as_deref() {
        Some("custom") => ToolKind::Custom { format: tool.format.take() },
        Some(_) | None => ToolKind::Function { parameters: tool.parameters.take() },
    };
    let name = tool.name.take().ok_or_else(|| missing("name").under(path))?;
    let (description, strict) = (tool.description.take(), tool.strict.take());
    Ok(ToolDecl { name, description, kind, strict, cache: None, extras: Extras::rest(ID, tool.leftovers()) })
}

/// A tool the provider runs, or one we have no word for.
fn server(json: &Json, kind: &str) -> ToolDecl {
    let value = json.value();
    let named = ["name", "server_label"].iter().find_map(|key| value.get(key).and_then(Value::as_str));
    let name = named.unwrap_or(kind).to_owned();
    let kind = ToolKind::Server(Opaque { origin: ID, value });
    ToolDecl { name, description: None, kind, strict: None, cache: None, extras: Extras::NONE }
}

/// The tools of a namespace under flat names, which other protocols need; none when it holds anything else.
fn namespace(json: &Json, path: &str) -> Result<Vec<ToolDecl>, WireError> {
    let mut space: Tool = parse_at(ID, json.text(), path)?;
    let name = space.name.clone().ok_or_else(|| missing("name").under(path))?;
    let list = space.tools.take().unwrap_or_default();
    let mut flat = Vec::with_capacity(list.len());
    for (at, json) in list.iter().enumerate() {
        let path = format!("{path}.tools[{at}]");
        if !matches!(peek(json, &path)?.kind.as_deref(), Some("function" | "custom")) {
            return Ok(Vec::new());
        }
        flat.push(one(json, &path)?);
    }
    let fields = Value::Object(space.leftovers());
    for decl in &mut flat {
        let inner = std::mem::take(&mut decl.name);
        decl.name = flat_name(&name, &inner);
        decl.extras.insert(ID, NAME, Value::from(inner));
        decl.extras.insert(ID, SPACE, fields.clone());
    }
    Ok(flat)
}

/// Which flat name stands for which tool of which namespace: what an answer must know to say it back.
pub(super) fn namespaces(tools: &[ToolDecl]) -> Map {
    let spaced = tools.iter().filter_map(|decl| {
        let space = decl.extras.get(ID, SPACE)?.get("name")?;
        let inner = decl.extras.get(ID, NAME)?;
        Some((decl.name.clone(), json!([space, inner])))
    });
    spaced.collect()
}

/// Writes all tools; those of one namespace stand together again.
pub(super) fn write_all(request: &Request) -> Option<Vec<Json>> {
    let from = request.origin;
    let mut list: Vec<Json> = Vec::with_capacity(request.tools.len());
    for group in request.tools.chunk_by(|a, b| space(a).is_some() && space(a) == space(b)) {
        match group.first().and_then(space) {
            Some(fields) => {
                let inner = group.iter().map(|decl| written(decl, from));
                let tool = Tool { tools: Some(inner.collect()), ..Tool::default() }.with_rest(Some(fields));
                list.push(Json::from(Value::Object(object(&tool))));
            }
            None => list.extend(group.iter().map(|decl| written(decl, from))),
        }
    }
    (!list.is_empty()).then_some(list)
}

fn space(decl: &ToolDecl) -> Option<&Map> {
    decl.extras.get(ID, SPACE).and_then(Value::as_object)
}

fn written(decl: &ToolDecl, from: Option<ProtocolId>) -> Json {
    match &decl.kind {
        ToolKind::Server(opaque) => Json::from(&opaque.value),
        ToolKind::Function { .. } | ToolKind::Custom { .. } => {
            let text = serde_json::to_string(&write(decl, from)).unwrap_or_default();
            Json::parse(text).unwrap_or_else(|_| arguments::empty())
        }
    }
}

fn write(decl: &ToolDecl, from: Option<ProtocolId>) -> Tool {
    let inner = decl.extras.get(ID, NAME).and_then(Value::as_str);
    let mut tool = Tool {
        name: Some(inner.unwrap_or(&decl.name).to_owned()),
        description: decl.description.clone(),
        strict: decl.strict,
        ..Tool::default()
    };
    let own = from == Some(ID);
    match &decl.kind {
        ToolKind::Custom { format } => {
            tool.kind = Some("custom".to_owned());
            tool.format =
                format.as_ref().map(|format| if own { format.clone() } else { flat_format(format) });
            tool.strict = None;
        }
        ToolKind::Function { parameters } => {
            tool.kind = Some("function".to_owned());
            // This API takes an absent `strict` for true, which other protocols' schemas do not survive.
            tool.strict = decl.strict.or((!own).then_some(false));
            tool.parameters =
                if own { parameters.clone() } else { Some(arguments::schema(parameters.as_ref())) };
        }
        ToolKind::Server(_) => {}
    }
    let kept: Map = kept_fields(&decl.extras).collect();
    tool.with_rest(Some(&kept))
}

/// Chat Completions nests a grammar one level deeper.
fn flat_format(format: &Json) -> Json {
    let Value::Object(mut map) = format.value() else { return format.clone() };
    match map.shift_remove("grammar") {
        Some(Value::Object(grammar)) => {
            map.extend(grammar);
            Json::from(Value::Object(map))
        }
        Some(_) | None => format.clone(),
    }
}

fn read_choice(call: &mut Call, request: &mut Request) -> Result<(), WireError> {
    let Some(json) = call.tool_choice.take() else { return Ok(()) };
    let word = serde_json::from_str::<String>(json.text()).ok();
    request.tool_choice = Some(match word.as_deref() {
        Some("auto") => ToolChoice::Auto,
        Some("none") => ToolChoice::None,
        Some("required") => ToolChoice::Any,
        Some(_) => opaque(&json),
        None => match peek(&json, "tool_choice")?.kind.as_deref() {
            Some("function" | "custom") => named(&json, request)?,
            Some("allowed_tools") => among(&json)?.unwrap_or_else(|| opaque(&json)),
            Some(_) => opaque(&json),
            None => return Err(missing("type").under("tool_choice")),
        },
    });
    Ok(())
}

fn opaque(json: &Json) -> ToolChoice {
    ToolChoice::Opaque(Opaque { origin: ID, value: json.value() })
}

fn named(json: &Json, request: &mut Request) -> Result<ToolChoice, WireError> {
    let mut choice: Choice = parse_at(ID, json.text(), "tool_choice")?;
    let name = choice.name.take().ok_or_else(|| missing("name").under("tool_choice"))?;
    if choice.kind.take().as_deref() == Some("custom") {
        request.extras.mark(ID, CHOSEN_CUSTOM);
    }
    let left = choice.leftovers();
    if !left.is_empty() {
        request.extras.insert(ID, "tool_choice", Value::Object(left));
    }
    Ok(ToolChoice::Named(name))
}

/// A choice among functions; None when it names anything else.
fn among(json: &Json) -> Result<Option<ToolChoice>, WireError> {
    let mut choice: Choice = parse_at(ID, json.text(), "tool_choice")?;
    let required = match choice.mode.take().as_deref() {
        Some("required") => true,
        Some("auto") => false,
        Some(_) | None => return Ok(None),
    };
    let mut names = Vec::new();
    for mut tool in choice.tools.take().unwrap_or_default() {
        let function = tool.kind.take().as_deref() == Some("function");
        let Some(name) = tool.name.take().filter(|_| function) else { return Ok(None) };
        if !tool.leftovers().is_empty() {
            return Ok(None);
        }
        names.push(name);
    }
    choice.kind = None;
    Ok((choice.leftovers().is_empty() && !names.is_empty()).then_some(ToolChoice::Among { names, required }))
}

pub(super) fn write_choice(request: &Request, losses: &mut Vec<Loss>) -> Option<Json> {
    let custom = |name: &str| {
        let declared = request.tools.iter().find(|decl| decl.name == name);
        match declared.map(|decl| &decl.kind) {
            Some(ToolKind::Custom { .. }) => true,
            Some(ToolKind::Function { .. } | ToolKind::Server(_)) => false,
            None => request.extras.marked(ID, CHOSEN_CUSTOM),
        }
    };
    let tool = |name: &str| {
        let kind = if custom(name) { "custom" } else { "function" };
        Map::from_iter([("type".to_owned(), Value::from(kind)), ("name".to_owned(), Value::from(name))])
    };
    let own = request.origin == Some(ID);
    let value = match request.tool_choice.as_ref()? {
        // The API refuses a choice where there is nothing to choose from.
        ToolChoice::Auto | ToolChoice::None | ToolChoice::Any if request.tools.is_empty() && !own => {
            return None;
        }
        ToolChoice::Auto => Value::from("auto"),
        ToolChoice::None => Value::from("none"),
        ToolChoice::Any => Value::from("required"),
        ToolChoice::Named(name) => {
            let mut map = tool(name);
            let kept = request.extras.get(ID, "tool_choice").and_then(Value::as_object);
            map.extend(kept.cloned().unwrap_or_default());
            Value::Object(map)
        }
        ToolChoice::Among { names, required } => {
            let mode = if *required { "required" } else { "auto" };
            let tools: Vec<Map> = names.iter().map(|name| tool(name)).collect();
            json!({"type": "allowed_tools", "mode": mode, "tools": tools})
        }
        ToolChoice::Opaque(opaque) if opaque.origin == ID => opaque.value.clone(),
        ToolChoice::Opaque(opaque) => {
            let reason = format!("a choice in words of {} only; left out", opaque.origin);
            losses.push(Loss::new("tool_choice", reason));
            return None;
        }
    };
    Some(Json::from(value))
}
