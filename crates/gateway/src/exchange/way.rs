//! The way of a request: what it is, who may serve it, and whether its key may ask for that.

use std::sync::{Arc, PoisonError};

use rail_ledger::{Ending, Key, Money};
use rail_model::{ApiError, ErrorKind, Request, Usage};
use rail_route::{Client, Plan, PlanInput, calibrated, explain, facts, plan};

use super::clock::now;
use super::record::{Open, cost};
use super::refusal;
use crate::arrival::Arrival;

/// Output that a request is expected to give at most, for what it holds of a budget until its end.
const EXPECTED_OUTPUT: u64 = 1024;

/// The way of a request.
pub(super) struct Way {
    /// The targets that may answer.
    pub(super) plan: Arc<Plan>,
    /// Tokens of input, as the target asked first will count them.
    pub(super) tokens: u64,
    /// Whether the client is Codex.
    pub(super) for_codex: bool,
}

/// Why there is no way, and what that makes of the request.
pub(super) type NoWay = (ApiError, Ending);

/// Finds the way of a request of so many tokens, as estimated, and holds what it is expected to cost.
pub(super) async fn find(
    open: &mut Open,
    arrival: &Arrival,
    request: &Request,
    estimated: u64,
) -> Result<Way, NoWay> {
    let way = route(open, arrival, request, estimated)?;
    if let Some(key) = &arrival.key {
        hold(open, arrival, key, &way, request.sampling.max_output).await?;
    }
    Ok(way)
}

fn route(open: &mut Open, arrival: &Arrival, request: &Request, estimated: u64) -> Result<Way, NoWay> {
    let client = Client { headers: &arrival.call.headers, name: None };
    let facts = facts(request, &client, estimated);
    open.comes_from(facts.client);
    let loaded = Arc::clone(open.loaded());
    let routing = &*loaded.routing;
    if routing.providers.is_empty() {
        let problem = "no provider is configured; run `rail init` where the gateway runs, or write one under [providers]";
        return Err((ApiError::new(ErrorKind::NotFound, problem), Ending::Failed));
    }
    let (sessions, upstream) = (open.gateway().sessions(), open.gateway().upstream());
    let session = sessions.lock().unwrap_or_else(PoisonError::into_inner).get(facts.session).cloned();
    let (health, learned, now) = (upstream.health(), upstream.learned(), now());
    let input = |facts| PlanInput { routing, facts, health: &health, session: session.as_ref(), now };
    let facts = calibrated(&input(&facts), |target| learned.calibration(target));
    let plan = Arc::new(plan(&input(&facts)));
    open.routed(&plan, facts.session, &explain(&plan, &facts));
    Ok(Way { tokens: facts.tokens, for_codex: facts.client == "codex", plan })
}

async fn hold(
    open: &mut Open,
    arrival: &Arrival,
    key: &Key,
    way: &Way,
    max_output: Option<u64>,
) -> Result<(), NoWay> {
    let expected = expected(&way.plan, way.tokens, max_output);
    let first = way.plan.attempts.first().map(|attempt| &attempt.target);
    let target = first.map(ToString::to_string);
    // A key may be allowed whichever of these its owner thinks in.
    let names = [
        Some(way.plan.asked.as_str()),
        way.plan.virtual_model.as_deref(),
        target.as_deref(),
        first.map(|target| target.model.as_str()),
    ];
    let names: Vec<&str> = names.into_iter().flatten().filter(|name| !name.is_empty()).collect();
    let held = open.gateway().ledger().hold(&key.id, &names, expected, arrival.at).await;
    match held {
        Ok(hold) => {
            open.holds(hold);
            Ok(())
        }
        Err(refused) => Err((refusal::error(&refused), Ending::Refused)),
    }
}

/// What a request will cost at the target that is asked first; nothing where no price is known.
fn expected(plan: &Plan, input: u64, max_output: Option<u64>) -> Money {
    let output = max_output.unwrap_or(EXPECTED_OUTPUT).min(EXPECTED_OUTPUT);
    let usage = Usage { input: Some(input), output: Some(output), ..Usage::default() };
    plan.attempts.first().and_then(|attempt| cost(attempt, &usage)).unwrap_or_default()
}
