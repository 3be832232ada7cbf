use std::path::{Component, Path, PathBuf};

use crate::World;
use crate::path::{Glob, Step};
use crate::shell::{Simple, Word};

/// Where a command could be when it runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Folders {
    /// Where it is if every `cd` before it worked; None when nobody can tell.
    now: Option<PathBuf>,
    /// Where it could be as well.
    maybe: Vec<PathBuf>,
    /// Where it was before a `cd` that surely worked if the next command runs at all.
    left: Vec<PathBuf>,
}

/// Folders that are followed at most; with more nobody can tell where a command is.
const MOST_FOLDERS: usize = 16;

/// The files that a word could mean.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Meant {
    /// Absolute paths: any of them. Of a pattern or an unknown word, its fixed beginning.
    pub(crate) paths: Vec<PathBuf>,
    /// What a shell replaces by the names of files, under the paths.
    pub(crate) pattern: Vec<Step>,
    /// Its value is known only when it runs, so it could be any file.
    pub(crate) unknown: bool,
}

impl Folders {
    pub(crate) fn at(cwd: &Path) -> Self {
        Self { now: Some(cwd.to_owned()), maybe: Vec::new(), left: Vec::new() }
    }

    /// A command follows that may run although a `cd` before it failed, or where its `cd` does not last.
    pub(crate) fn doubt(&mut self) {
        for folder in std::mem::take(&mut self.left) {
            self.add(folder);
        }
    }

    /// After a `cd`; None for a folder that nobody can tell.
    pub(crate) fn change(&mut self, to: Option<&Path>) {
        let from_others: Vec<PathBuf> =
            self.maybe.iter().flat_map(|folder| to.map(|to| folder.join(to))).collect();
        from_others.into_iter().for_each(|folder| self.add(folder));
        self.left.extend(self.now.clone());
        let joined = self.now.as_ref().and_then(|now| to.map(|to| now.join(to)));
        // A shell takes `..` from the name by which it came in, the system from the real folder.
        if let Some(folder) = &joined {
            self.add(by_name(folder));
        }
        self.now = joined;
    }

    fn add(&mut self, folder: PathBuf) {
        if self.maybe.len() >= MOST_FOLDERS {
            self.now = None;
        } else if !self.maybe.contains(&folder) {
            self.maybe.push(folder);
        }
    }

    /// All folders where a command could be.
    fn all(&self) -> impl Iterator<Item = &Path> {
        self.now.iter().chain(&self.maybe).map(PathBuf::as_path)
    }

    /// What a repository makes git run, if this is git, wherever it could be.
    pub(crate) fn git_runs(&self, world: &dyn World, simple: &Simple, works_in: &[Word]) -> Option<String> {
        let program =
            simple.words.first().and_then(Word::literal).and_then(|program| program.rsplit('/').next());
        if program != Some("git") {
            return None;
        }
        let told = works_in.iter().flat_map(|word| self.meant(word, None).paths);
        self.all().map(Path::to_owned).chain(told).find_map(|folder| world.git_runs(&folder))
    }

    /// Which files a word means.
    pub(crate) fn meant(&self, word: &Word, home: Option<&Path>) -> Meant {
        match word {
            Word::Literal(text) => self.literal(text, home),
            Word::Pattern(text) => {
                let (fixed, pattern) = split_pattern(text);
                let meant = self.literal(fixed, home);
                // What only some shells know could be any name.
                Meant { pattern, unknown: meant.unknown || text.contains(['{', '(']), ..meant }
            }
            Word::Dynamic { text, .. } if is_at_home(text) => self.literal(text, home),
            Word::Dynamic { text, known } => {
                let folder = known.rfind('/').and_then(|end| known.get(..=end)).unwrap_or_default();
                let mut paths = if folder.is_empty() { Vec::new() } else { self.literal(folder, home).paths };
                // What a rule denies is denied under the usual value of the variable too.
                let rest = at_home(text).filter(|rest| is_plain(rest));
                paths.extend(rest.zip(home).map(|(rest, home)| home.join(rest)));
                Meant { paths, pattern: Vec::new(), unknown: true }
            }
        }
    }

    fn literal(&self, text: &str, home: Option<&Path>) -> Meant {
        let mut paths: Vec<PathBuf> = self.all().map(|cwd| cwd.join(text)).collect();
        let mut unknown = self.now.is_none() && !text.starts_with('/');
        if let Some(rest) = text.strip_prefix('~') {
            // Whether it stood in quotes is not known here: both files are meant.
            match (rest.is_empty() || rest.starts_with('/'), home) {
                (true, Some(home)) => paths.push(home.join(rest.trim_start_matches('/'))),
                (true, None) | (false, _) => unknown = true,
            }
        }
        let through: Vec<PathBuf> = paths.iter().flat_map(|path| self.through_process(path)).collect();
        paths.extend(through);
        Meant { paths, pattern: Vec::new(), unknown }
    }

    /// What `/proc/self/cwd/x` and `/proc/self/root/x` are for the command.
    fn through_process(&self, path: &Path) -> Vec<PathBuf> {
        let mut names = path.iter();
        let head: Vec<&str> = names.by_ref().take(4).map(|name| name.to_str().unwrap_or("?")).collect();
        let rest = names.as_path();
        match head.as_slice() {
            ["/", "proc", _, "root"] => vec![Path::new("/").join(rest)],
            ["/", "proc", _, "cwd"] => self.all().map(|cwd| cwd.join(rest)).collect(),
            _ => Vec::new(),
        }
    }
}

/// What stands behind the home folder, however that is written.
fn at_home(text: &str) -> Option<&str> {
    let text = text.trim_matches('"');
    let rest = ["~", "$HOME", "${HOME}"].iter().find_map(|home| text.strip_prefix(home))?;
    let rest = rest.trim_start_matches('"');
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// A path that begins with `~/`, and whose value is known with the home folder.
pub(crate) fn is_at_home(text: &str) -> bool {
    text.starts_with('~') && at_home(text).is_some_and(is_plain)
}

/// A path in which nothing has another meaning to a shell.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || "._-/@+,:=%".contains(c))
}

/// The path with `..` taken from the text.
fn by_name(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => clean.push(component),
        }
    }
    clean
}

/// The fixed beginning of a pattern, and the steps behind it. A lone `*` at its end is as good as the folder.
fn split_pattern(text: &str) -> (&str, Vec<Step>) {
    let wild = text.find(['*', '?', '[', '{', '(', '\\']).unwrap_or(text.len());
    let start = text.get(..wild).and_then(|fixed| fixed.rfind('/')).map_or(0, |slash| slash + 1);
    let (fixed, rest) = text.split_at_checked(start).unwrap_or(("", text));
    if matches!(rest, "*" | "**") {
        return (fixed, Vec::new());
    }
    let mut steps = Vec::new();
    for part in rest.split('/').filter(|part| !part.is_empty() && *part != ".") {
        // What stands in brackets may hold a slash, so nothing behind it is certain.
        if let Some((before, _)) = part.split_once(['{', '(']) {
            steps.extend((!before.is_empty()).then(|| Step::One(Glob::new(&format!("{before}*")))));
            steps.push(Step::Many);
            break;
        }
        steps.push(match part {
            "**" => Step::Many,
            _ => Step::One(Glob::new(part)),
        });
    }
    (fixed, steps)
}

/// Where a `cd` goes.
pub(crate) enum Target {
    Folder(Word),
    Home,
    Unknown,
}

/// Where a command changes the folder to, if that is what it does.
pub(crate) fn folder_change(simple: &Simple) -> Option<Target> {
    let mut words =
        simple.words.iter().skip_while(|word| matches!(word.literal(), Some("builtin" | "command")));
    let program = words.next()?.literal()?;
    let mut rest = words
        .filter(|word| !matches!(word.literal(), Some("-L" | "-P" | "-e" | "-@" | "--" | "-LP" | "-PL")));
    match (program, rest.next(), rest.next()) {
        ("cd" | "chdir", None, _) => Some(Target::Home),
        ("cd" | "chdir" | "pushd", Some(Word::Literal(text)), _) if text.starts_with(['-', '+']) => {
            Some(Target::Unknown)
        }
        ("cd" | "chdir" | "pushd", Some(to), None) => Some(Target::Folder(to.clone())),
        ("cd" | "chdir" | "pushd" | "popd", _, _) => Some(Target::Unknown),
        (_, _, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(word: Word) -> Meant {
        Folders::at(Path::new("/srv/ws")).meant(&word, Some(Path::new("/srv/u")))
    }

    fn paths(word: Word) -> Vec<String> {
        meant(word).paths.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn words_mean_files() {
        let literal = |text: &str| Word::Literal(text.to_owned());
        assert_eq!(paths(literal("a")), ["/srv/ws/a"]);
        assert_eq!(paths(literal("/etc/x")), ["/etc/x"]);
        assert_eq!(paths(literal("../x")), ["/srv/ws/../x"]);
        assert_eq!(paths(literal("~/x")), ["/srv/ws/~/x", "/srv/u/x"]);
        assert_eq!(paths(literal("/proc/self/root/etc/x")), ["/proc/self/root/etc/x", "/etc/x"]);
        assert_eq!(paths(literal("/proc/7/cwd/x")), ["/proc/7/cwd/x", "/srv/ws/x"]);
        assert!(meant(literal("~bob/x")).unknown);
        let dynamic = |text: &str| Word::Dynamic { text: text.to_owned(), known: String::new() };
        assert_eq!(paths(dynamic("~/x")), ["/srv/ws/~/x", "/srv/u/x"]);
        assert!(!meant(dynamic("~/x")).unknown);
        assert_eq!(paths(dynamic("\"$HOME/x\"")), ["/srv/u/x"]);
        assert_eq!(paths(dynamic("${HOME}/x")), ["/srv/u/x"]);
        assert!(
            meant(dynamic("$HOME/x")).unknown
                && meant(dynamic("~/$X")).unknown
                && meant(dynamic("~bob")).unknown
        );
        let pattern = |text: &str| Word::Pattern(text.to_owned());
        assert_eq!(paths(pattern("/etc/*.conf")), ["/etc/"]);
        assert_eq!(paths(pattern("*.rs")), ["/srv/ws/"]);
        assert_eq!(meant(pattern("src/*")).pattern, []);
        assert_eq!(meant(pattern("src/**")).pattern, []);
        assert_eq!(meant(pattern("src/*.rs")).pattern.len(), 1);
        let dynamic = Word::Dynamic { text: "/etc/$X".to_owned(), known: "/etc/".to_owned() };
        assert_eq!((paths(dynamic.clone()), meant(dynamic).unknown), (vec!["/etc/".to_owned()], true));
    }
}
