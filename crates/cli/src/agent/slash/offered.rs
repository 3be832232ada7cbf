//! Which commands there are without a terminal interface.

use rail_agent::commands::Builtin;

use crate::agent::open::Prepared;

/// A command that can be typed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Offered {
    pub(crate) name: String,
    /// What may be typed behind the name.
    pub(crate) hint: String,
    /// What it does, in a line.
    pub(crate) help: String,
}

/// The commands that do something without a terminal interface.
pub(crate) fn offered(prepared: &Prepared) -> Vec<Offered> {
    listed(prepared, works)
}

/// All commands there are.
pub(crate) fn offered_at_a_terminal(prepared: &Prepared) -> Vec<Offered> {
    listed(prepared, |_| true)
}

fn listed(prepared: &Prepared, works: fn(Builtin) -> bool) -> Vec<Offered> {
    let builtin = Builtin::ALL.iter().filter(|builtin| works(**builtin)).map(|builtin| Offered {
        name: builtin.name().to_owned(),
        hint: builtin.hint().to_owned(),
        help: builtin.help().to_owned(),
    });
    let custom = prepared.brought.commands.custom().iter().map(|custom| Offered {
        name: custom.name.clone(),
        hint: custom.argument_hint.clone().unwrap_or_default(),
        help: custom.description.clone(),
    });
    builtin.chain(custom).collect()
}

/// Whether a command does something without a terminal interface.
fn works(builtin: Builtin) -> bool {
    match builtin {
        Builtin::Resume | Builtin::Theme | Builtin::Quit => false,
        Builtin::Help
        | Builtin::Agents
        | Builtin::Skills
        | Builtin::Model
        | Builtin::Init
        | Builtin::Route
        | Builtin::Provider
        | Builtin::Generation
        | Builtin::Permissions
        | Builtin::Memory
        | Builtin::Mcp
        | Builtin::Hooks
        | Builtin::Todo
        | Builtin::Plan
        | Builtin::Compact
        | Builtin::Rewind
        | Builtin::Undo
        | Builtin::Redo
        | Builtin::Diff
        | Builtin::Usage
        | Builtin::Sessions
        | Builtin::Fork
        | Builtin::Export
        | Builtin::Config
        | Builtin::Doctor => true,
    }
}
