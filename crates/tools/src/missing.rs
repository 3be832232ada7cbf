//! What was meant by the name of a file that is not there.

use std::path::{Path, PathBuf};

use rail_stdx::nearest;
use rail_tool::{EntryKind, Files, LinkEnd, Reach, Session, ToolFault, shown};

/// The most names that are looked at.
const NAMES: usize = 5_000;

/// The most files that are named.
const NAMED: usize = 3;

/// What was looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sought {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// One or the other.
    Either,
}

/// Says that there is no such file or folder, and which may have been meant.
pub(crate) fn missing(files: &Files, session: &Session, path: &Path, sought: Sought) -> ToolFault {
    let name = shown(path);
    if let Some(link) = files.link(path)
        && link.end == LinkEnd::Nothing
    {
        let to = shown(&link.to);
        return ToolFault::new(format!("`{name}` is a link to `{to}`, where nothing is"));
    }
    // Names are looked for in folders below only where the user works.
    let reach = if path.starts_with(&session.workspace) { Reach::Below(4) } else { Reach::Folder };
    let fits = |kind: EntryKind| match kind {
        EntryKind::File => sought != Sought::Folder,
        EntryKind::Folder => sought != Sought::File,
        EntryKind::Link => true,
        EntryKind::Other => false,
    };
    let around = files.around(path, reach, NAMES).into_iter();
    let known: Vec<PathBuf> = around.filter(|(_, kind)| fits(*kind)).map(|(path, _)| path).collect();
    let meant: Vec<String> = meant(path, &known).iter().map(|path| format!("`{}`", shown(path))).collect();
    let what = match sought {
        Sought::File => "file",
        Sought::Folder => "folder",
        Sought::Either => "file or folder",
    };
    let next = match meant.as_slice() {
        [] => "find it with ‹glob›, or see what is there with ‹list_directory›".to_owned(),
        names => format!("did you mean {}?", names.join(" or ")),
    };
    ToolFault::new(format!("there is no {what} `{name}`; {next}"))
}

/// What is said of something that is no file.
pub(crate) fn no_file(path: &Path, kind: EntryKind) -> ToolFault {
    let name = shown(path);
    ToolFault::new(match kind {
        EntryKind::Folder => format!("`{name}` is a folder; list it with ‹list_directory›"),
        EntryKind::File | EntryKind::Link | EntryKind::Other => {
            format!("`{name}` is a device, a socket or a pipe, not a file; use it through ‹bash›")
        }
    })
}

/// The files that may have been meant, most likely first: the same stem with another ending and a near spelling in the same
/// folder, then the same name elsewhere.
fn meant<'a>(path: &Path, known: &'a [PathBuf]) -> Vec<&'a PathBuf> {
    let here = |known: &&PathBuf| known.parent() == path.parent();
    let stem = |path: &Path| path.file_stem().map(|stem| stem.to_ascii_lowercase());
    let mut found: Vec<&PathBuf> =
        known.iter().filter(here).filter(|known| stem(known) == stem(path)).collect();

    let name =
        |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let others = known.iter().filter(here).filter(|known| !found.contains(known));
    let names: Vec<(String, &PathBuf)> = others.map(|known| (name(known), known)).collect();
    let near = nearest(&name(path), names.iter().map(|(name, _)| name.as_str()));
    found.extend(names.iter().filter(|(name, _)| Some(name.as_str()) == near).map(|(_, known)| *known));

    found.extend(known.iter().filter(|known| known.file_name() == path.file_name()));
    let mut once: Vec<&PathBuf> = Vec::new();
    for path in found {
        if !once.contains(&path) && once.len() < NAMED {
            once.push(path);
        }
    }
    once
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likeliest_comes_first() {
        let known: Vec<PathBuf> =
            ["/w/main.py", "/w/mian.rs", "/w/other.txt", "/w/src/main.rs", "/w/lib/a/main.rs"]
                .map(PathBuf::from)
                .to_vec();
        let cases: [(&str, &[&str]); 5] = [
            ("/w/main.rs", &["/w/main.py", "/w/mian.rs", "/w/src/main.rs"]),
            ("/w/othr.txt", &["/w/other.txt"]),
            ("/w/Other.TXT", &["/w/other.txt"]),
            ("/w/gone/main.rs", &["/w/src/main.rs", "/w/lib/a/main.rs"]),
            ("/w/nothing-like-it", &[]),
        ];
        for (path, expected) in cases {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(meant(Path::new(path), &known), expected.iter().collect::<Vec<_>>(), "{path}");
        }
    }
}
