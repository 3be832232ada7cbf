//! Which requests can go to a target of their own protocol as the client wrote them.
//!
//! Those of which `encode_request` would write the same again. So here are the questions whether it would change anything: what
//! all protocols have in common, the validator's rules included; each protocol adds its own.

use rail_model::{Part, PartBody, Request, Thinking, ThinkingMode};

use crate::fit::{Rules, check};
use crate::ids;
use crate::protocol::{TargetSpec, ThinkingStyle};

/// Whether what the client said is what the target is to be told, as far as all protocols agree.
pub(crate) fn as_said(request: &Request, target: &TargetSpec, rules: &Rules, body: &[u8]) -> bool {
    request.origin == Some(rules.protocol)
        && !ids::may_be_folded(body)
        && request.messages.iter().all(|message| !message.parts.is_empty())
        && !parts(request).any(|part| is_folded(part, rules) || is_media(part))
        && check(request, target, rules).is_empty()
}

/// Every part, those inside results included.
fn parts(request: &Request) -> impl Iterator<Item = &Part> {
    let said = request.messages.iter().flat_map(|message| &message.parts);
    request.system.iter().chain(said).flat_map(|part| {
        let inside: &[Part] =
            if let PartBody::ToolResult(result) = &part.body { &result.content } else { &[] };
        inside.iter().chain([part])
    })
}

/// Whether a part has a seal that is spelled otherwise while a client keeps it: one of any other issuer than the protocol.
fn is_folded(part: &Part, rules: &Rules) -> bool {
    let hidden = if let PartBody::Redacted(seal) = &part.body { Some(seal) } else { None };
    part.seal.iter().chain(hidden).any(|seal| seal.issuer != rules.protocol.name())
}

/// Whether a part must be looked at to know what the target takes of it: images have limits, and media a type.
fn is_media(part: &Part) -> bool {
    matches!(part.body, PartBody::Media(_))
}

/// Whether a target that is told to think in this way is told so by what was asked, word for word.
pub(crate) fn thinks_as_asked(asked: &Thinking, style: ThinkingStyle) -> bool {
    let Thinking { mode, budget, effort, .. } = asked;
    match (style, mode) {
        (ThinkingStyle::AsAsked, _) => true,
        (ThinkingStyle::Never, _) => false,
        (ThinkingStyle::Budget, Some(ThinkingMode::On)) => budget.is_some() && effort.is_none(),
        (ThinkingStyle::Adaptive, Some(ThinkingMode::Adaptive)) => budget.is_none(),
        (ThinkingStyle::Budget | ThinkingStyle::Adaptive, Some(ThinkingMode::Off)) => {
            budget.is_none() && effort.is_none()
        }
        (ThinkingStyle::Effort, None) => budget.is_none() && effort.is_some(),
        (ThinkingStyle::Budget | ThinkingStyle::Adaptive | ThinkingStyle::Effort, _) => false,
    }
}
