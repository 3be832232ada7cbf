//! What a client is aimed at: the model it asks for, and what is known of whoever will answer.

use anyhow::anyhow;
use rail_config::Loaded;
use rail_model::{Extras, ProtocolId, Request, ToolDecl, ToolKind};
use rail_route::{Attempt, Client, Facts, Health, PlanInput, Target, Thinks, facts, plan};
use rail_upstream::cassette_protocol;

use crate::Failure;
use crate::clock::Now;
use crate::provider::NONE;

/// The name that clients ask for when the user names no model. It is no model's name, so that each request is classified.
pub(crate) const ANY: &str = "switchrail";

/// What is known of the models that will answer a client.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Aim {
    /// The model that the user asked for.
    pub(crate) asked: Option<String>,
    /// The largest window among those that may answer: longer requests go to them.
    pub(crate) window: Option<u64>,
    /// The most output of whoever answers first.
    pub(crate) output: Option<u64>,
    /// Whether images find someone who sees them.
    pub(crate) vision: bool,
    /// How whoever answers first is told to think.
    pub(crate) thinking: Thinks,
    /// The protocol of whoever answers first.
    pub(crate) protocol: ProtocolId,
    /// Who answers first.
    pub(crate) first: Target,
}

impl Aim {
    /// What the configuration says of the model asked for, or of what coding requests get; nobody to answer is an error.
    pub(crate) fn find(loaded: &Loaded, asked: Option<&str>) -> Result<Self, Failure> {
        let request = Request {
            model: asked.unwrap_or(ANY).to_owned(),
            tools: vec![edit_tool()],
            ..Request::default()
        };
        let plain = facts(&request, &Client::default(), 1);
        let long = Facts {
            tokens: loaded.routing.options.long_context_threshold.saturating_add(1),
            ..plain.clone()
        };
        let seeing = Facts { images: 1, last_images: 1, ..plain.clone() };
        let attempts = |facts: &Facts<'_>| {
            let (routing, health, now) = (&*loaded.routing, Health::default(), Now::read().instant);
            plan(&PlanInput { routing, facts, health: &health, session: None, now }).attempts
        };
        let (usual, long, seeing) = (attempts(&plain), attempts(&long), attempts(&seeing));
        let Some(first) = usual.first() else { return Err(nobody(loaded, asked)) };
        let windows = usual.iter().chain(&long).filter_map(|attempt| attempt.profile.window);
        Ok(Self {
            asked: asked.map(str::to_owned),
            window: windows.max(),
            output: first.profile.max_output,
            vision: seeing.iter().any(|attempt: &Attempt| attempt.profile.vision),
            thinking: first.profile.thinking,
            protocol: spoken(first)?,
            first: first.target.clone(),
        })
    }

    /// The name that the client asks for.
    pub(crate) fn model(&self) -> &str {
        self.asked.as_deref().unwrap_or(ANY)
    }
}

/// The protocol that a target is spoken to in: a cassette says its own.
fn spoken(attempt: &Attempt) -> Result<ProtocolId, Failure> {
    match &attempt.provider.cassette {
        Some(path) => cassette_protocol(path).map_err(|error| Failure::Usage(error.into())),
        None => Ok(attempt.provider.protocol),
    }
}

/// What makes a request one of a coding agent.
fn edit_tool() -> ToolDecl {
    ToolDecl {
        name: "edit".to_owned(),
        description: None,
        kind: ToolKind::Function { parameters: None },
        strict: None,
        cache: None,
        extras: Extras::NONE,
    }
}

fn nobody(loaded: &Loaded, asked: Option<&str>) -> Failure {
    let what = match asked {
        _ if loaded.routing.providers.is_empty() => NONE.to_owned(),
        Some(name) => format!(
            "nobody can answer for `{name}`; `rail route explain --model '{name}'` says why, `rail provider list` what there is"
        ),
        None => "nobody can answer; `rail config check` says what is missing".to_owned(),
    };
    Failure::Usage(anyhow!(what))
}
