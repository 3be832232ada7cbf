//! Changes of files as lines, with numbers and with what changed within a line.

mod words;

use rail_proto::{FileChange, Hunk, Mark};

use crate::highlight::Highlighter;
use crate::text::{Line, Look, Role, Span};
use words::{Piece, Pieces, compare};

/// How much of a change is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Everything there is.
    All,
    /// So many lines of hunks, and how many more there are.
    First(usize),
}

/// The changes of several files. The extent counts for all of them together; each is named.
pub fn files(changes: &[FileChange], extent: Extent) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut extent = extent;
    for change in changes {
        if !lines.is_empty() {
            lines.push(Line::empty());
        }
        lines.extend(self::lines(change, extent));
        extent = match extent {
            Extent::All => Extent::All,
            Extent::First(limit) => Extent::First(limit.saturating_sub(count(change))),
        };
    }
    lines
}

/// The change of a file: a line that names it, then its hunks.
pub fn lines(change: &FileChange, extent: Extent) -> Vec<Line> {
    let mut left = match extent {
        Extent::All => usize::MAX,
        Extent::First(limit) => limit,
    };
    let mut lines = vec![head(change)];
    let mut sheet = Sheet { digits: digits(change), highlighter: Highlighter::for_language(&change.path) };
    for (nth, hunk) in change.hunks.iter().enumerate() {
        if left == 0 {
            break;
        }
        if nth > 0 {
            lines.push(Line::of(format!("{:>1$}", "⋮", sheet.digits), Role::Faint));
        }
        sheet.hunk(hunk, left, &mut lines);
        left = left.saturating_sub(hunk.lines.len());
    }
    lines.extend(rest(change, extent));
    lines
}

fn head(change: &FileChange) -> Line {
    let FileChange { path, moved_from, added, removed, .. } = change;
    let mut spans = vec![Span::new(path, Look::default().bold())];
    for (count, sign, role) in [(*added, '+', Role::Added), (*removed, '-', Role::Removed)] {
        if count > 0 {
            spans.extend([Span::plain(" "), Span::new(format!("{sign}{count}"), role)]);
        }
    }
    spans.extend(moved_from.iter().map(|from| Span::new(format!(" moved from {from}"), Role::Faint)));
    Line::words(spans)
}

/// How many lines are not shown: those behind the extent, and those that large changes do not carry.
fn rest(change: &FileChange, extent: Extent) -> Option<Line> {
    let changed =
        change.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.mark != Mark::Same).count();
    let hidden = match extent {
        Extent::All => 0,
        Extent::First(limit) => count(change).saturating_sub(limit),
    };
    let more = hidden + change.added.saturating_add(change.removed).saturating_sub(changed);
    let lines = if more == 1 { "line" } else { "lines" };
    (more > 0).then(|| Line::of(format!("… {more} more {lines}"), Role::Faint))
}

fn count(change: &FileChange) -> usize {
    change.hunks.iter().map(|hunk| hunk.lines.len()).sum()
}

/// How many digits the largest number of a line has.
fn digits(change: &FileChange) -> usize {
    let last =
        |hunk: &Hunk| hunk.old_start.max(hunk.new_start).saturating_add(hunk.lines.len().saturating_sub(1));
    change.hunks.iter().map(last).max().unwrap_or(0).to_string().len()
}

/// How the lines of a file are written.
struct Sheet {
    digits: usize,
    highlighter: Option<Highlighter>,
}

impl Sheet {
    /// Writes the first so many lines of a hunk.
    fn hunk(&mut self, hunk: &Hunk, limit: usize, lines: &mut Vec<Line>) {
        if let Some(highlighter) = &mut self.highlighter {
            highlighter.restart();
        }
        let (mut old, mut new) = (hunk.old_start, hunk.new_start);
        let pieces = pieces(hunk, limit);
        for (line, pieces) in hunk.lines.iter().zip(pieces).take(limit) {
            let (number, sign, role, spans) = match line.mark {
                Mark::Same => (new, " ", Role::Plain, self.code(&line.text)),
                Mark::Added => {
                    // Only what stays is coloured as code, but what is new decides how the code goes on.
                    self.code(&line.text);
                    let spans = marked(&line.text, pieces, Role::Added, Role::AddedWord);
                    (new, "+", Role::Added, spans)
                }
                Mark::Removed => {
                    let spans = marked(&line.text, pieces, Role::Removed, Role::RemovedWord);
                    (old, "-", Role::Removed, spans)
                }
            };
            let number = Span::new(format!("{number:>0$} ", self.digits), Role::Number);
            let sign = if line.text.is_empty() { sign.to_owned() } else { format!("{sign} ") };
            lines.push(Line::new([number, Span::new(sign, role)].into_iter().chain(spans)));
            old = old.saturating_add(usize::from(line.mark != Mark::Added));
            new = new.saturating_add(usize::from(line.mark != Mark::Removed));
        }
    }

    fn code(&mut self, text: &str) -> Vec<Span> {
        match &mut self.highlighter {
            Some(highlighter) => highlighter.line(text),
            None => vec![Span::plain(text)],
        }
    }
}

/// The pieces of each line that took the place of another or was replaced: lines that go are paired with those that come right behind them.
fn pieces(hunk: &Hunk, limit: usize) -> Vec<Option<Pieces<'_>>> {
    let mut pieces = vec![None; hunk.lines.len()];
    let run =
        |from: usize, mark: Mark| hunk.lines.iter().skip(from).take_while(|line| line.mark == mark).count();
    let mut at = 0;
    while at < hunk.lines.len().min(limit) {
        let removed = run(at, Mark::Removed);
        let added = run(at + removed, Mark::Added);
        for nth in 0..removed.min(added).min(limit) {
            let (old, new) = (at + nth, at + removed + nth);
            let pair = hunk.lines.get(old).zip(hunk.lines.get(new));
            if let Some((before, after)) = pair.and_then(|(old, new)| compare(&old.text, &new.text)) {
                for (place, line) in [(old, before), (new, after)] {
                    if let Some(place) = pieces.get_mut(place) {
                        *place = Some(line);
                    }
                }
            }
        }
        at += (removed + added).max(1);
    }
    pieces
}

fn marked(text: &str, pieces: Option<Pieces<'_>>, line: Role, word: Role) -> Vec<Span> {
    let pieces = pieces.unwrap_or_else(|| vec![(text, Piece::Same)]);
    let pieces = pieces.into_iter().filter(|(text, _)| !text.is_empty());
    let span = |(text, piece): (&str, Piece)| {
        Span::new(
            text,
            match piece {
                Piece::Same => line,
                Piece::Changed => word,
            },
        )
    };
    pieces.map(span).collect()
}
