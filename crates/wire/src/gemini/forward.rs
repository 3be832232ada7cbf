//! A request that goes to the API as its client wrote it.

use rail_model::{Effort, Request, Thinking};

use super::{ID, LOWER_CASE, MODEL_BARE, MODEL_IN_BODY, RULES, WRAPPED, path, request_out};
use crate::forward::as_said;
use crate::protocol::{HttpCall, TargetSpec, ThinkingStyle};
use crate::splice;

pub(super) fn forward(request: &Request, target: &TargetSpec, body: &[u8]) -> Option<HttpCall> {
    let thinks = request.thinking.as_ref().is_none_or(|asked| thinks_as_asked(asked, target.thinking));
    let marked = |mark| request.extras.marked(ID, mark);
    if !thinks || marked(WRAPPED) || !as_said(request, target, &RULES, body) {
        return None;
    }
    let body = if marked(MODEL_IN_BODY) {
        splice::with_model(body, &path::resource(&target.model))?
    } else if marked(MODEL_BARE) {
        splice::with_model(body, &target.model)?
    } else {
        splice::without_model(body)?
    };
    Some(request_out::post(body, request, target))
}

/// Whether the target is told so by what was asked: this API says `off` and `as you like` with a budget, and a level in capitals.
fn thinks_as_asked(asked: &Thinking, style: ThinkingStyle) -> bool {
    match style {
        ThinkingStyle::AsAsked => true,
        ThinkingStyle::Budget => asked.effort.is_none(),
        ThinkingStyle::Effort => {
            let level = match &asked.effort {
                Some(Effort::Minimal | Effort::Low | Effort::Medium | Effort::High) | None => true,
                Some(Effort::None | Effort::XHigh | Effort::Max | Effort::Other(_)) => false,
            };
            let capitals = !asked.extras.marked(ID, LOWER_CASE);
            level && capitals && asked.mode.is_none() && asked.budget.is_none()
        }
        ThinkingStyle::Adaptive | ThinkingStyle::Never => false,
    }
}
