/// Marks within each other that are shown.
const MAX_SPANS: usize = 12;
/// Lines that a mark goes on through; one that was never ended would go on to the end of the page.
const MAX_LINES: usize = 4;

/// A line of text as it grows, with the marks that are open in it.
#[derive(Debug, Default)]
pub(super) struct Inline {
    text: String,
    spans: Vec<Open>,
    /// Openings beyond what is shown, which ends must be counted against.
    beyond: usize,
    /// Lines that what is open has gone on through.
    lines: usize,
}

#[derive(Debug)]
struct Open {
    span: Span,
    /// Where in the text it began.
    from: usize,
}

/// What a part of a line is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Span {
    Strong,
    Emphasis,
    Struck,
    Code,
    /// Where it leads; nothing where that is of no use to a reader.
    Link(Option<String>),
}

impl Inline {
    /// Adds text in which runs of blanks are one.
    pub(super) fn add(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_ascii_whitespace() {
                if !self.text.ends_with([' ', '\n']) && !self.text.is_empty() {
                    self.text.push(' ');
                }
            } else if !is_invisible(c) {
                self.text.push(c);
            }
        }
    }

    /// Adds text as it is.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn line_break(&mut self) {
        let end = self.text.trim_end_matches(' ').len();
        self.text.truncate(end);
        if !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    pub(super) fn open(&mut self, span: Span) {
        if self.spans.len() < MAX_SPANS {
            self.spans.push(Open { span, from: self.text.len() });
        } else {
            self.beyond += 1;
        }
    }

    /// Ends the innermost mark of a kind, and those inside of it that were forgotten.
    pub(super) fn close(&mut self, is: impl Fn(&Span) -> bool) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        let Some(at) = self.spans.iter().rposition(|open| is(&open.span)) else { return };
        while self.spans.len() > at {
            if let Some(open) = self.spans.pop() {
                wrap(&mut self.text, &open);
            }
        }
    }

    /// The line so far. What is open in it ends here, and goes on in the next.
    pub(super) fn take(&mut self) -> String {
        let mut text = std::mem::take(&mut self.text);
        for open in self.spans.iter_mut().rev() {
            wrap(&mut text, open);
            open.from = 0;
        }
        self.lines = if self.spans.is_empty() { 0 } else { self.lines + 1 };
        if self.lines > MAX_LINES {
            self.forget();
        }
        text.trim().to_owned()
    }

    /// Nothing is open any more.
    pub(super) fn forget(&mut self) {
        self.spans.clear();
        self.beyond = 0;
        self.lines = 0;
    }
}

/// Characters that show nothing, and are used to hide text or to break words.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' | '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}')
}

fn wrap(text: &mut String, open: &Open) {
    let Some(inner) = text.get(open.from..) else { return };
    let trimmed = inner.trim();
    if trimmed.is_empty() {
        return;
    }
    let lead = &inner[..inner.len() - inner.trim_start().len()];
    let trail = &inner[inner.trim_end().len()..];
    let (before, after) = match &open.span {
        Span::Strong => ("**".to_owned(), "**".to_owned()),
        Span::Emphasis => ("*".to_owned(), "*".to_owned()),
        Span::Struck => ("~~".to_owned(), "~~".to_owned()),
        Span::Code => {
            let fence = fence(trimmed, 1);
            // A tick at the edge would be taken for one of the fence.
            let room = if trimmed.starts_with('`') || trimmed.ends_with('`') { " " } else { "" };
            (format!("{fence}{room}"), format!("{room}{fence}"))
        }
        Span::Link(None) => return,
        Span::Link(Some(to)) => ("[".to_owned(), format!("]({to})")),
    };
    let wrapped = format!("{lead}{before}{trimmed}{after}{trail}");
    text.truncate(open.from);
    text.push_str(&wrapped);
}

/// So many ticks, or more where the text holds as many.
pub(super) fn fence(text: &str, least: usize) -> String {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let ticks = if longest >= least { longest + 1 } else { least };
    "`".repeat(ticks)
}
