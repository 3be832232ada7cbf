//! Text of a file becomes a tree in which every value and every key knows its place.

mod json;
mod toml;

use std::path::Path;
use std::sync::Arc;

use crate::{Layer, Node, Origin, Place, Problem, Problems};

/// Reads a file of TOML, or of JSON where its name ends so.
pub(crate) fn read(layer: Layer, file: &Path, text: &str) -> Result<Node, Problems> {
    // Some editors of Windows begin a file with it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = Source::new(layer, file, text);
    match file.extension().and_then(|ending| ending.to_str()) {
        Some("toml") => toml::read(&source),
        Some("json") => json::read(&source),
        Some(_) | None => {
            let text = "its name says neither TOML nor JSON; let it end with `.toml` or `.json`";
            Err(source.problem(0, text).into())
        }
    }
}

/// A value of a variable or a flag, written as TOML has it: `true`, `5`, `["a"]`, `{ a = 1 }`.
pub(crate) fn value(text: &str, origin: &Origin) -> Option<Node> {
    toml::value(text, origin)
}

/// The keys of a dotted path, as TOML has it: `aliases."gemini-2.5-flash"`.
pub(crate) fn path(text: &str) -> Option<Vec<String>> {
    toml::path(text)
}

/// A text and the places of its lines.
pub(crate) struct Source<'a> {
    layer: Layer,
    file: Arc<Path>,
    text: &'a str,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(layer: Layer, file: &Path, text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        Self { layer, file: file.into(), text, lines }
    }

    /// Who says what stands at this byte.
    pub(crate) fn origin(&self, at: usize) -> Origin {
        let line = self.lines.partition_point(|begin| *begin <= at);
        let begin = line.checked_sub(1).and_then(|line| self.lines.get(line)).copied().unwrap_or_default();
        let before = self.text.get(begin..at).map_or(0, |before| before.chars().count());
        let at = Place { line, column: before + 1 };
        Origin::File { layer: self.layer, file: Arc::clone(&self.file), at }
    }

    fn problem(&self, at: usize, text: impl Into<String>) -> Problem {
        Problem::new(&self.origin(at), "", text)
    }
}
