//! Whether a conversation stays with the target that answered last.

use rail_model::Usage;

use crate::classify::LONG_CONTEXT;
use crate::figures::{dollars, grouped};
use crate::line::Line;
use crate::plan::{Attempt, PlanInput, lacks, reach};
use crate::{Circuit, ModelProfile, Session, Stickiness};

/// A cache of fewer tokens is not worth staying for; providers do not keep shorter ones either.
const WORTH_KEEPING: u64 = 1_024;
/// Over how many further requests a cheaper target must earn back the lost cache.
const REQUESTS_AHEAD: u32 = 5;
/// So many requests of one kind in a row are no excursion: their own chain is followed, whatever the cache is worth. Each answer
/// renews the cache, so without an end the first target of a conversation would keep it for good.
const LASTING: u32 = 5;

/// Whether a conversation stays.
pub(crate) enum Stay {
    /// It was never somewhere else, or nothing speaks for staying.
    No,
    /// It would have a cache to lose, and leaving is worth it for this reason.
    Leave(String),
    /// It stays, and this goes first.
    With(Box<Attempt>),
}

/// Decides whether the last target goes before the one that the chains would have first.
pub(crate) fn stay(input: &PlanInput<'_>, line: &Line, first: Option<&Attempt>) -> Stay {
    let Some(session) = input.session else { return Stay::No };
    match input.routing.options.stickiness {
        Stickiness::Off => return Stay::No,
        Stickiness::Auto => {}
    }
    let last = &session.target;
    if first.is_some_and(|first| first.target == *last)
        || !line.lets_stay(input.routing, last)
        || leads_to_active(input, first)
        || outgrew(input, session, line)
        || input.health.circuit(last, input.now) != Circuit::Closed
    {
        return Stay::No;
    }
    let Ok((provider, profile)) = reach(input, last) else { return Stay::No };
    if lacks(input, &profile).is_some() {
        return Stay::No;
    }
    let reason = if input.facts.in_tool_loop {
        Reason::Stay("the model is in the middle of a tool loop".to_owned())
    } else {
        for_its_cache(input, session, line, &profile, first)
    };
    match reason {
        Reason::None => Stay::No,
        Reason::Leave(why) => Stay::Leave(format!("worth leaving {last}: {why}")),
        Reason::Stay(why) => {
            let why = format!("stays with {last}: {why}");
            Stay::With(Box::new(Attempt { target: last.clone(), provider, profile, why }))
        }
    }
}

enum Reason {
    None,
    Leave(String),
    Stay(String),
}

/// Stays for the cache of the last target, unless another is so much cheaper that its loss is earned back, or the conversation
/// has been of this kind for a while.
fn for_its_cache(
    input: &PlanInput<'_>,
    session: &Session,
    line: &Line,
    profile: &ModelProfile,
    first: Option<&Attempt>,
) -> Reason {
    let cached = session.cached_at(input.now);
    if cached < WORTH_KEEPING {
        return Reason::None;
    }
    let tokens = grouped(cached);
    if session.virtual_model == line.virtual_model && session.in_a_row >= LASTING {
        let requests = grouped(session.in_a_row.into());
        return Reason::Leave(format!("the last {requests} requests were of this kind too"));
    }
    let weighed = first.and_then(|first| weigh(input, session, profile, &first.profile));
    let Some(Weighed { loss, gain }) = weighed else {
        return Reason::Stay(format!(
            "its {tokens} cached tokens would be lost, at prices that are not known"
        ));
    };
    let (lost, saved) = (dollars(loss), dollars(gain));
    let ahead = format!("{saved} saved over the next {REQUESTS_AHEAD} requests");
    match (loss > gain, gain > 0.0, loss > 0.0) {
        (true, false, _) => Reason::Stay(format!("{tokens} cached tokens would be paid again, {lost}")),
        (true, true, _) => {
            Reason::Stay(format!("{tokens} cached tokens would be paid again, {lost}: more than the {ahead}"))
        }
        (false, _, true) => {
            Reason::Leave(format!("its {tokens} cached tokens cost {lost} here: less than the {ahead}"))
        }
        (false, _, false) => Reason::Leave(format!("its {tokens} cached tokens cost no more here")),
    }
}

/// Whether the conversation has just become `longContext`, which has a chain of its own: its threshold says from where on another
/// model does better, and nothing but a switch there can follow it.
fn outgrew(input: &PlanInput<'_>, session: &Session, line: &Line) -> bool {
    let long = |name: Option<&str>| name == Some(LONG_CONTEXT);
    long(line.virtual_model.as_deref())
        && !long(session.virtual_model.as_deref())
        && input.routing.has_chain(LONG_CONTEXT)
}

/// Whether the user switched to another provider: who does that wants it for the next request, whatever it costs.
fn leads_to_active(input: &PlanInput<'_>, first: Option<&Attempt>) -> bool {
    let Some((active, session)) = input.routing.active.as_ref().zip(input.session) else { return false };
    session.target.provider != *active && first.is_some_and(|first| first.target.provider == *active)
}

/// What a switch costs and saves, in dollars.
struct Weighed {
    loss: f64,
    gain: f64,
}

/// Staying pays the cached price for the prefix, switching pays the new target's full price for it, once. After that both have
/// it cached, so a cheaper target gains on every further request. None when a price is not known.
fn weigh(
    input: &PlanInput<'_>,
    session: &Session,
    old: &ModelProfile,
    new: &ModelProfile,
) -> Option<Weighed> {
    let cached = session.cached_at(input.now);
    // Whole requests are priced, as long ones may cost more a token; the cached part has its share of that.
    let size = input.facts.tokens.max(cached);
    let again = Usage { input: Some(size), ..Usage::default() };
    let from_cache = Usage { input: Some(0), cache_read: Some(size), ..Usage::default() };
    let later = Usage { output: Some(session.output_tokens), ..from_cache.clone() };
    let each = old.cost(&later)? - new.cost(&later)?;
    Some(Weighed {
        loss: (new.cost(&again)? - old.cost(&from_cache)?) * share(cached, size),
        gain: (each * f64::from(REQUESTS_AHEAD)).max(0.0),
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "token counts are far below the 2^53 that a float holds exactly"
)]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}
