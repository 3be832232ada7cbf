use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::history::{Entry, History};
use crate::complete::{Choice, Item, Popup, fuzzy, head};
use crate::text::Line;

/// What stands before the query.
const TITLE: &str = "search: ";
/// How many rows of hits are shown.
const MAX_ROWS: usize = 8;
/// How much of an entry a fuzzy search looks at, in bytes.
const MAX_FUZZY: usize = 400;

/// A search in the history, as Ctrl+R begins it.
#[derive(Debug)]
pub struct Search {
    /// Newest first, with the text in small letters.
    entries: Vec<(Entry, String)>,
    query: String,
    /// Which entries are hits.
    hits: Vec<usize>,
    popup: Popup,
}

impl Search {
    /// A search that finds all, the newest first, each text once.
    pub fn new(history: &History) -> Self {
        let mut seen = std::collections::BTreeSet::new();
        let newest = history.entries().iter().rev();
        let entries = newest
            .filter(|entry| seen.insert(entry.text.as_str()))
            .map(|entry| (entry.clone(), lower(&entry.text)))
            .collect();
        let mut search =
            Self { entries, query: String::new(), hits: Vec::new(), popup: Popup::new(Vec::new(), MAX_ROWS) };
        search.find();
        search
    }

    /// What is searched for.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// The hits, the newest first.
    pub fn hits(&self) -> impl Iterator<Item = &Entry> {
        self.hits.iter().filter_map(|hit| self.entries.get(*hit)).map(|(entry, _)| entry)
    }

    /// The hit that is chosen.
    pub fn selected(&self) -> Option<&Entry> {
        self.hits().nth(self.popup.selected()?)
    }

    /// Takes in a key. Ctrl+R goes on to older hits and Ctrl+S back; [`Choice::Accept`] means [`selected`](Self::selected).
    pub fn key(&mut self, key: KeyEvent) -> Choice {
        if key.kind == KeyEventKind::Release {
            return Choice::Taken;
        }
        let is_text = KeyModifiers::SHIFT.contains(key.modifiers);
        match (key.code, key.modifiers) {
            (KeyCode::Char('r'), KeyModifiers::CONTROL) => self.popup.next(),
            (KeyCode::Char('s'), KeyModifiers::CONTROL) => self.popup.previous(),
            (KeyCode::Char('u'), KeyModifiers::CONTROL) => {
                self.query.clear();
                self.find();
            }
            (KeyCode::Backspace, _) | (KeyCode::Char('h'), KeyModifiers::CONTROL) => {
                self.query.pop();
                self.find();
            }
            (KeyCode::Char(c), _) if is_text && !c.is_control() => {
                self.query.push(c);
                self.find();
            }
            _ => return self.popup.key(key),
        }
        Choice::Taken
    }

    /// Shows at most so many hits from now on.
    pub fn set_rows(&mut self, max_rows: usize) {
        self.popup.set_rows(MAX_ROWS.min(max_rows));
    }

    /// The cell behind the query, where more of it would be typed.
    pub fn column(&self) -> usize {
        TITLE.len() + crate::text::width(&crate::text::harmless(&self.query))
    }

    /// The line with the query, and the hits below it.
    pub fn view(&self, width: usize) -> Vec<Line> {
        let head = head(TITLE, &self.query, (self.hits.len(), self.entries.len()), width);
        std::iter::once(head).chain(self.popup.view(width)).collect()
    }

    /// Looks for the query as it stands, and only if it stands nowhere for its characters in order.
    fn find(&mut self) {
        let query = lower(&self.query);
        let exact = |(at, (entry, lower)): (usize, &(Entry, String))| {
            let start = lower.find(&query)?;
            Some((at, label(&entry.text, start, query.chars().count())))
        };
        let mut hits: Vec<_> = self.entries.iter().enumerate().filter_map(exact).collect();
        if hits.is_empty() {
            let loose = |(at, (entry, _)): (usize, &(Entry, String))| {
                let text = first_line(entry.text.get(..entry.text.floor_char_boundary(MAX_FUZZY))?);
                let positions = fuzzy(text, &query)?.positions;
                Some((at, Item { label: text.to_owned(), positions, ..Item::default() }))
            };
            hits = self.entries.iter().enumerate().filter_map(loose).collect();
        }
        let (hits, items) = hits.into_iter().unzip();
        self.hits = hits;
        self.popup.set_items(items);
    }
}

/// The line of a text in which a hit is, and where the hit is in it.
fn label(text: &str, start: usize, chars: usize) -> Item {
    let from = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let line = first_line(text.get(from..).unwrap_or_default());
    let behind = text.get(start..).unwrap_or_default().char_indices().take(chars);
    let positions = behind.map(|(at, _)| start - from + at).filter(|at| *at < line.len()).collect();
    let is_more = line.len() < text.trim_end().len();
    let detail = if is_more { format!("{} lines", text.lines().count()) } else { String::new() };
    Item { label: line.to_owned(), detail, positions }
}

fn first_line(text: &str) -> &str {
    text.trim_start_matches('\n').lines().next().unwrap_or_default()
}

/// Small letters, each as long as it was: places stay the same.
fn lower(text: &str) -> String {
    text.chars().map(crate::complete::lower).collect()
}
