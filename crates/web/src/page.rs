//! What a page is, and its text.

use crate::html;
use crate::{Place, charset};

/// A page, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The address that it came from in the end.
    pub url: String,
    /// What it is.
    pub kind: Kind,
    /// The type that the server says, without parameters.
    pub mime: String,
    /// What it calls itself.
    pub title: Option<String>,
    /// What it says of itself in its head.
    pub description: Option<String>,
    /// Its text: Markdown for HTML, as it is for other texts, nothing for the rest.
    pub text: String,
    /// How many bytes were sent; of a longer one, how many were read.
    pub bytes: usize,
    /// Whether there is more than is given.
    pub cut: bool,
    /// The encoding, where it is not UTF-8.
    pub encoding: Option<&'static str>,
}

/// What a page is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A page of the web, given as Markdown.
    Html,
    /// Markdown, JSON, XML or another text, given as it is.
    Text,
    /// A document in PDF.
    Pdf,
    /// An image.
    Image,
    /// Something else that is no text.
    Binary,
}

/// The bytes of a body, and what is said of them.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// The bytes, unpacked.
    pub bytes: &'a [u8],
    /// How many were sent.
    pub sent: usize,
    /// Whether there were more.
    pub cut: bool,
    /// What the server says that they are.
    pub content_type: &'a str,
}

impl Page {
    /// Reads a body, of whose text so many characters are given at most.
    pub fn read(place: &Place, raw: &Raw<'_>, max_chars: usize) -> Self {
        let (mime, label) = parts(raw.content_type);
        let kind = kind(&mime, raw.bytes);
        let mut page = Self {
            url: place.as_str().to_owned(),
            kind,
            mime,
            title: None,
            description: None,
            text: String::new(),
            bytes: raw.sent,
            cut: raw.cut,
            encoding: None,
        };
        match kind {
            Kind::Pdf | Kind::Image | Kind::Binary => return page,
            Kind::Html | Kind::Text => {}
        }
        let read = charset::read(raw.bytes, label.as_deref());
        page.encoding = Some(read.encoding).filter(|name| *name != "UTF-8");
        if kind == Kind::Html {
            let html::Markdown { title, description, text, cut } =
                html::markdown(&read.text, place.url(), max_chars);
            page.cut |= cut;
            (page.title, page.description, page.text) = (title, description, text);
        } else {
            page.text = read.text;
            if let Some((end, _)) = page.text.char_indices().nth(max_chars) {
                page.text.truncate(end);
                page.cut = true;
            }
        }
        page
    }
}

/// Whether the head of an answer says that its body is no text, so that it need not be read.
pub(crate) fn is_no_text(content_type: &str) -> bool {
    let (mime, _) = parts(content_type);
    match declared(&mime) {
        Some(Kind::Image | Kind::Binary) => true,
        Some(Kind::Html | Kind::Text | Kind::Pdf) | None => false,
    }
}

/// The type in small letters, and the label of its encoding.
fn parts(content_type: &str) -> (String, Option<String>) {
    let mut parts = content_type.split(';').map(str::trim);
    let mime = parts.next().unwrap_or_default().to_ascii_lowercase();
    let label = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
    });
    (mime, label)
}

/// What a type says; None where it says nothing of use.
fn declared(mime: &str) -> Option<Kind> {
    let (main, sub) = mime.split_once('/')?;
    match (main, sub) {
        ("text", "html") | ("application", "xhtml+xml") => Some(Kind::Html),
        ("application", "pdf" | "x-pdf") => Some(Kind::Pdf),
        // A picture as text is of use to whoever asked for it.
        ("image", "svg+xml") | ("text", _) => Some(Kind::Text),
        ("image", _) => Some(Kind::Image),
        ("audio" | "video" | "font" | "model", _) => Some(Kind::Binary),
        (
            "application",
            "json" | "xml" | "javascript" | "x-javascript" | "ecmascript" | "typescript" | "yaml" | "x-yaml"
            | "toml" | "sql" | "graphql" | "x-sh" | "x-ndjson" | "rtf" | "x-tex" | "x-httpd-php" | "markdown",
        ) => Some(Kind::Text),
        ("application", sub) if sub.ends_with("+json") || sub.ends_with("+xml") || sub.ends_with("+yaml") => {
            Some(Kind::Text)
        }
        (
            "application",
            "zip" | "gzip" | "x-tar" | "x-7z-compressed" | "wasm" | "java-archive" | "vnd.ms-excel"
            | "msword",
        ) => Some(Kind::Binary),
        ("application", sub) if sub.starts_with("vnd.openxmlformats") => Some(Kind::Binary),
        (_, _) => None,
    }
}

/// What a body is: by its first bytes where they leave no doubt, else by its type, else by what it looks like.
fn kind(mime: &str, bytes: &[u8]) -> Kind {
    const IMAGES: &[&[u8]] = &[b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"BM\0\0"];
    let starts = |magic: &&[u8]| bytes.starts_with(magic);
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    if bytes.starts_with(b"%PDF-") {
        return Kind::Pdf;
    }
    if IMAGES.iter().any(starts) || is_webp {
        return Kind::Image;
    }
    match declared(mime) {
        Some(Kind::Html | Kind::Text) | None if is_binary(bytes) => Kind::Binary,
        Some(Kind::Text) if mime == "text/plain" && looks_like_page(bytes) => Kind::Html,
        Some(kind) => kind,
        None if looks_like_page(bytes) => Kind::Html,
        None => Kind::Text,
    }
}

/// Whether the bytes hold what no text holds.
fn is_binary(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(4096)).unwrap_or_default();
    // UTF-16 has zeros, and a mark before them.
    let is_marked = head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff");
    let controls = head.iter().filter(|byte| matches!(byte, 0..=6 | 14..=26 | 28..=31)).count();
    !is_marked && controls * 50 > head.len()
}

fn looks_like_page(bytes: &[u8]) -> bool {
    let head = bytes.get(..bytes.len().min(512)).unwrap_or_default();
    let head = String::from_utf8_lossy(head)
        .trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t'])
        .to_ascii_lowercase();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}
