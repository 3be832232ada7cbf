//! The files that `@` can name.

use ignore::WalkBuilder;
use rail_tui::complete::Files;

use crate::agent::slash::Ground;
use crate::permission::workspace;

/// So many are listed at most: more would take memory and time, and nobody finds a file among them.
const AT_MOST: usize = 300_000;

/// The files and folders of the workspace, without those that ignore files name.
pub(super) fn all(_: &Ground) -> Files {
    let Ok(root) = workspace() else { return Files::default() };
    let walk =
        WalkBuilder::new(&root).hidden(false).filter_entry(|entry| entry.file_name() != ".git").build();
    let name = |entry: ignore::DirEntry| {
        let path = entry.path().strip_prefix(&root).ok()?.to_str()?;
        let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        (!path.is_empty()).then(|| if folder { format!("{path}/") } else { path.to_owned() })
    };
    Files::new(walk.filter_map(Result::ok).filter_map(name).take(AT_MOST))
}
