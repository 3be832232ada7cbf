use std::fs;
use std::path::{Path, PathBuf};

use rail_permit::Grant;

use crate::Session;

/// Places that were not there before a command ran, and from which somebody runs programs once they are. The sandbox keeps what is
/// there; what is not, it can't.
pub(crate) struct Absent {
    places: Vec<PathBuf>,
    /// Files by which git takes its settings and hooks from another folder. In a repository's first folder no program makes them.
    detours: Vec<PathBuf>,
    workspace: PathBuf,
}

impl Absent {
    /// What is not there now.
    pub(crate) fn before(session: &Session, grant: &Grant) -> Self {
        let keeps = grant.kept();
        let missing = |path: &PathBuf| fs::symlink_metadata(path).is_err();
        let places =
            keeps.all().into_iter().filter(|path| !keeps.may_be_made(path)).filter(missing).collect();
        let roots = grant.writable().into_iter().filter(|folder| session.temp.as_ref() != Some(folder));
        let detours = roots.map(|folder| folder.join(".git/commondir")).filter(missing).collect();
        Self { places, detours, workspace: session.workspace.clone() }
    }

    /// What of it is there now, in a sentence. A detour of git is taken away again: it would lead every `git` of the user through
    /// settings that a command wrote.
    pub(crate) fn told(self) -> Option<String> {
        let there = |path: &&PathBuf| fs::symlink_metadata(path).is_ok();
        let shown =
            |path: &Path| format!("`{}`", path.strip_prefix(&self.workspace).unwrap_or(path).display());
        let mut said = Vec::new();
        for detour in self.detours.iter().filter(there) {
            let how = match fs::remove_file(detour) {
                Ok(()) => "it was removed again".to_owned(),
                Err(error) => {
                    format!("it could not be removed ({error}): tell the user to do it before any use of git")
                }
            };
            said.push(format!(
                "the command made {}, by which git would take its settings and hooks from another folder; {how}",
                shown(detour)
            ));
        }
        let made: Vec<String> = self.places.iter().filter(there).map(|path| shown(path)).collect();
        if !made.is_empty() {
            said.push(format!(
                "the command made {}, from which other programs take settings or run commands; tell the user, who should look at it first",
                made.join(", ")
            ));
        }
        (!said.is_empty()).then(|| said.iter().map(|it| format!("[{it}]")).collect::<Vec<_>>().join("\n"))
    }
}
