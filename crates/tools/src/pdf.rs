//! PDFs as a model is shown them: the text of their pages, one after the other.

use std::io::Read;
use std::path::Path;

use rail_pdf::{Pages, Pdf, PdfError};
use rail_tool::{FileFault, Opened, Session, Telling, ToolFault, shown};
use tokio_util::sync::CancellationToken;

use crate::words::{digits, size};

/// Fewer letters on a page are a heading or a stamp: the page is a picture.
const SPARSE: usize = 100;

/// Characters that are kept free for what is said about the pages.
const ROOM_FOR_NOTES: usize = 1_200;

/// Some pages of a PDF.
pub(crate) struct PdfText {
    /// How many pages there are in all.
    pub(crate) all: usize,
    /// The pages that were read, and what they say.
    pub(crate) pages: Vec<(usize, Result<String, PdfError>)>,
    /// The pages that were asked for and not reached.
    pub(crate) left: Vec<usize>,
}

/// Opens a PDF of which the file is open.
///
/// # Errors
/// It can't be read, is too large, is no PDF, needs a password, or is damaged.
pub(crate) fn open(path: &Path, opened: &Opened, session: &Session) -> Result<Pdf, ToolFault> {
    let name = shown(path);
    let at_most = session.limits.read.pdf_bytes;
    let mut bytes = Vec::new();
    let read = (&opened.file).take(at_most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|cause| {
        let fault = FileFault::System { path: path.to_owned(), cause };
        ToolFault::caused(format!("{fault}; try again, or look at it through ‹bash›"), &fault)
    })?;
    if bytes.len() > at_most {
        return Err(ToolFault::new(format!(
            "the PDF `{name}` has {}, more than the {} that are read; take the pages you need out of it through ‹bash› (`qpdf '{name}' --pages . 1-20 -- part.pdf`) and read those",
            size(opened.meta.len().max(bytes.len() as u64)),
            size(at_most as u64),
        )));
    }
    session.stamps.saw(&opened.real, &opened.meta, &bytes);
    Pdf::open(bytes, None).map_err(|error| ToolFault::caused(refused(&name, &error), error))
}

/// Why a PDF can't be read, and what to do.
fn refused(name: &str, error: &PdfError) -> String {
    match error {
        PdfError::NotPdf => format!("`{name}` is no PDF; read it with ‹read_file›"),
        PdfError::PasswordNeeded | PdfError::WrongPassword | PdfError::Encryption => format!(
            "`{name}` can't be read: {error}; ask the user for the password and decrypt a copy through ‹bash› (`qpdf --decrypt --password=PASSWORD '{name}' open.pdf`), then read that"
        ),
        PdfError::Damaged => format!(
            "`{name}` can't be read: {error}; get it again from where it comes, or try to repair a copy through ‹bash› (`qpdf '{name}' repaired.pdf`)"
        ),
        PdfError::NoPage { .. }
        | PdfError::DamagedPage { .. }
        | PdfError::TooMuch { .. }
        | PdfError::NoThread(_) => format!("`{name}` can't be read: {error}"),
    }
}

/// The pages that a call asks for; all of them where it does not say.
///
/// # Errors
/// The text names no pages, or none that the PDF has.
pub(crate) fn wanted(pdf: &Pdf, pages: Option<&str>) -> Result<Vec<usize>, ToolFault> {
    let all = pdf.pages();
    let text = pages.map(str::trim).filter(|pages| !pages.is_empty());
    let wanted = match text {
        Some(text) => Pages::parse(text).map_err(|error| ToolFault::new(format!("‹pages›: {error}")))?,
        None => Pages::all(),
    };
    let found = wanted.of(all);
    if found.is_empty() {
        return Err(ToolFault::new(format!(
            "the PDF has {}, so there is no page `{wanted}`; ask for ‹pages› up to {all}",
            crate::words::count(all as u64, "page"),
        )));
    }
    Ok(found)
}

/// Reads the text of pages, as many as there is room for.
///
/// # Errors
/// Nobody wants it any more.
pub(crate) fn read(
    pdf: &Pdf,
    wanted: &[usize],
    session: &Session,
    cancel: &CancellationToken,
) -> Result<PdfText, ToolFault> {
    let room = session.limits.output_chars.saturating_sub(ROOM_FOR_NOTES);
    let at_most = session.limits.read.pdf_pages;
    let mut read = PdfText { all: pdf.pages(), pages: Vec::new(), left: Vec::new() };
    let mut taken = 0;
    for (index, page) in wanted.iter().enumerate() {
        go_on(cancel)?;
        let text = if index < at_most { Some(pdf.text(*page)) } else { None };
        let length =
            text.as_ref().and_then(|text| text.as_ref().ok()).map_or(0, |text| text.chars().count()) + 30;
        match text {
            // A page that is too long for all room is cut when the result is.
            Some(text) if index == 0 || taken + length <= room => {
                taken += length;
                read.pages.push((*page, text));
            }
            Some(_) | None => {
                read.left = wanted[index..].to_vec();
                break;
            }
        }
    }
    Ok(read)
}

/// Asked before each page: one that has begun can't be stopped, and after a cancelled call no other begins.
///
/// # Errors
/// Nobody wants it any more.
pub(crate) fn go_on(cancel: &CancellationToken) -> Result<(), ToolFault> {
    match cancel.is_cancelled() {
        true => Err(ToolFault::new("the PDF was not read to its end: the call was cancelled")),
        false => Ok(()),
    }
}

impl PdfText {
    /// The pages with so little text that they must be pictures.
    pub(crate) fn sparse(&self) -> Vec<usize> {
        let letter = |letter: &char| *letter != char::REPLACEMENT_CHARACTER;
        let is_sparse = |text: &Result<String, PdfError>| {
            text.as_ref().map_or(0, |text| text.chars().filter(letter).take(SPARSE).count()) < SPARSE
        };
        self.pages.iter().filter(|(_, text)| is_sparse(text)).map(|(page, _)| *page).collect()
    }

    /// Ends before a page, which is the first that is left.
    pub(crate) fn end_before(&mut self, page: usize) {
        if let Some(at) = self.pages.iter().position(|(known, _)| *known == page) {
            let behind = self.pages.split_off(at).into_iter().map(|(page, _)| page);
            self.left.splice(0..0, behind);
        }
    }

    /// The pages with their headings, and what is to be known of them.
    pub(crate) fn told(&self) -> Telling {
        self.told_with(|_| None).then(format!("[{}]", self.note()))
    }

    /// The pages with their headings, each with what else is known of it behind its text.
    pub(crate) fn told_with(&self, more: impl Fn(usize) -> Option<Telling>) -> Telling {
        let mut told = Telling::shown("");
        for (page, text) in &self.pages {
            told = told.then(format!("{}\n\n", heading(*page, self.all)));
            let more = more(*page);
            told = match text {
                Ok(text) if text.is_empty() && more.is_some() => told,
                Ok(text) if text.is_empty() => told.then("[no text on this page]\n\n"),
                Ok(text) => told.then(Telling::shown(format!("{text}\n\n"))),
                Err(error) => told.then(format!("[{error}]\n\n")),
            };
            if let Some(more) = more {
                told = told.then(more);
            }
        }
        told
    }

    /// The text alone.
    pub(crate) fn text(&self) -> String {
        let texts = self.pages.iter().filter_map(|(_, text)| text.as_ref().ok()).map(String::as_str);
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// How many pages there are, and how to go on.
    pub(crate) fn note(&self) -> String {
        let read: Vec<usize> = self.pages.iter().map(|(page, _)| *page).collect();
        note(&read, &self.left, self.all)
    }
}

/// The subject of a sentence on some of the pages: `these pages have`, `page 3 has`, `pages 2,4 have`.
pub(crate) fn have(text: &PdfText, some: &[usize]) -> String {
    match some {
        [page] => format!("page {page} has"),
        some if some.len() == text.pages.len() => "these pages have".to_owned(),
        some => format!("pages {} have", Pages::named(some)),
    }
}

/// What stands before a page.
pub(crate) fn heading(page: usize, all: usize) -> String {
    format!("## Page {page} of {all}")
}

/// How many pages there are, and how to go on.
pub(crate) fn note(read: &[usize], left: &[usize], all: usize) -> String {
    let of = match read {
        _ if read.len() == all => format!("{} in all", crate::words::count(all as u64, "page")),
        [page] => format!("page {page} of {} in all", digits(all as u64)),
        _ => format!("pages {} of {} in all", Pages::named(read), digits(all as u64)),
    };
    match left {
        [] => of,
        left => format!("{of}; go on with ‹pages› \"{}\"", Pages::named(left)),
    }
}
