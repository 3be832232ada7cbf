//! Tables: columns fitted to the width, or a list of records where it is too narrow for columns.

use unicode_segmentation::UnicodeSegmentation;

use super::inline::inlines;
use crate::text::{Line, Look, Role, Span, width};

/// A column that has more to say is not made narrower than this.
const MIN_COLUMN: usize = 8;
const BETWEEN: &str = " │ ";

/// A table as far as it is written. Each cell is read once.
#[derive(Clone, Debug)]
pub(super) struct Table {
    look: Look,
    head: Vec<Cell>,
    sides: Vec<Side>,
    rows: Vec<Vec<Cell>>,
    columns: Vec<Column>,
    /// Rows that are left out before these, and whether one of them takes several lines.
    before: usize,
    tall: bool,
    /// Bytes of its cells.
    #[cfg(test)]
    size: usize,
}

/// Where the text of a column stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Left,
    Right,
    Middle,
}

/// The lines of a cell.
type Cell = Vec<Vec<Span>>;

impl Table {
    /// A table begins with a line of heads and a line below it that says where the columns stand.
    pub(super) fn new(head: &str, below: &str, look: Look) -> Option<Self> {
        if !below.contains('|') {
            return None;
        }
        let sides: Vec<_> = cells(below).iter().map(|cell| side(cell)).collect::<Option<_>>()?;
        let head = cells(head);
        if head.len() != sides.len() {
            return None;
        }
        let mut table = Self {
            look,
            head: Vec::new(),
            columns: vec![Column { natural: 1, word: 1 }; head.len()],
            sides,
            rows: Vec::new(),
            before: 0,
            tall: false,
            #[cfg(test)]
            size: 0,
        };
        table.head = table.cells(&head, look.bold());
        Some(table)
    }

    pub(super) fn row(&mut self, line: &str) {
        let mut row = cells(line);
        // What has no column is still said, in the last one.
        if row.len() > self.head.len() {
            let last = row.split_off(self.head.len() - 1).join(" | ");
            row.push(last);
        }
        let row = self.cells(&row, self.look);
        if says_something(&row) {
            self.tall |= row.iter().any(|cell| cell.len() > 1);
            self.rows.push(row);
        }
    }

    /// The cells of a row, for which the columns are made wide enough.
    fn cells(&mut self, row: &[String], look: Look) -> Vec<Cell> {
        #[cfg(test)]
        {
            self.size += row.iter().map(|cell| cell.len() + 1).sum::<usize>();
        }
        let row: Vec<Cell> = row.iter().map(|cell| inlines(cell, look)).collect();
        self.columns.iter_mut().zip(&row).for_each(|(column, cell)| column.see(cell));
        row
    }

    /// The same table with no more than so many rows, its last.
    pub(super) fn end(&self, rows: usize) -> Self {
        let before = self.rows.len().saturating_sub(rows);
        Self {
            look: self.look,
            head: self.head.clone(),
            sides: self.sides.clone(),
            rows: self.rows.get(before..).unwrap_or_default().to_vec(),
            columns: self.columns.clone(),
            before: self.before + before,
            tall: self.tall,
            #[cfg(test)]
            size: self.size,
        }
    }

    pub(super) fn lines(&self, width: usize) -> Vec<Line> {
        let between = BETWEEN.chars().count() * (self.head.len() - 1);
        let room = width.saturating_sub(between);
        // With more columns than cells there is nothing to fit.
        let widths = if self.head.len() > room { None } else { fit(&self.columns, room) };
        match widths {
            Some(widths) => self.grid(&widths),
            None => self.records(),
        }
    }

    fn grid(&self, widths: &[usize]) -> Vec<Line> {
        let parts: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
        let rule = Line::of(parts.join("─┼─"), Role::Faint);
        let has_head = says_something(&self.head);
        let head = if has_head { self.grid_row(&self.head, widths) } else { Vec::new() };
        let rows: Vec<_> = self.rows.iter().map(|row| self.grid_row(row, widths)).collect();
        // Rows of several lines would run into each other.
        let cut =
            || self.tall || self.columns.iter().zip(widths).any(|(column, width)| column.natural > *width);
        let apart = rows.iter().any(|row| row.len() > 1) || (self.before > 0 && cut());
        let mut lines = head;
        for (nth, row) in rows.into_iter().enumerate() {
            let ruled = if nth == 0 { has_head } else { apart };
            if ruled {
                lines.push(rule.clone());
            }
            lines.extend(row);
        }
        lines
    }

    fn grid_row(&self, row: &[Cell], widths: &[usize]) -> Vec<Line> {
        let mut row = row.iter();
        let cells: Vec<Cell> = widths
            .iter()
            .map(|width| row.next().into_iter().flatten().flat_map(|line| wrap(line, *width)).collect())
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let line = |nth: usize| {
            let mut spans: Vec<Span> = Vec::new();
            for (column, (cell, (width, side))) in
                cells.iter().zip(widths.iter().zip(&self.sides)).enumerate()
            {
                if column > 0 {
                    spans.push(Span::new(BETWEEN, Role::Faint));
                }
                let text = cell.get(nth).map(Vec::as_slice).unwrap_or_default();
                let blank = width.saturating_sub(cells_of(text));
                let before = match side {
                    Side::Left | Side::Right | Side::Middle if text.is_empty() => 0,
                    Side::Left => 0,
                    Side::Right => blank,
                    Side::Middle => blank / 2,
                };
                // Blanks at the end of a line would be copied with it.
                let after = if column + 1 == widths.len() { 0 } else { blank - before };
                spans.extend(blanks(before));
                spans.extend_from_slice(text);
                spans.extend(blanks(after));
            }
            Line::new(spans)
        };
        (0..height).map(line).collect()
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Each row as lines of `head: value`.
    fn records(&self) -> Vec<Line> {
        let look = self.look;
        let flat = |cell: &Cell, look: Look| cell.join(&Span::new(" ", look));
        // The heads alone, if there is nothing else.
        let none = [Vec::new()];
        let rows = if self.rows.is_empty() { none.as_slice() } else { &self.rows };
        let mut lines = Vec::new();
        for (nth, row) in (self.before..).zip(rows) {
            if nth > 0 {
                lines.push(Line::empty());
            }
            // The first record has all heads, so that each is said at least once.
            let count = if nth == 0 { self.head.len() } else { row.len() };
            for (column, head) in self.head.iter().enumerate().take(count) {
                let mut spans = flat(head, look.bold());
                if !spans.is_empty() {
                    spans.push(Span::new(": ", look));
                }
                spans.extend(row.get(column).map(|cell| flat(cell, look)).unwrap_or_default());
                if !spans.is_empty() {
                    lines.push(Line::hanging(spans, vec![Span::plain("  ")]));
                }
            }
        }
        lines
    }
}

fn says_something(row: &[Cell]) -> bool {
    row.iter().flatten().any(|line| !line.is_empty())
}

/// The cells of a row, without the bars around it.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim_matches([' ', '\t']);
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(cell) = cells.last_mut() else { break };
        match c {
            '\\' => {
                cell.extend((chars.peek() != Some(&'|')).then_some(c));
                cell.extend(chars.next());
            }
            // The bar at the end begins no cell.
            '|' if chars.peek().is_some() => cells.push(String::new()),
            '|' => {}
            c => cell.push(c),
        }
    }
    cells.iter().map(|cell| cell.trim_matches([' ', '\t']).to_owned()).collect()
}

fn side(cell: &str) -> Option<Side> {
    let dashes = cell.strip_prefix(':').unwrap_or(cell);
    let dashes = dashes.strip_suffix(':').unwrap_or(dashes);
    if dashes.is_empty() || dashes.contains(|c| c != '-') {
        return None;
    }
    Some(match (cell.starts_with(':'), cell.ends_with(':')) {
        (true, true) => Side::Middle,
        (false, true) => Side::Right,
        (true | false, false) => Side::Left,
    })
}

/// How wide a column is if nothing is broken, and its longest word.
#[derive(Clone, Copy, Debug)]
struct Column {
    natural: usize,
    word: usize,
}

impl Column {
    fn see(&mut self, cell: &Cell) {
        for line in cell {
            self.natural = self.natural.max(cells_of(line));
            let text: String = line.iter().map(Span::text).collect();
            for word in text.split(' ') {
                // Chinese and Japanese have no blanks between words: they can be broken anywhere.
                let signs = word.graphemes(true).map(width);
                let (_, longest) = signs.fold((0, 0), |(run, longest): (usize, usize), cells| {
                    let run = if cells > 1 { cells } else { run + cells };
                    (run, longest.max(run))
                });
                self.word = self.word.max(longest);
            }
        }
    }

    /// Its width if it is cut, but not within words.
    fn capped(self, cap: usize) -> usize {
        self.natural.min(cap.max(self.word))
    }
}

/// The widths of the columns: the widest are cut until all have room, if that is possible without breaking words.
fn fit(columns: &[Column], room: usize) -> Option<Vec<usize>> {
    let total = |cap: usize| columns.iter().map(|column| column.capped(cap)).sum::<usize>();
    // A column that is wider than all the room is too wide in any case.
    let widest = columns.iter().map(|column| column.natural).max()?.min(room);
    let cap = (MIN_COLUMN..=widest.max(MIN_COLUMN)).rev().find(|cap| total(*cap) <= room)?;
    Some(columns.iter().map(|column| column.capped(cap)).collect())
}

/// A line of a cell as lines that are not wider; words are kept whole where they have room.
fn wrap(spans: &[Span], room: usize) -> Cell {
    if cells_of(spans) <= room {
        return vec![spans.to_vec()];
    }
    let signs: Vec<(&str, Look)> =
        spans.iter().flat_map(|span| span.text().graphemes(true).map(|sign| (sign, span.look))).collect();
    let mut lines = Vec::new();
    let mut rest = signs.as_slice();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(first_line(rest, room));
        let end = line.iter().rposition(|(sign, _)| *sign != " ").map_or(0, |last| last + 1);
        lines.push(join(line.get(..end).unwrap_or_default()));
        let blanks = more.iter().take_while(|(sign, _)| *sign == " ").count();
        rest = more.get(blanks..).unwrap_or_default();
    }
    lines
}

/// How many signs the first line takes.
fn first_line(signs: &[(&str, Look)], room: usize) -> usize {
    let mut used = 0;
    let fits = |(sign, _): &&(&str, Look)| {
        used += width(sign);
        used <= room
    };
    let end = signs.iter().take_while(fits).count();
    if end == signs.len() {
        return end;
    }
    // Before a wide sign a line can be broken as at a blank.
    let breaks = |(sign, _): &(&str, Look)| *sign == " " || width(sign) > 1;
    let word = (1..=end).rev().find(|at| signs.get(*at).is_some_and(breaks));
    // A sign that is wider than the column must not stop the rest.
    word.unwrap_or(end).max(1)
}

fn join(signs: &[(&str, Look)]) -> Vec<Span> {
    signs
        .chunk_by(|(_, one), (_, other)| one == other)
        .map(|run| {
            let text: String = run.iter().map(|(sign, _)| *sign).collect();
            Span::new(text, run.first().map(|(_, look)| *look).unwrap_or_default())
        })
        .collect()
}

fn blanks(count: usize) -> Option<Span> {
    (count > 0).then(|| Span::plain(" ".repeat(count)))
}

fn cells_of(spans: &[Span]) -> usize {
    spans.iter().map(Span::width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_broken_only_where_there_is_no_room() {
        for (text, room, expected) in [
            ("one two three", 8, "one two/three"),
            ("one  two", 4, "one/two"),
            ("abc日本defg", 8, "abc日/本defg"),
            ("日本語です", 4, "日本/語で/す"),
            ("abcdefgh", 3, "abc/def/gh"),
            ("日", 1, "日"),
        ] {
            let lines = wrap(&[Span::plain(text)], room);
            let lines: Vec<String> = lines.iter().map(|line| line.iter().map(Span::text).collect()).collect();
            assert_eq!(lines.join("/"), expected, "{text}");
        }
    }
}
