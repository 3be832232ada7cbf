//! Languages, and what is in the top folders.

use std::collections::{BTreeMap, BTreeSet};

use super::listing::Listing;

/// A top folder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// Its path, with `/` at its end.
    pub(crate) path: String,
    /// What is in it.
    pub(crate) holds: String,
}

/// Languages by the endings of their files.
const LANGUAGES: [(&str, &[&str]); 28] = [
    ("Rust", &["rs"]),
    ("Python", &["py", "pyi"]),
    ("TypeScript", &["ts", "tsx", "mts", "cts"]),
    ("JavaScript", &["js", "jsx", "mjs", "cjs"]),
    ("Go", &["go"]),
    ("Java", &["java"]),
    ("Kotlin", &["kt", "kts"]),
    ("C", &["c", "h"]),
    ("C++", &["cc", "cpp", "cxx", "hpp", "hh"]),
    ("C#", &["cs"]),
    ("Ruby", &["rb"]),
    ("PHP", &["php"]),
    ("Swift", &["swift"]),
    ("Scala", &["scala"]),
    ("Elixir", &["ex", "exs"]),
    ("Erlang", &["erl"]),
    ("Haskell", &["hs"]),
    ("OCaml", &["ml", "mli"]),
    ("Dart", &["dart"]),
    ("Lua", &["lua"]),
    ("Zig", &["zig"]),
    ("Shell", &["sh", "bash", "zsh"]),
    ("SQL", &["sql"]),
    ("HTML", &["html", "htm"]),
    ("CSS", &["css", "scss", "less"]),
    ("Vue", &["vue"]),
    ("Svelte", &["svelte"]),
    ("Markdown", &["md", "mdx"]),
];
/// What is written about code, and not code.
const PROSE: &str = "Markdown";
/// As many languages as say something.
const MOST_LANGUAGES: usize = 5;
/// As many folders as fit a short file.
const MOST_PARTS: usize = 16;
/// As many names of what is in a folder.
const MOST_NAMES: usize = 6;

fn language(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next()?;
    let (_, ending) = name.rsplit_once('.')?;
    LANGUAGES.iter().find(|(_, endings)| endings.contains(&ending)).map(|(language, _)| *language)
}

/// Files by language, the most first.
fn count<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<(&'static str, usize)> {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    for language in paths.filter_map(language) {
        *counts.entry(language).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    counts
}

/// The languages that the repository is written in.
pub(super) fn languages(listing: &Listing) -> Vec<(&'static str, usize)> {
    let mut counts = count(listing.below(""));
    counts.retain(|(language, _)| *language != PROSE);
    counts.truncate(MOST_LANGUAGES);
    counts
}

/// The top folders. Hidden ones are tools' own.
pub(super) fn parts(listing: &Listing) -> Vec<Part> {
    let folders: BTreeSet<&str> =
        listing.below("").filter_map(|path| path.split_once('/')).map(|(folder, _)| folder).collect();
    let folders = folders.into_iter().filter(|folder| !folder.starts_with('.') && is_name(folder));
    folders.take(MOST_PARTS).map(|folder| part(listing, &format!("{folder}/"))).collect()
}

/// Whether a name can be shown as it is.
fn is_name(name: &str) -> bool {
    !name.chars().any(|c| c.is_control() || c == '`')
}

fn part(listing: &Listing, path: &str) -> Part {
    let inner = || listing.below(path).filter_map(|file| file.strip_prefix(path));
    let folders: BTreeSet<&str> =
        inner().filter_map(|file| file.split_once('/')).map(|(folder, _)| folder).collect();
    let folders: Vec<&str> =
        folders.into_iter().filter(|name| is_name(name) && !name.starts_with('.')).collect();
    let mut holds = Vec::new();
    if !folders.is_empty() {
        let names: Vec<String> = folders.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
        let more = folders.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        holds.push(format!("{}{more}", names.join(", ")));
    }
    let count = count(inner());
    let kinds: Vec<String> = count.iter().take(2).map(|(language, count)| files(*count, language)).collect();
    holds.push(if kinds.is_empty() { files(inner().count(), "") } else { kinds.join(", ") });
    Part { path: path.to_owned(), holds: holds.join("; ") }
}

fn files(count: usize, language: &str) -> String {
    let space = if language.is_empty() { "" } else { " " };
    format!("{count} {language}{space}file{}", if count == 1 { "" } else { "s" })
}
