//! What clients are told of the tools.

use std::borrow::Cow;
use std::sync::Arc;

use rail_config::settings::Generation;
use rail_model::{ToolDecl, ToolKind};
use rail_permit::{Level, Policy};
use rail_tool::{AnyTool, Card, Lane, Registry};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::Offer;

/// Tools that make no sense without the agent: they need a person in front of the session, its modes, or other agents.
const LEFT_OUT: &[&str] = &[
    "agent_message",
    "ask_user_question",
    "exit_plan_mode",
    "plan_mode",
    "spawn_agent",
    "task",
    "workflow_orchestrate",
];

pub(super) fn offered(registry: &Registry, generation: Generation, policy: &Policy) -> Registry {
    let wanted = |card: &Card<'_>| !LEFT_OUT.contains(&card.name) && !policy.bars(card.name, card.level);
    registry.up_to(generation).only(wanted)
}

/// The tools as clients see them.
pub(super) fn listed(offer: &Offer) -> Vec<Tool> {
    let Offer { registry, dialect, limits, .. } = offer;
    let spoken = registry.spoken(dialect.name());
    let tools = registry.shown(dialect.name(), limits).map(|(tool, shown)| {
        let card = tool.card();
        // A client has no way to be told more of a tool when it is first used, so that it is told everything at once.
        let whole = ToolDecl { description: Some(limits.told(card.prompt)), ..tool.declare() };
        let description = spoken.declared(whole).description.unwrap_or_default();
        Tool::new_with_raw(shown.name.clone(), Some(Cow::Owned(description)), Arc::new(schema(&shown, tool)))
            .with_title(card.title)
            .with_annotations(hints(&card))
    });
    tools.collect()
}

/// The schema of a tool's arguments, which must be of an object.
fn schema(shown: &ToolDecl, tool: &dyn AnyTool) -> Map<String, Value> {
    let value = match &shown.kind {
        ToolKind::Function { parameters: Some(parameters) } => parameters.value(),
        ToolKind::Function { parameters: None } | ToolKind::Custom { .. } | ToolKind::Server(_) => {
            tool.schema()
        }
    };
    match value {
        Value::Object(mut schema) => {
            schema.entry("type").or_insert_with(|| json!("object"));
            schema
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::from_iter([("type".to_owned(), json!("object"))])
        }
    }
}

/// What a client may want to know before it lets a call through; it is the policy here that decides.
fn hints(card: &Card<'_>) -> ToolAnnotations {
    let (reads, destroys, world) = match card.level {
        Level::None => (card.lane == Lane::Shared, false, false),
        Level::Read => (true, false, false),
        Level::Write => (false, true, false),
        Level::Execute => (false, true, true),
        Level::Network => (card.lane == Lane::Shared, false, true),
    };
    ToolAnnotations::with_title(card.title).read_only(reads).destructive(destroys).open_world(world)
}
