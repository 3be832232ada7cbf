//! The files of a repository, as far as they matter.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use ignore::WalkBuilder;

/// No more files are looked at.
const MOST_FILES: usize = 50_000;
/// Nor is it looked for longer.
const LONGEST: Duration = Duration::from_secs(5);
/// No more of a file is read.
const MOST_BYTES: u64 = 256 << 10;
/// Nor of more files than this.
const MOST_TEXTS: usize = 200;

/// Files whose texts matter, wherever in the first two levels they are.
const TEXTS: [&str; 26] = [
    "Cargo.toml",
    "package.json",
    "deno.json",
    "composer.json",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "go.mod",
    "CMakeLists.txt",
    "rustfmt.toml",
    ".rustfmt.toml",
    ".editorconfig",
    ".prettierrc",
    ".prettierrc.json",
    ".clang-format",
    "ruff.toml",
    ".ruff.toml",
    "tsconfig.json",
    ".gitlab-ci.yml",
    "README.md",
];

/// The files of a repository that no ignore file names, by their paths with `/` between names, and the texts of those that say how it
/// is built.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Listing {
    /// The name of its folder.
    pub(crate) name: String,
    /// The paths.
    pub(crate) files: BTreeSet<String>,
    /// The texts.
    pub(crate) texts: BTreeMap<String, String>,
    /// Whether there are more files than were looked at.
    pub(crate) cut: bool,
}

impl Listing {
    /// Looks at a folder, from a moment on. What can't be read is left out.
    pub(crate) fn read(root: &Path, from: Instant) -> Self {
        let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        let mut listing = Self { name: name.unwrap_or_else(|| "repository".to_owned()), ..Self::default() };
        // The upper levels first: what is left out of a huge repository is deep down.
        listing.walk(root, Some(2), from);
        listing.walk(root, None, from);
        let wanted: Vec<String> = listing.files.iter().filter(|path| is_wanted(path)).cloned().collect();
        for path in wanted.into_iter().take(MOST_TEXTS) {
            if let Some(text) = text(&root.join(&path)) {
                listing.texts.insert(path, text);
            }
        }
        listing
    }

    fn walk(&mut self, root: &Path, depth: Option<usize>, from: Instant) {
        let mut walk = WalkBuilder::new(root);
        walk.hidden(false).require_git(false).follow_links(false).max_depth(depth);
        walk.sort_by_file_name(Ord::cmp).filter_entry(|entry| entry.file_name() != ".git");
        for entry in walk.build().filter_map(Result::ok) {
            if self.files.len() >= MOST_FILES || from.elapsed() > LONGEST {
                self.cut = true;
                return;
            }
            let is_folder = entry.file_type().is_none_or(|kind| kind.is_dir());
            let path = entry.path().strip_prefix(root).ok().and_then(Path::to_str);
            if let (false, Some(path)) = (is_folder, path) {
                self.files.insert(path.replace('\\', "/"));
            }
        }
    }

    /// Whether there is a file of this path.
    pub(super) fn has(&self, path: &str) -> bool {
        self.files.contains(path)
    }

    /// The text of a file; empty when there is none.
    pub(super) fn text(&self, path: &str) -> &str {
        self.texts.get(path).map(String::as_str).unwrap_or_default()
    }

    /// The files below a folder, which ends with `/`; all for an empty one.
    pub(super) fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = &'a str> {
        self.files.iter().map(String::as_str).filter(move |path| path.starts_with(folder))
    }
}

fn is_wanted(path: &str) -> bool {
    let mut names = path.rsplit('/');
    let name = names.next().unwrap_or_default();
    let depth = names.count();
    (depth <= 1 && TEXTS.contains(&name))
        || path.starts_with(".github/workflows/")
        || path == ".cargo/config.toml"
}

/// The text of a regular file, or of its beginning; a link out of the repository is not followed.
fn text(path: &Path) -> Option<String> {
    path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Now;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn ignore_files_are_obeyed_and_links_not_followed() {
        let folder = folder(&[
            (".gitignore", "out/\n*.log\n"),
            (".ignore", "vendor\n"),
            (".git/config", ""),
            ("out/a.rs", ""),
            ("vendor/b.rs", ""),
            ("x.log", ""),
            ("src/lib.rs", ""),
            ("deep/er/Makefile", "all:\n"),
            ("Makefile", "all:\n"),
        ]);
        std::os::unix::fs::symlink("/", folder.path().join("root")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("package.json")).unwrap();
        let listing = Listing::read(folder.path(), Now::read().instant);
        let files: Vec<&str> = listing.files.iter().map(String::as_str).collect();
        assert_eq!(
            files,
            [".gitignore", ".ignore", "Makefile", "deep/er/Makefile", "package.json", "root", "src/lib.rs"]
        );
        assert_eq!(listing.texts.keys().collect::<Vec<_>>(), ["Makefile"]);
        assert!(!listing.cut);
    }

    #[test]
    fn a_look_ends_when_its_time_is_over() {
        let folder = folder(&[("a", ""), ("b/c", "")]);
        let long_ago = Now::read().instant.checked_sub(LONGEST * 2).unwrap();
        let listing = Listing::read(folder.path(), long_ago);
        assert!(listing.cut && listing.files.is_empty(), "{listing:?}");
    }
}
