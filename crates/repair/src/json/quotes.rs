//! Strings: where they end when their quotes are not escaped.

use super::blank::{Place, closes, quote};
use super::reader::{Broken, Fail, Mode, Reader};
use super::text::{decode, decode_refused, is_drive_path};

impl Reader<'_> {
    /// A string and whether it was closed.
    pub(super) fn string(&mut self, opener: char, place: Place) -> Result<(String, bool), Fail> {
        let closers = quote(opener).unwrap_or_default();
        if opener != '"' {
            self.mend("a string in other quotes")?;
        } else if self.mode == Mode::Strict {
            return self.strict_string();
        }
        if let Some(fence) = ["\"\"\"", "'''"].into_iter().find(|fence| self.rest().starts_with(fence)) {
            return self.triple(fence);
        }
        let start = self.at + opener.len_utf8();
        let end = self.string_end(start, closers, place)?;
        let raw = self.text.get(start..end.map_or(self.text.len(), |(at, _)| at)).unwrap_or_default();
        let decoded = decode_refused(raw);
        if !decoded.strict {
            self.mend("a string that is not JSON")?;
        }
        self.at = end.map_or(self.text.len(), |(_, after)| after);
        Ok((decoded.text, end.is_some()))
    }

    fn strict_string(&mut self) -> Result<(String, bool), Fail> {
        let start = self.at + 1;
        let Some((end, after)) = next_closer(self.text, start, &['"'], true) else {
            return Err(self.fail("a string does not end"));
        };
        let decoded = decode(self.text.get(start..end).unwrap_or_default());
        if !decoded.strict {
            return Err(self.fail("a string that is not JSON"));
        }
        self.at = after;
        Ok((decoded.text, true))
    }

    fn triple(&mut self, fence: &str) -> Result<(String, bool), Fail> {
        self.mend("a string in triple quotes")?;
        let start = self.at + fence.len();
        let found =
            memchr::memmem::find(self.text.as_bytes().get(start..).unwrap_or_default(), fence.as_bytes());
        let end = found.map_or(self.text.len(), |at| start + at);
        self.at = found.map_or(self.text.len(), |at| start + at + fence.len());
        Ok((decode_refused(self.text.get(start..end).unwrap_or_default()).text, found.is_some()))
    }

    /// Where the string that begins at `start` ends, and what follows its quote; None when it is cut.
    fn string_end(
        &mut self,
        start: usize,
        closers: &[char],
        place: Place,
    ) -> Result<Option<(usize, usize)>, Fail> {
        let escapes = !is_drive_path(self.text.get(start..).unwrap_or_default());
        let Some(nominal) = next_closer(self.text, start, closers, escapes) else { return Ok(None) };
        if closes(self.text, nominal.1, place) {
            return Ok(Some(nominal));
        }
        if place == Place::Key {
            return Err(self.fail("a key with quotes in it"));
        }
        self.mend("a quote that is not escaped")?;
        let skipped = self.choices.get(self.broken.len()).copied().unwrap_or(0);
        let (mut passed, mut inner, mut from) = (0, 1, nominal.1);
        while let Some(found) = next_closer(self.text, from, closers, escapes) {
            if closes(self.text, found.1, place) {
                if passed == skipped {
                    self.broken.push(Broken { skipped, inner, more: true });
                    return Ok(Some(found));
                }
                passed += 1;
            }
            inner += 1;
            from = found.1;
        }
        self.broken.push(Broken { skipped, inner, more: false });
        // A text that ends with a bracket was not cut: it is just no JSON.
        if self.text.trim_end().ends_with(['}', ']']) {
            return Err(Fail { what: "text after the end of a string", at: nominal.1 });
        }
        Ok(None)
    }
}

/// The next quote that is not escaped, and what follows it.
pub(super) fn next_closer(
    text: &str,
    from: usize,
    closers: &[char],
    escapes: bool,
) -> Option<(usize, usize)> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let found = match closers {
            ['"'] => memchr::memchr2(b'"', b'\\', rest.as_bytes()),
            ['\''] => memchr::memchr2(b'\'', b'\\', rest.as_bytes()),
            _ => rest.find(|c| c == '\\' || closers.contains(&c)),
        };
        at += found?;
        let c = text.get(at..)?.chars().next()?;
        if c != '\\' {
            return Some((at, at + c.len_utf8()));
        }
        at += 1;
        if escapes {
            at += text.get(at..)?.chars().next()?.len_utf8();
        }
    }
}
