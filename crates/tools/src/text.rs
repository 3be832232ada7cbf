//! Text files as they are on the disk: their encoding, mark and line endings, and the way back to the same bytes.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EncoderResult, Encoding, GB18030, GBK, UTF_8, UTF_16BE, UTF_16LE};

use crate::magic;
use rail_edit::lines::Ends;

/// A text file: what it says, and how that is written down.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Text {
    /// What it says, with its own line endings and without a byte order mark.
    pub(crate) text: String,
    /// How letters are written as bytes.
    pub(crate) encoding: &'static Encoding,
    /// Whether it begins with a byte order mark.
    pub(crate) bom: Bom,
    /// How its lines end.
    pub(crate) endings: Ends,
    faith: Faith,
}

/// How a text is written down, as far as its beginning tells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Written {
    /// How letters are written as bytes.
    pub(crate) encoding: &'static Encoding,
    /// Whether it begins with a byte order mark.
    pub(crate) bom: Bom,
}

/// Whether a text begins with the byte order mark of its encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bom {
    /// It does not.
    Absent,
    /// It does.
    Present,
}

/// How much of a file is at hand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// Its beginning; the last letter may be cut.
    Beginning,
}

/// Why a text can't be written in a file's encoding.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum Unencodable {
    /// The encoding lacks a letter.
    #[error(
        "`{letter}` (U+{:04X}) can't be written in {encoding}, the encoding of this file; leave it out, or convert the file to UTF-8 first (`iconv` through ‹bash›)",
        u32::from(*.letter)
    )]
    Letter {
        /// The letter.
        letter: char,
        /// The file's encoding.
        encoding: &'static str,
    },
    /// The file's own bytes would not come back.
    #[error(
        "some bytes of this file are not proper {encoding} text and would be lost if it were written; change it through ‹bash› instead"
    )]
    Damaged {
        /// The file's encoding.
        encoding: &'static str,
    },
}

/// Whether the text gives back the bytes it was read from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Faith {
    Exact,
    Lossy,
}

impl Text {
    /// Takes the bytes of a whole file; nothing if they are no text. Bytes that the text does not hold itself come back.
    pub(crate) fn take(bytes: Vec<u8>) -> Option<(Self, Option<Vec<u8>>)> {
        let bytes = match String::from_utf8(bytes) {
            Ok(text) if is_plain(&text) => {
                let endings = Ends::of(&text);
                let text = Self { text, encoding: UTF_8, bom: Bom::Absent, endings, faith: Faith::Exact };
                return Some((text, None));
            }
            Ok(text) => text.into_bytes(),
            Err(error) => error.into_bytes(),
        };
        Self::read(&bytes).map(|text| (text, Some(bytes)))
    }

    /// Reads the bytes of a whole file; nothing if they are no text.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let Written { mut encoding, bom } = Written::of(bytes, Extent::Whole)?;
        let body = bytes.get(mark(encoding, bom).len()..).unwrap_or_default();
        let text = decode(encoding, body).into_owned();
        if encoding == GBK && !exact(encoding, &text, body) {
            // The smaller of the two lacks the letters of four bytes; both read the same.
            encoding = GB18030;
        }
        let faith = if exact(encoding, &text, body) { Faith::Exact } else { Faith::Lossy };
        let endings = Ends::of(&text);
        Some(Self { text, encoding, bom, endings, faith })
    }

    /// The bytes of a changed text, in the same encoding and with the same mark.
    ///
    /// # Errors
    /// The encoding lacks a letter, or the file's own bytes would not come back.
    pub(crate) fn encode<'a>(&self, changed: &'a str) -> Result<Cow<'a, [u8]>, Unencodable> {
        if self.faith == Faith::Lossy {
            return Err(Unencodable::Damaged { encoding: self.encoding.name() });
        }
        if self.encoding == UTF_8 && self.bom == Bom::Absent {
            return Ok(Cow::Borrowed(changed.as_bytes()));
        }
        let mut bytes = mark(self.encoding, self.bom).to_vec();
        write(self.encoding, changed, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }
}

/// Whether a text of UTF-8 is that and nothing else: no mark, no zeros of UTF-16, no file of another kind.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    magic::kind(bytes).is_none() && Encoding::for_bom(bytes).is_none() && !too_many_controls(text)
}

impl Written {
    /// How these bytes are written down; nothing if they are no text.
    pub(crate) fn of(bytes: &[u8], extent: Extent) -> Option<Self> {
        if magic::kind(bytes).is_some() {
            return None;
        }
        if let Some((encoding, length)) = Encoding::for_bom(bytes) {
            let body = bytes.get(length..).unwrap_or_default();
            let sound = !too_many_controls(&decode(encoding, whole_units(encoding, body)));
            return sound.then_some(Self { encoding, bom: Bom::Present });
        }
        let encoding = match std::str::from_utf8(bytes) {
            _ if bytes.contains(&0) => utf_16(bytes, extent)?,
            Ok(_) => UTF_8,
            Err(error) if extent == Extent::Beginning && error.error_len().is_none() => UTF_8,
            Err(_) if mostly_utf_8(bytes) => UTF_8,
            Err(_) => guess(bytes, extent),
        };
        let sound = !too_many_controls(&decode(encoding, whole_units(encoding, bytes)));
        sound.then_some(Self { encoding, bom: Bom::Absent })
    }

    /// How many bytes stand for a line feed.
    pub(crate) fn unit(self) -> usize {
        if self.encoding == UTF_16LE || self.encoding == UTF_16BE { 2 } else { 1 }
    }
}

/// The text of some bytes; what can't be read becomes U+FFFD.
pub(crate) fn decode<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Cow<'a, str> {
    encoding.decode_without_bom_handling(bytes).0
}

/// The byte order mark of an encoding, if there is to be one.
pub(crate) fn mark(encoding: &'static Encoding, bom: Bom) -> &'static [u8] {
    match bom {
        Bom::Absent => b"",
        Bom::Present if encoding == UTF_16LE => b"\xff\xfe",
        Bom::Present if encoding == UTF_16BE => b"\xfe\xff",
        Bom::Present => b"\xef\xbb\xbf",
    }
}

fn exact(encoding: &'static Encoding, text: &str, bytes: &[u8]) -> bool {
    if encoding == UTF_8 {
        return text.as_bytes() == bytes;
    }
    let mut again = Vec::with_capacity(bytes.len());
    write(encoding, text, &mut again).is_ok() && again == bytes
}

fn write(encoding: &'static Encoding, text: &str, out: &mut Vec<u8>) -> Result<(), Unencodable> {
    if encoding == UTF_8 {
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    if encoding == UTF_16LE || encoding == UTF_16BE {
        let bytes = |unit: u16| if encoding == UTF_16LE { unit.to_le_bytes() } else { unit.to_be_bytes() };
        out.extend(text.encode_utf16().flat_map(bytes));
        return Ok(());
    }
    let mut encoder = encoding.new_encoder();
    let mut rest = text;
    loop {
        // Room for the worst case, so that the first pass ends unless a letter is lacking.
        let room = encoder.max_buffer_length_from_utf8_without_replacement(rest.len());
        out.reserve(room.unwrap_or(rest.len()));
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, out, true);
        rest = rest.get(read..).unwrap_or_default();
        match result {
            EncoderResult::InputEmpty => return Ok(()),
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(letter) => {
                return Err(Unencodable::Letter { letter, encoding: encoding.name() });
            }
        }
    }
}

/// UTF-16 without a mark, by its zeros: those of the common letters are all on the same side.
fn utf_16(bytes: &[u8], extent: Extent) -> Option<&'static Encoding> {
    let pairs = bytes.as_chunks::<2>().0;
    let first = pairs.iter().filter(|[first, _]| *first == 0).count();
    let second = pairs.iter().filter(|[_, second]| *second == 0).count();
    let (encoding, many, few) =
        if second > first { (UTF_16LE, second, first) } else { (UTF_16BE, first, second) };
    let even = extent == Extent::Beginning || bytes.len() == pairs.len() * 2;
    let clear = many * 10 >= pairs.len() * 3 && few * 20 <= pairs.len() && !pairs.is_empty();
    (even && clear && !decode(encoding, pairs.as_flattened()).contains('\u{fffd}')).then_some(encoding)
}

/// A text of UTF-8 in which a few bytes are broken: another encoding would make nonsense of all other letters.
fn mostly_utf_8(bytes: &[u8]) -> bool {
    let (mut sound, mut broken) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        sound += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        broken += usize::from(!chunk.invalid().is_empty());
    }
    sound >= broken * 4
}

fn guess(bytes: &[u8], extent: Extent) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(bytes, extent == Extent::Whole);
    detector.guess(None, Utf8Detection::Deny)
}

/// The bytes without a half of a UTF-16 unit at their end.
fn whole_units<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> &'a [u8] {
    let unit = Written { encoding, bom: Bom::Absent }.unit();
    bytes.get(..bytes.len() / unit * unit).unwrap_or_default()
}

/// Text has hardly any control characters beside those of terminals and printers, and never a zero.
fn too_many_controls(text: &str) -> bool {
    // A byte holds the count of such a piece, so that a processor counts many at once.
    const PIECE: usize = 128;
    let bytes = text.as_bytes();
    let count = |piece: &[u8]| piece.iter().fold(0_u8, |sum, byte| sum.wrapping_add(is_odd(*byte)));
    let controls: usize = bytes.chunks(PIECE).map(|piece| usize::from(count(piece))).sum();
    controls * 20 > text.len() || bytes.contains(&0)
}

/// One for a control character that text has no use for, nothing for others.
fn is_odd(byte: u8) -> u8 {
    let printed = (0x07..=0x0d).contains(&byte) | (byte == 0x1b);
    u8::from((byte < 0x20) & !printed | (byte == 0x7f))
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, EUC_JP, EUC_KR, KOI8_U, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
    use proptest::prelude::*;

    use super::*;

    fn bytes_of(encoding: &'static Encoding, bom: Bom, text: &str) -> Vec<u8> {
        let mut bytes = mark(encoding, bom).to_vec();
        write(encoding, text, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn encodings_are_told_and_kept() {
        let german = "Die Häuser der Straße sind schön, und die Brücke über den Fluß auch.\n";
        let chinese = "这是一个测试文件，里面有一些中文内容，用来检查编码是否正确。\r\n第二行也是中文。\r\n";
        let japanese = "これはテストのファイルです。日本語の文字が入っています。\n漢字とかな。\n";
        let korean = "이것은 시험 파일입니다. 한국어 글자가 들어 있습니다.\n";
        let taiwanese = "這是一個測試檔案，裡面有一些繁體中文內容，用來檢查編碼是否正確。\n";
        let russian = "Это проверочный файл, в котором есть русские буквы и слова.\n";
        let cases = [
            (UTF_8, Bom::Absent, "plain\n"),
            (UTF_8, Bom::Absent, ""),
            (UTF_8, Bom::Absent, german),
            (UTF_8, Bom::Present, german),
            (UTF_8, Bom::Present, ""),
            (UTF_16LE, Bom::Present, chinese),
            (UTF_16BE, Bom::Present, chinese),
            (UTF_16LE, Bom::Absent, german),
            (UTF_16BE, Bom::Absent, german),
            (GBK, Bom::Absent, chinese),
            (GB18030, Bom::Absent, "这是一个测试文件，里面有一些中文内容和一个表情\u{1f600}。\n"),
            (SHIFT_JIS, Bom::Absent, japanese),
            (EUC_JP, Bom::Absent, japanese),
            (EUC_KR, Bom::Absent, korean),
            (BIG5, Bom::Absent, taiwanese),
            (WINDOWS_1252, Bom::Absent, german),
            (WINDOWS_1251, Bom::Absent, russian),
            (KOI8_U, Bom::Absent, russian),
        ];
        for (encoding, bom, text) in cases {
            let bytes = bytes_of(encoding, bom, text);
            let read = Text::read(&bytes).unwrap();
            assert_eq!((read.text.as_str(), read.encoding, read.bom), (text, encoding, bom));
            assert_eq!(read.encode(text).map(Cow::into_owned), Ok(bytes), "{}", encoding.name());
        }
    }

    #[test]
    fn the_beginning_of_a_file_tells_its_encoding_although_a_letter_is_cut() {
        let texts =
            [(UTF_8, "Straße ß"), (GBK, "这是一个测试文件，里面有一些中文内容"), (UTF_16LE, "plain text")];
        for (encoding, text) in texts {
            let bytes = bytes_of(encoding, Bom::Absent, text);
            let written = Written::of(&bytes[..bytes.len() - 1], Extent::Beginning);
            assert_eq!(written.map(|written| written.encoding.name()), Some(encoding.name()));
        }
    }

    #[test]
    fn binary_is_no_text() {
        let cases: [&[u8]; 8] = [
            b"\x7fELF\x02\x01\x01\x00",
            b"text with a \0 in it",
            b"\xff\xfe\x00\x00a\x00\x00\x00",
            b"\x00\x00\x00\x00",
            b"\x01\x02\x03\x04\x05\x06",
            b"\x01\x00\x02\x00\x03\x00",
            b"%PDF-1.7\nplain",
            b"\x89PNG\r\n\x1a\n",
        ];
        for bytes in cases {
            assert_eq!(Text::read(bytes), None, "{bytes:?}");
        }
        let colours = "\x1b[31mred\x1b[0m\x07\n";
        assert_eq!(Text::read(colours.as_bytes()).unwrap().text, colours);
    }

    #[test]
    fn what_an_encoding_lacks_is_named() {
        let bytes = bytes_of(WINDOWS_1252, Bom::Absent, "Die Häuser der Straße sind schön.\n");
        let said = Text::read(&bytes).unwrap().encode("a → b").unwrap_err().to_string();
        insta::assert_snapshot!(said, @"`→` (U+2192) can't be written in windows-1252, the encoding of this file; leave it out, or convert the file to UTF-8 first (`iconv` through ‹bash›)");
    }

    #[test]
    fn broken_bytes_are_read_but_never_written_over() {
        let read = Text::read(b"Stra\xc3\x9fe, sch\xc3\xb6n, gr\xc3\xbcn, bl\xc3\xa4u, \xff, wei\xc3\x9f\n")
            .unwrap();
        assert_eq!(read.text, "Straße, schön, grün, bläu, \u{fffd}, weiß\n");
        let said = read.encode(&read.text).unwrap_err().to_string();
        insta::assert_snapshot!(said, @"some bytes of this file are not proper UTF-8 text and would be lost if it were written; change it through ‹bash› instead");
    }

    fn any_encoding() -> impl Strategy<Value = &'static Encoding> {
        prop::sample::select(vec![
            UTF_8,
            UTF_16LE,
            UTF_16BE,
            GBK,
            GB18030,
            SHIFT_JIS,
            EUC_JP,
            EUC_KR,
            BIG5,
            WINDOWS_1252,
            WINDOWS_1251,
            KOI8_U,
        ])
    }

    #[test]
    fn controls_are_counted_whatever_stands_around_them() {
        for (controls, length, many) in
            [(6, 120, false), (7, 120, true), (300, 6_000, false), (301, 6_000, true)]
        {
            for control in ['\u{1}', '\u{e}', '\u{1f}', '\u{7f}'] {
                let text = control.to_string().repeat(controls) + &"a".repeat(length - controls);
                assert_eq!(too_many_controls(&text), many, "{control:?}");
            }
        }
        assert!(!too_many_controls("\t\n\r\x07\x08\x0b\x0c\x1b") && too_many_controls("aaaa\0"));
    }

    proptest! {
        #[test]
        fn bytes_that_are_taken_are_read_as_those_that_are_looked_at(bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..60),
            "[a-z\u{0}\u{1}\u{feff}ä\n]{0,40}".prop_map(String::into_bytes),
        ]) {
            let read = Text::read(&bytes);
            let taken = Text::take(bytes.clone());
            prop_assert_eq!(&read, &taken.as_ref().map(|(text, _)| text.clone()));
            if let Some((text, rest)) = taken {
                prop_assert_eq!(rest.unwrap_or_else(|| text.text.into_bytes()), bytes);
            }
        }

        #[test]
        fn whatever_is_read_comes_back_or_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(read) = Text::read(&bytes)
                && let Ok(again) = read.encode(&read.text)
            {
                prop_assert_eq!(again.as_ref(), bytes.as_slice());
            }
        }

        #[test]
        fn text_in_any_encoding_comes_back(text in "[a-zäöüßа-яあ-ん一-龥가-힣 \r\n]{0,80}", encoding in any_encoding()) {
            let mut bytes = Vec::new();
            if write(encoding, &text, &mut bytes).is_ok() {
                // Its encoding may be guessed wrong, but what is written back are the same bytes.
                if let Some(read) = Text::read(&bytes) && let Ok(again) = read.encode(&read.text) {
                    prop_assert_eq!(again.as_ref(), bytes.as_slice());
                }
            }
        }

        #[test]
        fn marked_text_and_utf_8_always_come_back(text in "[^\0-\x1f\x7f\u{feff}]{0,80}", at in 0_usize..3) {
            let (encoding, bom) = [(UTF_8, Bom::Present), (UTF_16LE, Bom::Present), (UTF_16BE, Bom::Present)][at];
            let bytes = bytes_of(encoding, bom, &text);
            let read = Text::read(&bytes).unwrap();
            prop_assert_eq!(&read.text, &text);
            prop_assert_eq!(read.encode(&text).map(Cow::into_owned), Ok(bytes));
        }
    }
}
