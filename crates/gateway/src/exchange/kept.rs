//! What was said, kept for the record up to a bound, without secrets.

use rail_ledger::Bodies;

/// The most that is kept of either side.
const MOST: usize = 1 << 20;

/// Both sides of an exchange so far.
pub(super) struct Kept {
    request: Side,
    answer: Side,
}

#[derive(Default)]
struct Side {
    bytes: Vec<u8>,
    all: usize,
}

impl Kept {
    /// Begins with the client's request.
    pub(super) fn of(request: &[u8]) -> Self {
        let mut kept = Self { request: Side::default(), answer: Side::default() };
        kept.request.add(request);
        kept
    }

    /// More of the answer.
    pub(super) fn gave(&mut self, bytes: &[u8]) {
        self.answer.add(bytes);
    }

    /// As it is recorded, with its secrets covered.
    pub(super) fn into_bodies(self, cover: impl Fn(&str) -> String) -> Bodies {
        Bodies { request: self.request.text(&cover), answer: self.answer.text(&cover) }
    }
}

impl Side {
    fn add(&mut self, bytes: &[u8]) {
        self.all += bytes.len();
        let room = MOST.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    fn text(self, cover: impl Fn(&str) -> String) -> String {
        let mut text = cover(&String::from_utf8_lossy(&self.bytes));
        if self.all > self.bytes.len() {
            text.push_str(&format!("\n… cut here: {} bytes in all", self.all));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_masked_and_long_bodies_cut() {
        let mut kept = Kept::of(b"my key is sk-very-secret, not none \xff");
        kept.gave(b"one ");
        kept.gave(&vec![b'x'; MOST]);
        let Bodies { request, answer } = kept.into_bodies(|text| text.replace("sk-very-secret", "***"));
        assert_eq!(request, "my key is ***, not none \u{fffd}");
        assert_eq!(answer.len(), MOST + "\n… cut here: 1048580 bytes in all".len());
        assert!(answer.starts_with("one xxx") && answer.ends_with("cut here: 1048580 bytes in all"));
    }
}
