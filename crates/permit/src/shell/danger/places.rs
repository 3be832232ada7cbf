use super::super::Word;
use super::{Finding, ask, refuse};

/// Folders of the system itself.
const SYSTEM: &[&str] = &[
    "Applications",
    "Library",
    "System",
    "bin",
    "boot",
    "dev",
    "etc",
    "lib",
    "lib32",
    "lib64",
    "opt",
    "proc",
    "root",
    "run",
    "sbin",
    "sys",
    "usr",
    "var",
];
/// Folders that hold the homes of people.
const HOMES: &[&str] = &["Users", "home"];

/// A path without `.`, `..` and doubled slashes, as far as its text says.
pub(super) fn lexical(path: &str) -> String {
    let absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            ("..", None) if absolute => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (absolute, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

/// What removing a whole folder would mean, for folders that matter.
pub(super) fn folder(path: &str, home: &str) -> Option<Finding> {
    let path = lexical(path);
    if path == "/" {
        return refuse("deletes the root folder");
    }
    if path == home || home.strip_prefix(&path).is_some_and(|rest| rest.starts_with('/')) {
        return refuse("deletes the home folder");
    }
    if path.split('/').all(|part| matches!(part, "." | "..")) {
        return ask(format!("deletes the whole folder `{path}`"));
    }
    if path.split('/').next_back() == Some(".git") {
        return ask("deletes a repository's history");
    }
    if path.strip_prefix(home).is_some_and(|rest| rest.starts_with('/')) || path.starts_with("/var/tmp/") {
        return None;
    }
    let mut parts = path.strip_prefix('/')?.split('/');
    let (first, more) = (parts.next()?, parts.count());
    let shallow = more == 0 || (more == 1 && HOMES.contains(&first));
    if shallow || SYSTEM.contains(&first) {
        return ask(format!("deletes `{path}`, a folder of the system"));
    }
    None
}

/// What removing what a word names would mean.
pub(super) fn target(word: &Word, home: &str) -> Option<Finding> {
    match word.at_home(Some(home)) {
        Word::Literal(path) => folder(&path, home),
        Word::Pattern(path) => {
            let (base, rest) = cut_pattern(&path);
            let whole = rest.chars().all(|c| "*?.[]!^/".contains(c));
            match (whole, base.is_empty()) {
                (true, true) => ask("deletes everything in the folder"),
                (true, false) => folder(base, home),
                (false, true) => None,
                (false, false) => folder(base, home).and_then(|_| ask(format!("deletes much of `{base}`"))),
            }
        }
        Word::Dynamic { known, text } if known.is_empty() => {
            ask(format!("deletes what `{text}` says when it runs"))
        }
        Word::Dynamic { known, text } => {
            let base = known.rsplit_once('/').map(|(base, _)| format!("{base}/"))?;
            folder(&base, home).and_then(|_| ask(format!("deletes what `{text}` says when it runs")))
        }
    }
}

/// A pattern's folder, and what follows it.
fn cut_pattern(path: &str) -> (&str, &str) {
    let sign = path.find(['*', '?', '[']).unwrap_or(path.len());
    let end = path.get(..sign).and_then(|before| before.rfind('/')).map_or(0, |slash| slash + 1);
    (path.get(..end).unwrap_or_default(), path.get(end..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::{folder, lexical};
    use crate::shell::Weight;

    #[test]
    fn paths_lose_what_says_nothing() {
        let cases = [
            ("/", "/"),
            ("//", "/"),
            ("/.", "/"),
            ("/..", "/"),
            ("/a/../", "/"),
            ("a/./b//c", "a/b/c"),
            ("../..", "../.."),
            ("a/..", "."),
            ("", "."),
        ];
        for (path, expected) in cases {
            assert_eq!(lexical(path), expected, "{path}");
        }
    }

    #[test]
    fn folders_that_matter() {
        let home = "/srv/people/ann";
        let refused = ["/", "/srv", "/srv/people", "/srv/people/ann/", "/srv/people/bob/../ann"];
        let asked = ["/etc", "/etc/ssh", "/data", "..", "../..", ".", ".git", "a/.git", "/usr/local"];
        let plain = ["target", "./dist", "../x", "/srv/people/ann/x", "/tmp/x", "/srv/people/bob/x"];
        for path in refused {
            assert_eq!(folder(path, home).map(|found| found.0), Some(Weight::Refuse), "{path}");
        }
        for path in asked {
            assert_eq!(folder(path, home).map(|found| found.0), Some(Weight::AlwaysAsk), "{path}");
        }
        for path in plain {
            assert_eq!(folder(path, home), None, "{path}");
        }
    }
}
