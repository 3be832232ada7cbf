//! The way of a request: what it is, who may serve it, and whether its key may ask for that.

use std::sync::{Arc, PoisonError};

use rail_ledger::{Ending, Key, Money, Refusal};
use rail_model::{ApiError, ErrorKind, ProtocolId, Request, Usage};
use rail_route::{Attempt, Client, Plan, PlanInput, Routing, Skipped, calibrated, explain, facts};
use rail_wire::Operation;
use serde_json::Value;

use super::record::{Open, cost};
use crate::arrival::Arrival;
use crate::clock::now;

/// Output that a request is expected to give at most, for what it holds of a budget until its end.
const EXPECTED_OUTPUT: u64 = 1024;

/// The longest name that a model may be asked for by. It is written to the ledger, several times, and told to whoever listens.
const MOST_NAME: usize = 1000;

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
    let expected = if is_paid(arrival.operation) {
        open.is_paid(way.tokens);
        expected(&way.plan, way.tokens, request.sampling.max_output)
    } else {
        Money::default()
    };
    if let Some(key) = &arrival.key {
        let (target, names) = (first_target(&way.plan), names(&way.plan));
        let names: Vec<&str> = names.into_iter().chain(target.as_deref()).collect();
        let held = open.gateway().ledger().hold(&key.id, &names, expected, arrival.at).await;
        open.holds(
            held.map_err(|refused| (crate::refusal::error(&refused), crate::refusal::ending(&refused)))?,
        );
    }
    Ok(way)
}

fn route(open: &mut Open, arrival: &Arrival, request: &Request, estimated: u64) -> Result<Way, NoWay> {
    if request.model.len() > MOST_NAME {
        let problem = format!(
            "the model's name has {} bytes, and no model's has more than {MOST_NAME}",
            request.model.len()
        );
        return Err((ApiError::new(ErrorKind::InvalidRequest, problem), Ending::Refused));
    }
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
    let input = PlanInput { routing, facts: &facts, health: &health, session: session.as_ref(), now };
    let (mut plan, facts) = calibrated(&input, |target| learned.calibration(target));
    let allowed = match &arrival.key {
        Some(key) => allow(&mut plan, key, arrival, request, routing),
        None => Ok(()),
    };
    let plan = Arc::new(plan);
    // A request that its key may not make has a route all the same, which says what was left out.
    open.routed(&plan, facts.session, &explain(&plan, &facts));
    allowed.map_err(|error| (error, Ending::Refused))?;
    Ok(Way { tokens: facts.tokens, for_codex: facts.client == "codex", plan })
}

/// Whether tokens are paid for.
fn is_paid(operation: Operation) -> bool {
    match operation {
        Operation::Generate | Operation::GenerateStream | Operation::Embed => true,
        Operation::Count | Operation::Models => false,
    }
}

/// Leaves of a plan what its key may use for this request.
fn allow(
    plan: &mut Plan,
    key: &Key,
    arrival: &Arrival,
    request: &Request,
    routing: &Routing,
) -> Result<(), ApiError> {
    narrow(plan, key, routing)
        .and_then(|()| may_name(plan, key, request, arrival.protocol.id))
        .map_err(|refused| crate::refusal::error(&refused))?;
    if key.budget.is_some() && is_paid(arrival.operation) { leave_priced(plan, key) } else { Ok(()) }
}

/// Takes out what does not pass, and says why it is not tried.
fn leave(plan: &mut Plan, passes: impl Fn(&Attempt) -> bool, why: &str) {
    for Attempt { target, .. } in plan.attempts.extract_if(.., |attempt| !passes(attempt)) {
        plan.skipped.push(Skipped { target, why: why.to_owned() });
    }
}

/// The names that the asked model has: its key may be allowed whichever of them its owner thinks in.
fn names(plan: &Plan) -> Vec<&str> {
    let first = plan.attempts.first().map(|attempt| attempt.target.model.as_str());
    let names = [Some(plan.asked.as_str()), plan.virtual_model.as_deref(), first];
    names.into_iter().flatten().filter(|name| !name.is_empty()).collect()
}

/// Leaves of a plan what its key may use.
///
/// An alias or a virtual model that the key is allowed stands for its whole chain, as whoever configured it wants. Any other name
/// says nothing of who answers, since clients may ask for unknown models and spell out chains of their own: then each target
/// counts for itself, and one that the key may not use is not asked when others fail either.
fn narrow(plan: &mut Plan, key: &Key, routing: &Routing) -> Result<(), Refusal> {
    let by_chain = routing.has_chain_for(&plan.asked) && key.allows(&plan.asked)
        || plan.virtual_model.as_deref().is_some_and(|name| key.allows(name));
    if key.models.is_empty() || by_chain {
        return Ok(());
    }
    let may =
        |attempt: &Attempt| key.allows(&attempt.target.model) || key.allows(&attempt.target.to_string());
    leave(plan, may, &format!("the key `{}` may not use it", key.name));
    if !plan.attempts.is_empty() {
        return Ok(());
    }
    let (model, allowed) = (plan.asked.clone(), key.models.join(", "));
    Err(Refusal::Model { name: key.name.clone(), model, allowed })
}

/// Fields in which a request can name further models: providers that are gateways themselves ask those when the first fails.
const FURTHER_MODELS: &[&str] = &["models", "fallbacks"];

/// Checks that a key may use all further models that a request names, at whichever target it comes to. What is no name is not
/// allowed.
fn may_name(plan: &Plan, key: &Key, request: &Request, origin: ProtocolId) -> Result<(), Refusal> {
    if key.models.is_empty() {
        return Ok(());
    }
    let allowed_at =
        |attempt: &Attempt, name: &str| key.allows(&format!("{},{name}", attempt.target.provider));
    let may = |name: &str| key.allows(name) || plan.attempts.iter().all(|attempt| allowed_at(attempt, name));
    let mut further =
        FURTHER_MODELS.iter().filter_map(|key| request.extras.get(origin, key)).flat_map(|list| match list {
            Value::Array(names) => names.as_slice(),
            other => std::slice::from_ref(other),
        });
    match further.find(|name| !name.is_null() && !name.as_str().is_some_and(may)) {
        None => Ok(()),
        Some(model) => {
            let (name, allowed) = (key.name.clone(), key.models.join(", "));
            let model = model.as_str().map_or_else(|| model.to_string(), str::to_owned);
            Err(Refusal::Model { name, model: model.chars().take(MOST_NAME).collect(), allowed })
        }
    }
}

/// Leaves of a plan what a key with a budget may use: the budget can't hold what has no price.
fn leave_priced(plan: &mut Plan, key: &Key) -> Result<(), ApiError> {
    let priced = |attempt: &Attempt| attempt.profile.price.is_some() || attempt.provider.is_free();
    if plan.attempts.is_empty() || plan.attempts.iter().any(priced) {
        leave(plan, priced, &format!("the key `{}` has a budget, and its price is not known", key.name));
        return Ok(());
    }
    let targets: Vec<String> = plan.attempts.iter().map(|attempt| format!("`{}`", attempt.target)).collect();
    let model = plan.attempts.first().map_or("NAME", |attempt| &attempt.target.model);
    let problem = format!(
        "the key `{}` has a budget, and no price of {} is known; ask whoever runs the gateway to give one in its configuration \
         (`[models.\"{model}\"]` with `price = {{ input = 1.0, output = 2.0 }}`, in dollars for a million tokens, 0 for what is free), \
         or for a key without a budget",
        key.name,
        targets.join(", "),
    );
    Err(ApiError::new(ErrorKind::Permission, problem))
}

fn first_target(plan: &Plan) -> Option<String> {
    plan.attempts.first().map(|attempt| attempt.target.to_string())
}

/// What a request will cost at the target that is asked first; nothing where no price is known.
fn expected(plan: &Plan, input: u64, max_output: Option<u64>) -> Money {
    let output = max_output.unwrap_or(EXPECTED_OUTPUT).min(EXPECTED_OUTPUT);
    let usage = Usage { input: Some(input), output: Some(output), ..Usage::default() };
    plan.attempts.first().and_then(|attempt| cost(attempt, &usage)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rail_route::{ModelProfile, Price, Provider, Target};

    use super::*;

    fn planned(price: Option<Price>) -> Plan {
        let provider = Provider::new("p", ProtocolId::new("anthropic"), "http://localhost");
        let profile = ModelProfile { price, ..ModelProfile::default() };
        Plan {
            asked: "claude".to_owned(),
            virtual_model: Some("coding".to_owned()),
            why: String::new(),
            estimated: 0,
            attempts: vec![Attempt {
                target: Target::new("p", "m"),
                provider: Arc::new(provider),
                profile: Arc::new(profile),
                why: String::new(),
            }],
            skipped: Vec::new(),
        }
    }

    #[test]
    fn a_request_holds_its_input_and_some_output() {
        let price = Price { input: 3.0, output: 15.0, ..Price::default() };
        for (price, max_output, nanos) in [
            (Some(price.clone()), None, 3_000_000 + 15_360_000),
            (Some(price.clone()), Some(100), 3_000_000 + 1_500_000),
            (Some(price.clone()), Some(32_000), 3_000_000 + 15_360_000),
            (Some(price), Some(0), 3_000_000),
            (None, None, 0),
        ] {
            assert_eq!(expected(&planned(price), 1000, max_output), Money(nanos), "{max_output:?}");
        }
        assert_eq!(expected(&Plan { attempts: Vec::new(), ..planned(None) }, 1000, None), Money(0));
    }

    #[test]
    fn a_key_may_be_allowed_any_name_of_a_model() {
        let plan = planned(None);
        assert_eq!(
            (names(&plan), first_target(&plan).as_deref()),
            (vec!["claude", "coding", "m"], Some("p,m"))
        );
        let nobody = Plan { virtual_model: None, attempts: Vec::new(), asked: String::new(), ..plan };
        assert_eq!((names(&nobody), first_target(&nobody)), (vec![], None));
    }
}
