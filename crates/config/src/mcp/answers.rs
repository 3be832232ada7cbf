//! What the user answered of servers that a project brings: `mcp-servers.json` in the state folder.

use std::path::{Path, PathBuf};

use rail_stdx::{Access, replace};
use serde::{Deserialize, Serialize};

use crate::Places;
use crate::regular::{is_missing, read_text};
use crate::trust::{TrustError, existing, real};

/// Whether a server that a project brings may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Approval {
    /// It is the user's own.
    NotNeeded,
    /// The user approved it, as it is now.
    Approved,
    /// Nobody answered yet, or it has changed since.
    Pending,
    /// The user rejected it, whatever it comes to say.
    Rejected,
}

impl Approval {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::NotNeeded => "not needed",
            Self::Approved => "approved",
            Self::Pending => "pending",
            Self::Rejected => "rejected",
        }
    }
}

/// What can be answered.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum McpAnswer {
    /// Yes, to this very content.
    Approved(String),
    /// No, whatever it comes to say.
    Rejected,
}

/// One answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct One {
    folder: PathBuf,
    server: String,
    answer: McpAnswer,
}

/// All answers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct McpAnswers(Vec<One>);

impl McpAnswers {
    /// Those of this user.
    ///
    /// # Errors
    /// The list is there and can't be read.
    pub fn stored(places: &Places) -> Result<Self, TrustError> {
        let path = places.mcp_answers();
        match read_text(&path) {
            Ok(text) => match serde_json::from_str(&text) {
                Ok(answers) => Ok(Self(answers)),
                Err(_) => Err(TrustError::BrokenAnswers { path }),
            },
            Err(error) if is_missing(&error) => Ok(Self::default()),
            Err(source) => Err(TrustError::Io { path, source }),
        }
    }

    /// What was answered of a server that a folder brings with this content.
    pub(crate) fn of(&self, folder: &Path, server: &str, content: &str) -> Approval {
        let folder = real(folder);
        let answer = self.0.iter().find(|one| one.folder == folder && one.server == server);
        match answer.map(|one| &one.answer) {
            Some(McpAnswer::Approved(approved)) if approved == content => Approval::Approved,
            Some(McpAnswer::Rejected) => Approval::Rejected,
            Some(McpAnswer::Approved(_)) | None => Approval::Pending,
        }
    }
}

/// Keeps an answer in the place of any other on the same server of the same folder.
///
/// # Errors
/// The list can't be read or written, or there is no such folder.
pub fn answer_mcp(places: &Places, folder: &Path, server: &str, answer: McpAnswer) -> Result<(), TrustError> {
    let McpAnswers(mut all) = McpAnswers::stored(places)?;
    let folder = existing(folder)?;
    all.retain(|one| !(one.folder == folder && one.server == server));
    all.push(One { folder, server: server.to_owned(), answer });
    write(places, all)
}

/// Forgets what was answered of one server of a folder, or of all; whether something was.
///
/// # Errors
/// The list can't be read or written.
pub(crate) fn forget(places: &Places, folder: &Path, server: Option<&str>) -> Result<bool, TrustError> {
    let McpAnswers(mut all) = McpAnswers::stored(places)?;
    let (before, folder) = (all.len(), real(folder));
    all.retain(|one| one.folder != folder || server.is_some_and(|server| one.server != server));
    if all.len() == before {
        return Ok(false);
    }
    write(places, all).map(|()| true)
}

fn write(places: &Places, mut all: Vec<One>) -> Result<(), TrustError> {
    let path = places.mcp_answers();
    let io = |source| TrustError::Io { path: path.clone(), source };
    all.sort_by(|one, other| (&one.folder, &one.server).cmp(&(&other.folder, &other.server)));
    let mut text = serde_json::to_string_pretty(&all).map_err(|error| io(error.into()))?;
    text.push('\n');
    replace(&path, text.as_bytes(), Access::Owner).map_err(io)
}
