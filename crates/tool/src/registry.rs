use std::sync::Arc;

use rail_config::settings::Generation;
use rail_model::{CallId, CallKind, Json, ToolCall, ToolDecl, ToolKind};
use rail_repair::{CallFault, Catalog, End, Mapping, settle};
use serde_json::Value;

use crate::schema::{take_meanings, take_zeros};
use crate::words::in_force;
use crate::{AnyTool, Card, Dialect, Limits, Shown, Spoken};

/// The tools of a session, in the order in which they are declared.
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn AnyTool>>,
}

impl Registry {
    /// These tools.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn AnyTool>>) -> Self {
        Self { tools: tools.into_iter().collect() }
    }

    /// Those of them that a session of this generation has, all earlier ones included.
    #[must_use]
    pub fn up_to(&self, generation: Generation) -> Self {
        self.only(|card| card.generation <= generation)
    }

    /// Those of them whose card this wants.
    #[must_use]
    pub fn only(&self, wants: impl Fn(&Card<'_>) -> bool) -> Self {
        Self::new(self.tools.iter().filter(|tool| wants(&tool.card())).cloned())
    }

    /// All of them, in order.
    pub fn tools(&self) -> &[Arc<dyn AnyTool>] {
        &self.tools
    }

    /// The tool of this native name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn AnyTool>> {
        self.tools.iter().find(|tool| tool.card().name == name)
    }

    /// The tools that a dialect shows, each with what a model is told of it there: in the dialect's names, and with the limits
    /// in force.
    pub fn shown<'a>(
        &'a self,
        dialect: &'a str,
        limits: &'a Limits,
    ) -> impl Iterator<Item = (&'a dyn AnyTool, ToolDecl)> {
        let spoken = self.spoken(dialect);
        self.in_dialect(dialect).map(move |tool| (tool, spoken.declared(in_force(declared(tool), limits))))
    }

    /// A text in which every tool that stands between backticks is called as a dialect does.
    pub fn say(&self, dialect: &str, text: &str) -> String {
        self.spoken(dialect).text(text)
    }

    /// How a dialect speaks of these tools.
    pub fn spoken(&self, dialect: &str) -> Spoken {
        Spoken::of(self, Dialect::named(dialect))
    }

    /// The tools that a dialect shows.
    pub fn in_dialect(&self, dialect: &str) -> impl Iterator<Item = &dyn AnyTool> {
        let shown = move |tool: &&dyn AnyTool| match tool.card().shown {
            Shown::Whole | Shown::Brief => true,
            Shown::InDialect(only) => only == dialect,
        };
        self.tools.iter().map(|tool| &**tool).filter(shown)
    }

    /// The tools to be looked up by any spelling of any dialect.
    pub fn catalog(&self) -> Catalog {
        let declared: Vec<ToolDecl> = self.tools.iter().map(|tool| tool.declare()).collect();
        Mapping::names()
            .filter_map(Mapping::builtin)
            .fold(Catalog::new(&declared), |catalog, mapping| catalog.with(mapping))
    }

    /// The tool and the arguments that a name and an input mean, mended where they can be.
    ///
    /// # Errors
    /// Why no call comes of it.
    pub fn read_call(&self, name: &str, input: &str) -> Result<(&Arc<dyn AnyTool>, Value), CallFault> {
        let call = ToolCall {
            id: CallId::Minted(String::new()),
            name: name.to_owned(),
            arguments: input.to_owned(),
            kind: CallKind::Function,
        };
        let settled = settle(&call, &self.catalog(), End::Closed)?;
        let unknown = || CallFault::Unknown { name: name.to_owned(), closest: Vec::new() };
        Ok((self.get(&settled.call.name).ok_or_else(unknown)?, settled.arguments))
    }
}

/// A tool as it is declared: one that is shown in short leaves out what can wait until it is used.
fn declared(tool: &dyn AnyTool) -> ToolDecl {
    let mut declared = tool.declare();
    if let ToolKind::Function { parameters: Some(schema) } = &mut declared.kind {
        let mut value = schema.value();
        take_zeros(&mut value);
        if tool.card().shown == Shown::Brief {
            take_meanings(&mut value);
        }
        *schema = Json::from(value);
    }
    declared
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.tools.iter().map(|tool| tool.card().name)).finish()
    }
}
