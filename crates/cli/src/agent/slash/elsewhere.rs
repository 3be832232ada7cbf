//! Commands that are commands of `rail` as well: they say the same.

use anyhow::anyhow;
use rail_model::{Message, Part, Request, Role};

use super::Ground;
use super::session::view;
use crate::Failure;
use crate::setup::Common;
use crate::{doctor, provider, route, tool};

/// Which model would answer this prompt, behind what was said so far.
pub(super) fn route(prompt: &str, ground: &Ground) -> Result<String, Failure> {
    let prepared = &ground.prepared;
    let mut request = Request { stream: true, model: prepared.model.clone(), ..Request::default() };
    if let Some(live) = &ground.live {
        request.model.clone_from(&live.model);
    }
    if ground.session().is_ok() {
        request.messages = view(ground)?.window.messages().to_vec();
    }
    if !prompt.is_empty() {
        request.messages.push(Message::new(Role::User, vec![Part::text(prompt)]));
    }
    request.tools = prepared.declared_tools();
    Ok(route::explained(&prepared.loaded, &request))
}

/// The providers with their health, or another one in front.
pub(super) fn provider(name: &str, ground: &Ground) -> Result<String, Failure> {
    let prepared = &ground.prepared;
    if name.is_empty() {
        return Ok(provider::listed(&prepared.loaded, &prepared.env));
    }
    let said = provider::put_first(name, &common(ground))?;
    let open =
        ground.live.is_some().then_some("This session goes on as it began; the next one takes it up.\n");
    Ok(said + open.unwrap_or_default())
}

/// The tools of the generation in force, or of this one.
pub(super) fn generation(word: &str, ground: &Ground) -> Result<String, Failure> {
    let own = ground.prepared.loaded.settings.agent.generation;
    let generation = match word {
        "" => own,
        word => tool::words::generation(word).map_err(|why| Failure::Usage(anyhow!("/generation: {why}")))?,
    };
    let shown = tool::listed(generation, ground.prepared.sight(&ground.prepared.model));
    let own = tool::words::word(own);
    Ok(format!("{shown}{own} is in force; `--generation genN` begins with another\n"))
}

/// What works here and what does not. Problems are what was asked for, and no failure.
pub(super) fn doctor(ground: &Ground) -> Result<String, Failure> {
    doctor::report(&common(ground))
}

fn common(ground: &Ground) -> Common {
    Common { config: ground.prepared.config.clone(), model: None }
}
