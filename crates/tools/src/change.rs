//! A file that is to be changed: read first, unchanged since, and written back in its own form.

use std::borrow::Cow;
use std::fs::Metadata;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rail_tool::{Display, Expected, FileFault, Opened, OutputNote, Stale, Telling, ToolCx, ToolFault, shown};

use crate::missing::{self, Sought};
use crate::text::Text;
use rail_edit::diff::{FileDiff, clipped};
use rail_edit::lines::lines_near;

/// Lines around a change that the model is shown.
const CONTEXT: usize = 3;

/// Characters of a line that the model is shown after a change.
const MAX_WIDTH: usize = 400;

/// A file as it is before it is changed.
#[derive(Debug)]
pub(crate) struct Held {
    /// What it says.
    pub(crate) text: Text,
    /// Its bytes, where they are not those of the text.
    own: Option<Vec<u8>>,
    meta: Metadata,
}

/// What became of a file.
#[derive(Debug)]
pub(crate) struct Changed {
    /// Its path, links resolved.
    pub(crate) real: PathBuf,
    /// What the session must know.
    pub(crate) notes: Vec<OutputNote>,
    /// What the model should know besides, each a sentence.
    pub(crate) remarks: Vec<String>,
}

impl Held {
    /// Takes hold of a file that was read in this session and is still the same; nothing if there is none.
    ///
    /// # Errors
    /// It can't be read, is no text, was not read before, or is another one now.
    pub(crate) fn of(cx: &ToolCx, path: &Path) -> Result<Option<Self>, ToolFault> {
        let Some((opened, bytes)) = read(cx, path)? else { return Ok(None) };
        let checked = cx.session().stamps.check(&opened.real, &opened.meta, &bytes);
        // There is nothing in an empty file that anyone could have missed.
        match checked {
            Ok(()) => {}
            Err(Stale::Unread | Stale::Changed) if bytes.is_empty() => {}
            Err(stale) => return Err(ToolFault::new(stale_words(stale, path))),
        }
        Self::new(opened, bytes, path).map(Some)
    }

    /// Takes hold of a file whether it was read or not, for a change that tells what is there; nothing if there is none.
    ///
    /// # Errors
    /// It can't be read, or is no text.
    pub(crate) fn unread(cx: &ToolCx, path: &Path) -> Result<Option<Self>, ToolFault> {
        read(cx, path)?.map(|(opened, bytes)| Self::new(opened, bytes, path)).transpose()
    }

    fn new(opened: Opened, bytes: Vec<u8>, path: &Path) -> Result<Self, ToolFault> {
        let Some((text, own)) = Text::take(bytes) else {
            return Err(ToolFault::new(format!(
                "`{}` is no text file and was left as it is: change it with a program of its own through ‹bash›",
                shown(path)
            )));
        };
        Ok(Self { text, own, meta: opened.meta })
    }

    /// Its bytes.
    fn bytes(&self) -> &[u8] {
        self.own.as_deref().unwrap_or(self.text.text.as_bytes())
    }

    /// Its bytes, for who needs nothing else of it.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.own.unwrap_or_else(|| self.text.text.into_bytes())
    }

    /// As [`of`](Self::of), where there must be one.
    ///
    /// # Errors
    /// Also if there is none: then with the names of similar files.
    pub(crate) fn existing(cx: &ToolCx, path: &Path) -> Result<Self, ToolFault> {
        let Some((opened, bytes)) = read(cx, path)? else { return Err(missing(cx, path)) };
        if cx.session().stamps.check(&opened.real, &opened.meta, &bytes) == Err(Stale::Unread)
            && let Some(fault) = shown_unread(cx, path, &opened, &bytes)
        {
            return Err(fault);
        }
        Self::of(cx, path)?.ok_or_else(|| missing(cx, path))
    }

    /// Writes a changed text in the file's own encoding, if the file is still the same.
    ///
    /// # Errors
    /// It can't be written so, or not at all, or somebody else was faster.
    pub(crate) fn write(&self, cx: &ToolCx, path: &Path, changed: &str) -> Result<Changed, ToolFault> {
        let bytes = self.encoded(path, changed)?;
        let mut changed = put(cx, path, &bytes, Expected::Bytes(self.bytes()))?;
        let names = self.meta.nlink();
        if names > 1 {
            changed
                .remarks
                .push(format!("The file had {names} names (hard links); only this one has the new content."));
        }
        Ok(changed)
    }

    /// A changed text in the file's own encoding.
    ///
    /// # Errors
    /// It can't be written so.
    pub(crate) fn encoded<'a>(&self, path: &Path, changed: &'a str) -> Result<Cow<'a, [u8]>, ToolFault> {
        self.text
            .encode(changed)
            .map_err(|fault| ToolFault::new(format!("`{}` was left as it is: {fault}", shown(path))))
    }
}

/// The whole file; nothing if there is none.
///
/// # Errors
/// It can't be read.
pub(crate) fn read(cx: &ToolCx, path: &Path) -> Result<Option<(Opened, Vec<u8>)>, ToolFault> {
    match cx.files().read(path, cx.session().limits.edit_bytes) {
        Ok(read) => Ok(Some(read)),
        Err(FileFault::Missing { .. }) => Ok(None),
        Err(fault) => Err(say(&fault)),
    }
}

/// Makes a file that is not there yet.
///
/// # Errors
/// It can't be written, or there is one now.
pub(crate) fn create(cx: &ToolCx, path: &Path, content: &str) -> Result<Changed, ToolFault> {
    put(cx, path, content.as_bytes(), Expected::Nothing)
}

/// Writes a file and stamps it: whoever wrote a file knows what is in it.
///
/// # Errors
/// It can't be written, or is not what was expected.
pub(crate) fn put(
    cx: &ToolCx,
    path: &Path,
    bytes: &[u8],
    expected: Expected<'_>,
) -> Result<Changed, ToolFault> {
    let opened = cx.files().replace(path, bytes, expected).map_err(|fault| say(&fault))?;
    cx.session().stamps.saw(&opened.real, &opened.meta, bytes);
    let notes = memory_note(cx, &opened.real);
    Ok(Changed { real: opened.real, notes, remarks: Vec::new() })
}

/// The note that a file is one that agents load: whoever loaded it must load it anew.
pub(crate) fn memory_note(cx: &ToolCx, real: &Path) -> Vec<OutputNote> {
    // A name may have folders before it.
    let is_memory = cx.session().memory_files.iter().any(|name| real.ends_with(name));
    is_memory.then(|| OutputNote::MemoryFile(real.to_owned())).into_iter().collect()
}

/// Changes as people are shown them.
pub(crate) fn diff_shown(files: Vec<FileDiff>, cx: &ToolCx) -> Display {
    Display::Diff { files, lines: cx.session().limits.preview_diff_lines }
}

/// A fault of the file system for the model, with what to do next.
pub(crate) fn say(fault: &FileFault) -> ToolFault {
    let next = match fault {
        FileFault::Denied { .. } => "call the tool again with the path that is really meant",
        FileFault::Missing { .. } => "check the path, or make the file with ‹write_file›",
        FileFault::Folder { .. } => "name a file in it; ‹list_directory› shows what is there",
        FileFault::Special { .. } => "it can't be changed by this tool",
        FileFault::TooLarge { .. } => "change it with a program through ‹bash›",
        FileFault::ReadOnly { .. } => {
            "nothing was changed; if it is meant to be changed, make it writable first (`chmod u+w` through ‹bash›)"
        }
        FileFault::Changed { .. } => {
            "nothing was written; read it again with ‹read_file› and make the change anew"
        }
        FileFault::System { cause, .. } => match cause.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                "nothing was changed; there is no room left, so tell the user"
            }
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                "nothing was changed; there is no right to write there, so ask the user or choose another place"
            }
            std::io::ErrorKind::NotADirectory => {
                "a part of the path is a file and not a folder: check the path"
            }
            std::io::ErrorKind::InvalidFilename => {
                "the name is too long for the file system: choose a shorter one"
            }
            _ => "nothing was changed; check the path and try again",
        },
    };
    let cause = match fault {
        FileFault::System { cause, .. } => Some(cause.to_string()),
        FileFault::Denied { .. }
        | FileFault::Missing { .. }
        | FileFault::Folder { .. }
        | FileFault::Special { .. }
        | FileFault::TooLarge { .. }
        | FileFault::ReadOnly { .. }
        | FileFault::Changed { .. } => None,
    };
    ToolFault { say: format!("{fault}: {next}").into(), cause }
}

/// The longest file that is shown to who would change it unread.
const SHOWN_UNREAD: usize = 2_000;

/// A short file that was not read is shown at once, which is reading it: small models guess at a line, and when they are only told to
/// read the file, they tell the user to.
fn shown_unread(cx: &ToolCx, path: &Path, opened: &Opened, bytes: &[u8]) -> Option<ToolFault> {
    if cx.is_secret(path) || cx.is_secret(&opened.real) {
        return None;
    }
    let text =
        std::str::from_utf8(bytes).ok().filter(|text| !text.is_empty() && text.len() <= SHOWN_UNREAD)?;
    cx.session().stamps.saw(&opened.real, &opened.meta, bytes);
    let head = Telling::said(format!(
        "`{}` was not read in this session, so it was left as it is. It says:\n",
        shown(path)
    ));
    let say = head
        .then(Telling::shown(text.trim_end()))
        .then("\nMake the change anew, with the old text copied from this");
    Some(ToolFault { say, cause: None })
}

fn stale_words(stale: Stale, path: &Path) -> String {
    let path = shown(path);
    match stale {
        Stale::Unread => {
            format!("`{path}` was not read in this session: read it with ‹read_file› first, then change it")
        }
        Stale::Changed => format!(
            "`{path}` was changed since it was read, by the user or a program: read it again with ‹read_file›, then change it"
        ),
    }
}

/// What to say of a file that is not there.
pub(crate) fn missing(cx: &ToolCx, path: &Path) -> ToolFault {
    let ToolFault { say, cause } = missing::missing(&cx.files(), cx.session(), path, Sought::File);
    let joint = if say.ends_with('?') { " A" } else { "; a" };
    ToolFault { say: say.then(format!("{joint} new file is made with ‹write_file›")), cause }
}

/// The changed lines with their numbers and a few around them, as much as a model needs to go on; no more than so many.
pub(crate) fn snippet(text: &str, places: &[Range<usize>], at_most: usize) -> String {
    let mut wanted = Wanted::new(text, places, at_most);
    let (mut out, mut shown, mut last) = (String::new(), 0, None);
    let first = places.first().map_or(0, |place| place.start);
    for (at, line) in lines_near(text, first, CONTEXT) {
        if !wanted.has(at) {
            if wanted.is_done() {
                break;
            }
            continue;
        }
        if shown == at_most {
            out.push_str("…\n");
            break;
        }
        if last.is_some_and(|last| last + 1 < at) {
            out.push_str("…\n");
        }
        out.push_str(&format!("{}\t{}\n", at + 1, clipped(line.body, MAX_WIDTH)));
        (shown, last) = (shown + 1, Some(at));
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

/// Which lines are shown: ranges in order, asked for from the first line on.
struct Wanted {
    ranges: Vec<Range<usize>>,
    at: usize,
}

impl Wanted {
    fn new(text: &str, places: &[Range<usize>], at_most: usize) -> Self {
        let mut ranges = Vec::new();
        let first = places.first().map_or(0, |place| place.start);
        let mut lines = lines_near(text, first, CONTEXT).peekable();
        for place in places.iter().take(at_most) {
            let mut first = 0;
            while let Some((number, _)) = lines.next_if(|(_, line)| line.end() <= place.start) {
                first = number + 1;
            }
            let start = lines.peek().map_or(first, |(number, _)| *number);
            let mut end = start + 1;
            // A place that ends with a line's ending does not reach into the next line.
            while let Some((number, _)) = lines.next_if(|(_, line)| line.end() < place.end) {
                end = number + 2;
            }
            ranges.push(start.saturating_sub(CONTEXT)..end + CONTEXT);
        }
        Self { ranges, at: 0 }
    }

    /// Whether no line is shown any more.
    fn is_done(&self) -> bool {
        self.at >= self.ranges.len()
    }

    fn has(&mut self, line: usize) -> bool {
        while self.ranges.get(self.at).is_some_and(|range| range.end <= line) {
            self.at += 1;
        }
        self.ranges.get(self.at).is_some_and(|range| range.contains(&line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_shows_the_places_and_what_is_around_them() {
        let text: String = (1..=20).map(|number| format!("line {number}\n")).collect();
        let at = |what: &str| {
            let start = text.find(what).unwrap();
            start..start + what.len()
        };
        assert_eq!(
            snippet(&text, &[at("line 5"), at("line 15\n")], 40),
            "2\tline 2\n3\tline 3\n4\tline 4\n5\tline 5\n6\tline 6\n7\tline 7\n8\tline 8\n…\n12\tline 12\n13\tline 13\n14\tline 14\n15\tline 15\n16\tline 16\n17\tline 17\n18\tline 18"
        );
        let one =
            |text: &str, start: usize, end: usize| snippet(text, std::slice::from_ref(&(start..end)), 40);
        assert_eq!(one("a", 0, 1), "1\ta");
        assert_eq!(one("", 0, 0), "");
        // What was taken out at the end leaves what is before it.
        assert_eq!(one("a\nb\n", 4, 4), "1\ta\n2\tb");
        let long = one(&text.repeat(10), 0, text.len() * 10);
        assert_eq!(long.lines().count(), 41);
    }
}
