//! Blocks as lines: what stands before them, and the empty lines between them.

use super::marks::ListKind;
use crate::text::{Flow, Line, Look, Role, Span};

const BAR: &str = "│ ";

/// The lines that are done, and where the next ones stand.
#[derive(Clone, Default)]
pub(super) struct Out {
    pub(super) containers: Vec<Container>,
    pub(super) lines: Vec<Line>,
    /// The block before: the containers it was in, and what it was.
    last: Option<(Vec<usize>, Kind)>,
    /// Whether the source had an empty line since.
    pub(super) blank: bool,
    /// How many containers there were.
    count: usize,
}

/// What holds other blocks.
#[derive(Clone)]
pub(super) struct Container {
    /// Items of one list have the same.
    id: usize,
    pub(super) holds: Holds,
}

/// What a container is.
#[derive(Clone)]
pub(super) enum Holds {
    Quote,
    Item {
        kind: ListKind,
        /// Columns before the text of its lines.
        offset: usize,
        /// What is shown before it.
        mark: String,
        /// Whether that was shown.
        marked: bool,
    },
}

/// What a block is, for what is between it and the next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Code,
}

impl Out {
    pub(super) fn quote(&mut self) {
        self.count += 1;
        self.containers.push(Container { id: self.count, holds: Holds::Quote });
    }

    /// Begins an item; `before` is the one it comes after in the same list.
    pub(super) fn item(&mut self, kind: ListKind, offset: usize, before: Option<Container>) {
        self.count += 1;
        let (id, kind) = match before {
            Some(Container { id, holds: Holds::Item { kind: last, .. } }) => (id, next(last)),
            Some(Container { holds: Holds::Quote, .. }) | None => (self.count, kind),
        };
        let mark = match kind {
            ListKind::Bullets { .. } => "- ".to_owned(),
            ListKind::Numbers { first, end } => format!("{first}{end} "),
        };
        self.containers.push(Container { id, holds: Holds::Item { kind, offset, mark, marked: false } });
    }

    /// Ends the containers behind the first so many.
    pub(super) fn leave(&mut self, depth: usize) {
        if self.containers.len() > depth {
            self.marks();
            self.containers.truncate(depth);
        }
    }

    /// Whether the mark of the innermost item is still to be shown.
    pub(super) fn begins_item(&self) -> bool {
        match self.containers.last() {
            Some(Container { holds: Holds::Item { marked, .. }, .. }) => !marked,
            Some(Container { holds: Holds::Quote, .. }) | None => false,
        }
    }

    /// The look of plain text here.
    pub(super) fn look(&self) -> Look {
        let quoted = self.containers.iter().any(|container| matches!(container.holds, Holds::Quote));
        Look::of(if quoted { Role::Quote } else { Role::Plain })
    }

    /// How many cells are taken by what stands before a line.
    pub(super) fn indent(&self) -> usize {
        self.containers.iter().map(Container::width).sum()
    }

    /// A block of text.
    pub(super) fn block(&mut self, lines: Vec<Line>) {
        if lines.iter().all(|line| line.spans.is_empty()) && !self.has_marks() {
            return;
        }
        self.separate(Kind::Text);
        for line in lines {
            self.more(line);
        }
    }

    /// One more line of a block of text.
    pub(super) fn more(&mut self, line: Line) {
        let mut spans = self.take_marks();
        if line.spans.is_empty() {
            trim(&mut spans);
        }
        let flow = match line.flow {
            Flow::Words(hang) => {
                Flow::Words(self.containers.iter().map(Container::hang).chain(hang).collect())
            }
            Flow::Terminal => Flow::Terminal,
        };
        spans.extend(line.spans);
        self.lines.push(Line { spans, flow });
    }

    /// Begins a block of code, whose lines have nothing before them, so that they are copied as they are.
    pub(super) fn begin_code(&mut self) {
        self.marks();
        self.separate(Kind::Code);
    }

    pub(super) fn code(&mut self, spans: Vec<Span>) {
        self.lines.push(Line::new(spans));
    }

    /// Shows the marks of items that have no text.
    fn marks(&mut self) {
        if self.has_marks() {
            self.block(vec![Line::words([])]);
        }
    }

    fn has_marks(&self) -> bool {
        self.containers.iter().any(|container| matches!(container.holds, Holds::Item { marked: false, .. }))
    }

    fn take_marks(&mut self) -> Vec<Span> {
        let take = |container: &mut Container| {
            let hang = container.hang();
            match &mut container.holds {
                Holds::Item { mark, marked, .. } if !*marked => {
                    *marked = true;
                    Span::plain(mark)
                }
                Holds::Item { .. } | Holds::Quote => hang,
            }
        };
        self.containers.iter_mut().map(take).collect()
    }

    /// The empty line before a block. In lists the source decides on it, since both kinds of lists are usual; code stands apart, as nothing else shows
    /// without colours where it begins.
    fn separate(&mut self, kind: Kind) {
        let ids: Vec<_> = self.containers.iter().map(|container| container.id).collect();
        if let Some((last, before)) = &self.last {
            let common = ids.iter().zip(last).take_while(|(one, other)| one == other).count();
            let shared = self.containers.get(..common).unwrap_or_default();
            let listed = shared.iter().any(|container| matches!(container.holds, Holds::Item { .. }));
            if kind == Kind::Code || *before == Kind::Code {
                self.lines.push(Line::empty());
            } else if self.blank || !listed {
                let mut spans = shared.iter().map(Container::hang).collect();
                trim(&mut spans);
                self.lines.push(Line::new(spans));
            }
        }
        self.last = Some((ids, kind));
        self.blank = false;
    }
}

impl Container {
    /// What stands before the lines that have no mark.
    fn hang(&self) -> Span {
        match &self.holds {
            Holds::Quote => Span::new(BAR, Role::Quote),
            Holds::Item { mark, .. } => Span::plain(" ".repeat(mark.len())),
        }
    }

    fn width(&self) -> usize {
        match &self.holds {
            Holds::Quote => 2,
            Holds::Item { mark, .. } => mark.len(),
        }
    }
}

fn next(kind: ListKind) -> ListKind {
    match kind {
        ListKind::Bullets { .. } => kind,
        ListKind::Numbers { first, end } => ListKind::Numbers { first: first + 1, end },
    }
}

/// Takes away the blanks at the end.
fn trim(spans: &mut Vec<Span>) {
    while let Some(last) = spans.pop() {
        let text = last.text().trim_end();
        if !text.is_empty() {
            spans.push(Span::new(text, last.look));
            return;
        }
    }
}
