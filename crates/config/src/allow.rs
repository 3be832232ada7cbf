//! Rules that an answer allowed for always.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rail_stdx::{Access, replace};
use toml_edit::{Array, DocumentMut, Item, Table, Value};

use crate::regular::{is_missing, read_text};
use crate::trust::{keep_rules, reaches};
use crate::{Inputs, PROJECT_FOLDER, ProjectTrust, TrustError, Trusted, check, trust_root, trust_wishes};

/// Adds rules to what the project-local configuration allows, and gives its path. They count from the next load on.
///
/// The file is the project's of the working folder, else a new one in that folder; it is not for git, and a new folder says so itself.
/// In a folder that is not trusted and brings nothing that needs it, the user's answer is the decision, and it is one on these rules
/// alone: what else comes to stand in the file counts no more than before.
///
/// # Errors
/// Why they could not be written, or would not count.
pub fn allow_always(inputs: &Inputs, rules: &[String]) -> Result<PathBuf, AllowError> {
    let root = trust_root(&inputs.env, &inputs.working_folder);
    let root = root.unwrap_or_else(|| inputs.working_folder.clone());
    let checked = check(inputs);
    if checked.trusted == Trusted::No {
        judge(inputs, &root)?;
        let homeless = || AllowError::Unknown { folder: root.clone() };
        let places = checked.places.ok_or_else(homeless)?;
        keep_rules(&places, &root, rules)?;
    }
    write(&root, rules)
}

/// Whether a folder that is not trusted may be added to.
fn judge(inputs: &Inputs, root: &Path) -> Result<(), AllowError> {
    let folder = || root.to_owned();
    if inputs.trust == ProjectTrust::Untrusted || !trust_wishes(inputs).is_empty() {
        return Err(AllowError::Untrusted { folder: folder() });
    }
    if !reaches(root, &inputs.working_folder) {
        return Err(AllowError::Untrusted { folder: folder() });
    }
    // What is written through a link is another project's, and might count there.
    if root.join(PROJECT_FOLDER).is_symlink() {
        return Err(AllowError::Untrusted { folder: folder() });
    }
    Ok(())
}

fn write(folder: &Path, rules: &[String]) -> Result<PathBuf, AllowError> {
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
    // An empty one is made before commands run, so that none of them makes it.
    let is_new = fs::read_dir(&project).map_or(true, |mut entries| entries.next().is_none());
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
    /// The folder brings what needs trust, and is not trusted.
    #[error("this folder is not trusted; read what it brings, and trust it with `rail config trust` ({})", folder.display())]
    Untrusted {
        /// The folder.
        folder: PathBuf,
    },
    /// There is no place to remember it.
    #[error("there is no home folder to remember what is allowed in {}; set `HOME`", folder.display())]
    Unknown {
        /// The folder.
        folder: PathBuf,
    },
    /// It can't be remembered.
    #[error(transparent)]
    Unkept(#[from] TrustError),
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
