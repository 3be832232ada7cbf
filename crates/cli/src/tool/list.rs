//! `rail tool list`.

use clap::Args;
use rail_model::ToolKind;
use rail_tool::{Generation, Level, Limits, Registry};
use rail_tools::Sight;
use serde_json::{Value, json};

use super::words::{Dialect, generation, word};
use crate::setup::Common;
use crate::table::{Side, lines};
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct List {
    /// Only what a session of this generation has.
    #[arg(long, value_name = "genN", value_parser = generation, default_value = "gen8")]
    generation: Generation,
    /// The names that a model is shown.
    #[arg(long, value_name = "D", default_value = "native")]
    dialect: Dialect,
    /// Print JSON, with what a model is told of each.
    #[arg(long)]
    json: bool,
}

impl List {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        // What is wrong with a configuration is told elsewhere: the tools are there without one.
        let inputs = common.inputs()?;
        let loaded = rail_config::check(&inputs).loaded;
        let mut registry = rail_tools::registry().up_to(self.generation);
        if let Some(loaded) = &loaded {
            let model = common.model.as_deref().unwrap_or_default();
            registry = rail_tools::seeing(&registry, rail_agent::sight(loaded, &inputs.env, model));
        }
        let limits = loaded.map_or_else(Limits::default, |loaded| Limits::from(&loaded.settings.tools));
        if self.json {
            return output::print_json(&listing(&registry, self.dialect.name(), &limits));
        }
        output::print(&table(&registry, self.dialect.name(), &limits))
    }
}

/// The tools of a generation, for people.
pub(crate) fn listed(generation: Generation, sight: Sight) -> String {
    let registry = rail_tools::seeing(&rail_tools::registry().up_to(generation), sight);
    table(&registry, Dialect::Native.name(), &Limits::default())
}

fn table(registry: &Registry, dialect: &str, limits: &Limits) -> String {
    let mut rows =
        vec![["NAME", "SHOWN AS", "TITLE", "SINCE", "NEEDS", "WHAT IT DOES"].map(str::to_owned).to_vec()];
    for (tool, declared) in registry.shown(dialect, limits) {
        let card = tool.card();
        let since = word(card.generation);
        let cells = [card.name, &declared.name, card.title, &since, level_word(card.level), card.summary];
        rows.push(cells.map(str::to_owned).to_vec());
    }
    lines(&[Side::Left; 6], &rows)
}

fn listing(registry: &Registry, dialect: &str, limits: &Limits) -> Value {
    let tools = registry.shown(dialect, limits).map(|(tool, declared)| {
        let card = tool.card();
        let parameters = match declared.kind {
            ToolKind::Function { parameters } => parameters.map(|parameters| parameters.value()),
            ToolKind::Custom { .. } | ToolKind::Server(_) => None,
        };
        json!({
            "name": card.name,
            "shown_as": declared.name,
            "title": card.title,
            "generation": word(card.generation),
            "level": level_word(card.level),
            "summary": card.summary,
            "description": declared.description,
            "parameters": parameters,
        })
    });
    tools.collect()
}

fn level_word(level: Level) -> &'static str {
    match level {
        Level::None => "nothing",
        Level::Read => "read",
        Level::Write => "write",
        Level::Execute => "execute",
        Level::Network => "network",
    }
}
