use std::collections::BTreeMap;
use std::sync::OnceLock;

use rail_model::{Json, ToolDecl, ToolKind};
use serde_json::Value;

use crate::names::{self, Found};
use crate::renames::Renames;
use crate::words::{squash, stem};
use crate::{Mapping, known};

/// The tools that an answer may call, to be looked up by any spelling.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    declared: Vec<Declared>,
    /// Made when somebody first looks into it: most answers call nothing, and a client declares many tools.
    index: OnceLock<Index>,
}

/// What an index is made of.
#[derive(Clone, Debug)]
struct Declared {
    name: String,
    parameters: Option<Json>,
    free_text: bool,
}

#[derive(Clone, Debug, Default)]
struct Index {
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
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its declared name.
    pub name: String,
    /// The schema as it was declared; it is read when somebody first looks into it.
    parameters: Option<Json>,
    schema: OnceLock<Value>,
    /// It takes free text, which is never repaired.
    pub free_text: bool,
    /// What a wrong call of it could do.
    pub effect: Effect,
    /// What parameter names mean by the mappings in force; the names are squashed.
    pub(crate) renames: Renames,
}

impl PartialEq for Tool {
    fn eq(&self, other: &Self) -> bool {
        let said = |tool: &Self| (tool.free_text, tool.effect);
        (&self.name, self.schema(), &self.renames) == (&other.name, other.schema(), &other.renames)
            && said(self) == said(other)
    }
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
        let schema = schema.map_or_else(OnceLock::new, OnceLock::from);
        Self { schema, ..Self::declared(name.into(), None) }
    }

    fn declared(name: String, parameters: Option<Json>) -> Self {
        let (effect, renames) = (names::effect(&name), Renames::default());
        Self { name, parameters, schema: OnceLock::new(), free_text: false, effect, renames }
    }

    /// The JSON Schema of its arguments; None when it was declared without one, or takes free text.
    pub fn schema(&self) -> Option<&Value> {
        match &self.parameters {
            Some(json) => Some(self.schema.get_or_init(|| json.value())),
            None => self.schema.get(),
        }
    }
}

impl Catalog {
    /// The declared tools; those that the provider runs itself are none of ours.
    pub fn new(declared: &[ToolDecl]) -> Self {
        let declared = declared.iter().filter_map(|tool| {
            let (parameters, free_text) = match &tool.kind {
                ToolKind::Function { parameters } => (parameters.clone(), false),
                ToolKind::Custom { .. } => (None, true),
                ToolKind::Server(_) => return None,
            };
            Some(Declared { name: tool.name.clone(), parameters, free_text })
        });
        Self { declared: declared.collect(), index: OnceLock::new() }
    }

    /// Adds a tool; a second one of the same name replaces the first.
    pub fn add(&mut self, tool: Tool) {
        self.change(|index| index.add(tool));
    }

    /// Puts a mapping in force for the tools declared so far: a provider's, then the user's. Where two disagree the later one wins.
    #[must_use]
    pub fn with(mut self, mapping: &Mapping) -> Self {
        self.change(|index| index.put_in_force(mapping));
        self
    }

    /// Whether no tool was declared.
    pub fn is_empty(&self) -> bool {
        self.declared.is_empty() && self.index.get().is_none_or(|index| index.tools.is_empty())
    }

    /// All tools, in the order they were declared.
    pub fn tools(&self) -> &[Tool] {
        &self.index().tools
    }

    /// The tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.index().get(name)
    }

    /// The tool that is meant by a name as a model spelled it.
    pub fn find(&self, spelled: &str) -> Found<'_> {
        names::find(self, spelled)
    }

    /// The tool that is meant by a name, if one is; cheaper than [`find`](Self::find), which looks for names that come close.
    pub(crate) fn meant(&self, spelled: &str) -> Option<&Tool> {
        match names::meant(self, spelled) {
            Ok(Found::Tool(tool, _)) => Some(tool),
            Ok(Found::Unknown(_)) | Err(_) => None,
        }
    }

    /// The tools whose names differ from this one only in spelling.
    pub(crate) fn spelled_like(&self, name: &str) -> Vec<&Tool> {
        self.index().spelled_like(name)
    }

    /// The tools that this name is another word for.
    pub(crate) fn called_also(&self, name: &str) -> Vec<&Tool> {
        self.index().called_also(name)
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(&self.declared))
    }

    fn change(&mut self, change: impl FnOnce(&mut Index)) {
        let mut index = self.index.take().unwrap_or_else(|| Index::of(&self.declared));
        change(&mut index);
        self.index = OnceLock::from(index);
    }
}

impl Index {
    fn of(declared: &[Declared]) -> Self {
        let mut index = Self::default();
        for Declared { name, parameters, free_text } in declared {
            let tool = Tool::declared(name.clone(), parameters.clone());
            index.add(Tool { free_text: *free_text, ..tool });
        }
        index
    }

    fn add(&mut self, tool: Tool) {
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

    fn put_in_force(&mut self, mapping: &Mapping) {
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
    }

    fn get(&self, name: &str) -> Option<&Tool> {
        self.by_name.get(name).and_then(|at| self.tools.get(*at))
    }

    fn spelled_like(&self, name: &str) -> Vec<&Tool> {
        let squashed = squash(name);
        if squashed.is_empty() {
            return Vec::new();
        }
        self.all(self.by_spelling.get(&squashed).or_else(|| self.by_stem.get(&stem(name))))
    }

    fn called_also(&self, name: &str) -> Vec<&Tool> {
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
