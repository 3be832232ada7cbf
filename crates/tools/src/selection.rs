//! Which files are meant by paths, folders and patterns.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use rail_tool::{FileFault, ToolCx, ToolFault};

use crate::list_directory::no_folder;
use crate::search::pattern::{Case, Filter, Pattern, PatternFault};

/// Folders whose files nobody wrote.
const EXCLUDED: [&str; 14] = [
    ".git",
    ".hg",
    ".jj",
    ".svn",
    ".idea",
    ".vscode",
    ".venv",
    "__pycache__",
    "build",
    "coverage",
    "dist",
    "node_modules",
    "target",
    "venv",
];

/// How deep folders and patterns without a slash go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Depth {
    /// In the folder itself.
    One,
    /// In all folders below it as well.
    All,
}

/// Which files are left out of folders and patterns.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    /// Those that the call leaves out.
    pub(crate) exclude: Filter,
    /// How deep folders and patterns without a slash go.
    pub(crate) depth: Depth,
    /// Whether folders whose files nobody wrote are left out.
    pub(crate) default_excludes: bool,
    /// Whether ignore files are obeyed.
    pub(crate) ignore_files: bool,
}

/// A file that is meant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Picked {
    /// Its path.
    pub(crate) path: PathBuf,
    /// How it was chosen.
    pub(crate) chosen: Chosen,
}

/// How a file was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Chosen {
    /// By its name.
    Exactly,
    /// By a pattern that names its ending.
    Ending,
    /// It is one of many.
    Found,
}

/// The files that are meant by one path or pattern, by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Choice {
    /// The files.
    pub(crate) files: Vec<Picked>,
    /// Whether there are more.
    pub(crate) cut: bool,
}

impl Selection {
    /// The files that are meant by a path or pattern.
    ///
    /// # Errors
    /// It is no pattern.
    pub(crate) fn choose(&self, cx: &ToolCx, written: &str) -> Result<Choice, ToolFault> {
        let path = cx.path(written);
        let is_folder = match cx.files().open(&path) {
            // Brackets are letters of a name as well.
            Ok(_) => return Ok(Choice::exactly(path)),
            Err(FileFault::Folder { .. }) => true,
            Err(_) => false,
        };
        if is_folder {
            return self.walk(cx, &path, &pattern("**")?);
        }
        let mut pattern = pattern(written)?;
        if pattern.is_literal() {
            return Ok(Choice::exactly(path));
        }
        pattern.anywhere &= self.depth == Depth::All;
        self.walk(cx, &cx.path(&pattern.folder), &pattern)
    }

    fn walk(&self, cx: &ToolCx, folder: &Path, wanted: &Pattern) -> Result<Choice, ToolFault> {
        let matcher = wanted.matcher().map_err(fault)?;
        let ending = Path::new(&wanted.rest).extension();
        // The grant is held against the folder as it is now, before any name in it is looked at.
        cx.files().list(folder).map_err(|fault| no_folder(cx, folder, fault))?;
        let cwd = cx.session().cwd();
        let mut choice = Choice { files: Vec::new(), cut: false };
        for entry in self.walker(folder, &cwd).build() {
            if cx.cancel().is_cancelled() {
                return Err(ToolFault::new("the call was cancelled"));
            }
            // What can't be looked at is not found.
            let Ok(entry) = entry else { continue };
            let path = entry.path();
            let below = path.strip_prefix(folder).unwrap_or(path);
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink());
            if !is_file || !matcher.is_match(below) || self.excludes(path, folder, &cwd) {
                continue;
            }
            if choice.files.len() == cx.session().limits.read.files {
                choice.cut = true;
                break;
            }
            let named = ending.is_some() && path.extension() == ending;
            let chosen = if named { Chosen::Ending } else { Chosen::Found };
            choice.files.push(Picked { path: path.to_owned(), chosen });
        }
        Ok(choice)
    }

    fn walker(&self, folder: &Path, cwd: &Path) -> WalkBuilder {
        let mut walker = WalkBuilder::new(folder);
        walker.standard_filters(self.ignore_files).hidden(false).follow_links(false).current_dir(cwd);
        walker.max_depth((self.depth == Depth::One).then_some(1)).sort_by_file_path(Path::cmp);
        let default_excludes = self.default_excludes;
        walker.filter_entry(move |entry| {
            let name = entry.file_name();
            let excluded = default_excludes && EXCLUDED.iter().any(|excluded| name == *excluded);
            // The folder that was asked for is gone through whatever its name.
            entry.depth() == 0 || !excluded || !entry.file_type().is_some_and(|kind| kind.is_dir())
        });
        walker
    }

    fn excludes(&self, path: &Path, folder: &Path, cwd: &Path) -> bool {
        let from = |base: &Path| path.strip_prefix(base).is_ok_and(|below| self.exclude.drops(below));
        from(folder) || from(cwd) || self.exclude.drops(path)
    }
}

/// What was written, as a pattern.
///
/// # Errors
/// It is none.
fn pattern(written: &str) -> Result<Pattern, ToolFault> {
    Pattern::parse(written, Case::Sensitive).map_err(fault)
}

pub(crate) fn fault(fault: PatternFault) -> ToolFault {
    ToolFault::new(fault.to_string())
}

impl Choice {
    fn exactly(path: PathBuf) -> Self {
        Self { files: vec![Picked { path, chosen: Chosen::Exactly }], cut: false }
    }
}
