use std::fs;
use std::path::{Path, PathBuf};

use rail_permit::{Facet, Grant, Held, Kept};
use rail_sandbox::{Network, Shape};

use crate::hidden::HiddenFiles;
use crate::{Confine, Session};

/// How a command that was granted is confined.
pub(crate) fn of(session: &Session, grant: &Grant) -> Shape {
    let mut writable = grant.writable();
    match session.confine {
        Confine::Off => return Shape::Free,
        Confine::Workspace | Confine::ReadOnly if is_outside(grant) => return Shape::Free,
        Confine::Workspace => {}
        Confine::ReadOnly => writable.retain(|path| session.temp.as_deref() == Some(path)),
    }
    // What others keep in the folder for temporary files is nobody's workspace.
    let is_temp = |path: &&PathBuf| session.temp.as_ref() == Some(path);
    let folders = writable.iter().filter(|path| !is_temp(path)).map(PathBuf::as_path);
    let folders: Vec<&Path> = std::iter::once(session.workspace.as_path()).chain(folders).collect();
    let hidden = session.services.get::<HiddenFiles>().find(&grant.hidden(), &folders);
    make_own(&session.own, &writable);
    let is_kept_from = |path: &&PathBuf| !is_temp(path);
    let mut kept = grant.kept().all();
    kept.extend(writable.iter().filter(is_kept_from).flat_map(|folder| kept_within(grant.kept(), folder)));
    Shape::Confined {
        writable,
        kept,
        hidden,
        network: if grant.network() { Network::On } else { Network::Off },
    }
}

/// Makes this program's own folders where a command could make them: only what is there can be kept. They stay, because another
/// session may keep them at the same time, and what is removed is kept no more.
fn make_own(own: &[PathBuf], writable: &[PathBuf]) {
    for folder in own.iter().filter(|own| writable.iter().any(|place| own.starts_with(place))) {
        // Where we can't make it, neither can the command; what is made all the same is told afterwards.
        let _ = fs::create_dir_all(folder);
    }
}

/// What is kept in a writable folder besides what is kept at its top: submodules, and projects that stand directly in it.
fn kept_within(keeps: Kept<'_>, folder: &Path) -> Vec<PathBuf> {
    let git = folder.join(".git");
    let mut kept = Vec::new();
    // Of another worktree it is a file that says where git's folder is.
    if git.is_file() {
        kept.push(git.clone());
    }
    for project in folders_in(folder).into_iter().filter(|inner| *inner != git) {
        let inner = project.join(".git");
        if inner.is_file() {
            kept.push(inner.clone());
        }
        if inner.exists() || project.join(".switchrail").is_dir() {
            kept.extend(keeps.in_project(&project));
        }
    }
    // A submodule's name may have slashes in it.
    let mut open = vec![(git.join("modules"), SUBMODULE_DEPTH)];
    while let Some((folder, depth)) = open.pop() {
        for inner in folders_in(&folder) {
            if inner.join("HEAD").is_file() {
                kept.extend(keeps.of_git(&inner));
                open.push((inner.join("modules"), SUBMODULE_DEPTH));
            } else if depth > 1 {
                open.push((inner, depth - 1));
            }
        }
    }
    kept
}

/// How many names deep a submodule is looked for.
const SUBMODULE_DEPTH: usize = 4;

/// The folders in a folder, without links.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// The user said yes to a run outside of the sandbox.
fn is_outside(grant: &Grant) -> bool {
    grant.facets().iter().any(|facet| match facet {
        Facet::Exec(exec) => exec.held == Held::Outside,
        Facet::Read(_) | Facet::Write(_) | Facet::Net(_) | Facet::Foreign | Facet::Skill { .. } => false,
    })
}

/// Whether a grant is for running something.
pub(crate) fn runs(grant: &Grant) -> bool {
    grant.facets().iter().any(|facet| match facet {
        Facet::Exec(_) => true,
        Facet::Read(_) | Facet::Write(_) | Facet::Net(_) | Facet::Foreign | Facet::Skill { .. } => false,
    })
}
