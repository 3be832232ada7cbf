//! How the model is told to think and in which form to answer.

use rail_model::{Effort, Format, Loss, Request, Thinking, ThinkingMode};
use serde_json::Value;

use super::ID;
use super::types::{Reasoning, TextConfig, TextFormat};
use crate::protocol::{TargetSpec, ThinkingStyle};
use crate::{arguments, effort};

pub(super) fn reasoning(
    asked: Option<&Thinking>,
    target: &TargetSpec,
    own: bool,
    losses: &mut Vec<Loss>,
) -> Option<Reasoning> {
    let asked = asked?;
    if target.thinking == ThinkingStyle::Never {
        if asked.mode != Some(ThinkingMode::Off) && asked.effort != Some(Effort::None) {
            losses.push(Loss::new("thinking", "this model can't be told to think; left out"));
        }
        return None;
    }
    let effort = match (&asked.effort, asked.mode) {
        (None, Some(ThinkingMode::Off)) => Some(Effort::None),
        // Newer models do not think unless told how hard.
        (_, Some(ThinkingMode::On | ThinkingMode::Adaptive)) => {
            effort::word(asked, losses).or(Some(Effort::Medium))
        }
        (Some(_), Some(ThinkingMode::Off)) | (_, None) => effort::word(asked, losses),
    };
    let thinks = matches!(asked.mode, Some(ThinkingMode::On | ThinkingMode::Adaptive));
    let show = asked.show.unwrap_or(thinks) && (own || effort != Some(Effort::None));
    let kept = asked.extras.owned_by(ID);
    let summary = (show && !kept.is_some_and(|kept| kept.contains_key("summary"))).then(|| "auto".to_owned());
    let effort = effort.map(|effort| effort.word().to_owned());
    let said = effort.is_some() || summary.is_some() || kept.is_some();
    said.then(|| Reasoning { effort, summary, rest: None }.with_rest(kept))
}

pub(super) fn text(request: &Request, losses: &mut Vec<Loss>) -> Option<TextConfig> {
    let named = |kind: &str| TextFormat { kind: Some(kind.to_owned()), ..TextFormat::default() };
    let own = request.origin == Some(ID);
    let format = match &request.format {
        None => None,
        Some(Format::Text) => Some(named("text")),
        Some(Format::JsonObject) => Some(named("json_object")),
        Some(Format::JsonSchema { name, description, schema, strict }) => Some(TextFormat {
            name: name.clone().or_else(|| (!own).then(|| "answer".to_owned())),
            description: description.clone(),
            schema: schema.clone().or_else(|| (!own).then(arguments::any_object)),
            strict: *strict,
            ..named("json_schema")
        }),
        Some(Format::Opaque(opaque)) if opaque.origin == ID => {
            Some(TextFormat::default().with_rest(opaque.value.as_object()))
        }
        Some(Format::Opaque(opaque)) => {
            let reason = format!("a form in words of {} only; left out", opaque.origin);
            losses.push(Loss::new("format", reason));
            None
        }
    };
    let kept = request.extras.get(ID, "text").and_then(Value::as_object);
    let kept = kept.filter(|_| format.is_some());
    format.map(|format| TextConfig { format: Some(format), verbosity: None, rest: None }.with_rest(kept))
}
