use std::path::{Path, PathBuf};

use rail_permit::{Facet, Grant, Held};
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
    let mut kept = grant.kept();
    // Of another worktree it is a file that says where git's folder is.
    kept.extend(writable.iter().map(|folder| folder.join(".git")).filter(|git| git.is_file()));
    Shape::Confined {
        writable,
        kept,
        hidden,
        network: if grant.network() { Network::On } else { Network::Off },
    }
}

/// The user said yes to a run outside of the sandbox.
fn is_outside(grant: &Grant) -> bool {
    grant.facets().iter().any(|facet| match facet {
        Facet::Exec(exec) => exec.held == Held::Outside,
        Facet::Read(_) | Facet::Write(_) | Facet::Net(_) | Facet::Foreign => false,
    })
}

/// Whether a grant is for running something.
pub(crate) fn runs(grant: &Grant) -> bool {
    grant.facets().iter().any(|facet| match facet {
        Facet::Exec(_) => true,
        Facet::Read(_) | Facet::Write(_) | Facet::Net(_) | Facet::Foreign => false,
    })
}
