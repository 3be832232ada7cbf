//! What a file that is no text is, by its first bytes.

/// A kind of file: where its bytes stand, which they are, and its name.
type Sign = (usize, &'static [u8], &'static str);

/// The longest signs come first where one begins like another.
const SIGNS: &[Sign] = &[
    (0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF87a", "GIF image"),
    (0, b"GIF89a", "GIF image"),
    (8, b"WEBP", "WebP image"),
    (8, b"WAVE", "WAVE audio"),
    (8, b"AVI ", "AVI video"),
    (4, b"ftypavif", "AVIF image"),
    (4, b"ftypheic", "HEIC image"),
    (4, b"ftypM4A", "MPEG-4 audio"),
    (4, b"ftypqt", "QuickTime video"),
    (4, b"ftyp", "MPEG-4 video"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (0, b"\0\0\x01\0", "Windows icon"),
    (0, b"8BPS\0\x01", "Photoshop image"),
    (0, b"%PDF-", "PDF document"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Microsoft Office document"),
    (0, b"PK\x03\x04", "ZIP archive (perhaps an office document, a JAR or an app)"),
    (0, b"PK\x05\x06", "empty ZIP archive"),
    (0, b"\x1f\x8b", "gzip archive"),
    (0, b"\xfd7zXZ\0", "XZ archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (0, b"Rar!\x1a\x07", "RAR archive"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (0, b"\x04\x22\x4d\x18", "LZ4 archive"),
    (4, b"1AY&SY", "bzip2 archive"),
    (257, b"ustar", "tar archive"),
    (0, b"!<arch>\ndebian-binary", "Debian package"),
    (0, b"!<arch>\n", "static library"),
    (0, b"\xed\xab\xee\xdb", "RPM package"),
    (0, b"\x7fELF", "ELF program or library"),
    (0, b"\xfe\xed\xfa\xce", "Mach-O program or library"),
    (0, b"\xfe\xed\xfa\xcf", "Mach-O program or library"),
    (0, b"\xce\xfa\xed\xfe", "Mach-O program or library"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O program or library"),
    (0, b"\xca\xfe\xba\xbe", "Java class or Mach-O program"),
    (0, b"MZ\x90\0", "Windows program or library"),
    (0, b"\0asm", "WebAssembly module"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"OggS\0", "Ogg audio or video"),
    (0, b"fLaC\0", "FLAC audio"),
    (0, b"ID3\x02", "MP3 audio"),
    (0, b"ID3\x03", "MP3 audio"),
    (0, b"ID3\x04", "MP3 audio"),
    (0, b"\xff\xfb\x90", "MP3 audio"),
    (0, b"\x1aE\xdf\xa3", "Matroska or WebM video"),
    (0, b"wOFF\0", "WOFF font"),
    (0, b"wOF2\0", "WOFF2 font"),
    (0, b"OTTO\0", "OpenType font"),
    (0, b"\0\x01\0\0\0", "TrueType font"),
    (0, b"\x80\x04\x95", "Python pickle"),
    (0, b"\x93NUMPY", "NumPy array"),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5 data"),
    (0, b"PAR1\x15", "Parquet table"),
    (0, b"git-bundle\0", "git bundle"),
    (0, b"DIRC\0", "git index"),
    (0, b"PACK\0\0\0", "git pack"),
];

/// What a file with this beginning is, if it is known and no text.
pub(crate) fn kind(bytes: &[u8]) -> Option<&'static str> {
    let there = |(at, sign, _): &&Sign| bytes.get(*at..).is_some_and(|rest| rest.starts_with(sign));
    let riff = |(at, sign, _): &&Sign| *at != 8 || sign.len() != 4 || bytes.starts_with(b"RIFF");
    match SIGNS.iter().filter(riff).find(there) {
        Some((_, _, name)) => Some(name),
        None => bitmap(bytes).then_some("BMP image"),
    }
}

/// Whether a file with this beginning is a PDF.
pub(crate) fn is_pdf(bytes: &[u8]) -> bool {
    bytes.starts_with(b"%PDF-")
}

/// Two letters would be too little to tell: the reserved bytes and the length of the header must be right as well.
fn bitmap(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BM")
        && bytes.get(6..10) == Some(&[0; 4])
        && bytes
            .get(14..18)
            .is_some_and(|length| matches!(length, [12 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_their_first_bytes() {
        let cases: [(&[u8], Option<&str>); 9] = [
            (b"", None),
            (b"plain text", None),
            (b"BM is two letters of a text, no image", None),
            (b"xxxxxxxxWEBP", None),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some("WebP image")),
            (b"RIFF\x10\0\0\0WAVEfmt ", Some("WAVE audio")),
            (b"\x1f\x8b\x08", Some("gzip archive")),
            (b"BZh91AY&SY", Some("bzip2 archive")),
            (b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", Some("BMP image")),
        ];
        for (bytes, expected) in cases {
            assert_eq!(kind(bytes), expected, "{bytes:?}");
        }
    }
}
