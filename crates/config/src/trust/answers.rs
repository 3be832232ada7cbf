//! What the user answered of folders: `trust.json` in the state folder.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rail_stdx::{Access, replace};
use serde::{Deserialize, Serialize};

use super::kept::forget_rules;
use crate::mcp::forget;
use crate::regular::{is_missing, read_text};
use crate::{Places, Trusted};

/// Why a folder's trust can't be changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// There is no such folder.
    #[error("{} is no folder that can be trusted: {source}; name one that is", path.display())]
    NoFolder {
        /// What was named.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The list can't be understood.
    #[error("{} is no JSON list of folders; correct or remove it", path.display())]
    Broken {
        /// The list.
        path: PathBuf,
    },
    /// What was answered of MCP servers can't be understood.
    #[error("{} is no JSON list of answers on MCP servers, so that none is approved; correct or remove it", path.display())]
    BrokenAnswers {
        /// The list.
        path: PathBuf,
    },
    /// The list can't be read or written.
    #[error("{} can't be read or written: {source}; make it yours, or remove it", path.display())]
    Io {
        /// The list.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// One answer: a trusted folder by its path alone, any other with the word.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
enum Answer {
    Trusted(PathBuf),
    Said { folder: PathBuf, trusted: bool },
}

impl Answer {
    fn folder(&self) -> &Path {
        match self {
            Self::Trusted(folder) | Self::Said { folder, .. } => folder,
        }
    }

    fn trusted(&self) -> Trusted {
        match self {
            Self::Trusted(_) | Self::Said { trusted: true, .. } => Trusted::Yes,
            Self::Said { trusted: false, .. } => Trusted::No,
        }
    }
}

/// What the user answered of a folder; None if nothing yet.
pub fn trust_answer(places: &Places, folder: &Path) -> Result<Option<Trusted>, TrustError> {
    let folder = real(folder);
    let answers = stored(places)?;
    Ok(answers.iter().find(|answer| real(answer.folder()) == folder).map(Answer::trusted))
}

/// Trusts a folder, or takes the trust back, with all that was allowed there for always; whether that changed anything. The list is
/// `trust.json` in the state folder.
pub fn set_trusted(places: &Places, folder: &Path, trusted: Trusted) -> Result<bool, TrustError> {
    let answers = stored(places)?;
    match trusted {
        Trusted::Yes => {
            let folder = existing(folder)?;
            let is_trusted =
                |answer: &Answer| answer.trusted() == Trusted::Yes && real(answer.folder()) == folder;
            if answers.iter().any(is_trusted) {
                return Ok(false);
            }
            answer(places, answers, Answer::Trusted(folder))
        }
        Trusted::No => {
            let folder = real(folder);
            // An answer of no stays: nothing is taken back with it.
            let is_kept =
                |answer: &Answer| answer.trusted() == Trusted::No || real(answer.folder()) != folder;
            let kept: Vec<Answer> = answers.iter().filter(|answer| is_kept(answer)).cloned().collect();
            let forgot = forget_rules(places, &folder)? | forget(places, &folder, None)?;
            if kept.len() == answers.len() {
                return Ok(forgot);
            }
            write(places, kept)
        }
    }
}

/// Remembers that a folder is not trusted, so that nobody asks again; whether that is new.
pub fn decline_trust(places: &Places, folder: &Path) -> Result<bool, TrustError> {
    let folder = existing(folder)?;
    if trust_answer(places, &folder)? == Some(Trusted::No) {
        return Ok(false);
    }
    answer(places, stored(places)?, Answer::Said { folder, trusted: false })
}

/// Writes an answer in the place of any other of the same folder.
fn answer(places: &Places, mut answers: Vec<Answer>, new: Answer) -> Result<bool, TrustError> {
    answers.retain(|answer| real(answer.folder()) != new.folder());
    answers.push(new);
    write(places, answers)
}

fn write(places: &Places, mut answers: Vec<Answer>) -> Result<bool, TrustError> {
    answers.sort();
    let path = places.trust();
    let io = |source| TrustError::Io { path: path.clone(), source };
    let mut text = serde_json::to_string_pretty(&answers).map_err(|error| io(error.into()))?;
    text.push('\n');
    replace(&path, text.as_bytes(), Access::Owner).map_err(io)?;
    Ok(true)
}

/// The real name of a folder that can stand in the list.
pub(crate) fn existing(folder: &Path) -> Result<PathBuf, TrustError> {
    let no_folder = |path: &Path, source| TrustError::NoFolder { path: path.to_owned(), source };
    let real = fs::canonicalize(folder).map_err(|source| no_folder(folder, source))?;
    if !real.is_dir() {
        return Err(no_folder(&real, io::ErrorKind::NotADirectory.into()));
    }
    // The list is JSON, which can't say it.
    if real.to_str().is_none() {
        return Err(no_folder(&real, io::Error::other("its path is no UTF-8 text")));
    }
    Ok(real)
}

/// All answers.
fn stored(places: &Places) -> Result<Vec<Answer>, TrustError> {
    let path = places.trust();
    match read_text(&path) {
        Ok(text) => {
            let answers: Vec<Answer> =
                serde_json::from_str(&text).map_err(|_| TrustError::Broken { path })?;
            // A relative path would be another folder wherever one stands.
            Ok(answers.into_iter().filter(|answer| answer.folder().is_absolute()).collect())
        }
        Err(error) if is_missing(&error) => Ok(Vec::new()),
        Err(source) => Err(TrustError::Io { path, source }),
    }
}

pub(crate) fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
