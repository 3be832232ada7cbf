use crate::{Loaded, Problem};

impl Loaded {
    /// The warnings that bear on what a request becomes, and that nothing else shows: files that do not count or can't be
    /// read, a choice that leads nowhere. Targets that can't be used say so themselves, and `rail config check` tells all.
    pub fn notable_warnings(&self) -> impl Iterator<Item = &Problem> {
        let hijack = &self.extras.hijack;
        // Who does not use the environment form may have variables that look like it.
        let is_idle = |warning: &Problem| !hijack.enabled && hijack.notes.contains(&warning.text);
        self.warnings
            .iter()
            .filter(|warning| warning.key.is_empty() || warning.origin.layer().is_project())
            .filter(move |warning| !is_idle(warning))
    }
}
