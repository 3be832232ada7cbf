//! Tools and the names of tools.

use std::collections::BTreeSet;

use rail_model::{CallKind, Json, ToolCall, ToolChoice, ToolDecl, ToolKind};
use serde_json::{Value, json};

use super::Work;
use super::losses::Place;
use super::parts::{Fate, Voice};
use super::rules::Rules;
use crate::ids;
use crate::restore::CUSTOM_FIELD;

/// Fits the declared tools: none of another provider, none twice, names and kinds the target knows.
pub(super) fn fit_declarations(work: &mut Work<'_>) {
    let mut names = BTreeSet::new();
    let tools = std::mem::take(&mut work.request.tools);
    let before = tools.len();
    for (at, mut tool) in tools.into_iter().enumerate() {
        let place = Place::Tool(at);
        if !fit_declaration(work, place, &mut tool) {
            continue;
        }
        // The provider's own tools may share a name, which often is only their type.
        if !matches!(tool.kind, ToolKind::Server(_)) && !names.insert(tool.name.clone()) {
            work.losses.add(place, "", format!("`{}` is declared twice; the first stays", tool.name));
            continue;
        }
        work.losses.extras(work.rules, place, "", &tool.extras);
        if let Some(cache) = &tool.cache {
            work.losses.extras(work.rules, place, "cache_control.", &cache.extras);
        }
        work.request.tools.push(tool);
    }
    work.tools_dropped = work.request.tools.len() < before;
}

/// False when the tool must go.
fn fit_declaration(work: &mut Work<'_>, place: Place, tool: &mut ToolDecl) -> bool {
    if let ToolKind::Server(opaque) = &tool.kind {
        let own = opaque.origin == work.rules.protocol;
        if !own {
            work.losses.add(
                place,
                "",
                format!("`{}` is a tool of {} only; left out", tool.name, opaque.origin),
            );
        }
        return own;
    }
    if tool.name.trim().is_empty() {
        work.losses.add(place, "", "a tool without a name; left out");
        return false;
    }
    let original = tool.name.clone();
    fit_name(work, &mut tool.name);
    if tool.name != original {
        work.losses.add(place, "name", format!("sent as `{}`", tool.name));
    }
    if let ToolKind::Custom { format } = &tool.kind
        && !work.takes_custom_tools()
    {
        tool.description = described(tool.description.take(), format.as_ref());
        tool.kind = ToolKind::Function { parameters: Some(one_string()) };
        work.losses.add(
            place,
            "",
            format!("a free-text tool, sent as a function with the string `{CUSTOM_FIELD}`"),
        );
        work.restore.was_custom(original);
    }
    true
}

fn one_string() -> Json {
    let properties = json!({ CUSTOM_FIELD: { "type": "string" } });
    json!({ "type": "object", "properties": properties, "required": [CUSTOM_FIELD], "additionalProperties": false }).into()
}

/// The description with the grammar, so that the model knows the form although nobody enforces it.
fn described(description: Option<String>, format: Option<&Json>) -> Option<String> {
    let Some(grammar) = format.and_then(grammar) else { return description };
    let grammar = format!("`{CUSTOM_FIELD}` must match this grammar:\n{grammar}");
    Some(description.map_or(grammar.clone(), |text| format!("{text}\n\n{grammar}")))
}

/// The grammar's text; None for free text without one.
fn grammar(format: &Json) -> Option<String> {
    let format = format.value();
    let inner = format.get("grammar").unwrap_or(&format);
    let field = |key: &str| inner.get(key).and_then(Value::as_str);
    match (field("syntax"), field("definition")) {
        (Some(syntax), Some(definition)) => Some(format!("({syntax})\n{definition}")),
        (None, Some(definition)) => Some(definition.to_owned()),
        (_, None) if field("type") == Some("text") => None,
        (_, None) => Some(format.to_string()),
    }
}

/// Mends the choice of tools after some went. What a client said to its own protocol about the tools it declared there
/// stays: they may be declared where we can't see them (a stored prompt, a tool search).
pub(super) fn mend_choice(work: &mut Work<'_>) {
    let choice = work.request.tool_choice.take();
    let choice = choice.map(|choice| renamed(choice, work.rules));
    let declared: BTreeSet<&str> = work.request.tools.iter().map(|tool| tool.name.as_str()).collect();
    let bound = !work.own || work.tools_dropped;
    if bound && declared.is_empty() && work.request.parallel_tools.take().is_some() {
        work.losses.add(Place::Request, "parallel_tools", "there are no tools");
    }
    let (choice, why) = match choice {
        Some(ToolChoice::Opaque(opaque)) if opaque.origin != work.rules.protocol => {
            (None, Some(format!("a choice only {} knows", opaque.origin)))
        }
        Some(choice) if bound => mended(choice, &declared),
        choice @ (Some(_) | None) => (choice, None),
    };
    if let Some(why) = why {
        work.losses.add(Place::Request, "tool_choice", why);
    }
    work.request.tool_choice = choice;
}

fn renamed(choice: ToolChoice, rules: &Rules) -> ToolChoice {
    let sent = |name: String| sent_name(&name, rules).unwrap_or(name);
    match choice {
        ToolChoice::Named(name) => ToolChoice::Named(sent(name)),
        ToolChoice::Among { names, required } => {
            ToolChoice::Among { names: names.into_iter().map(sent).collect(), required }
        }
        ToolChoice::Auto | ToolChoice::None | ToolChoice::Any | ToolChoice::Opaque(_) => choice,
    }
}

fn mended(choice: ToolChoice, declared: &BTreeSet<&str>) -> (Option<ToolChoice>, Option<String>) {
    let free = |choice: &ToolChoice| matches!(choice, ToolChoice::Auto | ToolChoice::None);
    if declared.is_empty() {
        // Without tools these two say nothing.
        let why = (!free(&choice)).then(|| "there are no tools".to_owned());
        return (None, why);
    }
    match choice {
        ToolChoice::Named(name) if !declared.contains(name.as_str()) => {
            (Some(ToolChoice::Auto), Some(format!("`{name}` is not declared; the model decides")))
        }
        ToolChoice::Among { names, required } => {
            let before = names.len();
            let names: Vec<_> = names.into_iter().filter(|name| declared.contains(name.as_str())).collect();
            let why = (names.len() < before).then(|| "names tools that are not declared".to_owned());
            let choice =
                if names.is_empty() { ToolChoice::Auto } else { ToolChoice::Among { names, required } };
            (Some(choice), why)
        }
        ToolChoice::Auto
        | ToolChoice::None
        | ToolChoice::Any
        | ToolChoice::Named(_)
        | ToolChoice::Opaque(_) => (Some(choice), None),
    }
}

/// Fits a call of the history. One without a name is dealt with when calls and results are paired.
pub(super) fn fit_call(work: &mut Work<'_>, place: Place, voice: Voice, call: &mut ToolCall) -> Fate {
    if voice != Voice::Assistant {
        work.losses.add(place, "", "a tool call that is not the assistant's; sent as text");
        return Fate::Note(format!("[call of `{}`: {}]", call.name, call.arguments));
    }
    if !call.name.trim().is_empty() {
        fit_name(work, &mut call.name);
    }
    if call.kind == CallKind::Custom && !work.takes_custom_tools() {
        call.arguments = json!({ CUSTOM_FIELD: call.arguments }).to_string();
        call.kind = CallKind::Function;
    }
    Fate::Stays
}

/// Makes a tool's name legal for the target and remembers how to undo it.
pub(super) fn fit_name(work: &mut Work<'_>, name: &mut String) {
    if let Some(sent) = sent_name(name, work.rules) {
        let original = std::mem::replace(name, sent.clone());
        work.restore.renamed(sent, original);
    }
}

/// The name as the target accepts it; None when it does as it is. Always the same for the same name.
fn sent_name(name: &str, rules: &Rules) -> Option<String> {
    let legal =
        |char: char| char.is_ascii_alphanumeric() || "_-".contains(char) || rules.name_extra.contains(char);
    let begins =
        !rules.name_letter_first || name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    if begins && name.chars().all(legal) {
        return (name.len() > rules.name_max).then(|| ids::shorten(name, rules.name_max));
    }
    let clean: String = name.chars().map(|char| if legal(char) { char } else { '_' }).collect();
    let lead = if begins { "" } else { "_" };
    let hash = ids::fnv(name.as_bytes()) & 0xffff_ffff;
    Some(ids::shorten(&format!("{lead}{clean}_{hash:08x}"), rules.name_max))
}
