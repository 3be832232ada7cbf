//! A line of Markdown as it is read from the left.

/// How far tabs reach: to the next multiple of this column.
const TAB: usize = 4;

/// What is left of a line. It knows its column, since that decides how wide a tab is.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
    column: usize,
    /// Columns of a tab that was taken in part.
    spare: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self { rest: line, column: 0, spare: 0 }
    }

    /// How many columns of blanks come next.
    pub(super) fn indent(&self) -> usize {
        let mut column = self.column + self.spare;
        for byte in self.rest.bytes() {
            match byte {
                b' ' => column += 1,
                b'\t' => column += TAB - column % TAB,
                _ => break,
            }
        }
        column - self.column
    }

    /// Takes blanks, at most so many columns.
    pub(super) fn skip(&mut self, columns: usize) {
        let end = self.column + columns;
        while self.column < end {
            if self.spare > 0 {
                self.spare -= 1;
                self.column += 1;
            } else if let Some(rest) = self.rest.strip_prefix('\t') {
                self.spare = TAB - self.column % TAB;
                self.rest = rest;
            } else if let Some(rest) = self.rest.strip_prefix(' ') {
                self.column += 1;
                self.rest = rest;
            } else {
                return;
            }
        }
    }

    /// Takes so many bytes, which are a mark of plain ASCII.
    pub(super) fn take(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
        self.column += bytes;
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text().is_empty()
    }

    /// What is left without the blanks before it.
    pub(super) fn text(&self) -> &'a str {
        self.rest.trim_start_matches([' ', '\t'])
    }

    /// What is left as it is.
    pub(super) fn code(&self) -> String {
        " ".repeat(self.spare) + self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tab_can_be_taken_in_part() {
        let mut cursor = Cursor::new("-\tcode");
        cursor.take(1);
        assert_eq!(cursor.indent(), 3);
        cursor.skip(1);
        assert_eq!((cursor.indent(), cursor.code().as_str(), cursor.text()), (2, "  code", "code"));
        cursor.skip(9);
        assert_eq!(cursor.code(), "code");
    }
}
