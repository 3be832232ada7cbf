use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::types::{Types, TypesBuilder};
use rail_tool::{
    Card, Display, Example, Facet, FacetCx, FileFault, Files, Generation, Lane, Level, Opened, Session,
    Shown, Stands, Telling, Tool, ToolCx, ToolFault, ToolOutput, Tree,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::missing::{Sought, missing};
use crate::read_file::explain;
use crate::search::lines::{Numbers, Style, lines};
use crate::search::pattern::{Case, Filter};
use crate::search::regex::{Span, matcher};
use crate::search::scan::{Found, Query, Scan, Stoppable, Tally, Want};
use crate::search::walk::{Hit, Ignored, Walk};
use crate::search::{Began, Page, Stop, stoppable};
use crate::words;

/// Characters that are kept free for what is said besides the lines.
const HEAD: usize = 1_000;

/// Searches in files.
pub(crate) struct Grep;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The regular expression.
    pattern: String,
    /// File or folder; the working folder by default.
    path: Option<String>,
    /// `*.js`, `src/**/*.{ts,tsx}`, `!*.min.js`.
    glob: Option<String>,
    /// `rust`, `py`, `js`, …
    #[serde(rename = "type")]
    kind: Option<String>,
    /// What is shown.
    #[serde(default)]
    output_mode: Mode,
    /// Lines after each match.
    #[serde(rename = "-A")]
    after: Option<u32>,
    /// Lines before each match.
    #[serde(rename = "-B")]
    before: Option<u32>,
    /// Lines before and after.
    #[serde(rename = "-C")]
    around: Option<u32>,
    /// Line numbers; true by default.
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    /// Ignore case.
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Matches may go over lines; `.` matches line breaks.
    multiline: Option<bool>,
    /// How many files or matches.
    head_limit: Option<u32>,
    /// How many to leave out first.
    offset: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    #[default]
    FilesWithMatches,
    Count,
}

impl Tool for Grep {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "grep",
        title: "Search",
        summary: "Searches the contents of files by a regular expression",
        prompt: include_str!("prompts/grep.md"),
        generation: Generation::Gen2,
        level: Level::Read,
        lane: Lane::Shared,
        shown: Shown::Whole,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Read(cx.path(input.path.as_deref().unwrap_or_default()))]
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let path = cx.path(input.path.as_deref().unwrap_or_default());
        let (files, session, held) = (cx.files(), Arc::clone(cx.session()), cx.clone());
        stoppable(&cx, move |stop| {
            let search = Search::new(&input, &session).map_err(ToolFault::new)?;
            let (found, in_vain) = match files.look(&path).map_err(|fault| nothing_there(&held, fault))? {
                Stands::File(opened) => {
                    let found = search.file(&path, &opened, stop)?;
                    (found, format!("`{}` has no match.", words::path(&path, &search.cwd)))
                }
                Stands::Folder(tree) => {
                    let found = search.folder(&tree, stop)?;
                    let in_vain = search.in_vain(found.searched);
                    (found, in_vain)
                }
            };
            search.output(&files, found, &in_vain, stop)
        })
        .await
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

/// A search as it was asked for.
struct Search {
    query: Query,
    mode: Mode,
    page: Page,
    style: Style,
    glob: Option<String>,
    types: Option<Types>,
    cwd: PathBuf,
    began: Began,
}

impl Search {
    fn new(input: &Input, session: &Session) -> Result<Self, String> {
        let case = if input.ignore_case == Some(true) { Case::Insensitive } else { Case::Sensitive };
        let span = if input.multiline == Some(true) { Span::Lines } else { Span::Line };
        let (matcher, ends) = matcher(&input.pattern, case, span)?;
        let limits = session.limits.search;
        let around = |own: Option<u32>| {
            let lines = own.or(input.around).unwrap_or(0);
            usize::try_from(lines).unwrap_or(usize::MAX).min(limits.context)
        };
        let (usual, at_most) = match input.output_mode {
            Mode::Content => (limits.matches.min(limits.matches_at_most), limits.matches_at_most),
            Mode::FilesWithMatches | Mode::Count => (limits.files, limits.files),
        };
        Ok(Self {
            query: Query { matcher, ends, span },
            mode: input.output_mode,
            page: Page::new(input.offset, input.head_limit, usual, at_most),
            style: Style {
                before: around(input.before),
                after: around(input.after),
                numbers: if input.numbers == Some(false) { Numbers::Left } else { Numbers::Shown },
                chars: session.limits.output_chars.saturating_sub(HEAD),
                line_chars: limits.line_chars,
                match_lines: limits.match_lines,
            },
            glob: input.glob.clone(),
            types: input.kind.as_deref().map(types).transpose()?,
            cwd: session.cwd(),
            began: Began::now(),
        })
    }

    fn want(&self) -> Want {
        match self.mode {
            Mode::FilesWithMatches => Want::Newest,
            Mode::Content | Mode::Count => Want::Count,
        }
    }

    fn folder(&self, tree: &Tree, stop: &Stop) -> Result<Found, ToolFault> {
        let filter = Filter::parse(self.glob.as_deref(), tree.real(), &self.cwd)
            .map_err(|fault| ToolFault::new(format!("‹glob›: {fault}")))?;
        let walk = Walk {
            root: tree.real(),
            cwd: &self.cwd,
            ignored: Ignored::LeftOut,
            depth: None,
            types: self.types.clone(),
        };
        let room = self.page.room();
        let visitor = || Scan::new(tree, &self.query, &filter, stop, self.want(), room);
        let (scans, troubles) = walk.run(stop, visitor);
        let mut found = Found::new(room);
        scans.into_iter().for_each(|scan| found.merge(scan.found));
        found.troubles.merge(troubles);
        Ok(found)
    }

    /// One file that was asked for by name: what it is called or whether it is ignored does not count.
    fn file(&self, path: &Path, opened: &Opened, stop: &Stop) -> Result<Found, ToolFault> {
        let mut tally = Tally::new(self.want());
        let read = Stoppable { file: &opened.file, stop };
        let searched = self.query.searcher().build().search_reader(&self.query.matcher, read, &mut tally);
        searched.map_err(|error| {
            let say = format!("`{}` could not be searched: {error}", words::path(path, &self.cwd));
            ToolFault::caused(say, error)
        })?;
        if tally.binary {
            let name = words::path(path, &self.cwd);
            return Err(ToolFault::new(format!(
                "`{name}` is a binary file; ‹bash› with `grep -a` or `strings` can search it"
            )));
        }
        let mut found = Found::new(1);
        found.searched = 1;
        if tally.matches > 0 {
            found.add(Hit { newest: None, path: opened.real.clone(), matches: tally.matches });
        }
        Ok(found)
    }

    fn output(
        &self,
        files: &Files,
        found: Found,
        in_vain: &str,
        stop: &Stop,
    ) -> Result<ToolOutput, ToolFault> {
        let Found { top, searched: _, files: matching, matches, troubles } = found;
        if matching == 0 {
            let took = self.began.said();
            let said = format!("Nothing found{took}: {in_vain}{}", troubles.said());
            return Ok(ToolOutput::told(said).shown(Display::Summary(format!("nothing{took}"))));
        }
        let hits = top.into_sorted();
        let (text, shown, all) = match self.mode {
            Mode::FilesWithMatches => self.rows(&hits, matching, |path, _| path),
            Mode::Count => self.rows(&hits, matching, |path, matches| format!("{path}:{matches}")),
            Mode::Content => {
                let asked = (self.page, self.style);
                let (text, shown) = lines(files, &hits, &self.cwd, &self.query, asked, stop)?;
                (text, shown, matches)
            }
        };
        let in_files = words::count(matching, "file");
        let head = match self.mode {
            Mode::FilesWithMatches => in_files,
            Mode::Content | Mode::Count => {
                format!("{} in {in_files}", words::count_of(matches, "match", "matches"))
            }
        };
        let order = if self.mode == Mode::FilesWithMatches { ", newest first" } else { "" };
        let took = self.began.said();
        let page = self.page.said(shown, all, "narrow ‹pattern›, ‹path›, ‹glob› or ‹type›");
        let said = Telling::said(format!("Found {head}{took}{order}.{page}{}", troubles.said()));
        let rows = text.trim_end();
        let rows = Telling::shown(if rows.is_empty() { String::new() } else { format!("\n{rows}") });
        Ok(ToolOutput::told(said.then(rows)).shown(Display::Summary(format!("{head}{took}"))))
    }

    fn rows(&self, hits: &[Hit], all: u64, row: impl Fn(String, u64) -> String) -> (String, usize, u64) {
        let shown = hits.iter().skip(self.page.offset).take(self.page.limit);
        let rows: Vec<String> =
            shown.map(|hit| row(words::path(&hit.path, &self.cwd), hit.matches)).collect();
        (rows.join("\n"), rows.len(), all)
    }

    /// What was looked at, when nothing was found.
    fn in_vain(&self, files: u64) -> String {
        if files == 0 && (self.glob.is_some() || self.types.is_some()) {
            return "no file fits ‹glob› and ‹type›. Leave them out, or list files with ‹tool:glob›."
                .to_owned();
        }
        let files = words::count_of(files, "file was", "files were");
        format!("{files} searched. Ignored files were left out; give their folder as ‹path› to search them.")
    }
}

/// The files of a type that ripgrep knows.
fn types(name: &str) -> Result<Types, String> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults();
    let known = builder.definitions();
    builder.select(name);
    builder.build().map_err(|_| {
        let nearest = rail_stdx::nearest(name, known.iter().map(ignore::types::FileTypeDef::name));
        let meant = nearest.map_or(String::new(), |nearest| format!("did you mean `{nearest}`? Otherwise "));
        format!("there is no file type `{name}`; {meant}use \"glob\": \"*.{name}\"")
    })
}

/// Why nothing can be searched there, and what to do instead.
fn nothing_there(cx: &ToolCx, fault: FileFault) -> ToolFault {
    match fault {
        FileFault::Missing { path } => missing(&cx.files(), cx.session(), &path, Sought::Either),
        fault @ (FileFault::Denied { .. }
        | FileFault::Folder { .. }
        | FileFault::Special { .. }
        | FileFault::TooLarge { .. }
        | FileFault::ReadOnly { .. }
        | FileFault::Changed { .. }
        | FileFault::System { .. }) => explain(cx, fault),
    }
}

const TREE: &[(&str, &str)] = &[
    ("src/main.rs", "fn main() {\n    let total = sum(2, 3);\n    println!(\"{total}\");\n}\n"),
    ("src/sum.rs", "pub fn sum(a: u32, b: u32) -> u32 {\n    a + b\n}\n"),
    ("README.md", "How to sum\n"),
];

const EXAMPLES: &[Example] = &[
    Example {
        about: "which files of a type speak of something",
        files: &[("a.md", "a sum\n"), ("src/sum.rs", "pub fn sum() {}\n")],
        read: &[],
        input: r#"{"pattern": "\\bsum\\b", "type": "rust"}"#,
        output: "Found 1 file in {ms} ms, newest first.\nsrc/sum.rs",
        after: &[],
    },
    Example {
        about: "lines with their numbers and what stands around them",
        files: TREE,
        read: &[],
        input: r#"{"pattern": "sum\\(", "output_mode": "content", "glob": "*.rs", "-A": 1}"#,
        output: "Found 2 matches in 2 files in {ms} ms.\nsrc/main.rs\n2:    let total = sum(2, 3);\n3-    println!(\"{total}\");\n\nsrc/sum.rs\n1:pub fn sum(a: u32, b: u32) -> u32 {\n2-    a + b",
        after: &[],
    },
    Example {
        about: "how often, file by file",
        files: TREE,
        read: &[],
        input: r#"{"pattern": "sum", "output_mode": "count", "head_limit": 2}"#,
        output: "Found 3 matches in 3 files in {ms} ms. Shown are 1 to 2; for more set \"offset\": 2, for fewer narrow `pattern`, `path`, `glob` or `type`.\nREADME.md:1\nsrc/main.rs:1",
        after: &[],
    },
    Example {
        about: "a pattern that is no regular expression",
        files: TREE,
        read: &[],
        input: r#"{"pattern": "interface{}"}"#,
        output: "the pattern is no regular expression: repetition quantifier expects a valid decimal at character 11, before `}`; to find this very text, write `interface\\{\\}`",
        after: &[],
    },
];
