//! A request that goes to the API as its client wrote it.

use rail_model::{Request, Role, ToolChoice, ToolKind};

use super::item_out::{self, Class};
use super::{CHOSEN_CUSTOM, ID, RULES, request_out};
use crate::forward::as_said;
use crate::protocol::{HttpCall, TargetSpec, ThinkingStyle};
use crate::splice;

pub(super) fn forward(request: &Request, target: &TargetSpec, body: &[u8]) -> Option<HttpCall> {
    let thinks = request.thinking.is_none() || target.thinking != ThinkingStyle::Never;
    if !(thinks
        && chooses_by_kind(request)
        && returns_reasoning(request, target)
        && as_said(request, target, &RULES, body))
    {
        return None;
    }
    Some(request_out::post("/responses", splice::with_model(body, &target.model)?, request))
}

/// Whether a tool that must be called is called what it was declared as, function or not.
fn chooses_by_kind(request: &Request) -> bool {
    let Some(ToolChoice::Named(name)) = &request.tool_choice else { return true };
    let declared = request.tools.iter().find(|decl| decl.name == *name);
    declared.is_none_or(|decl| {
        matches!(decl.kind, ToolKind::Custom { .. }) == request.extras.marked(ID, CHOSEN_CUSTOM)
    })
}

/// Whether all reasoning of the history goes back.
fn returns_reasoning(request: &Request, target: &TargetSpec) -> bool {
    let said = request.messages.iter().filter(|message| message.role == Role::Assistant);
    let mut groups = said.flat_map(|message| item_out::groups(&message.parts));
    groups.all(|group| {
        let reasons = group.first().is_some_and(|part| item_out::class(part) == Class::Reasoning);
        !reasons || request_out::may_return(group, target)
    })
}
