//! `rail mcp test`: servers are started, asked what they have, and ended.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use rail_config::mcp::{Server, Servers, Spec, Which, plain_name, servers};
use rail_config::{Inputs, Loaded};
use rail_mcp::{Host, Hub, Limits, ServerSpec, ServerState, Setup, State, TimeLimits};
use rail_upstream::Transport;
use tokio::task::JoinSet;

use super::{hub, list, tell_problems, used};
use crate::clock::Now;
use crate::setup::{Common, runtime, transport, wrong};
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Test {
    /// The server; all that are used when not said.
    name: Option<String>,
}

/// Nobody is asked anything.
struct Nobody;

impl Host for Nobody {}

impl Test {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let inputs = common.inputs()?;
        let loaded = rail_config::load(&inputs).map_err(wrong)?;
        let servers = servers(&inputs, &loaded, &[], Which::All);
        tell_problems(&servers);
        let chosen = self.chosen(&servers)?;
        if chosen.is_empty() {
            return output::print(&list::listed(&servers));
        }
        let bench = Bench::new(&inputs, &loaded, &servers);
        let reports = runtime()?.block_on(bench.all(&chosen));
        let failed = reports.iter().filter(|(_, answers)| !answers).count();
        output::print(&reports.into_iter().map(|(text, _)| text).collect::<String>())?;
        if failed == 0 { Ok(()) } else { Err(Failure::Ended(1)) }
    }

    fn chosen<'a>(&self, servers: &'a Servers) -> Result<Vec<(&'a Server, &'a Spec)>, Failure> {
        let Some(name) = &self.name else { return Ok(servers.used().collect()) };
        Ok(vec![used(servers, name)?])
    }
}

/// What servers are started with.
struct Bench {
    env: Vec<(OsString, OsString)>,
    cwd: PathBuf,
    http: Arc<dyn Transport>,
    specs: Vec<ServerSpec>,
}

impl Bench {
    fn new(inputs: &Inputs, loaded: &Loaded, servers: &Servers) -> Self {
        Self {
            env: hub::environment(loaded, &inputs.env),
            cwd: inputs.working_folder.clone(),
            http: transport(&inputs.env),
            specs: hub::specs(servers, loaded, &inputs.env),
        }
    }

    /// A report of each, in their order, and whether it answers. They start beside each other.
    async fn all(&self, chosen: &[(&Server, &Spec)]) -> Vec<(String, bool)> {
        let mut tasks = JoinSet::new();
        for (at, (server, spec)) in chosen.iter().enumerate() {
            let (name, spec, setup) = (server.name.clone(), (*spec).clone(), self.setup(&server.name));
            tasks.spawn(async move { (at, tested(&name, &spec, setup).await) });
        }
        let mut reports = Vec::new();
        while let Some(Ok(report)) = tasks.join_next().await {
            reports.push(report);
        }
        reports.sort_by_key(|(at, _)| *at);
        reports.into_iter().map(|(_, report)| report).collect()
    }

    fn setup(&self, name: &str) -> Setup {
        Setup {
            servers: self.specs.iter().filter(|spec| spec.name == name).cloned().collect(),
            host: Arc::new(Nobody),
            // One that dies is not started again: this is to see that it does.
            limits: Limits { deaths: 1, ..Limits::default() },
            env: self.env.clone(),
            cwd: self.cwd.clone(),
            cache: None,
            http: Arc::clone(&self.http),
        }
    }
}

/// What one server has, and whether it answers.
async fn tested(name: &str, spec: &Spec, setup: Setup) -> (String, bool) {
    let begin = Now::read();
    let start = spec.start_timeout.unwrap_or(TimeLimits::default().start);
    let hub = Hub::start(setup);
    // The hub keeps the limit itself, and says more of why.
    hub.settled(start.saturating_add(Duration::from_secs(5))).await;
    let took = Now::read().instant.saturating_duration_since(begin.instant);
    let report = match hub.states().pop() {
        Some(ServerState { state: State::Ready { .. }, calls_itself, notes, .. }) => {
            let own = calls_itself.map(|own| format!(" ({own})")).unwrap_or_default();
            let mut text = format!("{name}: ready in {} ms{own}\n", took.as_millis());
            has(&mut text, "tools", &tools(name, &hub));
            has(
                &mut text,
                "prompts",
                &hub.prompts().into_iter().map(|prompt| prompt.name).collect::<Vec<_>>(),
            );
            let templates = hub.templates().into_iter().map(|template| template.uri_template);
            let resources = hub.resources().into_iter().map(|resource| resource.uri).chain(templates);
            has(&mut text, "resources", &resources.collect::<Vec<_>>());
            notes.iter().for_each(|note| text += &format!("  note: {note}\n"));
            (text, true)
        }
        Some(ServerState { state, stderr, .. }) => (failed(name, took, &state, &stderr), false),
        None => (format!("{name}: it was not started\n"), false),
    };
    hub.stop().await;
    report
}

/// The tools that are used, by the server's own names.
fn tools(name: &str, hub: &Hub) -> Vec<String> {
    let prefix = format!("mcp__{}__", plain_name(name));
    let tools = hub.tools().into_iter().map(|tool| tool.declare().name);
    tools.map(|tool| tool.strip_prefix(&prefix).map(str::to_owned).unwrap_or(tool)).collect()
}

fn has(text: &mut String, what: &str, names: &[String]) {
    let listed = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    // Writing to a string can't fail.
    let _ = writeln!(text, "  {what} ({}){listed}", names.len());
}

fn failed(name: &str, took: Duration, state: &State, stderr: &str) -> String {
    let why = match state {
        State::Failed { why } | State::Retrying { why, .. } | State::Disabled { why } => why.clone(),
        State::NeedsLogin { why, .. } => why.clone(),
        State::Connecting => "it did not answer in time".to_owned(),
        State::Ready { .. } | State::Stopped => state.to_string(),
    };
    let mut text = format!("{name}: failed after {} ms: {why}\n", took.as_millis());
    let said: Vec<&str> = stderr.lines().filter(|line| !line.trim().is_empty()).collect();
    if !said.is_empty() {
        text += "  it said last:\n";
        said.iter().skip(said.len().saturating_sub(10)).for_each(|line| text += &format!("    {line}\n"));
    }
    text
}
