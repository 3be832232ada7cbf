use std::path::PathBuf;

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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KnownProvider {
    /// The id of its protocol.
    pub(crate) protocol: &'static str,
    /// Its address.
    pub(crate) base_url: &'static str,
    /// The variable that usually holds its key.
    pub(crate) key_env: Option<&'static str>,
}

/// The provider that is known by this name.
pub(crate) fn known(_name: &str) -> Option<KnownProvider> {
    None
}
