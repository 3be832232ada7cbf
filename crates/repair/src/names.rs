use crate::{Catalog, Effect, Step, Tool};

/// What a spelled name turned out to mean.
#[derive(Clone, PartialEq, Debug)]
pub enum Found<'a> {
    /// A declared tool; the step says how the spelling differed, if it did.
    Tool(&'a Tool, Option<Step>),
    /// Nothing, or more than one thing: the declared names that come close, the closest first.
    Unknown(Vec<String>),
}

/// Finds the tool that is meant by a spelled name.
pub(crate) fn find<'a>(catalog: &'a Catalog, spelled: &str) -> Found<'a> {
    match catalog.get(spelled) {
        Some(tool) => Found::Tool(tool, None),
        None => Found::Unknown(Vec::new()),
    }
}

/// What a tool of this name can do, as far as its name tells.
pub(crate) fn effect(_name: &str) -> Effect {
    Effect::Reads
}
