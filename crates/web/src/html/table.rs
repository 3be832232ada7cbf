/// A cell of more characters is none of a table: pages are laid out with tables too.
const MAX_CELL: usize = 2_000;
/// Columns that are shown.
const MAX_COLUMNS: usize = 40;

/// A table as it is read.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    /// Tables inside of it: their cells are text of its own.
    pub(super) inner: usize,
    in_cell: bool,
}

impl Table {
    pub(super) fn row(&mut self) {
        if self.rows.last().is_none_or(|row| !row.is_empty()) {
            self.rows.push(Vec::new());
        }
        self.in_cell = false;
    }

    pub(super) fn open_cell(&mut self) {
        if self.rows.is_empty() {
            self.rows.push(Vec::new());
        }
        self.in_cell = true;
    }

    /// What was read since the cell began; outside of any cell it is a row of its own.
    pub(super) fn close_cell(&mut self, text: String) {
        let was_in_cell = std::mem::take(&mut self.in_cell);
        match self.rows.last_mut() {
            Some(row) if was_in_cell && row.len() < MAX_COLUMNS => row.push(text),
            Some(_) | None if !text.is_empty() => self.rows.push(vec![text]),
            Some(_) | None => {}
        }
    }

    pub(super) fn is_in_cell(&self) -> bool {
        self.in_cell
    }

    /// The table as Markdown, or its texts one below the other where it is only a layout.
    pub(super) fn shown(mut self) -> Vec<String> {
        self.rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let is_layout = columns < 2 || self.rows.iter().flatten().any(|cell| cell.chars().count() > MAX_CELL);
        if is_layout {
            return self.rows.into_iter().flatten().filter(|cell| !cell.is_empty()).collect();
        }
        let mut text = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            text.push('|');
            for cell in row {
                text.push(' ');
                text.push_str(&cell.replace('\n', " ").replace('|', "\\|"));
                text.push_str(" |");
            }
            // Only the head must be whole; a short row in a wide table would cost more than it says.
            if at == 0 {
                text.push_str(&"  |".repeat(columns - row.len()));
                text.push_str("\n|");
                text.push_str(&" --- |".repeat(columns));
            }
            text.push('\n');
        }
        vec![text.trim_end().to_owned()]
    }
}
