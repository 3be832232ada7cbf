//! What a file holds, as a model is shown it; told by its content, not by its name.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use rail_tool::{FileFault, Opened, ReadLimits, Stamps, ToolFault, shown};
use tokio_util::sync::CancellationToken;

use crate::magic;
use crate::notebook_view::{self, Cells, View};
use crate::page::{Page, Pager, Wanted};
use crate::picture::{Picture, is_picture, picture};
use crate::text::{Extent, Text, Written, decode, mark};
use crate::words::{count, size};
use rail_edit::lines::Ends;

/// How much of a file's beginning is looked at to tell what it holds.
const BEGINNING: usize = 256 * 1024;

/// How far a text is read letter by letter once all that is wanted of it was seen; further on only the bytes of line ends are counted.
const LETTERS: u64 = 32 * 1024 * 1024;

/// What is wanted of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Asked {
    /// Which lines, and how much room there is.
    pub(crate) wanted: Wanted,
    /// Whether lines were asked for.
    pub(crate) range: Range,
}

/// Whether lines were asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Range {
    /// The call says which.
    Given,
    /// It does not: the file must be short.
    Open,
}

/// What a file holds.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Reading {
    /// Nothing.
    Empty,
    /// Text.
    Text(TextPage),
    /// An image.
    Picture(Picture),
    /// Cells.
    Notebook(View),
    /// A PDF, so long.
    Pdf(u64),
    /// Neither text nor an image: its kind where it is known, and its length.
    Binary(Option<&'static str>, u64),
}

/// Lines of a text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TextPage {
    /// The lines.
    pub(crate) page: Page,
    /// How it is written down.
    pub(crate) written: Written,
    /// How its lines end.
    pub(crate) endings: Ends,
    /// Whether all its lines were counted.
    pub(crate) counted: Counted,
}

/// Whether all lines of a text were counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counted {
    /// They were.
    All,
    /// It was too long for that.
    Part,
}

/// One file on its way to a model.
pub(crate) struct Reader<'a> {
    /// The file as it was asked for.
    pub(crate) path: &'a Path,
    /// Where it is noted that the file was seen.
    pub(crate) stamps: &'a Stamps,
    /// Ends when nobody wants it any more.
    pub(crate) cancel: &'a CancellationToken,
    /// How much is read.
    pub(crate) limits: ReadLimits,
}

impl Reader<'_> {
    /// Reads what is wanted, and notes that the file was seen.
    ///
    /// # Errors
    /// It can't be read, or is too large for what was asked.
    pub(crate) fn read(&self, opened: &Opened, asked: Asked) -> Result<Reading, ToolFault> {
        let head = self.more(opened, Vec::new(), BEGINNING.max(self.limits.text_bytes))?;
        // The length that the system tells may be wrong: some files have none, others grow.
        let length = opened.meta.len().max(head.len() as u64);
        if head.is_empty() {
            self.stamps.saw(&opened.real, &opened.meta, &head);
            return Ok(Reading::Empty);
        }
        if is_picture(&head) {
            return self.picture(opened, head, length);
        }
        if magic::is_pdf(&head) {
            return Ok(Reading::Pdf(length));
        }
        if self.path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ipynb")) {
            return self.notebook(opened, head, asked);
        }
        self.text(opened, head, asked)
    }

    fn picture(&self, opened: &Opened, head: Vec<u8>, length: u64) -> Result<Reading, ToolFault> {
        let at_most = self.limits.image_bytes;
        let bytes = self.more(opened, head, at_most)?;
        let path = shown(self.path);
        if bytes.len() > at_most {
            return Err(ToolFault::new(format!(
                "the image `{path}` has {} bytes, more than the {at_most} ({}) that are read; make a smaller copy through ‹bash› (`magick '{path}' -resize {edge}x{edge} small.jpg`) and read that",
                length.max(bytes.len() as u64),
                size(at_most as u64),
                edge = self.limits.image_edge,
            )));
        }
        let name = self.path.file_name().map(|name| shown(Path::new(name)));
        let picture = picture(&bytes, name.as_deref(), &self.limits)
            .map_err(|error| ToolFault::new(format!("the image `{path}` can't be shown: {error}")))?;
        self.stamps.saw(&opened.real, &opened.meta, &bytes);
        Ok(Reading::Picture(picture))
    }

    fn notebook(&self, opened: &Opened, head: Vec<u8>, asked: Asked) -> Result<Reading, ToolFault> {
        let bytes = self.more(opened, head, self.limits.notebook_bytes)?;
        let number = |lines: u64| usize::try_from(lines).unwrap_or(usize::MAX);
        let wanted = Cells {
            first: number(asked.wanted.first),
            count: number(asked.wanted.lines),
            room: asked.wanted.room,
            limits: self.limits,
        };
        let view = Text::read(&bytes).and_then(|text| notebook_view::view(&text.text, wanted));
        match view {
            Some(view) if bytes.len() <= self.limits.notebook_bytes => {
                self.stamps.saw(&opened.real, &opened.meta, &bytes);
                Ok(Reading::Notebook(view))
            }
            // Whatever its name says, it is no notebook.
            Some(_) | None => self.text(opened, bytes, asked),
        }
    }

    fn text(&self, opened: &Opened, head: Vec<u8>, asked: Asked) -> Result<Reading, ToolFault> {
        if head.len() <= self.limits.text_bytes {
            let Some(text) = Text::read(&head) else {
                return Ok(Reading::Binary(magic::kind(&head), head.len() as u64));
            };
            self.stamps.saw(&opened.real, &opened.meta, &head);
            let mut pager = Pager::new(Wanted { endings: text.endings, ..asked.wanted });
            pager.push(&text.text);
            let written = Written { encoding: text.encoding, bom: text.bom };
            let page = pager.done();
            return Ok(Reading::Text(TextPage {
                page,
                written,
                endings: text.endings,
                counted: Counted::All,
            }));
        }
        self.long_text(opened, &head, asked)
    }

    /// A text of which only the beginning is at hand.
    fn long_text(&self, opened: &Opened, head: &[u8], asked: Asked) -> Result<Reading, ToolFault> {
        let Some(mut written) = Written::of(head, Extent::Beginning) else {
            let length = opened.meta.len().max(head.len() as u64);
            return Ok(Reading::Binary(magic::kind(head), length));
        };
        let endings = Ends::of(&decode(written.encoding, head));
        let lines = match asked.range {
            Range::Given => asked.wanted.lines,
            Range::Open => 0,
        };
        let wanted = Wanted { endings, lines, ..asked.wanted };
        let whole = io::Cursor::new(head).chain(&opened.file);
        let fault = |cause| self.fault(cause);
        let (mut page, mut counted, found) = self.stream(whole, written, wanted).map_err(fault)?;
        if found == Found::Broken && head.is_ascii() {
            // The beginning told nothing: the first letters that are not plain do.
            written = first_letters(&opened.file).map_err(fault)?.unwrap_or(written);
            (&opened.file).seek(io::SeekFrom::Start(0)).map_err(fault)?;
            (page, counted, _) = self.stream(&opened.file, written, wanted).map_err(fault)?;
        }
        match asked.range {
            Range::Given => {
                // It is too long to be read once more for its digest.
                self.stamps.saw_part(&opened.real, &opened.meta);
                Ok(Reading::Text(TextPage { page, written, endings, counted }))
            }
            Range::Open => Err(self.too_long(opened.meta.len().max(head.len() as u64), page.lines, counted)),
        }
    }

    fn stream(
        &self,
        from: impl Read,
        written: Written,
        wanted: Wanted,
    ) -> io::Result<(Page, Counted, Found)> {
        stream(
            from,
            written,
            wanted,
            Until { letters: LETTERS, bytes: self.limits.counted_bytes, cancel: self.cancel },
        )
    }

    fn too_long(&self, length: u64, lines: u64, counted: Counted) -> ToolFault {
        let lines = match counted {
            Counted::All => count(lines, "line"),
            Counted::Part => format!("more than {}", count(lines, "line")),
        };
        ToolFault::new(format!(
            "`{}` has {lines} ({}), more than the {} that are read at once; give ‹offset› and ‹limit› to read some of its lines, or find the place with ‹grep›",
            shown(self.path),
            size(length),
            size(self.limits.text_bytes as u64),
        ))
    }

    /// Reads on until there is a byte more than so many, or no more.
    fn more(&self, opened: &Opened, mut bytes: Vec<u8>, at_most: usize) -> Result<Vec<u8>, ToolFault> {
        let lack = (at_most + 1).saturating_sub(bytes.len());
        let read = (&opened.file).take(lack as u64).read_to_end(&mut bytes);
        read.map_err(|cause| self.fault(cause))?;
        Ok(bytes)
    }

    fn fault(&self, cause: io::Error) -> ToolFault {
        let fault = FileFault::System { path: self.path.to_owned(), cause };
        ToolFault::caused(format!("{fault}; try again, or look at it through ‹bash›"), &fault)
    }
}

/// Whether all bytes of a text could be read as letters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Letters,
    Broken,
}

/// How a text is written down whose beginning is plain, by the letters behind that.
fn first_letters(mut file: &File) -> io::Result<Option<Written>> {
    file.seek(io::SeekFrom::Start(0))?;
    let mut buffer = vec![0; BEGINNING];
    let mut plain = 0_u64;
    loop {
        let length = file.read(&mut buffer)?;
        let read = buffer.get(..length).unwrap_or_default();
        match read.iter().position(|byte| !byte.is_ascii()) {
            Some(at) => plain += at as u64,
            None if length == 0 => return Ok(None),
            None => {
                plain += length as u64;
                continue;
            }
        }
        let mut letters = Vec::new();
        file.seek(io::SeekFrom::Start(plain))?;
        file.take(BEGINNING as u64).read_to_end(&mut letters)?;
        return Ok(Written::of(&letters, Extent::Beginning));
    }
}

/// How long a text is read.
#[derive(Clone, Copy)]
struct Until<'a> {
    /// Letter by letter so far, and further as long as more of it is wanted.
    letters: u64,
    /// So far, once all that is wanted was seen.
    bytes: u64,
    /// Until nobody wants it any more.
    cancel: &'a CancellationToken,
}

/// Reads a text of any length in little room: the wanted lines are kept, and the others counted.
fn stream(
    mut from: impl Read,
    written: Written,
    wanted: Wanted,
    until: Until<'_>,
) -> io::Result<(Page, Counted, Found)> {
    let mut found = Found::Letters;
    let mut pager = Pager::new(wanted);
    let mut decoder = written.encoding.new_decoder_without_bom_handling();
    let mut skip = mark(written.encoding, written.bom).len();
    let (mut buffer, mut text, mut read) = (vec![0; 64 * 1024], String::new(), 0_u64);
    loop {
        if until.cancel.is_cancelled() {
            return Err(io::Error::other("the call was cancelled"));
        }
        let length = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        read += length as u64;
        let bytes = buffer.get(skip.min(length)..length).unwrap_or_default();
        skip = skip.saturating_sub(length);
        if read > until.letters && pager.only_counts() && ends_stand_alone(written.encoding) {
            pager.count(bytes);
        } else {
            text.clear();
            text.reserve(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len() * 3 + 16));
            if let (_, _, true) = decoder.decode_to_string(bytes, &mut text, length == 0) {
                found = Found::Broken;
            }
            pager.push(&text);
        }
        if length == 0 {
            return Ok((pager.done(), Counted::All, found));
        }
        if read > until.bytes && pager.is_full() {
            return Ok((pager.done(), Counted::Part, found));
        }
    }
}

/// Whether the bytes of line ends are never a part of another letter: only of UTF-16 they are.
fn ends_stand_alone(encoding: &Encoding) -> bool {
    encoding != UTF_16LE && encoding != UTF_16BE
}

#[cfg(test)]
mod tests {
    use encoding_rs::GBK;

    use super::*;
    use crate::page::Numbers;
    use crate::text::Bom;

    const WANTED: Wanted =
        Wanted { first: 3, lines: 1, width: 2_000, room: 10_000, endings: Ends::Lf, numbers: Numbers::Shown };

    fn streamed(bytes: impl Read, written: Written) -> (Page, Counted) {
        let until = Until { letters: 1_000, bytes: 64 << 20, cancel: &CancellationToken::new() };
        let (page, counted, found) = stream(bytes, written, WANTED, until).unwrap();
        assert_eq!(found, Found::Letters);
        (page, counted)
    }

    /// Gives its bytes one at a time.
    struct Dripping<'a>(&'a [u8]);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (Some(to), [first, rest @ ..]) = (buffer.first_mut(), self.0) else { return Ok(0) };
            *to = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn letters_may_be_cut_anywhere() {
        let text = "一\n二\n三三\n四\n";
        let big: Vec<u8> =
            [0xfe, 0xff].into_iter().chain(text.encode_utf16().flat_map(u16::to_be_bytes)).collect();
        let cases = [
            (Written { encoding: encoding_rs::UTF_8, bom: Bom::Absent }, text.as_bytes().to_vec()),
            (Written { encoding: GBK, bom: Bom::Absent }, GBK.encode(text).0.into_owned()),
            (Written { encoding: UTF_16BE, bom: Bom::Present }, big),
        ];
        for (written, bytes) in cases {
            let (page, counted) = streamed(Dripping(&bytes), written);
            assert_eq!((page.text.as_str(), page.lines, counted), ("3\t三三\n", 4, Counted::All));
        }
    }

    #[test]
    fn an_endless_text_is_read_in_little_room_and_left_in_time() {
        let written = Written { encoding: encoding_rs::UTF_8, bom: Bom::Absent };
        let mut page = None;
        let used = allocation_counter::measure(|| page = Some(streamed(Endless, written)));
        let (page, counted) = page.unwrap();
        assert_eq!((page.text.as_str(), counted), ("3\tline\n", Counted::Part));
        assert!(used.bytes_max < 1024 * 1024, "{used:?}");
    }

    #[test]
    fn all_lines_are_counted_whatever_the_length_and_the_encoding() {
        // More than is read at once.
        let lines = 100_000;
        let written = |encoding| Written { encoding, bom: Bom::Absent };
        let text = |line: &[u8], rest: &[u8]| [line.repeat(100_000).as_slice(), rest].concat();
        let cases = [
            (encoding_rs::UTF_8, text(b"abcd\n", b""), lines),
            (encoding_rs::UTF_8, text(b"abcd\n", b"no end"), lines + 1),
            (GBK, text(b"\xd2\xbb\xd2\xbb\n", b""), lines),
            // A letter whose bytes hold that of a line's end.
            (UTF_16LE, text(b"\x0a\x0b\x0a\x00", b""), lines),
        ];
        for (encoding, bytes, lines) in cases {
            let (page, counted) = streamed(bytes.as_slice(), written(encoding));
            assert_eq!((page.lines, counted), (lines, Counted::All), "{}", encoding.name());
        }
    }

    /// Lines without end.
    struct Endless;

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let whole = buffer.len() / 5 * 5;
            for chunk in buffer[..whole].chunks_mut(5) {
                chunk.copy_from_slice(b"line\n");
            }
            Ok(whole)
        }
    }

    #[test]
    fn nobody_waits_for_a_cancelled_text() {
        let written = Written { encoding: encoding_rs::UTF_8, bom: Bom::Absent };
        let cancel = CancellationToken::new();
        cancel.cancel();
        let wanted = Wanted { first: u64::MAX, ..WANTED };
        assert!(stream(Endless, written, wanted, Until { letters: 1, bytes: 1, cancel: &cancel }).is_err());
    }
}
