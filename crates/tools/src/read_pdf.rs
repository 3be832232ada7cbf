//! `read_pdf`: the text of a PDF's pages, or what a model sees on them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_model::{Media, MediaKind, MediaSource, Part, PartBody};
use rail_pdf::{Pages, Pdf};
use rail_tool::{
    Card, Display, Example, Facet, FacetCx, Generation, Inquired, Inquiry, Lane, Level, Shown, Telling, Told,
    Tool, ToolCx, ToolFault, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::pdf::{self, PdfText};
use crate::read_file::explain;

/// What a model is asked to do with pages when the call does not say.
const TRANSCRIBE: &str = "Transcribe these pages faithfully and completely, in their own language and in reading order. Write tables as Markdown tables and describe figures in a sentence. Begin each page with its heading as given before its picture. Add nothing of your own.";

/// Reads a PDF.
pub(crate) struct ReadPdf;

/// Which PDF, which of its pages, and how.
#[derive(Clone, Deserialize, JsonSchema, Debug)]
pub(crate) struct Input {
    /// Absolute path.
    file_path: String,
    /// What the vision model is asked about the pages; a faithful transcript if not given.
    prompt: Option<String>,
    /// Has the vision model look at the pages even if they have text.
    #[serde(default)]
    force_vision: bool,
    /// Which pages, `1-3,7,10-`; from the first on if not given.
    pages: Option<String>,
}

impl Tool for ReadPdf {
    type Input = Input;

    const CARD: Card<'static> = Card {
        name: "read_pdf",
        title: "Read PDF",
        summary: "Reads a PDF: the text of its pages, or what a vision model sees on scanned ones",
        prompt: include_str!("prompts/read_pdf.md"),
        generation: Generation::Gen4,
        level: Level::Read,
        lane: Lane::Shared,
        shown: Shown::Brief,
    };

    fn facets(input: &Input, cx: &FacetCx<'_>) -> Vec<Facet> {
        vec![Facet::Read(cx.path(&input.file_path))]
    }

    async fn run(input: Input, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
        let path = cx.path(&input.file_path);
        let (work, asked) = (cx.clone(), input.clone());
        let (pdf, wanted, mut text) = cx
            .blocking(move || {
                let opened = work.files().open(&path).map_err(|fault| explain(&work, fault))?;
                let session = work.session();
                let pdf = pdf::open(&path, &opened, session)?;
                let wanted = pdf::wanted(&pdf, asked.pages.as_deref())?;
                let text = pdf::read(&pdf, &wanted, session, work.cancel())?;
                Ok((pdf, wanted, text))
            })
            .await?;
        let scanned = if input.force_vision { wanted } else { text.sparse() };
        if scanned.is_empty() {
            return Ok(told(&cx, &text, Telling::shown("")));
        }
        let at_most = cx.session().limits.read.pdf_vision_pages;
        let (seen, left) = scanned.split_at(scanned.len().min(at_most));
        let prompt = input.prompt.unwrap_or_else(|| TRANSCRIBE.to_owned());
        let (work, pages) = (cx.clone(), seen.to_vec());
        let parts = cx.blocking(move || drawn(&pdf, &pages, prompt, &work)).await;
        let answer = match parts {
            Err(fault) if cx.cancel().is_cancelled() => return Err(fault),
            Ok(parts) => {
                cx.progress().say("a vision model reads the pages");
                let inquiry = Inquiry {
                    asker: Self::CARD.name.to_owned(),
                    to: Inquired::Document,
                    system: None,
                    parts,
                    max_output: None,
                    stop: Vec::new(),
                };
                cx.ask(inquiry).await
            }
            Err(fault) => Err(fault),
        };
        match answer {
            Ok(answer) => {
                // What stands behind a page that nobody has looked at waits for it: pages stay in their order.
                left.first().into_iter().for_each(|page| text.end_before(*page));
                if input.force_vision || text.text().trim().is_empty() {
                    let note = if input.force_vision { pdf::note(seen, left, text.all) } else { text.note() };
                    let note = format!("\n\n[{note}; read from pictures of the pages by {}]", answer.model);
                    let shown = preview(&cx, &answer.text);
                    return Ok(ToolOutput::told(Telling::shown(answer.text).then(note)).shown(shown));
                }
                let shown = preview(&cx, &format!("{}\n\n{}", text.text(), answer.text));
                Ok(ToolOutput::told(with_pictures(&text, seen, &answer)).shown(shown))
            }
            Err(fault) => Ok(told(&cx, &text, unseen(&text, &scanned, fault))),
        }
    }

    fn examples() -> &'static [Example] {
        EXAMPLES
    }
}

/// The text with what is said of it.
fn told(cx: &ToolCx, text: &PdfText, more: Telling) -> ToolOutput {
    ToolOutput::told(text.told().then(more)).shown(preview(cx, &text.text()))
}

fn preview(cx: &ToolCx, text: &str) -> Display {
    Display::Preview { text: text.to_owned(), lines: cx.session().limits.read.preview_lines }
}

/// The text of the pages, and with those that were looked at what was seen on them.
fn with_pictures(text: &PdfText, seen: &[usize], answer: &Told) -> Telling {
    let parts = by_page(&answer.text, seen, text.all);
    let told = text.told_with(|page| {
        let at = seen.iter().position(|seen| *seen == page)?;
        Some(match &parts {
            Some(parts) => Telling::said("[on a picture of this page:]\n\n")
                .then(Telling::shown(format!("{}\n\n", parts.get(at).copied().unwrap_or_default()))),
            None => Telling::said("[what was seen on a picture of this page is below]\n\n"),
        })
    });
    let whole = match &parts {
        Some(_) => Telling::shown(""),
        None => {
            Telling::shown(format!("## On pictures of pages {}\n\n{}\n\n", Pages::named(seen), answer.text))
        }
    };
    let pages = if seen.len() == 1 { "page" } else { "pages" };
    let of = if seen.len() == text.pages.len() {
        "the pages".to_owned()
    } else {
        format!("{pages} {}", Pages::named(seen))
    };
    told.then(whole).then(format!("[{}; pictures of {of} were read by {}]", text.note(), answer.model))
}

/// What a model says of each page, if it wrote down the headings of all of them, in their order and nothing before the first.
fn by_page<'a>(answer: &'a str, pages: &[usize], all: usize) -> Option<Vec<&'a str>> {
    let mut parts = Vec::new();
    let mut rest = answer.trim();
    for page in pages {
        let (before, behind) = at_line(rest, &pdf::heading(*page, all))?;
        parts.push(before.trim());
        rest = behind;
    }
    parts.push(rest.trim());
    parts.remove(0).is_empty().then_some(parts)
}

/// What stands before and behind a line.
fn at_line<'a>(text: &'a str, line: &str) -> Option<(&'a str, &'a str)> {
    let mut at = 0;
    for known in text.split_inclusive('\n') {
        if known.trim() == line {
            return Some((text.get(..at)?, text.get(at + known.len()..)?));
        }
        at += known.len();
    }
    None
}

/// What is missing where no model could look at the pages.
fn unseen(text: &PdfText, scanned: &[usize], fault: ToolFault) -> Telling {
    let why = match text.sparse() {
        sparse if sparse.is_empty() => "what is above is the text of the pages".to_owned(),
        _ => format!(
            "{} little or no text, so {} probably scanned; what is above is all the text there is",
            pdf::have(text, scanned),
            if scanned.len() == 1 { "it is" } else { "they are" },
        ),
    };
    Telling::said(format!("\n[{why}. No vision model read them: "))
        .then(fault.say)
        .then(". Tell the user that this needs a model that sees images: `OPENROUTER_API_KEY` in the environment, or one in the configuration (`rail init`)]")
}

/// The pictures of pages, each after its heading, and what is to be done with them.
fn drawn(pdf: &Pdf, pages: &[usize], prompt: String, cx: &ToolCx) -> Result<Vec<Part>, ToolFault> {
    let edge = u16::try_from(cx.session().limits.read.pdf_edge).unwrap_or(u16::MAX);
    let mut parts = vec![Part::text(prompt)];
    let mut refused = None;
    for page in pages {
        pdf::go_on(cx.cancel())?;
        cx.progress().say(&format!("draws page {page} of {}", pdf.pages()));
        let heading = pdf::heading(*page, pdf.pages());
        match pdf.render(*page, edge) {
            Ok(png) => {
                let media = Media {
                    kind: MediaKind::Image,
                    mime: Some("image/png".to_owned()),
                    source: MediaSource::Base64(STANDARD.encode(png)),
                    name: None,
                };
                parts.push(Part::text(heading));
                parts.push(Part::new(PartBody::Media(media)));
            }
            Err(error) => {
                parts.push(Part::text(format!("{heading}\n[it can't be drawn: {error}]")));
                refused = Some(error);
            }
        }
    }
    match refused {
        Some(error) if !parts.iter().any(|part| matches!(part.body, PartBody::Media(_))) => {
            Err(ToolFault::new(format!("none of the pages can be drawn: {error}")))
        }
        Some(_) | None => Ok(parts),
    }
}

/// A PDF that needs no writer of its own: its table of places is left out, which readers make again.
const SMALL: &str = "%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R 5 0 R] /Count 2>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R /Resources <</Font <</F 7 0 R>>>>>> endobj
4 0 obj <</Length 200>> stream
BT /F 10 Tf 20 160 Td (Terms of the agreement between both parties, as of today.) Tj
0 -12 Td (They hold for a year and end by themselves after it.) Tj ET
endstream endobj
5 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 6 0 R /Resources <</Font <</F 7 0 R>>>>>> endobj
6 0 obj <</Length 200>> stream
BT /F 10 Tf 20 160 Td (Annex: what was agreed about the delivery of goods, the way) Tj
0 -12 Td (in which they are paid for, and who bears the risk meanwhile.) Tj ET
endstream endobj
7 0 obj <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>> endobj
trailer <</Root 1 0 R>>
";

const EXAMPLES: &[Example] = &[
    Example {
        about: "one page",
        files: &[("contract.pdf", SMALL)],
        read: &[],
        input: r#"{ "file_path": "{workspace}/contract.pdf", "pages": "2" }"#,
        output: "## Page 2 of 2\n\nAnnex: what was agreed about the delivery of goods, the way\nin which they are paid for, and who bears the risk meanwhile.\n\n[page 2 of 2 in all]",
        after: &[],
    },
    Example {
        about: "a file that is no PDF",
        files: &[("notes.txt", "hello")],
        read: &[],
        input: r#"{ "file_path": "{workspace}/notes.txt" }"#,
        output: "`{workspace}/notes.txt` is no PDF; read it with `read_file`",
        after: &[],
    },
];
