//! Rules that an answer allowed for always.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rail_stdx::{Access, replace};
use toml_edit::{Array, DocumentMut, Item, Table, Value};

use crate::PROJECT_FOLDER;
use crate::regular::{is_missing, read_text};

/// Adds rules to what the project-local configuration allows, and gives its path.
///
/// The folder is the workspace's. The file is not for git: a new project folder says so itself.
///
/// # Errors
/// Why they could not be written.
pub fn allow_always(folder: &Path, rules: &[String]) -> Result<PathBuf, AllowError> {
    let project = folder.join(PROJECT_FOLDER);
    let path = project.join("config.local.toml");
    let json = project.join("config.local.json");
    if json.exists() {
        let problem = format!("it is JSON; add {} to `permissions.allow` there", rules.join(", "));
        return Err(AllowError::Unreadable { path: json, problem });
    }
    let io = |source| AllowError::Io { path: path.clone(), source };
    let existing = match read_text(&path) {
        Ok(text) => text,
        Err(error) if is_missing(&error) => String::new(),
        Err(error) => return Err(io(error)),
    };
    let toml =
        added(&existing, rules).map_err(|problem| AllowError::Unreadable { path: path.clone(), problem })?;
    let is_new = !project.exists();
    replace(&path, toml.as_bytes(), Access::Owner).map_err(io)?;
    if is_new {
        fs::write(project.join(".gitignore"), "config.local.toml\n").map_err(io)?;
    }
    Ok(path)
}

/// The text with these rules among those that are allowed; all else stays as it is.
fn added(text: &str, rules: &[String]) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| error.to_string().trim_end().to_owned())?;
    let permissions = document.entry("permissions").or_insert_with(|| Item::Table(Table::new()));
    let permissions = permissions.as_table_like_mut().ok_or("`permissions` is no table")?;
    let allow = permissions.entry("allow").or_insert_with(|| Item::Value(Value::Array(Array::new())));
    let allow = allow.as_array_mut().ok_or("`permissions.allow` is no list")?;
    for rule in rules {
        if !allow.iter().any(|there| there.as_str() == Some(rule)) {
            allow.push(rule.as_str());
        }
    }
    Ok(document.to_string())
}

/// Why a rule can't be kept.
#[derive(Debug, thiserror::Error)]
pub enum AllowError {
    /// The file is no TOML.
    #[error("{} can't be added to: {problem}; mend it, or move it away", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The file can't be read or written.
    #[error("{} can't be read or written: {source}; make it yours, or move it away", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}
