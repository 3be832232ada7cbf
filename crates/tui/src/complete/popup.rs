use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;

use super::fuzzy::fuzzy;
use crate::text::{Line, Look, Role, Span, harmless, width as cells};

/// Something to choose.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Item {
    /// Its name.
    pub label: String,
    /// What is said about it; may be empty.
    pub detail: String,
    /// Which characters of the label were searched for, by the bytes at which they begin.
    pub positions: Vec<usize>,
}

impl Item {
    /// An item by its name and what is said about it.
    pub fn new(label: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { label: label.into(), detail: detail.into(), positions: Vec::new() }
    }
}

/// What became of a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// It was a key of the list.
    Taken,
    /// The item of this index is chosen.
    Accept(usize),
    /// The list is to go.
    Dismiss,
    /// It means nothing here; the caller may use it.
    Passed,
}

/// A list to choose from, of which some rows are shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Popup {
    items: Vec<Item>,
    selected: usize,
    /// The first row that is shown.
    top: usize,
    max_rows: usize,
}

impl Popup {
    /// A list of items, of which at most so many are shown at a time; the first is selected.
    pub fn new(items: Vec<Item>, max_rows: usize) -> Self {
        Self { items, selected: 0, top: 0, max_rows: max_rows.max(1) }
    }

    /// Shows other items; the first is selected.
    pub fn set_items(&mut self, items: Vec<Item>) {
        *self = Self::new(items, self.max_rows);
    }

    /// Shows at most so many rows from now on.
    pub fn set_rows(&mut self, max_rows: usize) {
        self.max_rows = max_rows.max(1);
        self.select(self.selected);
    }

    /// The items.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// Which item is selected, if there are any.
    pub fn selected(&self) -> Option<usize> {
        (self.selected < self.items.len()).then_some(self.selected)
    }

    /// Selects an item, if there is one of that index.
    pub fn select(&mut self, index: usize) {
        if index < self.items.len() {
            self.selected = index;
            let lowest = (index + 1).saturating_sub(self.max_rows);
            // With more rows than before, none stays empty below the last item.
            let highest = index.min(self.items.len().saturating_sub(self.max_rows));
            self.top = self.top.clamp(lowest, index).min(highest.max(lowest));
        }
    }

    /// Selects the next item, behind the last one the first.
    pub fn next(&mut self) {
        self.select(if self.selected + 1 < self.items.len() { self.selected + 1 } else { 0 });
    }

    /// Selects the item before, before the first one the last.
    pub fn previous(&mut self) {
        self.select(self.selected.checked_sub(1).unwrap_or(self.items.len().saturating_sub(1)));
    }

    /// Takes in a key. A list without items takes only Esc.
    pub fn key(&mut self, key: KeyEvent) -> Choice {
        if key.kind == KeyEventKind::Release {
            return Choice::Taken;
        }
        let page = self.max_rows;
        match (key.code, key.modifiers, self.selected()) {
            (KeyCode::Esc, _, _) => return Choice::Dismiss,
            (_, _, None) => return Choice::Passed,
            (KeyCode::Enter | KeyCode::Tab, KeyModifiers::NONE, Some(index)) => return Choice::Accept(index),
            (KeyCode::Up, KeyModifiers::NONE, _) | (KeyCode::Char('p'), KeyModifiers::CONTROL, _) => {
                self.previous();
            }
            (KeyCode::Down, KeyModifiers::NONE, _) | (KeyCode::Char('n'), KeyModifiers::CONTROL, _) => {
                self.next();
            }
            (KeyCode::PageUp, _, Some(index)) => self.select(index.saturating_sub(page)),
            (KeyCode::PageDown, _, Some(index)) => self.select((index + page).min(self.items.len() - 1)),
            _ => return Choice::Passed,
        }
        Choice::Taken
    }

    /// The rows, each with a sign before it if it is selected.
    pub fn view(&self, width: usize) -> Vec<Line> {
        let shown = || self.items.iter().enumerate().skip(self.top).take(self.max_rows);
        let longest = shown().map(|(_, item)| cells(&harmless(&item.label))).max().unwrap_or(0);
        let has_detail = shown().any(|(_, item)| !item.detail.is_empty());
        let room = width.saturating_sub(2);
        // A detail gets what the labels leave, but labels leave it a third.
        let column = if has_detail { longest.min(room - room / 3) } else { room };
        shown().map(|(at, item)| row(item, at == self.selected, column, width)).collect()
    }
}

fn row(item: &Item, is_selected: bool, column: usize, width: usize) -> Line {
    let sign = if is_selected { Span::new("› ", Role::Accent) } else { Span::plain("  ") };
    let plain = if is_selected { Look::of(Role::Accent) } else { Look::default() };
    let mut spans = vec![sign];
    // What nothing is said about may take the whole row.
    let whole = if item.detail.is_empty() { width.saturating_sub(2) } else { column };
    spans.extend(label(item, plain, whole.max(column)));
    let used: usize = spans.iter().map(Span::width).sum();
    let room = width.saturating_sub(column + 4);
    if !item.detail.is_empty() && room > 0 {
        spans.push(Span::plain(" ".repeat((column + 4).saturating_sub(used))));
        spans.push(Span::new(cut(&harmless(&item.detail), room), Role::Faint));
    }
    if width < 3 { Line::new([Span::plain(cut(&Line::new(spans).text(), width))]) } else { Line::new(spans) }
}

/// A label in so many cells. A path keeps its end, which tells it from others.
fn label(item: &Item, plain: Look, room: usize) -> Vec<Span> {
    let found = Look { underline: true, ..plain.bold() };
    let parts: Vec<(String, Look)> = item
        .label
        .grapheme_indices(true)
        .map(|(at, text)| {
            let is_found = item.positions.iter().any(|place| (at..at + text.len()).contains(place));
            (harmless(text), if is_found { found } else { plain })
        })
        .collect();
    let widths = || parts.iter().map(|(text, _)| cells(text));
    let (before, kept, behind) = if widths().sum::<usize>() <= room {
        ("", 0..parts.len(), "")
    } else if item.label.contains('/') {
        let count = fitting(widths().rev(), room);
        ("…", parts.len() - count..parts.len(), "")
    } else {
        ("", 0..fitting(widths(), room), "…")
    };
    let mut spans = vec![Span::new(before, plain)];
    for (text, look) in parts.get(kept).unwrap_or_default() {
        match spans.last_mut() {
            Some(last) if last.look == *look => *last = Span::new(format!("{}{text}", last.text()), *look),
            Some(_) | None => spans.push(Span::new(text, *look)),
        }
    }
    spans.push(Span::new(behind, plain));
    spans.retain(|span| !span.text().is_empty());
    spans
}

/// How many of these fit beside a sign that says that there is more.
fn fitting(widths: impl Iterator<Item = usize>, room: usize) -> usize {
    let mut used = 1;
    widths
        .take_while(|width| {
            used += width;
            used <= room
        })
        .count()
}

/// A text in so many cells.
fn cut(text: &str, room: usize) -> String {
    if cells(text) <= room {
        return text.to_owned();
    }
    let kept = fitting(text.graphemes(true).map(cells), room);
    let sign = if room > 0 { "…" } else { "" };
    text.graphemes(true).take(kept).chain([sign]).collect()
}

/// The line above a list: what is typed, of which the end is seen, and, if there is room, how many were found of how many.
pub(crate) fn head(title: &str, typed: &str, (found, all): (usize, usize), width: usize) -> Line {
    let typed = harmless(typed);
    let count = format!("  {found} of {all}");
    let room = width.saturating_sub(cells(title));
    let is_long = cells(&typed) > room;
    let kept = fitting(typed.graphemes(true).rev().map(cells), room);
    let end: String = typed.graphemes(true).skip(typed.graphemes(true).count() - kept).collect();
    let typed = match is_long {
        true if room == 0 => String::new(),
        true => format!("…{end}"),
        false => typed,
    };
    let has_room = cells(&typed) + cells(&count) <= room;
    let count = if has_room { count } else { String::new() };
    let spans =
        [Span::new(cut(title, width), Role::Accent), Span::plain(typed), Span::new(count, Role::Faint)];
    Line::new(spans.into_iter().filter(|span| !span.text().is_empty()))
}

/// A list that is narrowed by typing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picker {
    all: Vec<Item>,
    filter: String,
    /// Which of all are in the list.
    shown: Vec<usize>,
    popup: Popup,
}

impl Picker {
    /// A list of items, of which at most so many are shown at a time.
    pub fn new(items: Vec<Item>, max_rows: usize) -> Self {
        let mut picker = Self {
            all: items,
            filter: String::new(),
            shown: Vec::new(),
            popup: Popup::new(Vec::new(), max_rows),
        };
        picker.narrow();
        picker
    }

    /// What was typed to narrow it.
    pub fn filter(&self) -> &str {
        &self.filter
    }

    /// Which item is selected, by its index among all.
    pub fn selected(&self) -> Option<usize> {
        self.shown.get(self.popup.selected()?).copied()
    }

    /// Selects an item by its index among all, if it is in the list.
    pub fn select(&mut self, index: usize) {
        if let Some(at) = self.shown.iter().position(|shown| *shown == index) {
            self.popup.select(at);
        }
    }

    /// Takes in a key; what is accepted is an index among all items.
    pub fn key(&mut self, key: KeyEvent) -> Choice {
        if key.kind == KeyEventKind::Release {
            return Choice::Taken;
        }
        match (key.code, key.modifiers) {
            (KeyCode::Char(c), mods) if KeyModifiers::SHIFT.contains(mods) && !c.is_control() => {
                self.filter.push(c);
                self.narrow();
                Choice::Taken
            }
            (KeyCode::Backspace, _) if !self.filter.is_empty() => {
                self.filter.pop();
                self.narrow();
                Choice::Taken
            }
            _ => match self.popup.key(key) {
                Choice::Accept(at) => {
                    self.shown.get(at).map_or(Choice::Taken, |index| Choice::Accept(*index))
                }
                other @ (Choice::Taken | Choice::Dismiss | Choice::Passed) => other,
            },
        }
    }

    /// Shows at most so many rows of the list from now on.
    pub fn set_rows(&mut self, max_rows: usize) {
        self.popup.set_rows(max_rows);
    }

    /// The line with the filter, and the rows below it.
    pub fn view(&self, width: usize) -> Vec<Line> {
        let head = head("filter: ", &self.filter, (self.shown.len(), self.all.len()), width);
        std::iter::once(head).chain(self.popup.view(width)).collect()
    }

    fn narrow(&mut self) {
        let found = |(at, item): (usize, &Item)| {
            let by_label = fuzzy(&item.label, &self.filter).map(|found| (found.score, found.positions));
            let in_detail = || item.detail.to_lowercase().contains(&self.filter.to_lowercase());
            let (score, positions) = by_label.or_else(|| in_detail().then_some((i32::MIN, Vec::new())))?;
            Some((score, at, Item { positions, ..item.clone() }))
        };
        let mut hits: Vec<_> = self.all.iter().enumerate().filter_map(found).collect();
        hits.sort_by_key(|(score, ..)| std::cmp::Reverse(*score));
        self.shown = hits.iter().map(|(_, at, _)| *at).collect();
        self.popup.set_items(hits.into_iter().map(|(_, _, item)| item).collect());
    }
}
