use std::collections::BTreeMap;

use rail_model::{ToolDecl, ToolKind};
use serde_json::Value;

use crate::names::{self, Found};

/// The tools that an answer may call, ready to be looked up by any spelling.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tools: Vec<Tool>,
    by_name: BTreeMap<String, usize>,
}

/// One declared tool.
#[derive(Clone, PartialEq, Debug)]
pub struct Tool {
    /// Its declared name.
    pub name: String,
    /// The JSON Schema of its arguments; None when it was declared without one, or takes free text.
    pub schema: Option<Value>,
    /// It takes free text, which is never repaired.
    pub free_text: bool,
    /// What a wrong call of it could do.
    pub effect: Effect,
}

/// What a call can do to the world: how careful repair must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It only looks, or nothing says otherwise.
    Reads,
    /// It writes or executes: a cut or doubtful call of it is never completed.
    Acts,
}

impl Catalog {
    /// The declared tools; those that the provider runs itself are none of ours.
    pub fn new(declared: &[ToolDecl]) -> Self {
        let mut catalog = Self::default();
        for tool in declared {
            let (schema, free_text) = match &tool.kind {
                ToolKind::Function { parameters } => {
                    (parameters.as_ref().map(rail_model::Json::value), false)
                }
                ToolKind::Custom { .. } => (None, true),
                ToolKind::Server(_) => continue,
            };
            let effect = names::effect(&tool.name);
            catalog.add(Tool { name: tool.name.clone(), schema, free_text, effect });
        }
        catalog
    }

    /// Adds a tool; a second one of the same name replaces the first.
    pub fn add(&mut self, tool: Tool) {
        match self.by_name.get(&tool.name).and_then(|at| self.tools.get_mut(*at)) {
            Some(known) => *known = tool,
            None => {
                self.by_name.insert(tool.name.clone(), self.tools.len());
                self.tools.push(tool);
            }
        }
    }

    /// All tools, in the order they were declared.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// The tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).and_then(|at| self.tools.get(*at))
    }

    /// The tool that is meant by a name as a model spelled it.
    pub fn find(&self, spelled: &str) -> Found<'_> {
        names::find(self, spelled)
    }
}
