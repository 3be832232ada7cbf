//! The providers: their keys, and whether they answer.

use std::sync::Arc;
use std::time::Duration;

use rail_config::{KeyShown, ListedProvider, Loaded, plain, shown_address};
use rail_upstream::{Answered, ProbeFailure, ProviderProbe, TargetProbe, Upstream};
use tokio::task::JoinSet;

use super::check::{Check, State};
use super::{Cx, Reach};
use crate::provider::NONE;
use crate::state::{home, upstream};

/// How long a provider has to answer, for all its targets together.
const PATIENCE: Duration = Duration::from_secs(30);

/// One check for each provider, all asked at once.
pub(super) fn asked(cx: &Cx) -> Vec<Check> {
    let Some(loaded) = &cx.checked.loaded else {
        let says = "not looked at, since the configuration is wrong";
        return vec![Check::skipped("providers", says)];
    };
    if loaded.routing.providers.is_empty() {
        return vec![Check::of_message("providers", State::Problem, NONE)];
    }
    let home = home(&cx.inputs.env);
    let listed = loaded.listed_providers(home.as_deref());
    match cx.reach {
        Reach::Nobody => listed.iter().map(unasked).collect(),
        Reach::Servers => {
            let upstream = upstream(loaded, &cx.inputs.env);
            let probes = cx.runtime.block_on(probe_all(loaded, &upstream));
            listed
                .iter()
                .map(|one| {
                    let name = &one.provider.name;
                    let probe = probes.iter().find(|probe| probe.provider == *name);
                    probe.map_or_else(|| silent(name), |probe| answered(one, probe))
                })
                .collect()
        }
    }
}

/// What is known of a provider that was not asked.
fn unasked(listed: &ListedProvider<'_>) -> Check {
    let name = &listed.provider.name;
    match &listed.provider.unusable {
        Some(why) => Check::of_message(name, State::Problem, why),
        None => Check::ok(name, format!("{}, {}; not asked: --offline", listed.address, key(listed))),
    }
}

/// Whether there is a key; nothing of it is shown.
fn key(listed: &ListedProvider<'_>) -> String {
    match &listed.key {
        KeyShown::None => "no key".to_owned(),
        KeyShown::Hints(hints) if hints.len() > 1 => format!("{} keys set", hints.len()),
        KeyShown::Hints(_) => "key set".to_owned(),
        KeyShown::InHeader(name) => format!("key in `{name}`"),
    }
}

/// Those that did not answer in time are left out.
async fn probe_all(loaded: &Loaded, upstream: &Upstream) -> Vec<ProviderProbe> {
    let mut asking = JoinSet::new();
    for provider in loaded.routing.providers.values() {
        let (upstream, routing, provider) =
            (upstream.clone(), Arc::clone(&loaded.routing), Arc::clone(provider));
        asking.spawn(async move {
            let probe = upstream.probe(&routing, &provider, None);
            tokio::time::timeout(PATIENCE, probe).await
        });
    }
    let mut probes = Vec::new();
    while let Some(done) = asking.join_next().await {
        // One that broke off is told as one that did not answer.
        probes.extend(done.ok().and_then(Result::ok));
    }
    probes
}

fn silent(name: &str) -> Check {
    let says = format!("it did not answer within {} s", PATIENCE.as_secs());
    Check::new(name, State::Problem, says)
        .with_fix(format!("`rail provider test {name}` waits longer; see `providers.{name}.base_url`"))
}

fn answered(listed: &ListedProvider<'_>, probe: &ProviderProbe) -> Check {
    let name = &listed.provider.name;
    if let Some(problem) = &probe.problem {
        return Check::of_message(name, State::Problem, problem);
    }
    let failures = probe.targets.iter().filter_map(|TargetProbe { target, outcome }| match outcome {
        Err(ProbeFailure { problem, advice }) => Some((target, problem, advice)),
        Ok(_) => None,
    });
    let failures: Vec<_> = failures.collect();
    let works = probe.targets.iter().filter_map(|TargetProbe { target, outcome }| match outcome {
        Ok(Answered { first_content, .. }) => {
            Some(format!("{} in {} ms", target.model, first_content.as_millis()))
        }
        Err(_) => None,
    });
    let works: Vec<String> = works.collect();
    let Some((target, problem, advice)) = failures.first() else {
        let says = format!("{}, {}; answers: {}", listed.address, key(listed), works.join(", "));
        return Check::ok(name, says);
    };
    let says = format!("{}: {problem}", target.model);
    let mut check = match advice {
        Some(advice) => Check::new(name, State::Problem, says).with_fix(advice),
        None => Check::of_message(name, State::Problem, &says),
    };
    let others: Vec<&str> = failures.iter().skip(1).map(|(target, ..)| target.model.as_str()).collect();
    if !others.is_empty() {
        check.says += &format!("\nnor do these answer: {}", others.join(", "));
    }
    if !works.is_empty() {
        check.says += &format!("\nbut these do: {}", works.join(", "));
    }
    check
}

/// Model servers on this machine.
pub(super) fn local(cx: &Cx) -> Check {
    const NAME: &str = "local servers";
    if cx.reach == Reach::Nobody {
        return Check::skipped(NAME, "not looked for: --offline");
    }
    if cx.local.is_empty() {
        return Check::skipped(NAME, "none answers on this machine")
            .with_fix("start one, such as Ollama, LM Studio or llama.cpp, to use its models");
    }
    let lines = cx.local.iter().map(|local| {
        let models: Vec<String> = local.models.iter().take(3).map(|model| plain(model)).collect();
        let more = local.models.len().saturating_sub(models.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let models = if models.is_empty() { "no models".to_owned() } else { models.join(", ") };
        format!("{} at {}: {models}{more}", local.provider.name, shown_address(&local.provider.base_url))
    });
    let lines: Vec<String> = lines.collect();
    let check = Check::ok(NAME, lines.join("\n"));
    let configured = cx.checked.loaded.as_ref().is_some_and(|loaded| !loaded.settings.providers.is_empty());
    let known = |local: &rail_config::found::Local| {
        let all = cx.checked.loaded.as_ref().map(|loaded| &loaded.routing.providers);
        all.is_some_and(|all| all.values().any(|one| one.base_url == local.provider.base_url))
    };
    if configured && !cx.local.iter().all(known) {
        return check.with_fix("a server counts by itself only while no provider is configured; name it under [providers] to use it");
    }
    check
}
