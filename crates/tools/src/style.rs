//! How lines of a new file end: as the repository wants it, else as in the files beside it.

use std::io::Read;
use std::path::{Path, PathBuf};

use rail_tool::{EntryKind, Facet, FacetCx, Files, Reach, ToolCx};

use crate::text::Text;
use rail_edit::lines::{Ends, with_endings};

/// Bytes of a style file that are read.
const MAX_STYLE: u64 = 256 << 10;

/// Names beside a new file that are looked at.
const MAX_NAMES: usize = 1_000;

/// Files beside a new one that are looked into, and how much of each.
const MAX_SIBLINGS: usize = 8;
const MAX_BEGINNING: u64 = 16 << 10;

/// What is read besides a new file to know how its lines should end: the files of its folder, and the style files of the
/// working folder. Outside of the working folder nothing is.
pub(crate) fn facets(path: &Path, cx: &FacetCx<'_>) -> Vec<Facet> {
    let Some(parent) = path.parent().filter(|parent| parent.starts_with(cx.cwd)) else { return Vec::new() };
    let mut facets = vec![Facet::Read(parent.to_owned())];
    if parent != cx.cwd {
        facets.extend([".editorconfig", ".gitattributes"].map(|name| Facet::Read(cx.cwd.join(name))));
    }
    facets
}

/// A new file's content with the line endings that it should have. Content that has others than `\n` says itself what it wants.
pub(crate) fn in_style(content: &str, path: &Path, cx: &ToolCx) -> String {
    if Ends::of(content) != Ends::Lf {
        return content.to_owned();
    }
    let cwd = cx.session().cwd();
    let files = cx.files();
    let ending = wanted(&files, path, &cwd).or_else(|| as_beside(&files, path)).unwrap_or("\n");
    with_endings(content, ending)
}

/// What the style files say; the nearest decides, and `.gitattributes` before `.editorconfig`, since git acts on it.
fn wanted(files: &Files, path: &Path, cwd: &Path) -> Option<&'static str> {
    let folders: Vec<&Path> = path.ancestors().skip(1).take_while(|folder| folder.starts_with(cwd)).collect();
    let look = |name: &str, read: fn(&str, &str) -> Option<&'static str>| {
        folders.iter().find_map(|folder| {
            let (_, bytes) = files.read(&folder.join(name), MAX_STYLE).ok()?;
            let inside = path.strip_prefix(folder).ok()?;
            read(&String::from_utf8_lossy(&bytes), &inside.to_string_lossy())
        })
    };
    look(".gitattributes", git_attributes).or_else(|| look(".editorconfig", editor_config))
}

/// The ending in most of the files beside it, those with the same kind of name first.
fn as_beside(files: &Files, path: &Path) -> Option<&'static str> {
    let around = files.around(path, Reach::Folder, MAX_NAMES);
    let mut beside: Vec<PathBuf> = around
        .into_iter()
        .filter(|(other, kind)| *kind == EntryKind::File && other.parent() == path.parent())
        .map(|(other, _)| other)
        .collect();
    beside.sort_by_key(|other| other.extension() != path.extension());
    let endings: Vec<&'static str> =
        beside.iter().take(MAX_SIBLINGS).filter_map(|other| ending_of(files, other)).collect();
    let crlf = endings.iter().filter(|ending| **ending == "\r\n").count();
    (!endings.is_empty()).then_some(if crlf * 2 > endings.len() { "\r\n" } else { "\n" })
}

fn ending_of(files: &Files, path: &Path) -> Option<&'static str> {
    let opened = files.open(path).ok()?;
    let mut beginning = Vec::new();
    (&opened.file).take(MAX_BEGINNING).read_to_end(&mut beginning).ok()?;
    match Ends::of(&Text::read(&beginning)?.text) {
        Ends::CrLf => Some("\r\n"),
        Ends::Lf => Some("\n"),
        Ends::None | Ends::Cr | Ends::Mixed => None,
    }
}

/// What `.gitattributes` says of a file: the last line that fits decides.
fn git_attributes(text: &str, path: &str) -> Option<&'static str> {
    let mut ending = None;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(pattern) = words.next().filter(|pattern| !pattern.starts_with('#')) else { continue };
        if !fits(pattern, path) {
            continue;
        }
        for word in words {
            ending = match word {
                "eol=crlf" => Some("\r\n"),
                "eol=lf" => Some("\n"),
                "!eol" | "-text" | "binary" => None,
                _ => ending,
            };
        }
    }
    ending
}

/// What `.editorconfig` says of a file: the last section that fits decides.
fn editor_config(text: &str, path: &str) -> Option<&'static str> {
    let (mut ending, mut about) = (None, false);
    for line in text.lines() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            about = alternatives(section).iter().any(|pattern| fits(pattern, path));
        } else if let (true, Some((key, value))) = (about, line.split_once('='))
            && key.trim().eq_ignore_ascii_case("end_of_line")
        {
            ending = match value.trim().to_ascii_lowercase().as_str() {
                "crlf" => Some("\r\n"),
                "lf" => Some("\n"),
                "cr" => Some("\r"),
                _ => None,
            };
        }
    }
    ending
}

/// Whether a pattern fits a file: one without a folder fits its name anywhere.
fn fits(pattern: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    match pattern.strip_prefix('/').or_else(|| pattern.contains('/').then_some(pattern)) {
        Some(whole) => rail_stdx::fits(whole, path) || rail_stdx::fits(&whole.replace("**/", ""), path),
        None => rail_stdx::fits(pattern, name),
    }
}

/// `*.{js,ts}` as `*.js` and `*.ts`; a hundred at most.
fn alternatives(pattern: &str) -> Vec<String> {
    let mut open = vec![pattern.to_owned()];
    let mut done = Vec::new();
    while let Some(next) = open.pop() {
        let parts = next.split_once('{').and_then(|(before, rest)| {
            let (inside, after) = rest.split_once('}')?;
            Some((before.to_owned(), inside.to_owned(), after.to_owned()))
        });
        match parts {
            Some((before, inside, after)) if open.len() + done.len() < 100 => {
                open.extend(inside.split(',').map(|one| format!("{before}{}{after}", one.trim())));
            }
            Some(_) | None => done.push(next),
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn git_attributes_decide_by_the_last_line_that_fits() {
        let text = "# all\n* text=auto eol=lf\n*.bat eol=crlf\nwin/** text eol=crlf\n*.png binary\n";
        let of = |path| git_attributes(text, path);
        assert_eq!(of("a.txt"), Some("\n"));
        assert_eq!(of("deep/a.bat"), Some("\r\n"));
        assert_eq!(of("win/a.txt"), Some("\r\n"));
        assert_eq!(of("a.png"), None);
    }

    #[test]
    fn editor_config_decides_by_the_last_section_that_fits() {
        let text = "root = true\nend_of_line = cr\n[*]\nend_of_line = lf\n[*.{bat,cmd}]\nEnd_Of_Line=CRLF\n[lib/**.js]\nend_of_line = cr\n";
        let of = |path| editor_config(text, path);
        assert_eq!(of("a.rs"), Some("\n"));
        assert_eq!(of("x/a.cmd"), Some("\r\n"));
        assert_eq!(of("lib/x/a.js"), Some("\r"));
    }

    proptest! {
        #[test]
        fn any_style_file_is_read(text in "[\\[\\]{}*,=a-z/!\n -]{0,80}", path in "[a-z/.]{0,20}") {
            git_attributes(&text, &path);
            editor_config(&text, &path);
        }
    }
}
