//! Settings of other protocols, within what this API takes. Its own clients know what they do.

use std::borrow::Cow;

use rail_model::{Loss, Request, Sampling, Thinking, ThinkingMode, ToolChoice};
use serde_json::Number;

use super::ID;
use super::types::ThinkingConfig;
use crate::fit::switch_off;

const WHILE_THINKING: &str = "anthropic has no such setting while the model thinks; left out";
/// The least `top_p` beside thinking.
const LEAST_TOP_P: f64 = 0.95;

/// How to think: not at all where a tool is forced, because the API refuses the two together.
pub(super) fn thinking<'a>(request: &'a Request, losses: &mut Vec<Loss>) -> Option<Cow<'a, Thinking>> {
    let asked = request.thinking.as_ref()?;
    let forced = match &request.tool_choice {
        Some(ToolChoice::Any | ToolChoice::Named(_)) => true,
        Some(ToolChoice::Among { required, .. }) => *required,
        Some(ToolChoice::Auto | ToolChoice::None | ToolChoice::Opaque(_)) | None => false,
    };
    let off = asked.mode == Some(ThinkingMode::Off);
    if off || !forced || request.origin == Some(ID) {
        return Some(Cow::Borrowed(asked));
    }
    let mut off = asked.clone();
    switch_off(&mut off);
    losses
        .push(Loss::new("thinking", "off for this request: anthropic does not think where a tool is forced"));
    Some(Cow::Owned(off))
}

/// Settings the API would refuse go, each by name.
pub(super) fn sampling<'a>(
    request: &'a Request,
    thinking: Option<&ThinkingConfig>,
    losses: &mut Vec<Loss>,
) -> Cow<'a, Sampling> {
    if request.origin == Some(ID) {
        return Cow::Borrowed(&request.sampling);
    }
    let mut out = request.sampling.clone();
    let thinks = thinking
        .and_then(|config| config.kind.as_deref())
        .is_some_and(|kind| kind == "enabled" || kind == "adaptive");
    let mut lose = |name: &str, reason: &str| losses.push(Loss::new(name, reason));
    // What is usual says nothing.
    out.top_p.take_if(|number| number.as_f64() == Some(1.0));
    if (thinks || out.top_p.is_some()) && out.temperature.as_ref().is_some_and(is_one) {
        out.temperature = None;
    }
    if thinks {
        if out.temperature.take().is_some() {
            lose("temperature", WHILE_THINKING);
        }
        if out.top_k.take().is_some() {
            lose("top_k", WHILE_THINKING);
        }
        if out.top_p.take_if(|number| number.as_f64().is_some_and(|p| p < LEAST_TOP_P)).is_some() {
            lose("top_p", WHILE_THINKING);
        }
    }
    if out.temperature.is_some() && out.top_p.take().is_some() {
        lose("top_p", "anthropic takes no second setting beside a temperature; left out");
    }
    if let Some(number) = out.temperature.as_mut().filter(|number| number.as_f64().is_some_and(|t| t > 1.0)) {
        *number = Number::from(1);
        lose("temperature", "anthropic takes at most 1; asked for that");
    }
    if let Some(number) = &mut out.top_k {
        whole(number);
    }
    let before = out.stop.len();
    out.stop.retain(|stop| !stop.trim().is_empty());
    if out.stop.len() < before {
        lose("stop", "anthropic takes no stop strings of white space only; left out");
    }
    Cow::Owned(out)
}

fn is_one(number: &Number) -> bool {
    number.as_f64() == Some(1.0)
}

/// Spells `40.0` as `40`.
fn whole(number: &mut Number) {
    let spelled = number.to_string();
    if let Some((digits, rest)) = spelled.split_once('.')
        && rest.bytes().all(|byte| byte == b'0')
        && let Ok(count) = digits.parse::<u64>()
    {
        *number = Number::from(count);
    }
}
