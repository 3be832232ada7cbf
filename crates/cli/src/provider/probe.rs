//! `rail provider test`: a live probe of each provider.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::Args;
use rail_config::Loaded;
use rail_route::{Provider, Target};
use rail_upstream::{Answered, HealthFile, ProbeFailure, ProviderProbe, TargetProbe, Upstream};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::NONE;
use crate::clock::Now;
use crate::setup::{Common, runtime, warn};
use crate::state::upstream;
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Test {
    /// The providers to ask; all if none is named. With `--model`, that model of them.
    names: Vec<String>,
    /// Print JSON, when all have answered.
    #[arg(long)]
    json: bool,
}

/// A provider, and the one model of it that is to be asked.
type Question = (Arc<Provider>, Option<String>);

impl Test {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let loaded = common.load()?;
        warn(&loaded);
        let questions = self.questions(&loaded, common.model.as_deref())?;
        let upstream = upstream(&loaded, &common.inputs()?.env);
        let runtime = runtime()?;
        let probed = runtime.block_on(async {
            tokio::select! {
                probed = self.ask_all(&loaded, &upstream, questions) => probed,
                Ok(()) = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
            }
        });
        // A look-up of a name can't be cancelled; nobody waits for it.
        runtime.shutdown_background();
        let probes = probed?;
        keep_health(&loaded, &upstream);
        if self.json {
            output::print_json(&probes.iter().map(probe_json).collect())?;
        }
        let (failed, all) =
            probes.iter().map(ProviderProbe::failed).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if failed == 0 { Ok(()) } else { Err(Failure::Task(anyhow!("{failed} of {all} failed"))) }
    }

    fn questions(&self, loaded: &Loaded, model: Option<&str>) -> Result<Vec<Question>, Failure> {
        let usage = |problem: String| Failure::Usage(anyhow!(problem));
        let providers = &loaded.routing.providers;
        if providers.is_empty() {
            return Err(usage(NONE.to_owned()));
        }
        let mut named: Vec<Arc<Provider>> = Vec::new();
        for name in &self.names {
            let chosen = loaded.choose(name).map_err(|error| usage(error.to_string()))?;
            named.push(Arc::clone(chosen.provider));
        }
        let Some(model) = model else {
            let all = if named.is_empty() { providers.values().cloned().collect() } else { named };
            return Ok(all.into_iter().map(|provider| (provider, None)).collect());
        };
        let targets = match model.parse::<Target>() {
            Ok(target) => vec![target],
            Err(_) if named.is_empty() => loaded.routing.targets_with(model),
            Err(_) => named.iter().map(|provider| Target::new(&provider.name, model)).collect(),
        };
        if targets.is_empty() {
            return Err(usage(format!(
                "no provider is known to have `{model}`; write `provider,model`, or name the provider as well"
            )));
        }
        let question = |target: Target| {
            let chosen = loaded.choose(&target.provider).map_err(|error| usage(error.to_string()))?;
            if !named.is_empty() && !named.iter().any(|named| named.name == chosen.provider.name) {
                return Err(usage(format!(
                    "`{model}` is no model of {}; name one of the two",
                    self.names.join(", ")
                )));
            }
            Ok((Arc::clone(chosen.provider), Some(target.model)))
        };
        targets.into_iter().map(question).collect()
    }

    /// Asks all at once, and prints each in its turn as soon as those before it are there.
    async fn ask_all(
        &self,
        loaded: &Loaded,
        upstream: &Upstream,
        questions: Vec<Question>,
    ) -> Result<Vec<ProviderProbe>, Failure> {
        let mut asking = JoinSet::new();
        for (at, (provider, model)) in questions.into_iter().enumerate() {
            let (upstream, routing) = (upstream.clone(), Arc::clone(&loaded.routing));
            asking.spawn(async move { (at, upstream.probe(&routing, &provider, model.as_deref()).await) });
        }
        let (mut early, mut probes) = (BTreeMap::new(), Vec::new());
        while let Some(done) = asking.join_next().await {
            let (at, probe) = done.context("a probe broke off")?;
            early.insert(at, probe);
            while let Some(probe) = early.remove(&probes.len()) {
                if !self.json {
                    output::print(&probe_text(&probe))?;
                }
                probes.push(probe);
            }
        }
        Ok(probes)
    }
}

fn keep_health(loaded: &Loaded, upstream: &Upstream) {
    let (Some(places), now) = (&loaded.places, Now::read()) else { return };
    let seen = upstream.health().snapshot(now.instant);
    if let Err(problem) = HealthFile::save(&places.health(), &seen, now.unix) {
        output::tell(&format!("warning: {problem}"));
    }
}

fn probe_text(probe: &ProviderProbe) -> String {
    let mut out = String::new();
    if let Some(problem) = &probe.problem {
        out += &format!("failed  {}: {problem}\n", probe.provider);
    }
    for TargetProbe { target, outcome } in &probe.targets {
        match outcome {
            Ok(answered) => out += &format!("ok      {target}: {}\n", answered_text(answered)),
            Err(ProbeFailure { problem, advice }) => {
                out += &format!("failed  {target}: {problem}\n");
                out += &advice.as_ref().map(|advice| format!("        {advice}\n")).unwrap_or_default();
            }
        }
    }
    // Who does not answer at all has no list either, for the same reason.
    if let (Some(Err(error)), true) =
        (&probe.listed, probe.targets.iter().any(|target| target.outcome.is_ok()))
    {
        out += &format!("        {error}\n");
    }
    out
}

fn answered_text(answered: &Answered) -> String {
    let Answered { first_content, usage } = answered;
    let tokens = match (usage.all_input(), usage.all_output()) {
        (0, 0) => "no tokens reported".to_owned(),
        (input, output) => format!("{input} tokens in, {output} out"),
    };
    format!("first content after {} ms, {tokens}", first_content.as_millis())
}

fn probe_json(probe: &ProviderProbe) -> Value {
    let target = |TargetProbe { target, outcome }: &TargetProbe| match outcome {
        Ok(Answered { first_content, usage }) => json!({
            "target": target.to_string(),
            "ok": true,
            "first_content_ms": u64::try_from(first_content.as_millis()).unwrap_or(u64::MAX),
            "tokens": {"input": usage.all_input(), "output": usage.all_output()},
        }),
        Err(ProbeFailure { problem, advice }) => {
            json!({"target": target.to_string(), "ok": false, "problem": problem, "advice": advice})
        }
    };
    let targets: Vec<Value> = probe.targets.iter().map(target).collect();
    let (models, list_problem) = match &probe.listed {
        None => (None, None),
        Some(Ok(models)) => (Some(models.clone()), None),
        Some(Err(error)) => (None, Some(error.to_string())),
    };
    json!({
        "provider": probe.provider,
        "ok": probe.failed().0 == 0,
        "problem": probe.problem,
        "models": models,
        "list_problem": list_problem,
        "targets": targets,
    })
}
