//! Markdown's blocks, line by line: each line is read once, and what it ends is written.

use super::cursor::Cursor;
use super::end_of;
use super::inline::inlines;
use super::marks::{self, Fence};
use super::out::{Container, Holds, Out};
use super::table::Table;
use crate::highlight::Highlighter;
use crate::text::{Line, Look, Role, Span};

/// How deep quotes and lists go; what is deeper is text. It bounds what stands before a line.
const MAX_DEPTH: usize = 32;
/// So far right, a line is code.
const CODE: usize = 4;

/// The blocks that are open.
#[derive(Clone, Default)]
pub(super) struct Blocks {
    pub(super) out: Out,
    leaf: Leaf,
    /// Bytes that were looked at; the cost of a text must grow as the text does.
    #[cfg(test)]
    pub(super) work: usize,
}

/// The innermost block, which holds text.
#[derive(Clone, Default)]
enum Leaf {
    #[default]
    None,
    Paragraph(String),
    Fenced(Fence, Code),
    /// Empty lines are written only when more code follows.
    Indented(Vec<String>, Code),
    Html,
    Table(Table),
}

/// Code that is being written.
#[derive(Clone)]
struct Code {
    highlighter: Option<Highlighter>,
    begun: bool,
}

impl Blocks {
    /// Takes a line without its end.
    pub(super) fn line(&mut self, line: &str, width: usize) {
        #[cfg(test)]
        {
            self.work += line.len() + 1;
        }
        let mut at = Cursor::new(line);
        let depth = self.inside(&mut at);
        if depth == self.out.containers.len() && self.goes_on(&at) {
            return;
        }
        if at.is_blank() {
            self.leave(depth, width);
            self.out.blank = true;
            return;
        }
        let before = self.out.containers.get(depth).cloned();
        // Only a paragraph can go on outside of what it is in.
        if before.is_some() && !matches!(self.leaf, Leaf::Paragraph(_)) {
            self.leave(depth, width);
        }
        self.begin(at, depth, before, width);
    }

    /// The same with only the end of a long text or table: so many bytes or rows, or some more.
    pub(super) fn end(&self, room: usize, rows: usize) -> Self {
        let leaf = match &self.leaf {
            Leaf::Paragraph(text) => Leaf::Paragraph(end_of(text, room).into_owned()),
            Leaf::Table(table) => Leaf::Table(table.end(rows)),
            Leaf::None | Leaf::Fenced(..) | Leaf::Indented(..) | Leaf::Html => self.leaf.clone(),
        };
        Self {
            out: self.out.clone(),
            leaf,
            #[cfg(test)]
            work: self.work,
        }
    }

    /// Ends everything.
    pub(super) fn finish(&mut self, width: usize) {
        self.leave(0, width);
    }

    /// In how many of the open containers the line is.
    fn inside(&self, at: &mut Cursor<'_>) -> usize {
        for (depth, container) in self.out.containers.iter().enumerate() {
            match &container.holds {
                Holds::Quote if at.indent() < CODE && at.text().starts_with('>') => quoted(at),
                Holds::Quote => return depth,
                // An item that begins with two empty lines has no text.
                Holds::Item { .. } if at.is_blank() && self.is_empty_item(depth) => return depth,
                Holds::Item { offset, .. } if at.is_blank() => at.skip(*offset),
                Holds::Item { offset, .. } if at.indent() >= *offset => at.skip(*offset),
                Holds::Item { .. } => return depth,
            }
        }
        self.out.containers.len()
    }

    fn is_empty_item(&self, depth: usize) -> bool {
        let innermost = depth + 1 == self.out.containers.len();
        innermost && matches!(self.leaf, Leaf::None) && self.out.begins_item()
    }

    /// Whether the line belongs to a block that takes lines as they are.
    fn goes_on(&mut self, at: &Cursor<'_>) -> bool {
        let mut at = *at;
        match &mut self.leaf {
            Leaf::Fenced(fence, _) if at.indent() < CODE && fence.is_closed_by(at.text()) => {
                self.leaf = Leaf::None;
            }
            Leaf::Fenced(fence, code) => {
                at.skip(fence.indent);
                code.line(&at.code(), &mut self.out);
            }
            Leaf::Indented(blanks, code) if at.indent() >= CODE && !at.is_blank() => {
                at.skip(CODE);
                for blank in blanks.drain(..) {
                    code.line(&blank, &mut self.out);
                }
                code.line(&at.code(), &mut self.out);
            }
            Leaf::Indented(blanks, _) if at.is_blank() => {
                at.skip(CODE);
                blanks.push(at.code());
            }
            Leaf::Html if !at.is_blank() => {
                let line = html(&at, self.out.look());
                self.out.more(line);
            }
            Leaf::Indented(..) | Leaf::Html => {
                self.leaf = Leaf::None;
                return false;
            }
            Leaf::None | Leaf::Paragraph(_) | Leaf::Table(_) => return false,
        }
        true
    }

    /// Opens the containers that the line begins, and gives it to a leaf.
    fn begin(&mut self, mut at: Cursor<'_>, mut depth: usize, mut before: Option<Container>, width: usize) {
        while at.indent() < CODE && depth < MAX_DEPTH {
            let text = at.text();
            if text.starts_with('>') {
                self.leave(depth, width);
                quoted(&mut at);
                self.out.quote();
            } else if let Some(item) = self.item(text, depth) {
                self.leave(depth, width);
                let same = |container: &Container| match container.holds {
                    Holds::Item { kind, .. } => kind.goes_on_with(item.kind),
                    Holds::Quote => false,
                };
                let offset = after_mark(&mut at, item.length);
                self.out.item(item.kind, offset, before.filter(same));
            } else {
                break;
            }
            before = None;
            depth += 1;
        }
        self.leaf_line(&at, depth, width);
    }

    /// The mark of an item, if it can begin here.
    fn item(&self, text: &str, depth: usize) -> Option<marks::Item> {
        let item = marks::item(text).filter(|_| !marks::is_rule(text))?;
        let interrupts = matches!(self.leaf, Leaf::Paragraph(_)) && depth == self.out.containers.len();
        let is_empty = text.get(item.length..).is_none_or(|rest| rest.trim_matches([' ', '\t']).is_empty());
        let is_first = match item.kind {
            marks::ListKind::Bullets { .. } => true,
            marks::ListKind::Numbers { first, .. } => first == 1,
        };
        // Otherwise a year at the beginning of a line would begin a list.
        (!interrupts || (is_first && !is_empty)).then_some(item)
    }

    fn leaf_line(&mut self, at: &Cursor<'_>, depth: usize, width: usize) {
        if at.is_blank() {
            return;
        }
        let here = depth == self.out.containers.len();
        let text = at.text();
        if at.indent() < CODE && (here && self.changes(text, width) || self.opens(at, depth, width)) {
            return;
        }
        match &mut self.leaf {
            // A paragraph goes on even where its quote or item does not.
            Leaf::Paragraph(paragraph) => {
                paragraph.push('\n');
                paragraph.push_str(text);
            }
            Leaf::Table(table) if here => table.row(text),
            Leaf::None | Leaf::Table(_) | Leaf::Fenced(..) | Leaf::Indented(..) | Leaf::Html => {
                self.leave(depth, width);
                if at.indent() >= CODE {
                    let mut at = *at;
                    at.skip(CODE);
                    let mut code = Code { highlighter: None, begun: false };
                    code.line(&at.code(), &mut self.out);
                    self.leaf = Leaf::Indented(Vec::new(), code);
                } else {
                    self.leaf = Leaf::Paragraph(text.to_owned());
                }
            }
        }
    }

    /// Whether the line makes something else of the paragraph above: a heading or a table.
    fn changes(&mut self, text: &str, width: usize) -> bool {
        let Leaf::Paragraph(paragraph) = &mut self.leaf else { return false };
        if let Some(level) = marks::underline(text) {
            let paragraph = std::mem::take(paragraph);
            self.leaf = Leaf::None;
            self.heading(level, &paragraph);
            return true;
        }
        let start = paragraph.rfind('\n').map_or(0, |end| end + 1);
        let look = self.out.look();
        let Some(table) = paragraph.get(start..).and_then(|head| Table::new(head, text, look)) else {
            return false;
        };
        // What stood above the heads is a paragraph of its own.
        if start > 0 {
            paragraph.truncate(start - 1);
            self.leave(self.out.containers.len(), width);
        }
        self.leaf = Leaf::Table(table);
        true
    }

    /// Whether the line begins a block of its own.
    fn opens(&mut self, at: &Cursor<'_>, depth: usize, width: usize) -> bool {
        let text = at.text();
        if let Some((level, text)) = marks::heading(text) {
            self.leave(depth, width);
            self.heading(level, text);
        } else if let Some((fence, language)) = marks::fence(text, at.indent()) {
            self.leave(depth, width);
            let highlighter = Highlighter::for_language(language);
            self.leaf = Leaf::Fenced(fence, Code { highlighter, begun: false });
        } else if marks::is_rule(text) {
            self.leave(depth, width);
            self.out.block(vec![Line::of("───", Role::Faint)]);
        } else if marks::is_html(text) {
            self.leave(depth, width);
            let line = html(at, self.out.look());
            self.out.block(vec![line]);
            self.leaf = Leaf::Html;
        } else {
            return false;
        }
        true
    }

    /// Ends the leaf and the containers behind the first so many.
    fn leave(&mut self, depth: usize, width: usize) {
        match std::mem::take(&mut self.leaf) {
            Leaf::Paragraph(text) => self.paragraph(&text),
            Leaf::Table(table) => {
                let width = width.saturating_sub(self.out.indent());
                #[cfg(test)]
                {
                    self.work += table.size();
                }
                self.out.block(table.lines(width));
            }
            Leaf::None | Leaf::Fenced(..) | Leaf::Indented(..) | Leaf::Html => {}
        }
        self.out.leave(depth);
    }

    fn heading(&mut self, level: usize, text: &str) {
        // Levels differ without colours too.
        let look = Look::of(Role::Heading).bold();
        let look = Look { underline: level == 1, italic: level > 2, ..look };
        self.text(text, look, None);
    }

    fn paragraph(&mut self, text: &str) {
        let task = marks::task(text).filter(|_| self.out.begins_item());
        let look = self.out.look();
        match task {
            Some(mark) => {
                let role = if mark.starts_with("[ ]") { Role::Plain } else { Role::Good };
                let text = text.get(mark.len()..).unwrap_or_default();
                self.text(text, look, Some(Span::new(mark, role)));
            }
            None => self.text(text, look, None),
        }
    }

    fn text(&mut self, text: &str, look: Look, lead: Option<Span>) {
        #[cfg(test)]
        {
            self.work += text.len();
        }
        let hang: Vec<_> = lead.iter().map(|lead| Span::plain(" ".repeat(lead.width()))).collect();
        let line = |(nth, spans): (usize, Vec<Span>)| {
            let lead = if nth == 0 { lead.clone() } else { hang.first().cloned() };
            Line::hanging(lead.into_iter().chain(spans), hang.clone())
        };
        self.out.block(inlines(text, look).into_iter().enumerate().map(line).collect());
    }
}

impl Code {
    fn line(&mut self, line: &str, out: &mut Out) {
        if !self.begun {
            self.begun = true;
            out.begin_code();
        }
        out.code(match &mut self.highlighter {
            Some(highlighter) => highlighter.line(line),
            None if line.is_empty() => Vec::new(),
            None => vec![Span::new(line, Role::Code)],
        });
    }
}

/// Takes the mark of a quote.
fn quoted(at: &mut Cursor<'_>) {
    at.skip(at.indent());
    at.take(1);
    at.skip(1);
}

/// Takes the mark of an item, and says how far right its text is.
fn after_mark(at: &mut Cursor<'_>, length: usize) -> usize {
    let before = at.indent();
    at.skip(before);
    at.take(length);
    let blanks = at.indent();
    // Further right it is code within the item.
    let blanks = if at.is_blank() || blanks > CODE { 1 } else { blanks };
    at.skip(blanks);
    before + length + blanks
}

fn html(at: &Cursor<'_>, look: Look) -> Line {
    Line::words([Span::new(at.code().trim_end(), look)])
}
