//! Lines of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader};

/// The longest message that is read: a prompt may hold images.
pub(crate) const LONGEST: usize = 64 << 20;

/// A line of the client.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// It, without its end.
    Whole(Vec<u8>),
    /// It was longer than what is read.
    TooLong,
}

/// Reads lines.
pub(crate) struct Lines<R> {
    from: BufReader<R>,
    longest: usize,
    line: Vec<u8>,
    too_long: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(from: R, longest: usize) -> Self {
        Self { from: BufReader::new(from), longest, line: Vec::new(), too_long: false }
    }

    /// The next line; nothing at the end. What has no end is no line: its writer died in the middle of it. Dropping the future
    /// loses nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let piece = self.from.fill_buf().await?;
            if piece.is_empty() {
                return Ok(None);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let (used, body) =
                end.map_or((piece.len(), piece), |end| (end + 1, piece.get(..end).unwrap_or_default()));
            if self.line.len() + body.len() > self.longest {
                // What is not kept need not be remembered either.
                self.too_long = true;
                self.line = Vec::new();
            }
            if !self.too_long {
                self.line.extend_from_slice(body);
            }
            AsyncBufRead::consume(std::pin::Pin::new(&mut self.from), used);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                return Ok(Some(if std::mem::take(&mut self.too_long) {
                    Line::TooLong
                } else {
                    Line::Whole(line)
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Line> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut lines = Lines::new(text.as_bytes(), 4);
            let mut all = Vec::new();
            while let Some(line) = lines.next().await.unwrap() {
                all.push(line);
            }
            all
        })
    }

    #[test]
    fn lines_are_bounded_and_a_half_one_is_none() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(
            read("a\n\nbcde\nbcdef\nx\nhalf"),
            [whole("a"), whole(""), whole("bcde"), Line::TooLong, whole("x")]
        );
    }
}
