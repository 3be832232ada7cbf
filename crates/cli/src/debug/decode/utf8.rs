/// Makes text of bytes that come in pieces, cut anywhere. What is no UTF-8 becomes U+FFFD.
#[derive(Default)]
pub(super) struct Utf8 {
    /// The start of a character whose end has not come.
    held: Vec<u8>,
}

impl Utf8 {
    /// The text of what is complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.held.extend_from_slice(bytes);
        let mut text = String::with_capacity(self.held.len());
        let mut rest = 0;
        for chunk in self.held.utf8_chunks() {
            let (valid, invalid) = (chunk.valid(), chunk.invalid());
            text.push_str(valid);
            rest += valid.len() + invalid.len();
            let unfinished = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
            if unfinished && rest == self.held.len() {
                rest -= invalid.len();
            } else if !invalid.is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        self.held.drain(..rest);
        text
    }

    /// No more bytes will come: what was held is no character.
    pub(super) fn finish(self) -> &'static str {
        if self.held.is_empty() { "" } else { "\u{fffd}" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(pieces: &[&[u8]]) -> String {
        let mut utf8 = Utf8::default();
        let mut text: String = pieces.iter().map(|piece| utf8.push(piece)).collect();
        text.push_str(utf8.finish());
        text
    }

    #[test]
    fn any_cut_gives_the_same_text() {
        for text in ["", "plain", "切替 → é 🚀!", "\u{fffd}"] {
            for size in 1..6 {
                let cut: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
                assert_eq!(pieces(&cut), text, "in pieces of {size}");
            }
        }
    }

    #[test]
    fn what_is_no_character_is_replaced_however_it_is_cut() {
        for bytes in
            [&b"a\xffb"[..], b"\xe5\x88", b"\xe5x", b"\xf0\x9f\x9a", b"\xc3\xc3\xa9", b"\xed\xa0\x80!"]
        {
            let whole = String::from_utf8_lossy(bytes);
            for size in 1..6 {
                let cut: Vec<&[u8]> = bytes.chunks(size).collect();
                assert_eq!(pieces(&cut), whole, "{bytes:?} in pieces of {size}");
            }
        }
    }
}
