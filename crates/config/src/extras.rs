use std::path::PathBuf;

use rail_model::ProtocolId;
use rail_route::{Alias, Provider};

use crate::{Env, Places, Problem, Trusted};

/// Providers and aliases from elsewhere than our own files. All of them are weaker than what our files say.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Extras {
    /// Providers; one of the same name in `[providers]` replaces it.
    pub providers: Vec<Provider>,
    /// Aliases; one of the same name in `[aliases]` replaces it.
    pub aliases: Vec<Alias>,
    /// The provider to put in front, unless `active.json` names one.
    pub active: Option<String>,
    /// What is wrong with where they come from.
    pub warnings: Vec<Problem>,
    /// The files that they come from, whether they are there or not.
    pub files: Vec<PathBuf>,
}

/// Looks for providers and aliases in the environment and in the files of others.
pub(crate) fn look(_env: &Env, _places: Option<&Places>, _trusted: Trusted) -> Extras {
    Extras::default()
}

/// What is known of a provider by its name alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct KnownProvider {
    /// The protocol it speaks.
    pub(crate) protocol: ProtocolId,
    /// Its address.
    pub(crate) base_url: String,
    /// The variables that its key is usually in, the first that is set counts; none for servers that want none.
    pub(crate) keys: Vec<String>,
}

/// The provider that is known by this name.
pub(crate) fn known(_name: &str) -> Option<KnownProvider> {
    None
}
