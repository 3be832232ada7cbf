mod pattern;
mod table;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use rail_model::ProtocolId;

use crate::{ModelProfile, ProfilePatch, Provider};
use pattern::{Pattern, last_segment, plain};
use table::TABLE;

/// Names that are kept at most, so that clients who make names up do not fill the memory.
const KEPT: usize = 1024;

/// What is known of all models: the table that comes with the program, and what the user knows better.
///
/// A profile is made up once and then kept: a repeated question costs one look into a hash map.
#[derive(Default)]
pub struct Profiles {
    patches: Vec<(Pattern, ProfilePatch)>,
    kept: RwLock<HashMap<String, Vec<Kept>>>,
}

/// A profile, and all that it depends on besides the name of the model.
struct Kept {
    protocol: ProtocolId,
    base_url: String,
    patch: Option<ProfilePatch>,
    profile: Arc<ModelProfile>,
}

impl Profiles {
    /// Only what comes with the program.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// With what the user says, by pattern; later patches win over earlier ones.
    ///
    /// `*` stands for any characters and `?` for one. A pattern must match the whole name or what stands behind its last `/`; case does
    /// not count, and `_`, `:` and `@` count as `-`.
    pub fn with(patches: Vec<(String, ProfilePatch)>) -> Self {
        let patches = patches.into_iter().map(|(pattern, patch)| (Pattern::new(&pattern), patch)).collect();
        Self { patches, ..Self::default() }
    }

    /// What is known of a model at a provider, later ones winning: the protocol and the server, the table's rows from general to
    /// exact, the user's patches, and the provider's own word on this model.
    pub fn of(&self, provider: &Provider, model: &str) -> Arc<ModelProfile> {
        let patch = provider.models.get(model);
        let is_same = |kept: &&Kept| {
            kept.protocol == provider.protocol
                && kept.base_url == provider.base_url
                && kept.patch.as_ref() == patch
        };
        // A thread that stopped while it held the lock left whole profiles: each is put in at once.
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.get(model).and_then(|all| all.iter().find(is_same)) {
            return Arc::clone(&found.profile);
        }
        drop(kept);
        let profile = Arc::new(self.resolve(provider, model));
        let made = Kept {
            protocol: provider.protocol,
            base_url: provider.base_url.clone(),
            patch: patch.cloned(),
            profile: Arc::clone(&profile),
        };
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.clear();
        }
        let all = kept.entry(model.to_owned()).or_default();
        if all.len() >= KEPT {
            all.clear();
        }
        all.push(made);
        profile
    }

    fn resolve(&self, provider: &Provider, model: &str) -> ModelProfile {
        let mut profile = TABLE.profile(provider, model);
        let name = plain(model);
        let segment = last_segment(&name);
        for (pattern, patch) in &self.patches {
            if pattern.matches(&name) || pattern.matches(segment) {
                profile.apply(patch);
            }
        }
        if let Some(patch) = provider.models.get(model) {
            profile.apply(patch);
        }
        profile
    }
}

/// Whether a provider runs on the user's own machines.
pub(crate) fn is_local(provider: &Provider) -> bool {
    TABLE.is_local(provider)
}

impl Clone for Profiles {
    fn clone(&self) -> Self {
        Self { patches: self.patches.clone(), ..Self::default() }
    }
}

/// What is kept of earlier questions changes no answer.
impl PartialEq for Profiles {
    fn eq(&self, other: &Self) -> bool {
        self.patches == other.patches
    }
}

impl std::fmt::Debug for Profiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Profiles").field("patches", &self.patches).finish_non_exhaustive()
    }
}
