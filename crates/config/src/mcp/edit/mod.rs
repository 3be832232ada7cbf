//! Servers written to files and taken out of them: all else in a file stays as it is.

mod json;
mod toml;

use std::path::{Path, PathBuf};
use std::{fs, io};

use rail_stdx::{Access, replace};

use super::answers::forget;
use super::{McpAnswer, McpScope, Server, answer_mcp, content, wrong_name};
use crate::env::{candidates, found_project};
use crate::load::readers;
use crate::regular::{is_missing, read_text};
use crate::settings::McpServer;
use crate::{Inputs, Origin, PROJECT_FOLDER, Places, Problem, Readers, TrustError};

/// What happens to a server of the same name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Replace {
    /// It stays, and nothing is written.
    No,
    /// It is replaced.
    Yes,
}

/// What was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edited {
    /// The file.
    pub path: PathBuf,
    /// Whether a server of the name was there.
    pub replaced: bool,
    /// The project's folder, if it is a file of a project.
    pub folder: Option<PathBuf>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// No server can have the name.
    #[error("`{name}`: {why}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        why: String,
    },
    /// There is one of this name.
    #[error("{} has a server `{name}` already; `rail mcp get {name}` shows it, and `--force` replaces it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// There is none of this name.
    #[error("{} has no server `{name}`; see `rail mcp list`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// It does not stand in a file.
    #[error("`{name}` comes from {origin}, which is no file; take it away there")]
    NoFile {
        /// The name.
        name: String,
        /// Who says it.
        origin: String,
    },
    /// The home is no project.
    #[error("{} is your home and no project; change to one, or take `-s user`", path.display())]
    Home {
        /// The home.
        path: PathBuf,
    },
    /// There is no home.
    #[error("{0}")]
    Homeless(Problem),
    /// The file is a link.
    #[error("{} is a link, and what is written through it may be another project's; write to the file that it leads to", path.display())]
    Link {
        /// The file.
        path: PathBuf,
    },
    /// The file can't be understood.
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
    /// The user's answer can't be kept.
    #[error(transparent)]
    Unkept(#[from] TrustError),
}

/// Writes a server to the file of a scope: `Local`, `Project` or else the user's.
///
/// What the user adds to a project is approved by that, as it is written now.
///
/// # Errors
/// Why nothing was written.
pub fn add(
    inputs: &Inputs,
    scope: McpScope,
    name: &str,
    server: &McpServer,
    how: Replace,
) -> Result<Edited, EditError> {
    if let Some(why) = wrong_name(name) {
        return Err(EditError::Name { name: name.to_owned(), why });
    }
    let places = Places::find(&inputs.env, &inputs.working_folder).map_err(EditError::Homeless)?;
    let file = File::of_scope(inputs, &places, scope)?;
    let text = file.read()?;
    let new = file.with(&text, name, server, how)?;
    if let Some(folder) = &file.folder {
        answer_mcp(&places, folder, name, McpAnswer::Approved(content(server)))?;
    }
    file.write(&new.text)?;
    Ok(Edited { path: file.path, replaced: new.replaced, folder: file.folder })
}

/// Takes a server out of the file that it stands in.
///
/// # Errors
/// Why nothing was changed.
pub fn remove(inputs: &Inputs, server: &Server) -> Result<Edited, EditError> {
    let Server { name, origin, folder, scope, .. } = server;
    let Origin::File { file: path, .. } = origin else {
        return Err(EditError::NoFile { name: name.clone(), origin: origin.to_string() });
    };
    let file = File { path: path.to_path_buf(), form: Form::of(path, *scope), folder: folder.clone() };
    let text = file.read()?;
    let unreadable = |problem| EditError::Unreadable { path: file.path.clone(), problem };
    let new = match file.form {
        Form::Toml => toml::without(&text, name).map_err(unreadable)?,
        Form::Json(way) => json::without(&text, way, name).map_err(unreadable)?,
        // Without `mcpServers`, the whole is the object of servers.
        Form::Bare => json::without(&text, json::bare_way(&text), name).map_err(unreadable)?,
    };
    let Some(new) = new else {
        return Err(EditError::Missing { path: file.path.clone(), name: name.clone() });
    };
    file.write(&new)?;
    let places = Places::find(&inputs.env, &inputs.working_folder).map_err(EditError::Homeless)?;
    if let Some(folder) = folder {
        forget(&places, folder, Some(name))?;
    }
    Ok(Edited { path: file.path, replaced: true, folder: folder.clone() })
}

/// A text with a server in it.
struct With {
    text: String,
    replaced: bool,
}

/// How a file has its servers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Our configuration in TOML.
    Toml,
    /// JSON, under these keys.
    Json(&'static [&'static str]),
    /// JSON that may be an object of servers as a whole.
    Bare,
}

const OURS: &[&str] = &["mcp", "servers"];
const THEIRS: &[&str] = &["mcpServers"];

impl Form {
    fn of(path: &Path, scope: McpScope) -> Self {
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        match scope {
            McpScope::Given | McpScope::Project => Self::Json(THEIRS),
            McpScope::Mcprc => Self::Bare,
            McpScope::Process
            | McpScope::Config
            | McpScope::Local
            | McpScope::ProjectConfig
            | McpScope::User => {
                if is_toml {
                    Self::Toml
                } else {
                    Self::Json(OURS)
                }
            }
        }
    }
}

struct File {
    path: PathBuf,
    form: Form,
    /// The project's folder, if it is a file of a project.
    folder: Option<PathBuf>,
}

impl File {
    fn of_scope(inputs: &Inputs, places: &Places, scope: McpScope) -> Result<Self, EditError> {
        let home = inputs.env.home();
        let (path, folder) = match scope {
            McpScope::Local => {
                let root = root(inputs, home);
                (either(&root.join(PROJECT_FOLDER), "config.local"), Some(root))
            }
            McpScope::Project => {
                let folders = candidates(&inputs.working_folder, home);
                let folders = folders.filter_map(|inner| inner.parent().map(Path::to_owned));
                let has_list =
                    |folder: &PathBuf| folder.join(".mcp.json").exists() && Some(folder.as_path()) != home;
                let root = folders.into_iter().find(has_list).unwrap_or_else(|| root(inputs, home));
                (root.join(".mcp.json"), Some(root))
            }
            McpScope::Given
            | McpScope::Process
            | McpScope::Config
            | McpScope::ProjectConfig
            | McpScope::Mcprc
            | McpScope::User => (either(&places.config, "config"), None),
        };
        if let Some(folder) = folder.as_deref().filter(|folder| Some(*folder) == home) {
            return Err(EditError::Home { path: folder.to_owned() });
        }
        let form = Form::of(&path, scope);
        Ok(Self { path, form, folder })
    }

    fn read(&self) -> Result<String, EditError> {
        let is_ours = self.folder.is_none();
        let in_link =
            self.path.parent().is_some_and(|parent| parent.ends_with(PROJECT_FOLDER) && parent.is_symlink());
        if !is_ours && (self.path.is_symlink() || in_link) {
            return Err(EditError::Link { path: self.path.clone() });
        }
        match read_text(&self.path) {
            Ok(text) => Ok(text),
            Err(error) if is_missing(&error) => Ok(String::new()),
            Err(source) => Err(EditError::Io { path: self.path.clone(), source }),
        }
    }

    fn with(&self, text: &str, name: &str, server: &McpServer, how: Replace) -> Result<With, EditError> {
        let unreadable = |problem| EditError::Unreadable { path: self.path.clone(), problem };
        let with = match self.form {
            Form::Toml => toml::with(text, name, server).map_err(unreadable)?,
            Form::Json(way) => json::with(text, way, name, server).map_err(unreadable)?,
            Form::Bare => json::with(text, json::bare_way(text), name, server).map_err(unreadable)?,
        };
        if with.replaced && how == Replace::No {
            return Err(EditError::Exists { path: self.path.clone(), name: name.to_owned() });
        }
        Ok(with)
    }

    fn write(&self, text: &str) -> Result<(), EditError> {
        let io = |source| EditError::Io { path: self.path.clone(), source };
        let is_shared = self.path.file_name().is_some_and(|name| name == ".mcp.json" || name == ".mcprc");
        let is_open = readers(&self.path) == Readers::Others || !self.path.exists();
        let access = if is_shared && is_open { Access::Usual } else { Access::Owner };
        let parent = self.path.parent().unwrap_or(Path::new("."));
        let is_new = parent.ends_with(PROJECT_FOLDER)
            && fs::read_dir(parent).map_or(true, |mut entries| entries.next().is_none());
        // Where a link leads to the user's own file, the link stays.
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        replace(&target, text.as_bytes(), access).map_err(io)?;
        if is_new {
            fs::write(parent.join(".gitignore"), "config.local.toml\n").map_err(io)?;
        }
        Ok(())
    }
}

/// The project's folder: the one with `.switchrail`, else the root of the repository, else where one works.
fn root(inputs: &Inputs, home: Option<&Path>) -> PathBuf {
    let working = &inputs.working_folder;
    let ours = found_project(working, home).and_then(|inner| inner.parent().map(Path::to_owned));
    let repository = || {
        let mut folders = candidates(working, home).filter_map(|inner| inner.parent().map(Path::to_owned));
        folders.find(|folder| folder.join(".git").exists())
    };
    ours.or_else(repository).unwrap_or_else(|| working.clone())
}

/// A layer's file: the TOML, unless there is one in JSON.
fn either(folder: &Path, stem: &str) -> PathBuf {
    let json = folder.join(format!("{stem}.json"));
    if json.exists() { json } else { folder.join(format!("{stem}.toml")) }
}
