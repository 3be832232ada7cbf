use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::walk::{Log, Walk};
use crate::writer::lock;
use crate::{JournalError, Record, SessionId, State, Sum, UnixMillis, project_key};

/// What a list shows of a session.
#[derive(Clone, PartialEq, Debug)]
pub struct Summary {
    /// Its id.
    pub id: SessionId,
    /// Its folder.
    pub folder: PathBuf,
    /// Its title; none before the first message.
    pub title: Option<String>,
    /// The working folder.
    pub cwd: PathBuf,
    /// When it began.
    pub started: UnixMillis,
    /// When its last record was written.
    pub last: UnixMillis,
    /// Messages of the user.
    pub turns: u64,
    /// Dollars, as far as prices are known.
    pub cost_usd: f64,
    /// The session it was forked from.
    pub parent: Option<SessionId>,
}

/// The sessions there are.
#[derive(Debug, Default)]
pub struct Listing {
    /// Those that can be read, the latest first.
    pub sessions: Vec<Summary>,
    /// Those that can't, with the reason.
    pub unreadable: Vec<(PathBuf, JournalError)>,
}

/// The folder of a session, under the folder of all sessions.
pub fn session_folder(sessions: &Path, cwd: &Path, id: &SessionId) -> PathBuf {
    sessions.join(project_key(cwd)).join(id.as_str())
}

/// The folder of a sub-agent's session, inside its parent's: it is listed with nobody and goes with its parent.
pub fn agent_folder(parent: &Path, id: &SessionId) -> PathBuf {
    parent.join("agents").join(id.as_str())
}

/// Finds a session of any working folder.
///
/// # Errors
/// The folder of sessions can't be read.
pub fn find(sessions: &Path, id: &SessionId) -> Result<Option<PathBuf>, JournalError> {
    let folders = folders(sessions)?.into_iter().map(|project| project.join(id.as_str()));
    Ok(folders.into_iter().find(|folder| folder.is_dir()))
}

/// Finds the sessions of any working folder whose ids begin so, in small letters.
///
/// # Errors
/// The folder of sessions can't be read.
pub fn beginning_with(sessions: &Path, beginning: &str) -> Result<Vec<PathBuf>, JournalError> {
    let mut found = Vec::new();
    for project in folders(sessions)? {
        found.extend(folders(&project)?.into_iter().filter(|folder| {
            let name = folder.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(beginning) && name.parse::<SessionId>().is_ok())
        }));
    }
    Ok(found)
}

/// Lists the sessions of one working folder, or of all. Of each journal only the beginning and the end are read.
///
/// # Errors
/// The folder of sessions can't be read; that there is none yet is no error.
pub fn list(sessions: &Path, cwd: Option<&Path>) -> Result<Listing, JournalError> {
    let projects = match cwd {
        Some(cwd) => vec![sessions.join(project_key(cwd))],
        None => folders(sessions)?,
    };
    let mut listing = Listing::default();
    for project in projects {
        for folder in folders(&project)? {
            // What has no session's name is none: a deletion that was cut short, or somebody else's.
            let name = folder.file_name().and_then(|name| name.to_str());
            let Some(id) = name.and_then(|name| name.parse().ok()) else { continue };
            match summary(id, &folder) {
                Ok(summary) => listing.sessions.push(summary),
                Err(error) => listing.unreadable.push((folder, error)),
            }
        }
    }
    listing.sessions.sort_by(|one, other| (other.last, &other.id).cmp(&(one.last, &one.id)));
    listing.unreadable.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(listing)
}

/// Deletes a session with all that stands in its folder: its contents, its outputs, its sub-agents.
///
/// # Errors
/// There is none, a process writes it, or it can't be removed.
pub fn delete(folder: &Path) -> Result<(), JournalError> {
    let name =
        folder.file_name().and_then(|name| name.to_str()).filter(|name| name.parse::<SessionId>().is_ok());
    // Without its journal it is still one that can be deleted: a crash may have left it so.
    let Some(name) = name.filter(|_| folder.is_dir()) else {
        return Err(JournalError::Missing { path: folder.to_owned() });
    };
    let lock = lock(folder)?;
    // Under another name at once, so that a deletion that is cut short leaves no half session in the list.
    let gone = folder.with_file_name(format!("{DELETED}{name}"));
    let io = |source| JournalError::Io { path: folder.to_owned(), source };
    fs::rename(folder, &gone).map_err(io)?;
    drop(lock);
    for left in folders(folder.parent().unwrap_or(Path::new(".")))? {
        if left.file_name().is_some_and(|name| name.to_string_lossy().starts_with(DELETED)) {
            fs::remove_dir_all(&left).map_err(io)?;
        }
    }
    Ok(())
}

/// Begins the name of a folder that is being deleted.
const DELETED: &str = ".deleted-";

fn summary(id: SessionId, folder: &Path) -> Result<Summary, JournalError> {
    let log = Log::open(folder)?;
    let (opened, started, _) = log.opened()?;
    let (sum, last) = tail(&log)?;
    Ok(Summary {
        id,
        folder: folder.to_owned(),
        title: sum.title,
        cwd: opened.cwd,
        started,
        last: last.unwrap_or(started),
        turns: sum.totals.turns,
        cost_usd: sum.totals.cost_usd,
        parent: opened.parent.map(|fork| fork.id),
    })
}

/// The title and figures at the end, and when that was: from the last line that carries them, and those behind it.
fn tail(log: &Log) -> Result<(Sum, Option<UnixMillis>), JournalError> {
    let mut walk = Walk::from_end(log, log.whole()?.end);
    let mut behind = Vec::new();
    let mut last = None;
    let mut state = State::default();
    while let Some(met) = walk.line()? {
        let from = met.before.end;
        last.get_or_insert(met.line.at);
        if let Some(sum) = met.line.sum().map_err(|wrong| log.broken(from, wrong))? {
            state.sum = sum;
            break;
        }
        match log.record(&met.line, from)? {
            record @ (Record::Message(_) | Record::Queued(_) | Record::Title(_)) => {
                behind.push((record, met.place))
            }
            Record::Opened(_)
            | Record::Prompt(_)
            | Record::Running(_)
            | Record::Told(_)
            | Record::Taken(_)
            | Record::Partial(_)
            | Record::Void(_)
            | Record::Results(_)
            | Record::Compacted(_)
            | Record::Rewound(_)
            | Record::Snapshot(_)
            | Record::Usage(_)
            | Record::Mode(_)
            | Record::Model(_)
            | Record::Todos(_)
            | Record::Findings(_)
            | Record::Known(_)
            | Record::Ended(_)
            | Record::Note(_)
            | Record::Unknown { .. } => {}
        }
    }
    behind.iter().rev().for_each(|(record, place)| state.apply(record, *place));
    Ok((state.sum, last))
}

/// The folders in a folder, in order; none if it is not there.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, JournalError> {
    let io = |source| JournalError::Io { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(io)?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(io)?;
        if entry.file_type().map_err(io)?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
