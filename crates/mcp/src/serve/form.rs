//! A question about a call as a form that a client shows, and what its answer means.

use std::fmt::Write;

use rail_permit::{Answer, Facet, Question, Scope};
use rail_tool::HookedCall;
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::{Map, Value, json};

/// How much of an input is shown.
const MAX_SHOWN: usize = 8_000;

const ONCE: &str = "Allow once";
const SESSION: &str = "Allow for this session";
const NO: &str = "No";

/// What a person is told: what would be done, why it is asked, and the whole input.
pub(super) fn message(call: &HookedCall, question: &Question) -> String {
    let mut text = format!("`{}` would do this:\n", call.tool);
    for facet in &question.facets {
        // Writing to a string can't fail.
        let _ = match facet {
            Facet::Read(path) => writeln!(text, "  read {}", path.display()),
            Facet::Write(path) => writeln!(text, "  write {}", path.display()),
            Facet::Exec(exec) => writeln!(text, "  run {}", exec.command),
            Facet::Net(host) => writeln!(text, "  speak with {host}"),
            Facet::Foreign => writeln!(text, "  run a tool of somebody else"),
        };
    }
    let _ = writeln!(text, "Asked because {}.", question.reason.why);
    if let Some(note) = &question.note {
        let _ = writeln!(text, "{note}");
    }
    text.push_str(&input(&call.input));
    if let Some(offer) = question.offers.first() {
        let _ = writeln!(text, "For this session would mean: {}.", offer.says.trim_end_matches('.'));
    }
    harmless(&text)
}

/// The form: one choice, and room for a reason.
pub(super) fn schema(question: &Question) -> Map<String, Value> {
    let mut choices = vec![ONCE];
    if !question.offers.is_empty() && !question.always_asks {
        choices.push(SESSION);
    }
    choices.push(NO);
    let form = json!({
        "type": "object",
        "properties": {
            "answer": {"type": "string", "title": "May it be done?", "enum": choices},
            "reason": {"type": "string", "title": "Why not", "description": "For the model, if the answer is no."},
        },
        "required": ["answer"],
    });
    match form {
        Value::Object(form) => form,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

/// What an answer means. Whatever is no clear yes is a no.
pub(super) fn read(result: &ElicitResult, question: &Question) -> Answer {
    let field = |name: &str| result.content.as_ref()?.get(name)?.as_str();
    let reason = || field("reason").map(str::trim).filter(|why| !why.is_empty()).map(str::to_owned);
    match (&result.action, field("answer"), question.offers.first()) {
        (ElicitationAction::Accept, Some(ONCE), _) => Answer::Once,
        (ElicitationAction::Accept, Some(SESSION), Some(offer)) if !question.always_asks => {
            Answer::Offer(offer.clone(), Scope::Session)
        }
        (_, _, _) => Answer::No(reason()),
    }
}

/// What a client is told that can ask nobody.
pub(super) fn nobody(question: &Question) -> String {
    match question.rule() {
        Some(rule) => format!(
            "This client can't ask anybody; `rail mcp serve --allow '{rule}'` would allow it without a question."
        ),
        None => "This client can't ask anybody, and no rule can allow it; do it by hand if it is needed.".to_owned(),
    }
}

/// The fields of an input, each as it is.
fn input(input: &Value) -> String {
    let Value::Object(fields) = input else { return String::new() };
    let mut text = String::from("Its input:\n");
    for (name, value) in fields {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = if value.contains('\n') { format!("\n    {}", value.replace('\n', "\n    ")) } else { value };
        let _ = writeln!(text, "  {name}: {value}");
    }
    match text.char_indices().nth(MAX_SHOWN) {
        Some((at, _)) => {
            let more = text.get(at..).unwrap_or_default().chars().count();
            format!("{}\n… {more} more characters\n", text.get(..at).unwrap_or_default())
        }
        None => text,
    }
}

/// Text that can't change a terminal: what a model writes may hold control characters. Lines and tabs stay.
fn harmless(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(rail_config::plain).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}
