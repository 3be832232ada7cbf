//! Media as words: texts that came as files, and notes in the place of what a target can't take.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rail_model::{Media, MediaSource};

use crate::fit::word;

/// Types of documents that are text although their name does not say so.
const TEXTS: &[&str] = &[
    "application/json",
    "application/xml",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/javascript",
    "application/x-sh",
    "application/sql",
];

/// The text of a document that is one, whichever way it is held.
pub(crate) fn text(media: &Media) -> Option<String> {
    match &media.source {
        MediaSource::Text(text) => Some(text.clone()),
        MediaSource::Base64(data) => {
            let mime = media.mime.as_deref()?.split(';').next()?.trim();
            let textual = mime.starts_with("text/") || TEXTS.contains(&mime);
            String::from_utf8(STANDARD.decode(data).ok().filter(|_| textual)?).ok()
        }
        MediaSource::Url(_) | MediaSource::FileId(_) => None,
    }
}

/// A text led by its name.
pub(crate) fn titled(media: &Media, text: &str) -> String {
    media.name.as_ref().map_or_else(|| text.to_owned(), |name| format!("{name}:\n{text}"))
}

/// What stands in the place of a medium that can't be sent, so that nothing else is taken for it.
pub(crate) fn note(media: &Media) -> String {
    let name = media.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
    match &media.source {
        MediaSource::Url(url) if !url.starts_with("data:") => {
            format!("[{}{name} left out, it is at {url}]", word(media.kind))
        }
        MediaSource::Url(_) | MediaSource::Base64(_) | MediaSource::Text(_) | MediaSource::FileId(_) => {
            format!("[{}{name} left out: this model can't read it]", word(media.kind))
        }
    }
}
