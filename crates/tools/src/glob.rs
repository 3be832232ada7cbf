use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::GlobSet;
use ignore::DirEntry;
use rail_tool::{
    Card, Display, Example, Facet, FacetCx, FileFault, Generation, Lane, Level, Shown, Stands, Telling, Tool,
    ToolCx, ToolFault, ToolOutput, Tree,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::read_file::explain;
use crate::search::pattern::{Case, Pattern};
use crate::search::top::Top;
use crate::search::walk::{Hit, Ignored, Troubles, Visit, Walk};
use crate::search::{Began, Page, Stop, stoppable};
use crate::words;

/// Finds files by their names.
pub(crate) struct Glob;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// `*.rs`, `src/**/*.{ts,tsx}`.
    pattern: String,
    /// Folder to search; the working folder by default.
    path: Option<String>,
    /// How many files, {search_files} at most.
    limit: Option<u32>,
    /// How many to leave out first.
    offset: Option<u32>,
    /// True by default.
    case_sensitive: Option<bool>,
    /// True by default.
    respect_git_ignore: Option<bool>,
}

impl Input {
    fn pattern(&self) -> Result<Pattern, String> {
        let case = if self.case_sensitive == Some(false) { Case::Insensitive } else { Case::Sensitive };
        Pattern::parse(&self.pattern, case).map_err(|fault| fault.to_string())
    }

    /// The folder that the pattern begins in, by a way to make paths absolute.
    fn folder(&self, pattern: &Pattern, path: impl Fn(&str) -> PathBuf) -> PathBuf {
        let outside = pattern.folder.starts_with(['/', '~']);
        match (&self.path, pattern.folder.as_str()) {
            (Some(folder), "") => path(folder),
            (Some(folder), below) if !outside => path(folder).join(below),
            (Some(_) | None, folder) => path(folder),
        }
    }
}

impl Tool for Glob {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "glob",
        title: "Find files",
        summary: "Finds files by a pattern for their paths",
        prompt: include_str!("prompts/glob.md"),
        generation: Generation::Gen2,
        level: Level::Read,
        lane: Lane::Shared,
        shown: Shown::Whole,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        // A pattern that can't be read touches nothing.
        let Ok(pattern) = input.pattern() else { return Vec::new() };
        let folder = input.folder(&pattern, |written| cx.path(written));
        vec![Facet::Read(if pattern.is_path() { folder.join(&pattern.rest) } else { folder })]
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let began = Began::now();
        let pattern = input.pattern().map_err(ToolFault::new)?;
        let at_most = cx.session().limits.search.files;
        let search = Search {
            matcher: pattern.matcher().map_err(|fault| ToolFault::new(fault.to_string()))?,
            folder: input.folder(&pattern, |written| cx.path(written)),
            pattern,
            written: input.pattern.clone(),
            page: Page::new(input.offset, input.limit, at_most, at_most),
            ignored: if input.respect_git_ignore == Some(false) {
                Ignored::Included
            } else {
                Ignored::LeftOut
            },
            cwd: cx.session().cwd(),
        };
        let held = cx.clone();
        stoppable(&cx, move |stop| search.run(&held, stop, began)).await
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

/// A search as it was asked for.
struct Search {
    pattern: Pattern,
    written: String,
    matcher: GlobSet,
    folder: PathBuf,
    page: Page,
    ignored: Ignored,
    cwd: PathBuf,
}

impl Search {
    fn run(&self, cx: &ToolCx, stop: &Stop, began: Began) -> Result<ToolOutput, ToolFault> {
        let place =
            if self.pattern.is_path() { self.folder.join(&self.pattern.rest) } else { self.folder.clone() };
        let name = words::path(&place, &self.cwd);
        match cx.files().look(&place) {
            Ok(Stands::File(opened)) if self.pattern.is_path() => {
                let mut found = Found { files: 1, ..Found::new(1) };
                let newest = opened.meta.modified().ok().map(Reverse);
                found.top.push(Hit { newest, path: place, matches: 0 });
                Ok(self.output(found, began, |_| true))
            }
            Ok(Stands::Folder(_)) if self.pattern.is_path() => {
                let why = format!("`{name}` is a folder, `{name}/**` stands for the files in it.");
                Ok(self.nothing(began, &why))
            }
            Ok(Stands::Folder(tree)) => Ok(self.walk(&tree, stop, began)),
            Ok(Stands::File(_)) => Err(ToolFault::new(format!(
                "`{name}` is a file; give a folder as ‹path›, or use ‹grep› to search in it"
            ))),
            Err(FileFault::Missing { .. }) if self.pattern.is_path() => Ok(self.nothing(
                began,
                &format!("there is no `{name}`. `**/` before the pattern looks in all folders."),
            )),
            Err(FileFault::Missing { .. }) => Err(ToolFault::new(format!(
                "there is no folder `{name}`; see what there is with ‹list_directory›, or put `**/` before the pattern"
            ))),
            Err(fault) => Err(explain(cx, fault)),
        }
    }

    fn walk(&self, tree: &Tree, stop: &Stop, began: Began) -> ToolOutput {
        let walk = Walk {
            root: tree.real(),
            cwd: &self.cwd,
            ignored: self.ignored,
            depth: self.pattern.depth(),
            types: None,
        };
        let room = self.page.room();
        let visitor = || Names { tree, matcher: &self.matcher, found: Found::new(room) };
        let (names, troubles) = walk.run(stop, visitor);
        let mut found = Found::new(room);
        names.into_iter().for_each(|names| found.merge(names.found));
        found.troubles.merge(troubles);
        if found.files == 0 {
            self.as_it_is(tree, &mut found);
        }
        self.output(found, began, |path| tree.holds(path))
    }

    /// A path whose name has brackets in it, `app/[id]/page.tsx`, is rather that than a pattern when nothing else fits.
    fn as_it_is(&self, tree: &Tree, found: &mut Found) {
        let path = tree.real().join(&self.pattern.rest);
        if !self.pattern.anywhere && tree.may_read(&path) && tree.open(&path).is_ok_and(|file| is_file(&file))
        {
            found.files = 1;
            found.top.push(Hit { newest: None, path, matches: 0 });
        }
    }

    /// `holds` tells whether a path still is what it was; so a folder that was swapped for a link shows nothing.
    fn output(&self, found: Found, began: Began, holds: impl Fn(&Path) -> bool) -> ToolOutput {
        let Found { top, seen, files, denied, troubles } = found;
        let denied = match denied {
            0 => String::new(),
            denied => format!(
                "\n{} may not be read and {} not shown.",
                words::count(denied, "more file"),
                if denied == 1 { "is" } else { "are" }
            ),
        };
        let notes = denied + &troubles.said();
        if files == 0 {
            let left_out = match self.ignored {
                Ignored::LeftOut => {
                    " Ignored files are left out; \"respect_git_ignore\": false includes them."
                }
                Ignored::Included => "",
            };
            let seen = words::count_of(seen, "file was", "files were");
            return self.nothing(began, &format!("{seen} looked at.{left_out}{notes}"));
        }
        let hits = top.into_sorted();
        let page = hits.iter().skip(self.page.offset).take(self.page.limit);
        let rows: Vec<String> =
            page.filter(|hit| holds(&hit.path)).map(|hit| words::path(&hit.path, &self.cwd)).collect();
        let head = format!("{}{}", words::count(files, "file"), began.said());
        let said = self.page.said(rows.len(), files, "narrow the pattern or give ‹path›");
        let text = Telling::said(format!("Found {head}, newest first.{said}{notes}"));
        let rows =
            Telling::shown(if rows.is_empty() { String::new() } else { format!("\n{}", rows.join("\n")) });
        ToolOutput::told(text.then(rows)).shown(Display::Summary(head))
    }

    fn nothing(&self, began: Began, why: &str) -> ToolOutput {
        let took = began.said();
        ToolOutput::told(format!("No file fits `{}`{took}: {why}", self.written))
            .shown(Display::Summary(format!("no files{took}")))
    }
}

/// What was found.
struct Found {
    top: Top<Hit>,
    /// Files that were looked at.
    seen: u64,
    /// Files that fit.
    files: u64,
    /// Files that fit and may not be read.
    denied: u64,
    troubles: Troubles,
}

impl Found {
    fn new(room: usize) -> Self {
        Self { top: Top::new(room), seen: 0, files: 0, denied: 0, troubles: Troubles::default() }
    }

    fn merge(&mut self, other: Self) {
        self.top.merge(other.top);
        self.seen += other.seen;
        self.files += other.files;
        self.denied += other.denied;
        self.troubles.merge(other.troubles);
    }
}

/// Looks at the names of files.
struct Names<'a> {
    tree: &'a Tree,
    matcher: &'a GlobSet,
    found: Found,
}

impl Visit for Names<'_> {
    fn enters(&mut self, _: &Path) -> bool {
        true
    }

    fn file(&mut self, entry: &DirEntry, below: &Path) {
        self.found.seen += 1;
        if !self.matcher.is_match(below) {
            return;
        }
        let Some(modified) = modified(entry) else { return };
        if self.tree.may_read(entry.path()) {
            self.found.files += 1;
            let newest = Some(Reverse(modified));
            self.found.top.push(Hit { newest, path: entry.path().to_owned(), matches: 0 });
        } else {
            self.found.denied += 1;
        }
    }
}

/// When a file was changed; for a link, the file it leads to. There is none for a link to anything else.
fn modified(entry: &DirEntry) -> Option<SystemTime> {
    let meta = if entry.path_is_symlink() {
        entry.path().metadata().ok().filter(std::fs::Metadata::is_file)
    } else {
        entry.metadata().ok()
    };
    meta?.modified().ok()
}

fn is_file(file: &std::fs::File) -> bool {
    file.metadata().is_ok_and(|meta| meta.is_file())
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "files of a kind, wherever they are",
        files: &[("src/deep/main.rs", ""), ("README.md", "")],
        read: &[],
        input: r#"{"pattern": "*.rs"}"#,
        output: "Found 1 file in {ms} ms, newest first.\nsrc/deep/main.rs",
        after: &[],
    },
    Example {
        about: "only under a folder",
        files: &[("web/app.tsx", ""), ("src/app.tsx", ""), ("src/app.rs", "")],
        read: &[],
        input: r#"{"pattern": "web/**/*.{ts,tsx}"}"#,
        output: "Found 1 file in {ms} ms, newest first.\nweb/app.tsx",
        after: &[],
    },
    Example {
        about: "nothing fits",
        files: &[("src/main.rs", "")],
        read: &[],
        input: r#"{"pattern": "*.py", "path": "{workspace}/src"}"#,
        output: "No file fits `*.py` in {ms} ms: 1 file was looked at. Ignored files are left out; \"respect_git_ignore\": false includes them.",
        after: &[],
    },
];
