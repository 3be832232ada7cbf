//! Writes a configuration that was made for the user: `config.toml`, and the keys beside it in `.env`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rail_stdx::{Access, replace};

use crate::Places;
use crate::dotenv::{self, Differing, Differs};
use crate::import::Imported;
use crate::merge::{Merged, add_missing};

/// What happens to a configuration that is there already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// It stays, and nothing is written.
    Refuse,
    /// What it lacks is added to it.
    Add,
    /// It is replaced, and kept beside the new one.
    Replace,
}

/// What was written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Saved {
    /// The configuration; None when it said all of it before.
    pub config: Option<PathBuf>,
    /// The file with the keys; None when there were none, or it had them before.
    pub env: Option<PathBuf>,
    /// What was there before, each as a file of its own.
    pub backups: Vec<PathBuf>,
    /// The keys that were added to a configuration that was there.
    pub added: Vec<String>,
    /// The keys of it that have another value and stay so.
    pub kept: Vec<String>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// There is a configuration.
    #[error("{} is there already; `rail config show` tells what it says, and `--force` writes it anew and keeps this one as a backup", .0.display())]
    Exists(PathBuf),
    /// There is one in JSON, which nothing is added to.
    #[error("{} is there already, and nothing can be added to JSON without losing its remarks; write it as config.toml, or take `--force` to replace it and keep a backup", .0.display())]
    Json(PathBuf),
    /// The one that is there can't be understood.
    #[error("{} is no TOML, so that nothing can be added to it: {problem}; correct it, or take `--force` to replace it and keep a backup", path.display())]
    Unreadable {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A key of the same name is there with another value.
    #[error("`{name}` has another value in {}; remove it there, or take `--force` to replace it", path.display())]
    Differs {
        /// The file.
        path: PathBuf,
        /// The variable.
        name: String,
    },
    /// A file can't be read or written.
    #[error("{} can't be read or written: {source}; make it yours, or move it away", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// The user's configuration that is there, in TOML or in JSON.
pub fn existing(places: &Places) -> Option<PathBuf> {
    ["config.toml", "config.json"].map(|name| places.config.join(name)).into_iter().find(|path| path.exists())
}

/// Writes a configuration and its keys for the user, so that nobody else can read them.
pub fn save(places: &Places, new: &Imported, how: Existing) -> Result<Saved, SaveError> {
    let config = places.config.join("config.toml");
    let mut saved = Saved::default();
    let there = existing(places);
    let text = match (&there, how) {
        (None, _) | (Some(_), Existing::Replace) => new.toml.clone(),
        (Some(path), Existing::Refuse) => return Err(SaveError::Exists(path.clone())),
        (Some(path), Existing::Add) if *path != config => return Err(SaveError::Json(path.clone())),
        (Some(path), Existing::Add) => {
            let unreadable = |problem: String| SaveError::Unreadable { path: path.clone(), problem };
            let merged = add_missing(&read(path)?, &new.toml);
            let Merged { toml, added, kept } =
                merged.map_err(|error| unreadable(error.to_string().trim_end().to_owned()))?;
            (saved.added, saved.kept) = (added, kept);
            toml
        }
    };
    let env = env_text(places, new, how)?;
    // The keys stand before what refers to them, so that no moment is without them.
    if let Some(env) = env {
        saved.env = write(&places.env(), &env)?;
    }
    if let (Some(path), Existing::Replace) = (&there, how) {
        let backup = free_beside(path);
        write(&backup, &read(path)?)?;
        saved.backups.push(backup);
        if *path != config {
            fs::remove_file(path).map_err(|source| SaveError::Io { path: path.clone(), source })?;
        }
    }
    saved.config = write(&config, &text)?;
    Ok(saved)
}

/// Writes the theme of the terminal interface to the user's configuration; all else stays as it is.
pub fn keep_theme(places: &Places, theme: &str) -> Result<(), SaveError> {
    let config = places.config.join("config.toml");
    if let Some(path) = existing(places).filter(|path| *path != config) {
        return Err(SaveError::Json(path));
    }
    let before = if config.exists() { read(&config)? } else { String::new() };
    let unreadable = |problem: String| SaveError::Unreadable { path: config.clone(), problem };
    let mut document: toml_edit::DocumentMut = before
        .parse()
        .map_err(|error: toml_edit::TomlError| unreadable(error.to_string().trim_end().to_owned()))?;
    let tui = document.entry("tui").or_insert_with(|| toml_edit::Item::Table(toml_edit::Table::new()));
    let tui = tui.as_table_like_mut().ok_or_else(|| unreadable("`tui` is no table".to_owned()))?;
    tui.insert("theme", toml_edit::value(theme));
    write(&config, &document.to_string()).map(drop)
}

/// What `.env` is to say; None when there is nothing to add.
fn env_text(places: &Places, new: &Imported, how: Existing) -> Result<Option<String>, SaveError> {
    if new.env.is_empty() {
        return Ok(None);
    }
    let path = places.env();
    let before = if path.exists() { read(&path)? } else { String::new() };
    let differing = match how {
        Existing::Refuse | Existing::Add => Differing::Refuse,
        Existing::Replace => Differing::Replace,
    };
    let text = dotenv::with(&before, &new.env, differing);
    text.map(Some).map_err(|Differs(name)| SaveError::Differs { path, name })
}

fn read(path: &Path) -> Result<String, SaveError> {
    fs::read_to_string(path).map_err(|source| SaveError::Io { path: path.to_owned(), source })
}

/// Replaces a file, unless it says the same already; where a link leads to it, the link stays.
fn write(path: &Path, text: &str) -> Result<Option<PathBuf>, SaveError> {
    if fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
        return Ok(None);
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let written = replace(&target, text.as_bytes(), Access::Owner);
    written.map_err(|source| SaveError::Io { path: path.to_owned(), source })?;
    Ok(Some(path.to_owned()))
}

/// A name beside a file that no backup has yet.
fn free_beside(path: &Path) -> PathBuf {
    let beside = |ending: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let first = beside(".bak".to_owned());
    let mut more = (2..).map(|number| beside(format!(".bak{number}")));
    if first.exists() { more.find(|path| !path.exists()).unwrap_or(first) } else { first }
}
