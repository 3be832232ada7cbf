//! The crate's tests: real files in scratch folders, real changes, a real keyring.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod any_text;
mod docs;
mod found;
mod hijack;
mod import;
mod keyring;
mod layers;
mod machine;
mod mcp;
#[cfg(unix)]
mod odd_files;
mod permissions;
mod providers;
mod save;
mod trust;
mod values;
mod watch;
mod wrong;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rail_config::{Layer, Layers, Outside, Readers, Source};

/// A machine on which only what is said here is there.
#[derive(Default)]
pub struct Quiet(pub BTreeMap<&'static str, &'static str>);

impl Outside for Quiet {
    fn variable(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|&text| text.to_owned())
    }

    fn file(&self, path: &Path) -> Result<String, String> {
        Err(format!("no file {}", path.display()))
    }

    fn keyring(&self, name: &str) -> Result<String, String> {
        Err(format!("the keyring has no `{name}`"))
    }

    fn home(&self) -> Option<PathBuf> {
        Some("/u/me".into())
    }
}

/// A file of the user.
pub fn source(layer: Layer, file: &str, text: &str) -> Source {
    Source { layer, file: file.into(), text: text.to_owned(), readers: Readers::Owner }
}

/// The user's file alone.
pub fn user(text: &str) -> Layers {
    Layers { files: vec![source(Layer::User, "config.toml", text)], ..Layers::default() }
}
