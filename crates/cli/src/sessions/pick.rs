//! Which session is meant.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use crate::Failure;

/// How many sessions are named that an id could mean.
const NAMED: usize = 5;

/// The folder of the session that an id, or the beginning of one, means.
pub(crate) fn pick(sessions: &Path, typed: &str) -> Result<PathBuf, Failure> {
    let beginning = typed.trim().to_ascii_lowercase();
    let could_be = beginning.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if beginning.is_empty() || !could_be {
        let error = anyhow!("`{typed}` is no session id; `rail sessions list` shows yours");
        return Err(Failure::Usage(error));
    }
    let mut found =
        rail_journal::beginning_with(sessions, &beginning).context("sessions can't be looked for")?;
    match found.len() {
        1 => found.pop().ok_or_else(|| missing(typed)),
        0 => Err(missing(typed)),
        count => {
            let mut ids: Vec<String> = found.iter().take(NAMED).map(|folder| id_of(folder)).collect();
            if count > NAMED {
                ids.push(format!("{} more", count - NAMED));
            }
            let ids = ids.join(", ");
            Err(Failure::Usage(anyhow!(
                "`{typed}` is the beginning of {count} sessions: {ids}; say more of the id"
            )))
        }
    }
}

/// The id of the session in a folder.
pub(super) fn id_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn missing(typed: &str) -> Failure {
    Failure::Usage(anyhow!("there is no session {typed}; `rail sessions list --all` shows those there are"))
}
