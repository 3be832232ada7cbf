//! Files that need a question of their own: secrets, and what somebody runs.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::path::{Bases, Case, Fence, Glob, List, PathPattern, Step};

/// What a secret file is, in words that follow "it is"; None for a file that is no secret. The path has its links resolved.
pub fn secret(path: &Path) -> Option<&'static str> {
    let what = PLACES.secret.find(path)?;
    PLACES.plain.find(path).is_none().then_some(what)
}

/// What a file is whose writing always asks.
pub(crate) fn guarded(path: &Path) -> Option<&'static str> {
    PLACES.guarded.find(path)
}

/// What a secret is that a shell could put in the place of a pattern such as `.e*` under a folder.
pub(crate) fn may_be_secret(folder: &Path, pattern: &[Step]) -> Option<&'static str> {
    let Some(Step::One(last)) = pattern.last() else { return None };
    secret(&folder.join(last.text())).or_else(|| PLACES.secret.may_find(folder, pattern))
}

/// What a guarded file is that a shell could put in the place of a pattern under a folder.
pub(crate) fn may_be_guarded(folder: &Path, pattern: &[Step]) -> Option<&'static str> {
    if pattern.is_empty() { None } else { PLACES.guarded.may_find(folder, pattern) }
}

/// The patterns of secret files, as rules have them.
pub(crate) fn secret_patterns() -> impl Iterator<Item = &'static str> {
    PLACES.secret.texts.iter().copied()
}

/// The guarded files and folders that have one certain name in a project's folder, with that name; git's own are left out, since
/// git writes most of them.
pub(crate) fn guarded_in(project: &Path) -> impl Iterator<Item = (&'static str, PathBuf)> {
    let names = PLACES.guarded.texts.iter().filter(|text| !text.starts_with("//")).map(|text| {
        let text = text.strip_prefix("**/").unwrap_or(text);
        text.strip_suffix("/**").unwrap_or(text)
    });
    let certain = names.filter(|name| !name.contains(['*', '?', '[']) && *name != ".git");
    certain.map(|name| (name, project.join(name)))
}

static PLACES: LazyLock<Places> = LazyLock::new(|| read(include_str!("../data/places.txt")));

#[derive(Default)]
struct Places {
    secret: Table,
    plain: Table,
    guarded: Table,
}

/// Patterns, sorted for a fast answer: nearly all files are in no table.
#[derive(Default)]
struct Table {
    texts: Vec<&'static str>,
    /// Whole names, in small letters, sorted.
    names: Vec<(&'static str, &'static str)>,
    /// Endings of names, with their dot, in small letters.
    endings: Vec<(&'static str, &'static str)>,
    /// Names of folders, in small letters, sorted: without one of them no fence holds a path.
    folders: Vec<String>,
    /// The first letters of those names.
    letters: Letters,
    /// Paths.
    fences: Vec<(Fence, &'static str)>,
    /// Names with stars in them.
    loose: Vec<(Glob, &'static str)>,
}

impl Table {
    fn find(&self, path: &Path) -> Option<&'static str> {
        let name = path.file_name()?.as_encoded_bytes();
        if let Ok(at) = self.names.binary_search_by(|(known, _)| by_small_letters(known.as_bytes(), name)) {
            return self.names.get(at).map(|(_, what)| *what);
        }
        let ending =
            name.iter().rposition(|byte| *byte == b'.').and_then(|at| name.get(at..)).unwrap_or_default();
        let by_ending = self.endings.iter().find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(ending));
        if let Some((_, what)) = by_ending {
            return Some(*what);
        }
        if let Some((_, what)) = self.loose.iter().find(|(glob, _)| glob.fits(name, Case::Ignored)) {
            return Some(*what);
        }
        let fences = if self.has_folder(path) { self.fences.as_slice() } else { &[] };
        fences.iter().find(|(fence, _)| fence.holds(path, Case::Ignored)).map(|(_, what)| *what)
    }

    /// Names that a pattern means by its beginning; those that begin with a star mean anything.
    fn may_find(&self, folder: &Path, pattern: &[Step]) -> Option<&'static str> {
        let last = match pattern.last() {
            Some(Step::One(last)) if !last.text().starts_with(['*', '?', '[']) => Some(last),
            Some(Step::One(_) | Step::Many) | None => None,
        };
        let fits = |name: &str| last.is_some_and(|last| last.fits(name.as_bytes(), Case::Ignored));
        let by_name = self.names.iter().find(|(name, _)| fits(name)).map(|(_, what)| *what);
        let by_fence =
            || self.fences.iter().find(|(fence, _)| fence.may_hold(folder, pattern)).map(|(_, what)| *what);
        by_name.or_else(by_fence)
    }

    fn has_folder(&self, path: &Path) -> bool {
        let mut names = path.as_os_str().as_encoded_bytes().split(|byte| *byte == b'/');
        names.any(|name| {
            let first = name.first().map(u8::to_ascii_lowercase);
            first.is_some_and(|first| self.letters.has(first))
                && self.folders.binary_search_by(|known| by_small_letters(known.as_bytes(), name)).is_ok()
        })
    }

    fn add(&mut self, text: &'static str, what: &'static str) {
        self.texts.push(text);
        let plain =
            |text: &str| !text.contains(['*', '?', '[', '\\', '/']) && text == text.to_ascii_lowercase();
        if plain(text) {
            self.names.push((text, what));
        } else if let Some(ending) =
            text.strip_prefix('*').filter(|end| plain(end) && end.rfind('.') == Some(0))
        {
            self.endings.push((ending, what));
        } else {
            let bases = Bases { workspace: None, home: None };
            let pattern = PathPattern::parse(text).ok();
            let Some(fence) = pattern.and_then(|pattern| pattern.fence(bases, List::Forbid)) else { return };
            match fence.first_name() {
                Some(folder) => {
                    self.folders.push(folder.to_ascii_lowercase());
                    self.fences.push((fence, what));
                }
                None if !text.contains('/') => self.loose.push((Glob::new(text), what)),
                // The test of the table fails for a line that is taken nowhere.
                None => {}
            }
        }
    }

    fn sorted(mut self) -> Self {
        self.names.sort_unstable();
        self.folders.sort_unstable();
        self.letters.0 =
            self.folders.iter().filter_map(|name| name.bytes().next()).fold(0, |all, byte| all | bit(byte));
        self
    }
}

/// A set of ASCII letters.
#[derive(Default)]
struct Letters(u128);

impl Letters {
    fn has(&self, byte: u8) -> bool {
        self.0 & bit(byte) != 0
    }
}

fn bit(byte: u8) -> u128 {
    1_u128.checked_shl(u32::from(byte)).unwrap_or(0)
}

/// Compares a name of the table with a file's, whose case counts for nothing.
fn by_small_letters(known: &[u8], name: &[u8]) -> Ordering {
    known.iter().copied().cmp(name.iter().map(u8::to_ascii_lowercase))
}

fn read(text: &'static str) -> Places {
    let mut places = Places::default();
    let mut group = None;
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        if let Some((kind, what)) = line.split_once(": ").filter(|_| !line.starts_with(' ')) {
            group = Some((kind, what));
            continue;
        }
        match group {
            Some(("secret", what)) => places.secret.add(line.trim(), what),
            Some(("guarded", what)) => places.guarded.add(line.trim(), what),
            Some(("plain", what)) => places.plain.add(line.trim(), what),
            // A test reads the file, so that no group is left out by mistake.
            Some(_) | None => {}
        }
    }
    Places { secret: places.secret.sorted(), plain: places.plain.sorted(), guarded: places.guarded.sorted() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_taken() {
        let lines = include_str!("../data/places.txt").lines().filter(|line| line.starts_with(' ')).count();
        let tables = [&PLACES.secret, &PLACES.plain, &PLACES.guarded];
        let taken =
            |table: &Table| table.names.len() + table.endings.len() + table.fences.len() + table.loose.len();
        assert_eq!(tables.iter().map(|table| taken(table)).sum::<usize>(), lines);
        for table in tables {
            let mut names = table.names.clone();
            names.dedup_by_key(|(name, _)| *name);
            assert_eq!(names.len(), table.names.len(), "a name stands twice");
        }
    }

    #[test]
    fn secrets() {
        for (path, expected) in [
            ("/srv/ws/.env", true),
            ("/srv/ws/a/.ENV", true),
            ("/srv/ws/.env.local", true),
            ("/srv/ws/.env.example", false),
            ("/srv/ws/.env.sample", false),
            ("/srv/ws/.env.template", false),
            ("/srv/ws/.environment", false),
            ("/srv/ws/env", false),
            ("/srv/ws/server.pem", true),
            ("/srv/ws/server.key", true),
            ("/srv/ws/keyboard.rs", false),
            ("/srv/u/.ssh/id_ed25519", true),
            ("/srv/u/.ssh/anything", true),
            ("/srv/u/.ssh/id_ed25519.pub", false),
            ("/srv/u/.ssh/config", false),
            ("/srv/u/.ssh", true),
            ("/srv/u/.aws/credentials", true),
            ("/srv/u/.aws/config", false),
            ("/srv/u/.config/gcloud/x/y", true),
            ("/srv/u/.config/gh/hosts.yml", true),
            ("/srv/u/.config/gh/config.yml", false),
            ("/srv/u/.docker/config.json", true),
            ("/srv/u/.kube/config", true),
            ("/srv/u/.gnupg/private-keys-v1.d/x", true),
            ("/srv/u/.netrc", true),
            ("/srv/u/.git-credentials", true),
            ("/srv/u/.claude/.credentials.json", true),
            ("/srv/u/.codex/auth.json", true),
            ("/srv/u/.gemini/oauth_creds.json", true),
            ("/srv/u/.mozilla/firefox/p/logins.json", true),
            ("/srv/u/.local/share/keyrings/login.keyring", true),
            ("/etc/shadow", true),
            ("/srv/etc/shadow", false),
            ("/proc/1/environ", true),
            ("/proc/self/environ", true),
            ("/proc/1/status", false),
            ("/srv/ws/client_secret_1.json", true),
            ("/srv/ws/src/main.rs", false),
            ("/", false),
        ] {
            assert_eq!(secret(Path::new(path)).is_some(), expected, "{path}");
        }
    }

    #[test]
    fn guarded_places() {
        for (path, expected) in [
            ("/srv/ws/.git/hooks/pre-commit", true),
            ("/srv/ws/.git/config", true),
            ("/srv/ws/.git", true),
            ("/srv/ws/.GIT/config", true),
            ("/srv/ws/.github/workflows/ci.yml", false),
            ("/srv/ws/.gitignore", false),
            ("/srv/u/.gitconfig", true),
            ("/srv/u/.bashrc", true),
            ("/srv/u/.zshenv", true),
            ("/srv/u/.config/fish/config.fish", true),
            ("/srv/u/.ssh/authorized_keys", true),
            ("/srv/ws/.switchrail/config.toml", true),
            ("/srv/ws/.mcp.json", true),
            ("/srv/ws/.vscode/tasks.json", true),
            ("/srv/ws/.vscode/extensions.json", false),
            ("/srv/ws/.envrc", true),
            ("/srv/ws/.npmrc", true),
            ("/srv/ws/.yarnrc.yml", true),
            ("/srv/u/.config/pip/pip.conf", true),
            ("/srv/ws/.cargo/config.toml", true),
            ("/srv/ws/Cargo.toml", false),
            ("/srv/ws/src/main.rs", false),
        ] {
            assert_eq!(guarded(Path::new(path)).is_some(), expected, "{path}");
        }
    }

    #[test]
    fn guarded_places_of_a_project() {
        let all: Vec<PathBuf> = guarded_in(Path::new("/p")).map(|(_, path)| path).collect();
        for name in [
            ".mcp.json",
            ".envrc",
            ".claude/settings.json",
            ".vscode/tasks.json",
            ".switchrail",
            ".ssh",
            ".husky",
        ] {
            assert!(all.contains(&Path::new("/p").join(name)), "{name}");
        }
        for path in &all {
            assert!(guarded(path).is_some() && !path.starts_with("/p/.git"), "{path:?}");
        }
    }
}
