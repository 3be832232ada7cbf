//! A home and a repository in a scratch folder.

use std::fs;

use rail_config::Inputs;

/// A home, a project with a repository, and what they say.
pub(crate) struct Machine(pub(crate) tempfile::TempDir);

impl Machine {
    /// An empty home, and a repository without a project's folder.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for inner in ["user", "repo/.git", "repo/src"] {
            fs::create_dir_all(folder.path().join(inner)).unwrap();
        }
        Self(folder)
    }

    /// Writes a file that only its owner can read.
    pub(crate) fn write(&self, file: &str, text: &str) -> &Self {
        let path = self.0.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        rail_stdx::replace(&path, text.as_bytes(), rail_stdx::Access::Owner).unwrap();
        self
    }

    /// What is loaded from in `repo/src`, with these variables.
    pub(crate) fn inputs(&self, variables: &[(&str, &str)]) -> Inputs {
        let home = self.0.path().join("user");
        let home = [("HOME", home.to_str().unwrap())];
        Inputs {
            env: home.into_iter().chain(variables.iter().copied()).collect(),
            working_folder: self.0.path().join("repo/src"),
            ..Inputs::default()
        }
    }

    /// Text of a machine, with its own folder left out.
    pub(crate) fn told(&self, text: impl ToString) -> String {
        text.to_string().replace(self.0.path().to_str().unwrap(), "")
    }
}

/// The user's file.
pub(crate) const USER: &str = "user/.config/switchrail/config.toml";
/// The project's.
pub(crate) const PROJECT: &str = "repo/.switchrail/config.toml";
/// The project's that is not for git.
pub(crate) const LOCAL: &str = "repo/.switchrail/config.local.toml";
