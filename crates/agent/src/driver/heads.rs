//! The head of all requests: what it is made of, and when it is made anew.

use std::sync::Arc;

use rail_config::settings::DialectChoice;
use rail_journal::{JournalError, Prompt, Record};
use rail_model::{Part, Request, ToolDecl};
use rail_permit::{Mode, Policy};
use rail_route::ModelProfile;
use rail_tool::Registry;

use super::ask::Asking;
use super::servers::Servers;
use super::{Agent, Setup};
use crate::machine::{Head, Input};
use crate::memory::Found;
use crate::prompt::{self, Environment, Form, Gathered, PromptInput};

/// What heads are made of. Its registry has all tools that the session may ever use, whatever the mode.
pub(super) struct Heads {
    gathered: Gathered,
    pub(super) dialect: String,
    form: Form,
    output_style: Option<String>,
    also: Option<String>,
}

impl Heads {
    /// For a session that begins, or goes on in the dialect that it spoke.
    pub(super) fn new(
        setup: &Setup,
        declared: &Registry,
        asking: &Asking,
        environment: Environment,
        memory: Found,
        spoke: Option<&str>,
    ) -> Self {
        let agent = &setup.loaded.settings.agent;
        // Tools that the mode alone bars may be wanted later.
        let any_mode = Policy { mode: Mode::Default, ..setup.policy.clone() };
        let gathered = Gathered {
            registry: prompt::available(declared, agent.generation, &any_mode),
            limits: setup.session.limits.clone(),
            environment,
            memory,
            skills: prompt::skills(&setup.session.skills),
            agents: Arc::clone(&setup.agent_types),
            role: setup.role.clone(),
        };
        let profile = profile(asking, &setup.model, &gathered);
        let dialect = match (agent.dialect, spoke) {
            (DialectChoice::Auto, Some(spoke)) => spoke.to_owned(),
            (choice, _) => prompt::dialect_for(choice, &profile).to_owned(),
        };
        Self {
            form: prompt::form_for(agent.prompt, &profile),
            gathered,
            dialect,
            output_style: agent.output_style.clone(),
            also: setup.also.clone(),
        }
    }

    /// All tools that the session may ever use.
    pub(super) fn registry(&self) -> &Registry {
        &self.gathered.registry
    }

    /// Whether a model is told all there is to tell.
    pub(super) fn is_full(&self) -> bool {
        self.form == Form::Full
    }

    /// The head under a policy.
    pub(super) fn under(&self, policy: &Policy) -> Prompt {
        let registry = self.registry().only(|card| !policy.bars(card.name, card.level));
        let gathered = Gathered { registry, ..self.gathered.clone() };
        let output_style = self.output_style.as_deref();
        let built = prompt::build(&PromptInput {
            form: self.form,
            dialect: &self.dialect,
            output_style,
            gathered: &gathered,
        });
        let mut system = built.system();
        if let (Some(also), Some(Part { body: rail_model::PartBody::Text(text), .. })) =
            (&self.also, system.first_mut())
        {
            text.push_str("\n\n");
            text.push_str(also);
        }
        Prompt { system, tools: built.tools, dialect: self.dialect.clone() }
    }

    /// Whether a head that was written earlier still serves: it has the tools that may be used now and none that there are not any more, and
    /// says what it is to say.
    pub(super) fn serves(&self, written: &Prompt, policy: &Policy) -> bool {
        let now = self.under(policy);
        let ever = self.under(&Policy { mode: Mode::Default, ..policy.clone() });
        let said = |text: &Option<String>| {
            text.as_ref().is_none_or(|text| {
                written.system.iter().filter_map(Part::as_text).any(|system| system.contains(text.trim()))
            })
        };
        written.dialect == self.dialect
            && has_all(&written.tools, &now.tools)
            && has_all(&ever.tools, &written.tools)
            && said(&self.gathered.role)
            && said(&self.also)
    }
}

impl Agent {
    /// After an explicit switch of the mode the head has what may be used now. Nothing is taken out of it: a call that is not allowed is
    /// refused all the same, and providers keep what they have cached.
    pub(super) fn head_follows(&mut self) -> Result<(), JournalError> {
        let now = self.heads.under(&self.executor.policy());
        if has_all(&self.machine.head().tools, &now.tools) {
            return Ok(());
        }
        self.new_head(now)
    }

    /// Another model may be one that is told more or less.
    pub(super) fn head_for_model(&mut self) -> Result<(), JournalError> {
        let profile = profile(&self.asking, &self.machine.head().model, &self.heads.gathered);
        let form = prompt::form_for(self.asking.loaded.settings.agent.prompt, &profile);
        if std::mem::replace(&mut self.heads.form, form) == form {
            return Ok(());
        }
        let now = self.heads.under(&self.executor.policy());
        self.new_head(now)
    }

    /// The head with the tools that servers have by now.
    pub(super) fn head_with_servers(&mut self, servers: &Servers) -> Result<(), JournalError> {
        let any_mode = Policy { mode: Mode::Default, ..Policy::clone(&self.executor.policy()) };
        let generation = self.asking.loaded.settings.agent.generation;
        let declared = servers.declared(&self.own_tools);
        self.heads.gathered.registry = prompt::available(&declared, generation, &any_mode);
        let now = self.heads.under(&self.executor.policy());
        self.new_head(now)
    }

    fn new_head(&mut self, head: Prompt) -> Result<(), JournalError> {
        self.write(Record::Prompt(head.clone()))?;
        self.input(Input::SetHead(head.system, head.tools))
    }
}

/// The head of the machine's requests.
pub(super) fn head(model: &str, written: Prompt) -> Head {
    let Prompt { system, tools, .. } = written;
    Head { model: model.to_owned(), system, tools, ..Head::default() }
}

/// What is known of the model that is asked first.
fn profile(asking: &Asking, model: &str, gathered: &Gathered) -> ModelProfile {
    // As the first request will be, as far as that is known: routing looks at whether there are tools.
    let tools = gathered.registry.shown("native", &gathered.limits).map(|(_, declared)| declared).collect();
    let request = Request { model: model.to_owned(), tools, stream: true, ..Request::default() };
    let plan = asking.plan(&request);
    plan.attempts.first().map(|attempt| ModelProfile::clone(&attempt.profile)).unwrap_or_default()
}

fn has_all(tools: &[ToolDecl], wanted: &[ToolDecl]) -> bool {
    wanted.iter().all(|wanted| tools.iter().any(|tool| tool.name == wanted.name))
}
