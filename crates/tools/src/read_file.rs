use std::path::{Component, Path, PathBuf};

use rail_model::Part;
use rail_tool::{
    Card, Display, EntryKind, Example, Facet, FacetCx, FileFault, Generation, Given, Lane, Level, Shown,
    Telling, Tool, ToolCx, ToolFault, ToolOutput, shown,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::missing::{Sought, missing, no_file};
use crate::notebook_view::View;
use crate::page::{Full, Numbers, Wanted};
use crate::pdf::{self, PdfText};
use crate::reading::{Asked, Counted, Range, Reader, Reading, TextPage};
use crate::words::{count, size};
use rail_edit::lines::Ends;

/// Characters that are kept free for what is said about a text.
const ROOM_FOR_NOTES: usize = 600;

/// Reads one file.
pub(crate) struct ReadFile;

/// Which file, and which of its lines.
#[derive(Clone, Deserialize, JsonSchema, Debug)]
pub(crate) struct Input {
    /// Absolute path.
    file_path: String,
    /// First line, from 1.
    offset: Option<u64>,
    /// How many lines.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Pages of a PDF, `1-5`; models are told of `read_pdf` for that, and some ask for it here.
    #[schemars(skip)]
    pages: Option<String>,
}

impl Tool for ReadFile {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "read_file",
        title: "Read",
        summary: "Reads a file: text with numbered lines, an image, a notebook, a PDF",
        prompt: include_str!("prompts/read_file.md"),
        generation: Generation::Gen1,
        level: Level::Read,
        lane: Lane::Shared,
        shown: Shown::Whole,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Read(cx.path(&input.file_path))]
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let path = cx.path(&input.file_path);
        let work = cx.clone();
        cx.blocking(move || read(&work, &path, &input)).await
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

fn read(cx: &ToolCx, path: &Path, input: &Input) -> Result<ToolOutput, ToolFault> {
    let opened = cx.files().open_current(path).map_err(|fault| explain(cx, fault))?;
    let asked = asked(cx, input);
    let session = cx.session();
    let limits = session.limits.read;
    let reader = Reader { path, stamps: &session.stamps, cancel: cx.cancel(), limits };
    let reading = reader.read(&opened, asked)?;
    let elsewhere = elsewhere(path, &opened.real);
    let preview = |text: String| Display::Preview { text, lines: limits.preview_lines };
    match reading {
        Reading::Empty => Ok(said(format!("`{}` is empty{elsewhere}", shown(path)))),
        Reading::Text(text) => {
            text_output(path, &text, asked, &elsewhere).map(|(output, text)| output.shown(preview(text)))
        }
        Reading::Picture(picture) => {
            let says = format!("`{}`: {}{elsewhere}", shown(path), picture.says);
            let display = Display::Summary(picture.says);
            Ok(ToolOutput {
                parts: vec![Given::Text(says.into()), Given::Part(picture.part)],
                display: Some(display),
                ..ToolOutput::default()
            })
        }
        Reading::Notebook(view) => {
            notebook_output(path, view, asked, &elsewhere).map(|(output, text)| output.shown(preview(text)))
        }
        Reading::Pdf(_) => {
            let opened = cx.files().open(path).map_err(|fault| explain(cx, fault))?;
            let pdf = pdf::open(path, &opened, session)?;
            let wanted = pdf::wanted(&pdf, input.pages.as_deref())?;
            let text = pdf::read(&pdf, &wanted, session, cx.cancel())?;
            Ok(ToolOutput::told(text.told().then(pdf_hint(&text, &elsewhere))).shown(preview(text.text())))
        }
        Reading::Binary(kind, length) => Ok(said(binary(path, kind, length))),
    }
}

fn asked(cx: &ToolCx, input: &Input) -> Asked {
    let range = if input.offset.is_some() || input.limit.is_some() { Range::Given } else { Range::Open };
    let limits = &cx.session().limits;
    let wanted = Wanted {
        first: input.offset.unwrap_or(1).max(1),
        lines: input.limit.unwrap_or(limits.read.lines).max(1),
        width: limits.read.line_chars,
        // What does not fit would be cut in the middle: a page that ends at a line is of more use.
        room: limits.output_chars.saturating_sub(ROOM_FOR_NOTES),
        endings: Ends::Lf,
        numbers: Numbers::Shown,
    };
    Asked { wanted, range }
}

/// Why a file can't be opened, and what to do instead.
pub(crate) fn explain(cx: &ToolCx, fault: FileFault) -> ToolFault {
    let cause = fault.to_string();
    let say = match &fault {
        FileFault::Missing { path } => {
            return missing(&cx.files(), cx.session(), path, Sought::File);
        }
        FileFault::Folder { path } => return no_file(path, EntryKind::Folder),
        FileFault::Special { path } => return no_file(path, EntryKind::Other),
        FileFault::Denied { real, .. } => format!("{cause}; ask for `{}` itself", shown(real)),
        FileFault::System { path, cause } => match cause.kind() {
            std::io::ErrorKind::PermissionDenied => {
                format!(
                    "the system does not let this user read `{}`; ask the user to change that",
                    shown(path)
                )
            }
            std::io::ErrorKind::NotADirectory => {
                format!(
                    "a part of `{}` is a file, not a folder; see what is there with ‹list_directory›",
                    shown(path)
                )
            }
            _ => format!("{fault}; check the path with ‹list_directory›"),
        },
        FileFault::TooLarge { .. } | FileFault::ReadOnly { .. } | FileFault::Changed { .. } => {
            format!("{cause}; read it in parts with ‹offset› and ‹limit›")
        }
    };
    ToolFault::caused(say, cause)
}

/// The lines of a text with what is said of them, and the lines alone.
fn text_output(
    path: &Path,
    text: &TextPage,
    asked: Asked,
    elsewhere: &str,
) -> Result<(ToolOutput, String), ToolFault> {
    let TextPage { page, counted, .. } = text;
    let Some(last) = page.last else {
        let lines = count(page.lines, "line");
        return Err(ToolFault::new(format!(
            "`{}` has {lines}, so there is nothing at line {}; ask for an ‹offset› of at most {}",
            shown(path),
            asked.wanted.first,
            page.lines
        )));
    };
    let more = last < page.lines;
    let mut note = match (asked.wanted.first, counted) {
        (1, Counted::All) if !more => format!("{} in all", count(page.lines, "line")),
        (first, Counted::All) if first == last => format!("line {first} of {} in all", page.lines),
        (first, Counted::All) => format!("lines {first} to {last} of {} in all", page.lines),
        (first, Counted::Part) => {
            format!("lines {first} to {last}; there are more than {} in all", page.lines)
        }
    };
    if more || *counted == Counted::Part {
        let full = if page.full == Some(Full::Room) { "this is as much as fits, " } else { "" };
        note.push_str(&format!("; {full}go on with ‹offset› {}", last + 1));
    }
    if page.cut > 0 {
        let cut =
            if page.cut == 1 { "1 line is cut".to_owned() } else { format!("{} lines are cut", page.cut) };
        note.push_str(&format!("; {cut}: see the rest of one through ‹bash›"));
    }
    note.push_str(&writing(text));
    note.push_str(elsewhere);
    let text = Telling::shown(&page.text).then(format!("\n[{note}]"));
    Ok((ToolOutput::told(text), page.text.clone()))
}

/// What is unusual in how a text is written down, which whoever changes it keeps.
fn writing(text: &TextPage) -> String {
    let encoding = text.written.encoding;
    let mut says = String::new();
    if encoding != encoding_rs::UTF_8 {
        says.push_str(&format!("; encoded in {}", encoding.name()));
    }
    says.push_str(match text.endings {
        Ends::None | Ends::Lf => "",
        Ends::CrLf => "; lines end with CRLF",
        Ends::Cr => "; lines end with CR",
        Ends::Mixed => "; lines end in different ways",
    });
    says
}

/// The cells of a notebook with what is said of them, and their texts alone.
fn notebook_output(
    path: &Path,
    view: View,
    asked: Asked,
    elsewhere: &str,
) -> Result<(ToolOutput, String), ToolFault> {
    let View { parts, cells, last } = view;
    let cells = cells as u64;
    let first = asked.wanted.first;
    let note = match last.map(|last| last as u64) {
        None if cells == 0 => "a notebook without cells".to_owned(),
        None => {
            return Err(ToolFault::new(format!(
                "the notebook `{}` has {}, so there is no cell {first}; ask for an ‹offset› of at most {cells}",
                shown(path),
                count(cells, "cell")
            )));
        }
        Some(last) if first == 1 && last == cells => format!("{} in all", count(cells, "cell")),
        Some(last) if last == cells => format!("cells {first} to {last} of {cells} in all"),
        Some(last) => {
            format!("cells {first} to {last} of {cells} in all; go on with ‹offset› {}", last + 1)
        }
    };
    let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
    let texts = texts.concat();
    let mut parts: Vec<Given> = parts.into_iter().map(Given::Part).collect();
    parts.push(Given::Text(format!("[{note}; change cells with ‹notebook_edit›{elsewhere}]").into()));
    Ok((ToolOutput { parts, ..ToolOutput::default() }, texts))
}

/// What another tool does better with a PDF.
fn pdf_hint(text: &PdfText, elsewhere: &str) -> String {
    let hint = match text.sparse() {
        scanned if scanned.is_empty() => {
            "‹read_pdf› reads pages of your choice, and shows figures to a vision model".to_owned()
        }
        scanned => format!(
            "{} little or no text, so {} probably scanned: ‹read_pdf› has a vision model look at them",
            pdf::have(text, &scanned),
            if scanned.len() == 1 { "it is" } else { "they are" },
        ),
    };
    format!("\n[{hint}{elsewhere}]")
}

pub(crate) fn binary(path: &Path, kind: Option<&str>, length: u64) -> String {
    format!(
        "`{}` is a binary file ({}, {}) and is not shown; look into it through ‹bash› with a program for its kind",
        shown(path),
        kind.unwrap_or("of an unknown kind"),
        size(length)
    )
}

/// Where a path leads, if links lead elsewhere.
fn elsewhere(path: &Path, real: &Path) -> String {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    if plain == real { String::new() } else { format!("; a link leads to `{}`", shown(real)) }
}

fn said(text: String) -> ToolOutput {
    let text = Telling::said(text);
    let summary = text.to_string();
    ToolOutput::told(text).shown(Display::Summary(summary))
}

const EXAMPLES: &[Example] = &[
    Example {
        about: "a whole file",
        files: &[("main.rs", "fn main() {\n    println!(\"hello\");\n}\n")],
        read: &[],
        input: r#"{ "file_path": "{workspace}/main.rs" }"#,
        output: "1\tfn main() {\n2\t    println!(\"hello\");\n3\t}\n\n[3 lines in all]",
        after: &[],
    },
    Example {
        about: "some lines of it",
        files: &[("poem.txt", "one\ntwo\nthree\nfour\n")],
        read: &[],
        input: r#"{ "file_path": "{workspace}/poem.txt", "offset": 2, "limit": 2 }"#,
        output: "2\ttwo\n3\tthree\n\n[lines 2 to 3 of 4 in all; go on with `offset` 4]",
        after: &[],
    },
    Example {
        about: "an empty file",
        files: &[("empty.txt", "")],
        read: &[],
        input: r#"{ "file_path": "{workspace}/empty.txt" }"#,
        output: "`{workspace}/empty.txt` is empty",
        after: &[],
    },
    Example {
        about: "a file that is not there",
        files: &[("config.toml", "")],
        read: &[],
        input: r#"{ "file_path": "{workspace}/config.json" }"#,
        output: "there is no file `{workspace}/config.json`; did you mean `{workspace}/config.toml`?",
        after: &[],
    },
];
