//! `rail debug prompt`: what a model is told before anybody has said a word.

use std::fmt::Write;
use std::sync::Arc;

use clap::Args;
use rail_agent::memory::{Memory, MemoryPlaces};
use rail_agent::prompt::{self, Environment, Form, Gathered};
use rail_config::{Env, Loaded};
use rail_model::{Extras, Json, Request, ToolDecl, ToolKind};
use rail_route::{Client, ModelProfile, PlanInput, facts, plan, tool_tokens};
use rail_tool::{Generation, Limits};
use serde_json::{Value, json};

use crate::agent::brought::Brought;
use crate::clock::Now;
use crate::permission::{PermissionFlags, workspace};
use crate::setup::{Common, wrong};
use crate::state::State;
use crate::table::{Side, lines};
use crate::tool::words::{Dialect, generation};
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Prompt {
    /// The tools of this generation instead of the configured one.
    #[arg(long, value_name = "genN", value_parser = generation)]
    generation: Option<Generation>,
    /// The names of this dialect instead of those that the model knows best.
    #[arg(long, value_name = "D")]
    dialect: Option<Dialect>,
    /// Print JSON, with the tools as they are declared.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: PermissionFlags,
}

/// The model that a prompt is for, and what is known of it.
struct Target {
    name: Option<String>,
    profile: Arc<ModelProfile>,
}

impl Prompt {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let inputs = common.inputs()?;
        let checked = common.check()?;
        let trusted = checked.trusted;
        let loaded = checked.loaded.ok_or(checked.problems).map_err(wrong)?;
        let brought = Brought::read(&loaded, trusted, &inputs.env)?;
        brought
            .skills
            .problems
            .iter()
            .chain(&brought.agents.problems)
            .for_each(|problem| output::tell(&format!("warning: {problem}")));
        let gathered = self.gathered(&loaded, &inputs.env, &brought)?;
        let target = target(&loaded, common.model.as_deref());
        let mut input = prompt::input_for(&loaded.settings.agent, &target.profile, &gathered);
        if let Some(dialect) = self.dialect {
            input.dialect = dialect.name();
        }
        for note in &gathered.memory.notes {
            output::tell(&format!("warning: {note}"));
        }
        let built = prompt::build(&input);
        if self.json {
            return output::print_json(&json(&built, &input, &target));
        }
        output::print(&text(&built, &input, &target))
    }

    fn gathered(&self, loaded: &Loaded, env: &Env, brought: &Brought) -> Result<Gathered, Failure> {
        let (folder, now) = (workspace()?, Now::read());
        let registry = brought.skills.with(&rail_tools::registry());
        let policy = self.flags.policy(loaded, env, &registry)?;
        let agent = &loaded.settings.agent;
        let user = loaded.places.as_ref().map(|places| places.config.as_path());
        let places = MemoryPlaces::find(&folder, user, env.home(), &agent.memory_files);
        Ok(Gathered {
            registry: prompt::available(&registry, self.generation.unwrap_or(agent.generation), &policy),
            limits: Limits::from(&loaded.settings.tools),
            environment: Environment::gather(env, &folder, now.unix),
            memory: Memory::new(places, || Now::read().instant).begin(),
            agents: brought.agents.all.clone().into(),
            skills: prompt::skills(&brought.skills.cards),
            role: None,
        })
    }
}

/// The target that would be asked first by an agent's request.
fn target(loaded: &Loaded, model: Option<&str>) -> Target {
    let tool = ToolDecl {
        name: "read_file".to_owned(),
        description: None,
        kind: ToolKind::Function { parameters: Some(Json::from(json!({"type": "object"}))) },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    };
    let request =
        Request { model: model.unwrap_or_default().to_owned(), tools: vec![tool], ..Request::default() };
    let (state, now) = (State::load(loaded), Now::read());
    let facts = facts(&request, &Client { headers: &[], name: None }, 0);
    let health = state.health.in_force(now.unix, now.instant);
    let routing = &*loaded.routing;
    let plan = plan(&PlanInput { routing, facts: &facts, health: &health, session: None, now: now.instant });
    match plan.attempts.first() {
        Some(first) => Target { name: Some(first.target.to_string()), profile: Arc::clone(&first.profile) },
        None => Target { name: None, profile: Arc::default() },
    }
}

fn form_word(form: Form) -> &'static str {
    match form {
        Form::Full => "full",
        Form::Lean => "lean",
    }
}

fn text(built: &prompt::Prompt, input: &prompt::PromptInput<'_>, target: &Target) -> String {
    let mut out = String::new();
    for part in &built.parts {
        let _ = writeln!(out, "== {} · {} tokens ==\n{}\n", part.name, part.tokens, part.text);
    }
    let mut rows = vec![["TOOL", "TOKENS"].map(str::to_owned).to_vec()];
    rows.extend(built.tools.iter().map(|tool| vec![tool.name.clone(), tool_tokens(tool).to_string()]));
    let estimate = built.estimate();
    let _ = writeln!(out, "{}", lines(&[Side::Left, Side::Right], &rows));
    let name = target.name.as_deref().unwrap_or("a model that nothing is known of");
    let _ = writeln!(
        out,
        "{} tokens in all: {} of instructions, {} of tools (estimated; form {}, dialect {}, for {name})",
        estimate.total(),
        estimate.system,
        estimate.tools,
        form_word(input.form),
        input.dialect,
    );
    out
}

fn json(built: &prompt::Prompt, input: &prompt::PromptInput<'_>, target: &Target) -> Value {
    let parts =
        built.parts.iter().map(|part| json!({"name": part.name, "tokens": part.tokens, "text": part.text}));
    let tools = built.tools.iter().map(|tool| {
        let parameters = match &tool.kind {
            ToolKind::Function { parameters } => parameters.as_ref().map(Json::value),
            ToolKind::Custom { .. } | ToolKind::Server(_) => None,
        };
        json!({
            "name": tool.name,
            "tokens": tool_tokens(tool),
            "description": tool.description,
            "parameters": parameters,
        })
    });
    let estimate = built.estimate();
    json!({
        "target": target.name,
        "form": form_word(input.form),
        "dialect": input.dialect,
        "parts": parts.collect::<Vec<_>>(),
        "tools": tools.collect::<Vec<_>>(),
        "tokens": {"system": estimate.system, "tools": estimate.tools, "total": estimate.total()},
    })
}
