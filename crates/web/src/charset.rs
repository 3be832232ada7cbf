//! Bytes of a page to text, whatever the page says of them.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// How far a page is looked through for what it says of its own encoding.
const HEAD: usize = 4096;

/// A text, and how it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    /// The text.
    pub text: String,
    /// The encoding's name.
    pub encoding: &'static str,
    /// Whether some bytes meant nothing and were replaced.
    pub lossy: bool,
}

/// Reads the bytes of a page: by its mark, by the server's label, by the page's own, else by what they look like.
///
/// A label is a claim. Text that is proper UTF-8 with letters beyond ASCII is UTF-8 whatever the label says, since no other encoding
/// looks like it by chance; and a label under which bytes mean nothing gives way to what they look like.
pub fn read(bytes: &[u8], label: Option<&str>) -> Read {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return decoded(encoding, bytes.get(length..).unwrap_or_default());
    }
    let said = label.and_then(|label| Encoding::for_label(label.as_bytes())).or_else(|| own_label(bytes));
    match std::str::from_utf8(bytes) {
        // Without a letter beyond ASCII most encodings agree; the others would have escapes or zeros.
        Ok(text) if !text.is_ascii() || said.is_none_or(Encoding::is_ascii_compatible) => {
            return Read { text: text.to_owned(), encoding: UTF_8.name(), lossy: false };
        }
        Ok(_) => {}
        Err(_) if is_nearly_utf_8(bytes) => return decoded(UTF_8, bytes),
        Err(_) => {}
    }
    let labelled = said.filter(|encoding| *encoding != UTF_8).map(|encoding| decoded(encoding, bytes));
    match labelled {
        Some(read) if !read.lossy => read,
        other => {
            let guessed = decoded(guess(bytes), bytes);
            match other {
                Some(read) if guessed.lossy => read,
                Some(_) | None => guessed,
            }
        }
    }
}

fn decoded(encoding: &'static Encoding, bytes: &[u8]) -> Read {
    let (text, lossy) = encoding.decode_without_bom_handling(bytes);
    Read { text: text.into_owned(), encoding: encoding.name(), lossy }
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    detector.guess(None, Utf8Detection::Allow)
}

/// Whether most of what is beyond ASCII is proper UTF-8: a page with a broken byte in it, or one that was cut.
fn is_nearly_utf_8(bytes: &[u8]) -> bool {
    let (mut good, mut bad) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        bad += usize::from(!chunk.invalid().is_empty());
    }
    good >= bad.saturating_mul(10)
}

/// What a page says of its encoding in `<meta charset=…>`, in `<meta http-equiv … content="…; charset=…">`, or as XML.
fn own_label(bytes: &[u8]) -> Option<&'static Encoding> {
    let head: String = bytes.iter().take(HEAD).map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    let of = |text: &str, key: &str| {
        let rest = text.split_once(key)?.1.trim_start().strip_prefix('=')?.trim_start();
        let name = rest.trim_start_matches(['"', '\'']);
        let end = name.find(['"', '\'', ';', '>', ' ', '/', '?']).unwrap_or(name.len());
        Encoding::for_label(name.get(..end)?.as_bytes())
    };
    let xml = head.trim_start().strip_prefix("<?xml").and_then(|rest| rest.split_once("?>"));
    let found = xml.and_then(|(declaration, _)| of(declaration, "encoding"));
    let in_meta = || {
        let tags = head.split("<meta").skip(1).filter_map(|tag| tag.split('>').next());
        tags.filter_map(|tag| of(tag, "charset")).next()
    };
    let found = found.or_else(in_meta)?;
    // A page that can be read as far as this is not in UTF-16.
    Some(if found.is_ascii_compatible() { found } else { UTF_8 })
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, EUC_JP, EUC_KR, GBK, KOI8_R, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
    use proptest::prelude::*;

    use super::*;

    const CHINESE: &str = "软件工程师需要阅读大量的文档，才能理解系统的工作方式。测试也很重要。";
    const JAPANESE: &str = "ソフトウェアの開発では、文書を読むことがとても大切です。試験も書きます。";

    fn bytes(encoding: &'static Encoding, text: &str) -> Vec<u8> {
        encoding.encode(text).0.into_owned()
    }

    #[test]
    fn labels_right_and_wrong() {
        let utf_16 = |text: &str, little: bool| -> Vec<u8> {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            units.flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
        };
        let meta =
            |charset: &str, text: &str| format!("<html><head><meta charset=\"{charset}\"></head>{text}");
        let german = "Die Häuser der Straße sind schön und groß.";
        for (bytes, label, text, encoding) in [
            (german.as_bytes().to_vec(), None, german.to_owned(), "UTF-8"),
            (german.as_bytes().to_vec(), Some("iso-8859-1"), german.to_owned(), "UTF-8"),
            (CHINESE.as_bytes().to_vec(), Some("gbk"), CHINESE.to_owned(), "UTF-8"),
            (bytes(GBK, CHINESE), Some("gb2312"), CHINESE.to_owned(), "GBK"),
            (bytes(GBK, CHINESE), Some("utf-8"), CHINESE.to_owned(), "GBK"),
            (bytes(GBK, CHINESE), Some("no-such-thing"), CHINESE.to_owned(), "GBK"),
            (
                bytes(BIG5, "軟體工程師需要閱讀大量的文件，才能理解系統的運作方式。"),
                Some("big5"),
                "軟體工程師需要閱讀大量的文件，才能理解系統的運作方式。".to_owned(),
                "Big5",
            ),
            (bytes(SHIFT_JIS, &meta("Shift_JIS", JAPANESE)), None, meta("Shift_JIS", JAPANESE), "Shift_JIS"),
            (bytes(SHIFT_JIS, &meta("utf-8", JAPANESE)), None, meta("utf-8", JAPANESE), "Shift_JIS"),
            (bytes(EUC_JP, JAPANESE), Some("euc-jp"), JAPANESE.to_owned(), "EUC-JP"),
            (
                bytes(EUC_KR, "소프트웨어 개발에서는 문서를 읽는 것이 중요합니다."),
                None,
                "소프트웨어 개발에서는 문서를 읽는 것이 중요합니다.".to_owned(),
                "EUC-KR",
            ),
            (
                bytes(KOI8_R, "Съешь же ещё этих мягких французских булок"),
                Some("koi8-r"),
                "Съешь же ещё этих мягких французских булок".to_owned(),
                "KOI8-R",
            ),
            (
                bytes(WINDOWS_1251, "Съешь же ещё этих мягких французских булок"),
                None,
                "Съешь же ещё этих мягких французских булок".to_owned(),
                "windows-1251",
            ),
            (bytes(WINDOWS_1252, german), None, german.to_owned(), "windows-1252"),
            (utf_16(JAPANESE, true), Some("utf-8"), JAPANESE.to_owned(), "UTF-16LE"),
            (utf_16(JAPANESE, false), None, JAPANESE.to_owned(), "UTF-16BE"),
            (b"\xef\xbb\xbfplain".to_vec(), Some("gbk"), "plain".to_owned(), "UTF-8"),
            (b"plain".to_vec(), None, "plain".to_owned(), "UTF-8"),
            (meta("utf-16", "plain").into_bytes(), None, meta("utf-16", "plain"), "UTF-8"),
            (
                bytes(GBK, &format!("<?xml version=\"1.0\" encoding='gbk'?>{CHINESE}")),
                None,
                format!("<?xml version=\"1.0\" encoding='gbk'?>{CHINESE}"),
                "GBK",
            ),
        ] {
            let read = read(&bytes, label);
            assert_eq!((read.text, read.encoding, read.lossy), (text, encoding, false), "{label:?}");
        }
    }

    #[test]
    fn a_broken_byte_loses_nothing_else() {
        let text = "Die Häuser der Straße sind schön, groß, grün, öde, übel, müde, süß. ".repeat(3);
        let broken = [text.as_bytes(), b"\xff", text.as_bytes()].concat();
        let read = read(&broken, Some("utf-8"));
        assert_eq!((read.text, read.encoding, read.lossy), (format!("{text}\u{fffd}{text}"), "UTF-8", true));
    }

    proptest! {
        #[test]
        fn utf_8_is_never_lost(text in "\\PC{0,80}", label in prop::option::of("[a-z0-9-]{0,12}|gbk|utf-16|latin1|big5")) {
            // A text of ASCII alone may be meant as something else, where the label says so.
            prop_assume!(!text.is_ascii() && !text.starts_with('\u{feff}'));
            prop_assert_eq!(read(text.as_bytes(), label.as_deref()).text, text);
        }

        #[test]
        fn any_bytes_are_some_text(bytes in prop::collection::vec(any::<u8>(), 0..300), label in prop::option::of("utf-8|gbk|x|shift_jis|utf-16be")) {
            let read = read(&bytes, label.as_deref());
            prop_assert!(read.text.len() <= bytes.len() * 3 + 3);
        }
    }
}
