//! A live probe: whether a provider answers, how fast, and what to do when it does not.

use std::sync::Arc;
use std::time::Duration;

use rail_model::{ApiError, ErrorKind, Event, Message, Part, Purpose, Request, Role, Usage};
use rail_route::{Attempt, Plan, Provider, Routing, Target};
use rail_stdx::nearest;

use crate::{ListError, Outcome, Upstream, list_models};

/// Output that is asked for: enough for a model that thinks before it says a word.
const MAX_OUTPUT: u64 = 256;

/// What came of the probe of a provider.
#[derive(Clone, PartialEq, Debug)]
pub struct ProviderProbe {
    /// Its name.
    pub provider: String,
    /// The names of its models, or why it gives none; None when it was not asked.
    pub listed: Option<Result<Vec<String>, ListError>>,
    /// Why no target of it could be asked.
    pub problem: Option<String>,
    /// The targets that were asked.
    pub targets: Vec<TargetProbe>,
}

/// What came of the probe of a target.
#[derive(Clone, PartialEq, Debug)]
pub struct TargetProbe {
    /// The target.
    pub target: Target,
    /// How it answered, or why it did not.
    pub outcome: Result<Answered, ProbeFailure>,
}

/// How a target answered.
#[derive(Clone, PartialEq, Debug)]
pub struct Answered {
    /// The time to the first content.
    pub first_content: Duration,
    /// The tokens that it reports.
    pub usage: Usage,
}

/// Why a target did not answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeFailure {
    /// What happened.
    pub problem: String,
    /// What to do about it, where the problem itself does not say so.
    pub advice: Option<String>,
}

impl ProviderProbe {
    /// How many targets did not answer, and how many were to be asked.
    pub fn failed(&self) -> (usize, usize) {
        let failed = self.targets.iter().filter(|target| target.outcome.is_err()).count();
        let none = usize::from(self.problem.is_some());
        (failed + none, self.targets.len() + none)
    }
}

impl Upstream {
    /// Asks a provider for its models, and then one after the other: the model that is named, else those that a chain names,
    /// else the first that it has.
    pub async fn probe(
        &self,
        routing: &Routing,
        provider: &Arc<Provider>,
        model: Option<&str>,
    ) -> ProviderProbe {
        let mut probe = ProviderProbe {
            provider: provider.name.clone(),
            listed: None,
            problem: None,
            targets: Vec::new(),
        };
        if let Some(why) = &provider.unusable {
            probe.problem = Some(why.clone());
            return probe;
        }
        // A cassette has no list.
        if provider.cassette.is_none() {
            probe.listed = Some(list_models(&*self.transport, provider, provider.keys.first()).await);
        }
        let listed = probe.listed.as_ref().and_then(|listed| listed.as_ref().ok());
        let listed: &[String] = listed.map(Vec::as_slice).unwrap_or_default();
        let targets = targets(routing, provider, model, listed);
        if targets.is_empty() {
            probe.problem = Some(match &probe.listed {
                Some(Err(error)) => error.to_string(),
                Some(Ok(_)) | None => format!(
                    "no model of it is known; name one with `--model`, or under `providers.{}.models`",
                    provider.name
                ),
            });
        }
        for target in targets {
            let outcome = self.probe_target(routing, provider, &target).await;
            let outcome = outcome.map_err(|error| ProbeFailure {
                advice: advice(&error, &target, listed),
                problem: error.message,
            });
            probe.targets.push(TargetProbe { target, outcome });
        }
        probe
    }

    async fn probe_target(
        &self,
        routing: &Routing,
        provider: &Arc<Provider>,
        target: &Target,
    ) -> Result<Answered, ApiError> {
        let profile = routing.profiles.of(provider, &target.model);
        let (asked, why) = (target.to_string(), "a probe".to_owned());
        let attempt =
            Attempt { target: target.clone(), provider: Arc::clone(provider), profile, why: why.clone() };
        let plan = Plan { asked, virtual_model: None, why, attempts: vec![attempt], skipped: Vec::new() };
        let mut reply = Box::pin(self.ask(&plan, &question(target), &())).await.map_err(|none| none.error)?;
        let first_content = reply.sent().last().map(|sent| sent.took).unwrap_or_default();
        if reply.sent().last().is_some_and(|sent| sent.outcome == Outcome::Empty) {
            let problem = "the answer was complete and empty";
            return Err(ApiError::new(ErrorKind::Server, problem));
        }
        let mut usage = Usage::default();
        while let Some(event) = reply.next().await {
            if let Event::Usage(report) = event.map_err(|broken| broken.error)? {
                usage.update(report);
            }
        }
        Ok(Answered { first_content, usage })
    }
}

/// The smallest request that a model answers.
fn question(target: &Target) -> Request {
    let messages = vec![Message::new(Role::User, vec![Part::text("Reply with OK")])];
    let mut request = Request { model: target.model.clone(), messages, stream: true, ..Request::default() };
    request.sampling.max_output = Some(MAX_OUTPUT);
    request.purpose = Purpose::Background;
    request
}

/// Which targets of a provider are asked.
fn targets(routing: &Routing, provider: &Provider, model: Option<&str>, listed: &[String]) -> Vec<Target> {
    let of = |model: &String| Target::new(&provider.name, model);
    if let Some(model) = model {
        return vec![Target::new(&provider.name, model)];
    }
    let chained = routing.chained_targets_of(&provider.name);
    if !chained.is_empty() {
        return chained;
    }
    // Of what the configuration names, what is there comes first: a list by name says nothing of what is usual.
    let there = provider.models.keys().find(|model| listed.contains(model));
    there.or_else(|| provider.models.keys().next()).or_else(|| listed.first()).map(of).into_iter().collect()
}

/// What to do about an error, where its own words do not say so.
fn advice(error: &ApiError, target: &Target, listed: &[String]) -> Option<String> {
    let Target { provider, model } = target;
    match error.kind {
        ErrorKind::Authentication => Some(format!("check the key of `{provider}`: it is missing or wrong")),
        ErrorKind::Permission => Some(format!("check what the key of `{provider}` may do")),
        ErrorKind::Quota => Some(format!("top up the account at `{provider}`, or use another provider")),
        ErrorKind::RateLimited => Some("wait a little and try again".to_owned()),
        ErrorKind::NotFound if listed.iter().any(|known| known == model) => {
            Some("the model is listed, so that the address may be wrong; check `base_url`".to_owned())
        }
        ErrorKind::NotFound => Some(match nearest(model, listed.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{provider},{meant}`?"),
            None if listed.is_empty() => "check the model's name and `base_url`".to_owned(),
            None => format!("it has {}", some(listed)),
        }),
        ErrorKind::Overloaded => Some("try again later".to_owned()),
        ErrorKind::InvalidRequest
        | ErrorKind::Conflict
        | ErrorKind::TooLarge
        | ErrorKind::ContextLength
        | ErrorKind::Refused
        | ErrorKind::Timeout
        | ErrorKind::Server => None,
    }
}

/// The first names of a list.
fn some(listed: &[String]) -> String {
    let names: Vec<String> = listed.iter().take(5).map(|name| format!("`{name}`")).collect();
    let more = if listed.len() > names.len() { ", …" } else { "" };
    format!("{}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_says_what_to_do() {
        let target = Target::new("p", "qwen3-coder");
        let listed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        for (kind, names, expected) in [
            (ErrorKind::Authentication, &[][..], Some("check the key of `p`: it is missing or wrong")),
            (
                ErrorKind::NotFound,
                &["qwen3-coder"],
                Some("the model is listed, so that the address may be wrong; check `base_url`"),
            ),
            (ErrorKind::NotFound, &["x", "qwen3-coder-plus"], Some("did you mean `p,qwen3-coder-plus`?")),
            (ErrorKind::NotFound, &["x", "gemini-2.5"], Some("it has `x`, `gemini-2.5`")),
            (ErrorKind::NotFound, &["x", "qwen3_coder2"], Some("did you mean `p,qwen3_coder2`?")),
            (ErrorKind::NotFound, &["a", "b", "c", "d", "e", "f"], Some("it has `a`, `b`, `c`, `d`, `e`, …")),
            (ErrorKind::NotFound, &[], Some("check the model's name and `base_url`")),
            (ErrorKind::Server, &[], None),
        ] {
            let said = advice(&ApiError::new(kind, "no"), &target, &listed(names));
            assert_eq!(said.as_deref(), expected, "{kind:?} {names:?}");
        }
    }
}
