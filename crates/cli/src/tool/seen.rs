//! What earlier runs have read.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use rail_config::Loaded;
use rail_stdx::{Access, replace};
use rail_tool::Stamps;

/// Where the runs in one folder keep which files they have read, so that `read_file` and then `edit_file` is possible.
pub(super) struct Seen {
    path: Option<PathBuf>,
}

impl Seen {
    pub(super) fn of(loaded: &Loaded, workspace: &Path) -> Self {
        let mut hasher = DefaultHasher::new();
        workspace.hash(&mut hasher);
        let name = format!("{:016x}.json", hasher.finish());
        Self { path: loaded.places.as_ref().map(|places| places.state.join("tool-runs").join(name)) }
    }

    /// What was read; what can't be read counts as nothing read.
    pub(super) fn load(&self) -> Stamps {
        let text = self.path.as_ref().and_then(|path| std::fs::read(path).ok());
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// Keeps what was read. Where that is not possible the next run has read nothing, which harms nobody.
    pub(super) fn keep(&self, stamps: &Stamps) {
        if let (Some(path), Ok(text)) = (&self.path, serde_json::to_vec(stamps)) {
            let _ = replace(path, &text, Access::Owner);
        }
    }
}
