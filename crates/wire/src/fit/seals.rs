//! Reasoning and seals go to their issuer only.

use rail_model::{Message, Part, PartBody, Role, Seal, Thinking, ThinkingMode};

use super::Work;
use super::losses::Place;
use super::parts::{Fate, Voice};
use crate::protocol::ThinkingStyle;

/// Takes the seal of another issuer off.
pub(super) fn unseal(work: &mut Work<'_>, place: Place, part: &mut Part) {
    let foreign = part.seal.take_if(|seal| !work.target.issued(work.rules.protocol, &seal.issuer));
    if let Some(seal) = foreign {
        work.losses.once(place, "seal", format!("only {} can read its seals", seal.issuer));
    }
}

/// Whether reasoning that is shown may stay.
pub(super) fn fit_thinking(work: &mut Work<'_>, place: Place, voice: Voice, sealed: bool) -> Fate {
    if voice != Voice::Assistant {
        work.losses.add(place, "", "reasoning is the assistant's; left out");
        return Fate::Goes;
    }
    if work.rules.sealed_thinking && !sealed {
        work.losses.add(place, "", "reasoning without this target's own seal; left out");
        return Fate::Goes;
    }
    Fate::Stays
}

/// Whether hidden reasoning may stay.
pub(super) fn fit_redacted(work: &mut Work<'_>, place: Place, voice: Voice, seal: &Seal) -> Fate {
    if voice != Voice::Assistant {
        work.losses.add(place, "", "reasoning is the assistant's; left out");
        return Fate::Goes;
    }
    if !work.target.issued(work.rules.protocol, &seal.issuer) {
        work.losses.once(place, "", format!("only {} can read its hidden reasoning; left out", seal.issuer));
        return Fate::Goes;
    }
    Fate::Stays
}

/// Switches thinking off when a tool loop is open whose reasoning is gone: such a target demands to see how it began.
pub(super) fn settle_thinking(work: &mut Work<'_>) {
    let Some(thinking) = &mut work.request.thinking else { return };
    if !work.rules.sealed_thinking || !demands_reasoning(thinking, work.target.thinking, work.own) {
        return;
    }
    if opening_of_open_loop(&work.request.messages).is_some_and(|message| !begins_with_reasoning(message)) {
        switch_off(thinking);
        let reason =
            "off for this request: the open tool loop no longer begins with reasoning of this target";
        work.losses.add(Place::Request, "thinking", reason);
    }
}

/// Leaves the effort alone: it is independent of thinking.
pub(crate) fn switch_off(thinking: &mut Thinking) {
    thinking.mode = Some(ThinkingMode::Off);
    thinking.budget = None;
}

/// Whether the encoder may write a form of thinking that demands reasoning at the loop's beginning: a budget does,
/// `adaptive` and an effort do not.
fn demands_reasoning(thinking: &Thinking, style: ThinkingStyle, own: bool) -> bool {
    match (style, thinking.mode) {
        (ThinkingStyle::Never | ThinkingStyle::Adaptive | ThinkingStyle::Effort, _) => false,
        (ThinkingStyle::Budget | ThinkingStyle::AsAsked, Some(ThinkingMode::Off)) => false,
        (ThinkingStyle::Budget, Some(ThinkingMode::On | ThinkingMode::Adaptive) | None) => true,
        (ThinkingStyle::AsAsked, Some(ThinkingMode::On)) => true,
        (ThinkingStyle::AsAsked, Some(ThinkingMode::Adaptive)) => false,
        // An effort alone may become a budget in another protocol; in its own it stays an effort.
        (ThinkingStyle::AsAsked, None) => !own && (thinking.budget.is_some() || thinking.effort.is_some()),
    }
}

/// The first assistant message after the user's last words, if the conversation ends with tool results. Neighbouring
/// messages of one side are one turn, so a result in any of them keeps the loop open.
fn opening_of_open_loop(messages: &[Message]) -> Option<&Message> {
    let is_assistant = |message: &Message| message.role == Role::Assistant;
    let mut opening = None;
    let mut answered = false;
    for run in messages.chunk_by(|one, next| is_assistant(one) == is_assistant(next)).rev() {
        let assistant = run.first().is_some_and(is_assistant);
        if assistant && answered {
            opening = run.first();
            continue;
        }
        let mut parts = run.iter().flat_map(|message| &message.parts);
        answered = parts.any(|part| matches!(part.body, PartBody::ToolResult(_)));
        if assistant || !answered {
            break;
        }
    }
    opening
}

fn begins_with_reasoning(message: &Message) -> bool {
    let first = message.parts.first().map(|part| &part.body);
    matches!(first, Some(PartBody::Thinking(_) | PartBody::Redacted(_)))
}
