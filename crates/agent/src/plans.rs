//! Who may answer a request and what an answer costs, in the conversation and beside it.

use std::time::Instant;

use rail_config::Loaded;
use rail_model::{Delta, Event, Request, Usage};
use rail_route::{Attempt, Client, Plan, PlanInput, Sessions, Skipped, calibrated, estimate, facts};
use rail_upstream::Upstream;

/// Who may answer. With a budget nobody is asked whose price is not known.
pub(crate) fn plan(
    upstream: &Upstream,
    loaded: &Loaded,
    sessions: &Sessions,
    request: &Request,
    budget: Option<f64>,
    now: Instant,
) -> Plan {
    let client = Client { headers: &[], name: Some("rail") };
    let facts = facts(request, &client, estimate(request).total());
    let session = sessions.get(facts.session);
    let (health, learned) = (upstream.health(), upstream.learned());
    let input = PlanInput { routing: &loaded.routing, facts: &facts, health: &health, session, now };
    let mut plan = calibrated(&input, |target| learned.calibration(target)).0;
    if budget.is_some() {
        leave_out_unpriced(&mut plan);
    }
    plan
}

/// How many bytes of an answer these events bring.
pub(crate) fn bytes(events: &[Event]) -> u64 {
    let length = |event: &Event| match event {
        Event::Delta {
            delta: Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments(text), ..
        } => text.len(),
        _ => 0,
    };
    events.iter().map(|event| length(event) as u64).sum()
}

/// What an answer took, as reported; an estimate where nothing was, or nothing but zeros, so that a budget holds all the same.
pub(crate) fn counted(usage: &Usage, read: u64, written: u64) -> Usage {
    if usage.total() > 0 {
        return usage.clone();
    }
    Usage { input: Some(read), output: Some(written.div_ceil(4)), ..usage.clone() }
}

/// What an answer costs, where that is known.
pub(crate) fn cost(attempt: &Attempt, usage: &Usage) -> Option<f64> {
    attempt.profile.cost(usage).or_else(|| attempt.provider.is_free().then_some(0.0))
}

/// What nobody knows the price of can't be held to a budget.
pub(crate) fn leave_out_unpriced(plan: &mut Plan) {
    let (priced, unpriced) = std::mem::take(&mut plan.attempts)
        .into_iter()
        .partition(|attempt: &Attempt| attempt.profile.price.is_some() || attempt.provider.is_free());
    plan.attempts = priced;
    plan.skipped.extend(unpriced.into_iter().map(|attempt| Skipped {
        why: format!(
            "its price is not known, so that no budget in dollars can hold; say it as `price` of the model in [providers.{}]",
            attempt.target.provider
        ),
        target: attempt.target,
    }));
}

/// Why nobody can be asked, and what to do about it.
pub(crate) fn nobody(plan: &Plan, loaded: &Loaded) -> String {
    if loaded.routing.providers.is_empty() {
        return "no provider is configured and no model server was found on this machine; run `rail init`, or write one under \
                [providers] in the configuration"
            .to_owned();
    }
    let skipped: Vec<String> =
        plan.skipped.iter().map(|skipped| format!("{}: {}", skipped.target, skipped.why)).collect();
    let why = if skipped.is_empty() { plan.why.clone() } else { skipped.join("; ") };
    format!("no target can serve `{}` ({why}); `rail route explain` says more", plan.asked)
}
