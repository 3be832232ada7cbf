use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use ignore::WalkBuilder;
use rail_tool::{
    Card, Display, Entry, EntryKind, Example, Facet, FacetCx, FileFault, Files, Generation, Lane, Level,
    LinkEnd, Shown, Telling, Tool, ToolCx, ToolFault, ToolOutput, shown,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::missing::{Sought, missing};
use crate::read_file::explain;
use crate::search::pattern::Filter;
use crate::selection;
use crate::words::{count_of, digits, size};

/// Lists one folder.
pub(crate) struct ListDirectory;

/// Which folder, and what of it is left out.
#[derive(Clone, Deserialize, JsonSchema, Debug)]
pub(crate) struct Input {
    /// Absolute path.
    path: String,
    /// Patterns of names to leave out.
    #[serde(default)]
    ignore: Vec<String>,
}

impl Tool for ListDirectory {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "list_directory",
        title: "List",
        summary: "Lists what stands in a folder",
        prompt: include_str!("prompts/list_directory.md"),
        generation: Generation::Gen2,
        level: Level::Read,
        lane: Lane::Shared,
        shown: Shown::Whole,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Read(cx.path(&input.path))]
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let work = cx.clone();
        cx.blocking(move || list(&work, &input)).await
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

fn list(cx: &ToolCx, input: &Input) -> Result<ToolOutput, ToolFault> {
    let folder = cx.path(&input.path);
    let left_out = Filter::without(&input.ignore).map_err(selection::fault)?;
    let files = cx.files();
    let mut entries = files.list(&folder).map_err(|fault| no_folder(cx, &folder, fault))?;
    let name = shown(&folder);
    if entries.is_empty() {
        let text = format!("`{name}` is an empty folder");
        return Ok(ToolOutput::text(text.clone()).shown(Display::Summary(text)));
    }
    let all = entries.len();
    entries.retain(|entry| !left_out.drops(Path::new(&entry.name)));
    let hidden = all - entries.len();
    entries
        .sort_by(|a, b| (a.kind != EntryKind::Folder, &a.name).cmp(&(b.kind != EntryKind::Folder, &b.name)));

    let at_most = cx.session().limits.list_entries;
    let kept = kept_by_git(&folder);
    let mut text = format!("{name}:\n");
    for entry in entries.iter().take(at_most) {
        text.push_str(&line(&files, &folder, entry));
        if !kept.contains(&entry.name) && entry.name != ".git" {
            text.push_str(" (ignored by git)");
        }
        text.push('\n');
    }
    let mut note = count_of(entries.len() as u64, "entry", "entries");
    if entries.len() > at_most {
        note.push_str(&format!(
            ", the first {} are shown; leave some out with ‹ignore›, or find files with ‹glob›",
            digits(at_most as u64)
        ));
    }
    if hidden > 0 {
        note.push_str(&format!("; {hidden} left out as asked"));
    }
    let summary = Telling::said(&note).to_string();
    Ok(ToolOutput::told(Telling::shown(text).then(format!("[{note}]"))).shown(Display::Summary(summary)))
}

fn line(files: &Files, folder: &Path, entry: &Entry) -> String {
    let name = shown(Path::new(&entry.name));
    match entry.kind {
        EntryKind::Folder => format!("{name}/"),
        EntryKind::File => format!("{name} ({})", size(entry.len)),
        EntryKind::Other => format!("{name} (a device, a socket or a pipe)"),
        EntryKind::Link => {
            let path = folder.join(&entry.name);
            let Some(link) = files.link(&path) else { return name };
            let to = shown(&link.to);
            match link.end {
                LinkEnd::Within(EntryKind::Folder) => format!("{name} -> {to}/"),
                LinkEnd::Within(EntryKind::File | EntryKind::Link | EntryKind::Other) => {
                    format!("{name} -> {to}")
                }
                LinkEnd::Outside => format!("{name} -> {to} (outside)"),
                LinkEnd::Nothing => format!("{name} -> {to} (broken link)"),
            }
        }
    }
}

/// The names that git does not ignore; it says nothing of what they hold.
fn kept_by_git(folder: &Path) -> BTreeSet<OsString> {
    let mut walk = WalkBuilder::new(folder);
    walk.hidden(false).ignore(false).max_depth(Some(1)).follow_links(false);
    walk.build()
        .flatten()
        .filter(|entry| entry.depth() == 1)
        .map(|entry| entry.file_name().to_owned())
        .collect()
}

/// Why a folder can't be listed, and what to do instead.
pub(crate) fn no_folder(cx: &ToolCx, folder: &Path, fault: FileFault) -> ToolFault {
    match fault {
        FileFault::Missing { path } => missing(&cx.files(), cx.session(), &path, Sought::Folder),
        FileFault::System { cause, .. } if is_file(cx, folder, &cause) => {
            ToolFault::new(format!("`{}` is a file, not a folder; read it with ‹read_file›", shown(folder)))
        }
        fault @ (FileFault::Denied { .. }
        | FileFault::Folder { .. }
        | FileFault::Special { .. }
        | FileFault::TooLarge { .. }
        | FileFault::ReadOnly { .. }
        | FileFault::Changed { .. }
        | FileFault::System { .. }) => explain(cx, fault),
    }
}

fn is_file(cx: &ToolCx, folder: &Path, cause: &std::io::Error) -> bool {
    cause.kind() == std::io::ErrorKind::NotADirectory && cx.files().open(folder).is_ok()
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "a folder",
        files: &[("README.md", "# Title\n"), ("src/main.rs", "fn main() {}\n")],
        read: &[],
        input: r#"{ "path": "{workspace}" }"#,
        output: "{workspace}:\nsrc/\nREADME.md (8 bytes)\n[2 entries]",
        after: &[],
    },
    Example {
        about: "without some names",
        files: &[("a.log", "x"), ("a.txt", "x")],
        read: &[],
        input: r#"{ "path": "{workspace}", "ignore": ["*.log"] }"#,
        output: "{workspace}:\na.txt (1 byte)\n[1 entry; 1 left out as asked]",
        after: &[],
    },
    Example {
        about: "a file instead",
        files: &[("a.txt", "x")],
        read: &[],
        input: r#"{ "path": "{workspace}/a.txt" }"#,
        output: "`{workspace}/a.txt` is a file, not a folder; read it with `read_file`",
        after: &[],
    },
];
