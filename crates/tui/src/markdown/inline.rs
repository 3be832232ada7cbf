//! The text of one block: emphasis, code, links.

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::text::{Look, Role, Span};

/// It stands before each line of a block, so that the parser takes none for the beginning of another: for blocks it is text, for emphasis a blank.
/// Where the source has it, a blank of the same width stands instead.
const GUARD: char = '\u{205f}';
const LIKE_GUARD: &str = "\u{2005}";

/// The lines of a block's text: there are several where it is broken by hand.
pub(super) fn inlines(text: &str, base: Look) -> Vec<Vec<Span>> {
    let text = text.trim_matches([' ', '\t', '\n']).replace(GUARD, LIKE_GUARD);
    let mut guarded = String::with_capacity(text.len() + 8);
    for (nth, line) in text.split('\n').enumerate() {
        if nth > 0 {
            guarded.push('\n');
        }
        guarded.push(GUARD);
        guarded.push_str(line);
    }
    let mut inlines = Inlines { lines: vec![Vec::new()], looks: vec![base], targets: Vec::new() };
    for (event, range) in Parser::new_ext(&guarded, Options::ENABLE_STRIKETHROUGH).into_offset_iter() {
        inlines.event(event, guarded.get(range).unwrap_or_default());
    }
    let mut lines = inlines.lines;
    while lines.len() > 1 && lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    let span = |(text, look): (String, Look)| Span::new(text, look);
    lines.into_iter().map(|line| line.into_iter().map(span).collect()).collect()
}

struct Inlines {
    lines: Vec<Vec<(String, Look)>>,
    /// The looks that hold, the innermost last.
    looks: Vec<Look>,
    /// The links and images that are open.
    targets: Vec<Target>,
}

/// Where a link or an image leads.
struct Target {
    address: String,
    title: String,
    /// What it says so far.
    label: String,
}

impl Inlines {
    fn event(&mut self, event: Event<'_>, source: &str) {
        match event {
            Event::Start(tag) => self.start(tag, source),
            Event::End(tag) => self.end(tag, source),
            Event::Code(code) => self.push(&code, Look { role: Role::Code, ..self.look() }),
            Event::SoftBreak => self.push(" ", self.look()),
            Event::HardBreak => self.break_line(),
            // It is the only way to break a line within a table.
            Event::InlineHtml(tag) if is_break(&tag) => self.break_line(),
            Event::Text(text)
            | Event::InlineHtml(text)
            | Event::Html(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.push(&text, self.look()),
            Event::Rule | Event::TaskListMarker(_) => self.push(source, self.look()),
        }
    }

    fn start(&mut self, tag: Tag<'_>, source: &str) {
        let look = self.look();
        match tag {
            Tag::Emphasis => self.looks.push(look.italic()),
            Tag::Strong => self.looks.push(look.bold()),
            Tag::Strikethrough if strikes(source) => self.looks.push(Look { strike: true, ..look }),
            Tag::Strikethrough => self.push("~", look),
            Tag::Link { link_type, dest_url, title, .. } => {
                let role = match link_type {
                    LinkType::Autolink | LinkType::Email => Role::Link,
                    _ => look.role,
                };
                self.looks.push(Look { underline: true, role, ..look });
                self.targets.push(Target::new(&dest_url, &title));
            }
            Tag::Image { dest_url, title, .. } => {
                self.push("[image: ", look);
                self.targets.push(Target::new(&dest_url, &title));
            }
            // The guard lets no block begin but the paragraph around all.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, source: &str) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong => self.leave(),
            TagEnd::Strikethrough if strikes(source) => self.leave(),
            TagEnd::Strikethrough => self.push("~", self.look()),
            TagEnd::Link => {
                self.leave();
                let Some(target) = self.targets.pop() else { return };
                let says_it = target.title.is_empty() && target.label == target.address;
                if !says_it && !target.is_empty() {
                    self.push(if target.label.is_empty() { "(" } else { " (" }, self.look());
                    self.address(&target);
                    self.push(")", self.look());
                }
            }
            TagEnd::Image => {
                self.push("](", self.look());
                if let Some(target) = self.targets.pop() {
                    self.address(&target);
                }
                self.push(")", self.look());
            }
            _ => {}
        }
    }

    fn address(&mut self, Target { address, title, .. }: &Target) {
        self.push(address, Look { role: Role::Link, ..self.look() });
        if !title.is_empty() {
            let blank = if address.is_empty() { "" } else { " " };
            self.push(&format!("{blank}\"{title}\""), self.look());
        }
    }

    fn push(&mut self, text: &str, look: Look) {
        let mut text = text.replace('\n', " ").replace(GUARD, "");
        if self.lines.len() > 1 && self.lines.last().is_some_and(Vec::is_empty) {
            text = text.trim_start_matches(' ').to_owned();
        }
        if let Some(target) = self.targets.last_mut() {
            target.label.push_str(&text);
        }
        if text.is_empty() {
            return;
        }
        let Some(line) = self.lines.last_mut() else { return };
        match line.last_mut() {
            // The parser ends a text at each sign that could be a mark.
            Some((last, same)) if *same == look => last.push_str(&text),
            _ => line.push((text, look)),
        }
    }

    /// Breaks the line by hand; blanks around the break are not seen, nor is a break before everything.
    fn break_line(&mut self) {
        let begun = self.lines.len() > 1;
        let Some(line) = self.lines.last_mut() else { return };
        if let Some((last, _)) = line.last_mut() {
            last.truncate(last.trim_end_matches(' ').len());
        }
        line.retain(|(text, _)| !text.is_empty());
        if begun || !line.is_empty() {
            self.lines.push(Vec::new());
        }
    }

    fn look(&self) -> Look {
        self.looks.last().copied().unwrap_or_default()
    }

    fn leave(&mut self) {
        if self.looks.len() > 1 {
            self.looks.pop();
        }
    }
}

impl Target {
    fn new(address: &str, title: &str) -> Self {
        let clean = |text: &str| text.replace(GUARD, "");
        Self { address: clean(address), title: clean(title), label: String::new() }
    }

    fn is_empty(&self) -> bool {
        self.address.is_empty() && self.title.is_empty()
    }
}

fn is_break(tag: &str) -> bool {
    let name = tag.trim_start_matches('<').trim_end_matches('>').trim_end_matches('/').trim_end();
    name.eq_ignore_ascii_case("br")
}

/// One `~` is no mark, although the parser takes it for one: it is the home folder, or "about".
fn strikes(source: &str) -> bool {
    source.starts_with("~~")
}
