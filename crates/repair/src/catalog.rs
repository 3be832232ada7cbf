use std::collections::BTreeMap;

use rail_model::{ToolDecl, ToolKind};
use serde_json::Value;

use crate::names::{self, Found};
use crate::renames::Renames;
use crate::words::{squash, stem};
use crate::{Mapping, known};

/// The tools that an answer may call, ready to be looked up by any spelling.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tools: Vec<Tool>,
    by_name: BTreeMap<String, usize>,
    /// By the squashed name.
    by_spelling: BTreeMap<String, Vec<usize>>,
    /// By the squashed name without `_tool` at its end.
    by_stem: BTreeMap<String, Vec<usize>>,
    by_group: BTreeMap<&'static str, Vec<usize>>,
    /// What squashed names mean by the mappings in force.
    mapped: BTreeMap<String, String>,
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
    /// What parameter names mean by the mappings in force; the names are squashed.
    pub(crate) renames: Renames,
}

/// What a call can do to the world: how careful repair must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It only looks, or nothing says otherwise.
    Reads,
    /// It writes or executes: a cut or doubtful call of it is never completed.
    Acts,
}

impl Tool {
    /// A tool that takes JSON; what it can do is told from its name.
    pub fn new(name: impl Into<String>, schema: Option<Value>) -> Self {
        let name = name.into();
        let effect = names::effect(&name);
        Self { name, schema, free_text: false, effect, renames: Renames::default() }
    }
}

impl Catalog {
    /// The declared tools; those that the provider runs itself are none of ours.
    pub fn new(declared: &[ToolDecl]) -> Self {
        let mut catalog = Self::default();
        for tool in declared {
            match &tool.kind {
                ToolKind::Function { parameters } => {
                    let schema = parameters.as_ref().map(rail_model::Json::value);
                    catalog.add(Tool::new(&tool.name, schema));
                }
                ToolKind::Custom { .. } => {
                    catalog.add(Tool { free_text: true, ..Tool::new(&tool.name, None) });
                }
                ToolKind::Server(_) => {}
            }
        }
        catalog
    }

    /// Adds a tool; a second one of the same name replaces the first.
    pub fn add(&mut self, tool: Tool) {
        if let Some(known) = self.by_name.get(&tool.name).and_then(|at| self.tools.get_mut(*at)) {
            *known = tool;
            return;
        }
        let at = self.tools.len();
        self.by_name.insert(tool.name.clone(), at);
        self.by_spelling.entry(squash(&tool.name)).or_default().push(at);
        self.by_stem.entry(stem(&tool.name)).or_default().push(at);
        if let Some(group) = known::group(&tool.name) {
            self.by_group.entry(group).or_default().push(at);
        }
        self.tools.push(tool);
    }

    /// Puts a mapping in force for the tools declared so far: a provider's, then the user's. Where two disagree the later one wins.
    #[must_use]
    pub fn with(mut self, mapping: &Mapping) -> Self {
        for entry in &mapping.tools {
            let names: Vec<String> = known::names_of(entry).map(squash).collect();
            for tool in &mut self.tools {
                let is_meant = tool.name == entry.native
                    || known::group(&tool.name) == Some(entry.native.as_str())
                    || names.contains(&squash(&tool.name));
                if is_meant {
                    for (place, theirs, home) in entry.understood.iter() {
                        tool.renames.insert(place, squash(theirs), home);
                    }
                }
            }
            self.mapped.extend(names.into_iter().map(|name| (name, entry.native.clone())));
        }
        self
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

    /// The tools whose names differ from this one only in spelling.
    pub(crate) fn spelled_like(&self, name: &str) -> Vec<&Tool> {
        let squashed = squash(name);
        if squashed.is_empty() {
            return Vec::new();
        }
        self.all(self.by_spelling.get(&squashed).or_else(|| self.by_stem.get(&stem(name))))
    }

    /// The tools that this name is another word for.
    pub(crate) fn called_also(&self, name: &str) -> Vec<&Tool> {
        let mapped = self.mapped.get(&squash(name)).or_else(|| self.mapped.get(&stem(name)));
        match mapped {
            Some(native) => match self.get(native) {
                Some(tool) => vec![tool],
                None => self.all(self.by_group.get(known::group(native).unwrap_or(native))),
            },
            None => self.all(known::group(name).and_then(|group| self.by_group.get(group))),
        }
    }

    fn all(&self, places: Option<&Vec<usize>>) -> Vec<&Tool> {
        places.into_iter().flatten().filter_map(|at| self.tools.get(*at)).collect()
    }
}
