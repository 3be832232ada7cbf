use rail_model::Map;

use crate::{Repair, Tool};

/// Renames parameters that the tool does not declare to ones that it does; `spelled` is the tool's name as the model wrote it.
pub(crate) fn rename(_arguments: &mut Map, _tool: &Tool, _spelled: &str, _repairs: &mut Vec<Repair>) {}
