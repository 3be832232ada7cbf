//! Reads PDFs: the text of a page in reading order, and its picture.
//!
//! Pure: bytes in, text and pixels out. The caller knows where the bytes come from and what a page is wanted for.

mod chain;
mod collect;
mod guard;
mod layout;
mod pages;
mod rows;
mod scan;
mod weigh;

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use hayro::hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};
use hayro::hayro_syntax::page::Page;
use hayro::hayro_syntax::{DecryptionError, LoadPdfError};
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings};

use collect::{Collector, Depth};
use guard::guarded;
pub use pages::{Pages, PagesError};
use weigh::Weighed;

/// How much one file may ask for; beyond it a page, or the file, is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Bytes that one stream of the file unpacks to.
    pub stream_bytes: u64,
    /// Bytes of drawing instructions of one page.
    pub content_bytes: u64,
    /// Things that one page draws.
    pub steps: u64,
    /// Letters of one page.
    pub letters: usize,
    /// Pixels of one image on a page; a page may have four times as many.
    pub image_pixels: u64,
    /// Pages of a file.
    pub pages: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            stream_bytes: 256 << 20,
            content_bytes: 64 << 20,
            steps: 4_000_000,
            letters: 500_000,
            image_pixels: 100_000_000,
            pages: 50_000,
        }
    }
}

/// Why a PDF, or a page of it, can't be read. Pages count from 1.
#[derive(Clone, PartialEq, Eq, thiserror::Error, Debug)]
pub enum PdfError {
    /// It does not begin like a PDF.
    #[error("these bytes are no PDF: there is no `%PDF-` at their beginning")]
    NotPdf,
    /// It can be read only with a password.
    #[error("the PDF is encrypted and needs a password")]
    PasswordNeeded,
    /// Another password is needed.
    #[error("the PDF is encrypted and this is not its password")]
    WrongPassword,
    /// It is encrypted in a way that nothing here knows.
    #[error("the PDF is encrypted in a way that is not known here")]
    Encryption,
    /// Nothing in it can be found.
    #[error("the PDF is damaged or cut: no page can be found in it")]
    Damaged,
    /// There is no such page.
    #[error("there is no page {page}: the PDF has {pages}")]
    NoPage {
        /// The page asked for.
        page: usize,
        /// How many there are.
        pages: usize,
    },
    /// One page can't be read.
    #[error("page {page} is damaged: {what}")]
    DamagedPage {
        /// The page.
        page: usize,
        /// What is wrong with it.
        what: &'static str,
    },
    /// One page, or where none is named the file, asks for more than a reader should give.
    #[error("{}{what}, which is more than is read", page.map(|page| format!("page {page} has ")).unwrap_or_default())]
    TooMuch {
        /// The page.
        page: Option<usize>,
        /// What there is too much of.
        what: &'static str,
    },
    /// The system gave no thread to read it on.
    #[error("the system has no thread free to read a PDF: {0}")]
    NoThread(String),
}

/// An open PDF.
pub struct Pdf {
    file: hayro::hayro_syntax::Pdf,
    budget: Budget,
    weighed: Mutex<Weighed>,
}

impl Pdf {
    /// Opens a PDF. Without a password the empty one is tried, which most encrypted files have.
    ///
    /// # Errors
    /// It is no PDF, needs another password, is damaged beyond repair, or asks for too much.
    pub fn open(bytes: Vec<u8>, password: Option<&str>) -> Result<Self, PdfError> {
        Self::open_within(bytes, password, Budget::default())
    }

    /// Opens a PDF within a budget.
    ///
    /// # Errors
    /// As [`Pdf::open`].
    pub fn open_within(bytes: Vec<u8>, password: Option<&str>, budget: Budget) -> Result<Self, PdfError> {
        if !scan::begins_like_a_pdf(&bytes) {
            return Err(PdfError::NotPdf);
        }
        let file = guarded(None, move || {
            if scan::unpacks_beyond(&bytes, budget.stream_bytes) {
                return Err(PdfError::TooMuch {
                    page: None,
                    what: "the PDF has a stream that unpacks to gigabytes",
                });
            }
            let opened = hayro::hayro_syntax::Pdf::new_with_password(bytes, password.unwrap_or_default());
            opened.map_err(|error| match error {
                LoadPdfError::Decryption(DecryptionError::PasswordProtected) => match password {
                    Some(_) => PdfError::WrongPassword,
                    None => PdfError::PasswordNeeded,
                },
                LoadPdfError::Decryption(
                    DecryptionError::MissingIDEntry
                    | DecryptionError::InvalidEncryption
                    | DecryptionError::UnsupportedAlgorithm,
                ) => PdfError::Encryption,
                LoadPdfError::Invalid => PdfError::Damaged,
            })
        })?;
        let pages = file.pages().len();
        if pages == 0 {
            return Err(PdfError::Damaged);
        }
        if pages > budget.pages {
            return Err(PdfError::TooMuch { page: None, what: "the PDF has a list of pages without end" });
        }
        Ok(Self { file, budget, weighed: Mutex::new(Weighed::default()) })
    }

    /// How many pages there are; at least one.
    pub fn pages(&self) -> usize {
        self.file.pages().len()
    }

    /// The text of a page, from 1, in reading order; empty where the page has no letters. A letter that nothing in the
    /// file names is U+FFFD.
    ///
    /// # Errors
    /// There is no such page, it is damaged, or asks for too much.
    pub fn text(&self, page: usize) -> Result<String, PdfError> {
        self.with(page, |found| {
            let collector = self.collect(page, found, Depth::Letters)?;
            Ok(layout::text(collector.letters))
        })
    }

    /// The picture of a page, from 1, as a PNG whose longer edge has this many pixels.
    ///
    /// # Errors
    /// There is no such page, it is damaged, or asks for too much.
    pub fn render(&self, page: usize, edge_px: u16) -> Result<Vec<u8>, PdfError> {
        self.with(page, |found| {
            // What would be drawn is counted before it is: the renderer itself can't be stopped.
            self.collect(page, found, Depth::Everything)?;
            let scale = scale(found, edge_px);
            let settings = PixmapSettings { x_scale: scale.0, y_scale: scale.1, bg_color: WHITE };
            let pixels = hayro::render(
                found,
                &RenderCache::new(),
                &InterpreterSettings::default(),
                &RenderSettings::default(),
                &settings,
            );
            pixels
                .into_png()
                .map_err(|_| PdfError::DamagedPage { page, what: "its picture can't be written" })
        })
    }

    /// Does something with a page on a thread of its own.
    fn with<T: Send>(
        &self,
        page: usize,
        work: impl FnOnce(&Page<'_>) -> Result<T, PdfError> + Send,
    ) -> Result<T, PdfError> {
        let pages = self.pages();
        let missing = PdfError::NoPage { page, pages };
        let index = page.checked_sub(1).filter(|index| *index < pages).ok_or(missing)?;
        guarded(Some(page), || work(&self.file.pages()[index]))
    }

    /// Goes through all that a page draws.
    fn collect<'a>(&self, page: usize, found: &Page<'a>, depth: Depth) -> Result<Collector, PdfError> {
        let mut weighed = self.weighed.lock().unwrap_or_else(PoisonError::into_inner);
        let form_bytes =
            weighed.page(found, &self.budget).map_err(|what| PdfError::TooMuch { page: Some(page), what })?;
        drop(weighed);
        if found.raw().contains_key("Contents") && found.page_stream().is_none() {
            return Err(PdfError::DamagedPage { page, what: "what it draws can't be unpacked" });
        }
        let (width, height) = found.render_dimensions();
        let area = hayro::kurbo::Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
        let coefficients = found.initial_transform(true).as_coeffs();
        let cache = InterpreterCache::new();
        let settings = InterpreterSettings::default();
        let mut context =
            Context::new(hayro::kurbo::Affine::new(coefficients), area, &cache, found.xref(), settings);
        let mut collector = Collector::new(self.budget, depth, form_bytes, area);
        interpret_page(found, &mut context, &mut collector);
        Ok(collector)
    }
}

/// How much larger a page is drawn: both directions alike, unless the page is so thin that nothing would be left of it.
fn scale(page: &Page<'_>, edge_px: u16) -> (f32, f32) {
    let (width, height) = page.render_dimensions();
    let edge = f32::from(edge_px.max(1));
    let scale = edge / width.max(height);
    // The renderer cuts pixels that are not whole.
    let whole = |length: f32| (length * scale).round().clamp(1.0, edge) + 0.01;
    (whole(width) / width, whole(height) / height)
}

/// Ids of objects that were seen.
type Seen = HashSet<hayro::hayro_syntax::object::ObjectIdentifier>;
