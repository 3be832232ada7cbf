//! Whether a conversation stays with the target that answered last.

use crate::figures::{dollars, grouped};
use crate::line::Line;
use crate::plan::{Attempt, PlanInput, lacks, reach};
use crate::{Circuit, Price, Session, Stickiness};

/// A cache of fewer tokens is not worth staying for; providers do not keep shorter ones either.
const WORTH_KEEPING: u64 = 1_024;
/// Over how many further requests a cheaper target must earn back the lost cache.
const REQUESTS_AHEAD: u32 = 5;

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
        || input.health.circuit(last, input.now) != Circuit::Closed
    {
        return Stay::No;
    }
    let Ok((provider, profile)) = reach(input, last) else { return Stay::No };
    if lacks(input, &profile).is_some() {
        return Stay::No;
    }
    let with = |why: String| {
        let (target, profile) = (last.clone(), profile.clone());
        Stay::With(Box::new(Attempt { target, provider, profile, why: format!("stays with {last}: {why}") }))
    };
    if input.facts.in_tool_loop {
        return with("the model is in the middle of a tool loop".to_owned());
    }
    let cached = session.cached_at(input.now);
    if cached < WORTH_KEEPING {
        return Stay::No;
    }
    let lost = format!("{} cached tokens would be paid again", grouped(cached));
    let prices = profile.price.zip(first.and_then(|first| first.profile.price));
    let Some((old, new)) = prices else { return with(lost) };
    let Weighed { loss, gain } = weigh(input, session, &old, &new);
    if loss > gain {
        return with(if gain > 0.0 {
            format!("{lost}, {}, which is more than the {} saved", dollars(loss), ahead(gain))
        } else {
            format!("{lost}, {}", dollars(loss))
        });
    }
    let cached = grouped(cached);
    Stay::Leave(if loss > 0.0 {
        format!(
            "worth leaving {last}: {} are saved, and its {cached} cached tokens cost {} here",
            ahead(gain),
            dollars(loss)
        )
    } else {
        format!("worth leaving {last}: its {cached} cached tokens cost no more here")
    })
}

/// Whether the user switched to another provider: who does that wants it for the next request, whatever it costs.
fn leads_to_active(input: &PlanInput<'_>, first: Option<&Attempt>) -> bool {
    let Some((active, session)) = input.routing.active.as_ref().zip(input.session) else { return false };
    session.target.provider != *active && first.is_some_and(|first| first.target.provider == *active)
}

fn ahead(gain: f64) -> String {
    format!("{} over the next {REQUESTS_AHEAD} requests", dollars(gain))
}

/// What a switch costs and saves, in dollars.
struct Weighed {
    loss: f64,
    gain: f64,
}

/// Staying pays the cached price for the prefix, switching pays the new target's full price for it, once. After that both have
/// it cached, so a cheaper target gains on every further request.
fn weigh(input: &PlanInput<'_>, session: &Session, old: &Price, new: &Price) -> Weighed {
    let read = |price: &Price| price.cache_read.unwrap_or(price.input);
    let each = |price: &Price| {
        millions(input.facts.tokens) * read(price) + millions(session.output_tokens) * price.output
    };
    Weighed {
        loss: millions(session.cached_at(input.now)) * (new.input - read(old)),
        gain: ((each(old) - each(new)) * f64::from(REQUESTS_AHEAD)).max(0.0),
    }
}

/// Prices are for a million tokens.
#[expect(
    clippy::cast_precision_loss,
    reason = "token counts are far below the 2^53 that a float holds exactly"
)]
fn millions(tokens: u64) -> f64 {
    tokens as f64 / 1e6
}
