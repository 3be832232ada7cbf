use std::collections::BTreeSet;
use std::path::PathBuf;

use rail_model::Part;
use rail_tool::{
    Card, Display, Example, Facet, FacetCx, FileFault, Generation, Given, Lane, Level, Opened, Shown,
    Telling, Tool, ToolCx, ToolFault, ToolOutput, shown,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::page::{Numbers, Wanted};
use crate::read_file::{binary, explain};
use crate::reading::{Asked, Range, Reader, Reading, TextPage};
use crate::search::pattern::{Case, Filter, Pattern};
use crate::selection::{self, Chosen, Depth, Picked, Selection};
use crate::words::{self, count};
use rail_edit::lines::Ends;

/// Characters that are kept free for what is said about the files.
const ROOM_FOR_NOTES: usize = 2_000;

/// A file is not begun with less room than this.
const ROOM_FOR_ONE: usize = 200;

/// Names that are given of those left out.
const NAMES: usize = 10;

/// Reads several files.
pub(crate) struct ReadManyFiles;

/// Which files.
#[derive(Clone, Deserialize, JsonSchema, Debug)]
pub(crate) struct Input {
    /// Files, folders or patterns (`src/**/*.rs`).
    paths: Vec<String>,
    /// Patterns to leave out.
    #[serde(default)]
    exclude: Vec<String>,
    /// Go through folders below; true by default.
    recursive: Option<bool>,
    /// Leave out `node_modules`, `dist` and such; true by default.
    use_default_excludes: Option<bool>,
    /// Leave out what git ignores; true by default.
    respect_git_ignore: Option<bool>,
    /// As another agent writes it.
    #[schemars(skip)]
    file_filtering_options: Option<Filtering>,
}

/// Which ignore files are obeyed, as another agent writes it.
#[derive(Clone, Deserialize, Debug)]
struct Filtering {
    respect_git_ignore: Option<bool>,
}

impl Tool for ReadManyFiles {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "read_many_files",
        title: "Read files",
        summary: "Reads several text files at once, by paths, folders or patterns",
        prompt: include_str!("prompts/read_many_files.md"),
        generation: Generation::Gen2,
        level: Level::Read,
        lane: Lane::Shared,
        shown: Shown::Brief,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        let place = |written: &String| match Pattern::parse(written, Case::Sensitive) {
            Ok(pattern) if !pattern.is_literal() => cx.path(&pattern.folder),
            // What can't be read as a pattern is looked at as a path.
            Ok(_) | Err(_) => cx.path(written),
        };
        input.paths.iter().map(place).map(Facet::Read).collect()
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let work = cx.clone();
        cx.blocking(move || read(&work, &input)).await
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

fn read(cx: &ToolCx, input: &Input) -> Result<ToolOutput, ToolFault> {
    if input.paths.is_empty() {
        return Err(ToolFault::new("‹paths› is empty; name at least one file, folder or pattern"));
    }
    let nested = input.file_filtering_options.as_ref().and_then(|options| options.respect_git_ignore);
    let selection = Selection {
        exclude: Filter::without(&input.exclude).map_err(selection::fault)?,
        depth: if input.recursive == Some(false) { Depth::One } else { Depth::All },
        default_excludes: input.use_default_excludes != Some(false),
        ignore_files: input.respect_git_ignore.or(nested) != Some(false),
    };
    let room = cx.session().limits.output_chars.saturating_sub(ROOM_FOR_NOTES).max(ROOM_FOR_ONE);
    let mut many =
        Many { cx, cwd: cx.session().cwd(), room, shown: Read::default(), notes: Notes::default() };
    let mut seen = BTreeSet::new();
    for written in &input.paths {
        let chosen = match selection.choose(cx, written) {
            Ok(chosen) => chosen,
            Err(fault) => {
                many.notes.other.push(fault.say);
                continue;
            }
        };
        many.notes.found_nothing(written, &chosen);
        for picked in chosen.files {
            if cx.cancel().is_cancelled() {
                return Err(ToolFault::new("the call was cancelled"));
            }
            match cx.files().open_current(&picked.path) {
                Ok(opened) if seen.insert(opened.real.clone()) => many.file(&picked, &opened),
                Ok(_) => {}
                Err(fault) => many.notes.not_opened(cx, &picked, fault),
            }
        }
    }
    many.done()
}

/// The files on their way to the model.
struct Many<'a> {
    cx: &'a ToolCx,
    cwd: PathBuf,
    room: usize,
    shown: Read,
    notes: Notes,
}

/// What is given so far.
#[derive(Default)]
struct Read {
    parts: Vec<Given>,
    text: Telling,
    chars: usize,
    files: u64,
    pictures: usize,
}

/// What is said of the files that are not given.
#[derive(Default)]
struct Notes {
    no_room: Vec<String>,
    binary: Vec<String>,
    denied: Vec<String>,
    other: Vec<Telling>,
}

impl Many<'_> {
    fn file(&mut self, picked: &Picked, opened: &Opened) {
        let name = words::path(&picked.path, &self.cwd);
        let left = self.room.saturating_sub(self.shown.chars + name.chars().count() + 10);
        if left < ROOM_FOR_ONE {
            self.notes.no_room.push(name);
            return;
        }
        let session = self.cx.session();
        let wanted = Wanted {
            first: 1,
            lines: u64::MAX,
            width: session.limits.read.line_chars,
            room: left,
            endings: Ends::Lf,
            numbers: Numbers::Left,
        };
        let reader = Reader {
            path: &picked.path,
            stamps: &session.stamps,
            cancel: self.cx.cancel(),
            limits: session.limits.read,
        };
        match reader.read(opened, Asked { wanted, range: Range::Given }) {
            Ok(reading) => self.reading(picked, &name, reading),
            Err(fault) => self.notes.other.push(fault.say),
        }
    }

    fn reading(&mut self, picked: &Picked, name: &str, reading: Reading) {
        match reading {
            Reading::Empty => self.shown.add(name, "[empty]\n", None),
            Reading::Text(text) => self.shown.add(name, &text.page.text, more(&text)),
            Reading::Notebook(view) => {
                let texts: Vec<&str> = view.parts.iter().filter_map(Part::as_text).collect();
                let more = view.last.is_some_and(|last| last < view.cells);
                let note = more.then(|| "[there are more cells; read it with ‹read_file›]\n".to_owned());
                self.shown.add(name, &texts.concat(), note);
            }
            Reading::Picture(_) if picked.chosen == Chosen::Found => self.notes.binary.push(name.to_owned()),
            Reading::Picture(_) if self.shown.pictures >= self.cx.session().limits.read.images => {
                self.notes.no_room.push(name.to_owned())
            }
            Reading::Picture(picture) => {
                self.shown.add(name, &format!("[{}]\n", picture.says), None);
                self.shown.picture(picture.part);
            }
            Reading::Pdf(_) | Reading::Binary(..) if picked.chosen != Chosen::Exactly => {
                self.notes.binary.push(name.to_owned());
            }
            Reading::Pdf(length) => {
                let says = format!(
                    "`{}` is a PDF ({}); read it with ‹read_pdf›",
                    shown(&picked.path),
                    words::size(length)
                );
                self.notes.other.push(says.into());
            }
            Reading::Binary(kind, length) => self.notes.other.push(binary(&picked.path, kind, length).into()),
        }
    }

    fn done(self) -> Result<ToolOutput, ToolFault> {
        let Self { mut shown, notes, .. } = self;
        let says = notes.said();
        if shown.files == 0 {
            let why = if says.is_empty() { "the patterns fit no file".into() } else { says };
            return Err(ToolFault::new(Telling::said("no file was read: ").then(why)));
        }
        let summary = format!("{} read", count(shown.files, "file"));
        shown.text = shown.text.then(format!("[{summary}]"));
        if !says.is_empty() {
            shown.text = shown.text.then("\n").then(says);
        }
        shown.end_text();
        Ok(ToolOutput { parts: shown.parts, ..ToolOutput::default() }.shown(Display::Summary(summary)))
    }
}

/// How to go on with a file if what is shown is not all of it.
fn more(text: &TextPage) -> Option<String> {
    let last = text.page.last?;
    let more = last < text.page.lines || text.counted == crate::reading::Counted::Part;
    let next = last + 1;
    more.then(|| format!("[lines 1 to {last}, there are more; go on with ‹read_file› and ‹offset› {next}]\n"))
}

impl Read {
    fn add(&mut self, name: &str, text: &str, note: Option<String>) {
        let head = format!("--- {name} ---\n{text}");
        self.chars += head.chars().count() + note.as_ref().map_or(0, |note| note.chars().count()) + 1;
        let text = std::mem::take(&mut self.text).then(Telling::shown(head));
        self.text = text.then(note.unwrap_or_default()).then("\n");
        self.files += 1;
    }

    fn picture(&mut self, part: Part) {
        self.end_text();
        self.parts.push(Given::Part(part));
        self.pictures += 1;
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.parts.push(Given::Text(std::mem::take(&mut self.text)));
        }
    }
}

impl Notes {
    fn found_nothing(&mut self, written: &str, chosen: &selection::Choice) {
        if chosen.files.is_empty() {
            self.other.push(format!("`{written}` fits no file").into());
        }
        if chosen.cut {
            self.other.push(format!("`{written}` fits more files than are looked at; narrow it").into());
        }
    }

    fn not_opened(&mut self, cx: &ToolCx, picked: &Picked, fault: FileFault) {
        match (fault, picked.chosen) {
            (FileFault::Denied { .. }, _) => self.denied.push(shown(&picked.path)),
            // What was found and is no file, or is gone again, was not asked for.
            (_, Chosen::Found | Chosen::Ending) => {}
            (fault, Chosen::Exactly) => self.other.push(explain(cx, fault).say),
        }
    }

    fn said(&self) -> Telling {
        let mut all = Vec::new();
        let mut group = |names: &[String], why: &str| {
            if !names.is_empty() {
                all.push(Telling::said(format!("{why}: {}", listed(names))));
            }
        };
        group(&self.no_room, "left out for lack of room, ‹read_file› reads them");
        group(&self.binary, "left out as no text");
        group(&self.denied, "left out as not allowed here, ‹read_file› asks for one");
        all.extend(self.other.iter().take(NAMES).cloned());
        Telling::joined(all, "\n")
    }
}

fn listed(names: &[String]) -> String {
    let few: Vec<String> = names.iter().take(NAMES).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(NAMES) {
        0 => few.join(", "),
        more => format!("{} and {more} more", few.join(", ")),
    }
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "two files",
        files: &[("a.txt", "first\n"), ("b.txt", "second\n")],
        read: &[],
        input: r#"{ "paths": ["a.txt", "b.txt"] }"#,
        output: "--- a.txt ---\nfirst\n\n--- b.txt ---\nsecond\n\n[2 files read]",
        after: &[],
    },
    Example {
        about: "a pattern",
        files: &[("src/a.rs", "mod a;\n"), ("src/deep/b.rs", "mod b;\n"), ("src/c.txt", "no\n")],
        read: &[],
        input: r#"{ "paths": ["src/**/*.rs"], "exclude": ["a.rs"] }"#,
        output: "--- src/deep/b.rs ---\nmod b;\n\n[1 file read]",
        after: &[],
    },
];
