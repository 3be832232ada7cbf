//! Text with its looks, by what it means and not by a colour: themes say what that is.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// What a piece of text is; a theme gives it a colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Role {
    /// Text without a colour of its own.
    #[default]
    Plain,
    /// What matters less: hints, counts, durations.
    Faint,
    /// What belongs to the program itself: the prompt sign, what is chosen.
    Accent,
    /// What the user said.
    User,
    /// A heading.
    Heading,
    /// The address of a link.
    Link,
    /// Code in a line of text.
    Code,
    /// What is quoted, and the bar before it.
    Quote,
    /// Something went well.
    Good,
    /// Something needs attention.
    Warning,
    /// Something went wrong.
    Bad,
    /// A line that is new.
    Added,
    /// A line that is gone.
    Removed,
    /// What is new within such a line.
    AddedWord,
    /// What is gone within such a line.
    RemovedWord,
    /// The number of a line.
    Number,
    /// A piece of source code.
    Syntax(Syntax),
}

/// What a piece of source code is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Syntax {
    /// `if`, `fn`, `return`.
    Keyword,
    /// The name of a type.
    Type,
    /// The name of a function.
    Function,
    /// A string or character.
    String,
    /// A number or another constant.
    Constant,
    /// A comment.
    Comment,
    /// The name of a variable, a field or an attribute, where it is told apart.
    Name,
    /// Operators and punctuation.
    Mark,
}

/// How a piece of text looks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Look {
    /// What it is.
    pub role: Role,
    /// Bold.
    pub bold: bool,
    /// Italic.
    pub italic: bool,
    /// Underlined.
    pub underline: bool,
    /// Struck through.
    pub strike: bool,
    /// Foreground and background change places: what is chosen.
    pub reverse: bool,
}

impl Look {
    /// The look of this role and nothing more.
    pub fn of(role: Role) -> Self {
        Self { role, ..Self::default() }
    }

    /// The same in bold.
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    /// The same in italics.
    pub fn italic(self) -> Self {
        Self { italic: true, ..self }
    }
}

impl From<Role> for Look {
    fn from(role: Role) -> Self {
        Self::of(role)
    }
}

/// A piece of text of one look. It has no line ends and no control characters: [`Span::new`] makes them harmless.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Span {
    text: String,
    /// How it looks.
    pub look: Look,
}

impl Span {
    /// A piece of text. Tabs become blanks, and what could steer a terminal is shown instead of sent.
    pub fn new(text: impl AsRef<str>, look: impl Into<Look>) -> Self {
        Self { text: harmless(text.as_ref()), look: look.into() }
    }

    /// Text without a look.
    pub fn plain(text: impl AsRef<str>) -> Self {
        Self::new(text, Role::Plain)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// More text of the same look.
    pub fn push(&mut self, text: &str) {
        if is_harmless(text) {
            self.text.push_str(text);
        } else {
            self.text.push_str(&harmless(text));
        }
    }

    /// How many cells it takes.
    pub fn width(&self) -> usize {
        width(&self.text)
    }
}

/// How a line that is too long goes on below.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Flow {
    /// Broken between words; what follows is indented by this prefix. A word that is longer than a line is left to the terminal, so that it is
    /// copied whole.
    Words(Vec<Span>),
    /// Left to the terminal, so that it is copied as it is: code and output.
    #[default]
    Terminal,
}

/// One line of text before it is fitted to a width.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Line {
    /// Its pieces.
    pub spans: Vec<Span>,
    /// How it goes on when it is too long.
    pub flow: Flow,
}

impl Line {
    /// A line that is copied as it is.
    pub fn new(spans: impl IntoIterator<Item = Span>) -> Self {
        Self { spans: spans.into_iter().collect(), flow: Flow::Terminal }
    }

    /// A line of words, without an indent.
    pub fn words(spans: impl IntoIterator<Item = Span>) -> Self {
        Self { spans: spans.into_iter().collect(), flow: Flow::Words(Vec::new()) }
    }

    /// A line of words, with this prefix before what goes on below.
    pub fn hanging(spans: impl IntoIterator<Item = Span>, prefix: Vec<Span>) -> Self {
        Self { spans: spans.into_iter().collect(), flow: Flow::Words(prefix) }
    }

    /// A line of one look.
    pub fn of(text: impl AsRef<str>, look: impl Into<Look>) -> Self {
        Self::new([Span::new(text, look)])
    }

    /// An empty line.
    pub fn empty() -> Self {
        Self::default()
    }

    /// How many cells it takes.
    pub fn width(&self) -> usize {
        self.spans.iter().map(Span::width).sum()
    }

    /// The same in so many cells, with a sign that there is more where it does not fit.
    pub fn cut(self, columns: usize) -> Self {
        if self.width() <= columns {
            return self;
        }
        let Self { spans, flow } = self;
        let (mut kept, mut room) = (Vec::new(), columns.saturating_sub(1));
        for span in spans {
            let end = span.text().grapheme_indices(true).find(|(_, grapheme)| {
                let cells = width(grapheme);
                let fits = cells <= room;
                room = room.saturating_sub(cells);
                !fits
            });
            let Some((at, _)) = end else {
                kept.push(span);
                continue;
            };
            let text = span.text().get(..at).unwrap_or_default();
            kept.push(Span::new(if columns > 0 { format!("{text}…") } else { String::new() }, span.look));
            break;
        }
        Self { spans: kept, flow }
    }

    /// Its text without looks.
    pub fn text(&self) -> String {
        self.spans.iter().map(Span::text).collect()
    }

    /// The same line behind a prefix, which also stands before what goes on below as blanks of the same width.
    pub fn behind(self, prefix: &[Span]) -> Self {
        let blank = Span::plain(" ".repeat(prefix.iter().map(Span::width).sum()));
        let flow = match self.flow {
            Flow::Words(hang) => Flow::Words(std::iter::once(blank).chain(hang).collect()),
            Flow::Terminal => Flow::Terminal,
        };
        Self { spans: prefix.iter().cloned().chain(self.spans).collect(), flow }
    }
}

/// How many cells a text takes: by grapheme, as terminals draw it.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(UnicodeWidthStr::width).sum() }
}

/// How wide a tab is.
const TAB: &str = "    ";

/// A text in which nothing can steer a terminal: tabs are blanks, other control characters their pictures, and marks that turn the direction of
/// writing are named, since they can make a command look like another.
pub fn harmless(text: &str) -> String {
    if is_harmless(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\t' => out.push_str(TAB),
            '\r' | '\n' => {}
            '\u{7f}' => out.push('␡'),
            c if u32::from(c) < 0x20 => out.extend(char::from_u32(0x2400 + u32::from(c))),
            c if c.is_control() || turns(c) => out.push_str(&format!("<{:04X}>", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// A text in which everything is seen: besides what [`harmless`] shows, line ends that overwrite and characters without any look, which would
/// make one command look like another.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\r' => out.push('␍'),
            c if is_ignorable(c) => out.push_str(&format!("<{:04X}>", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

/// Whether terminals may draw nothing at all for it: what Unicode lets be ignored, and fillers.
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

fn is_harmless(text: &str) -> bool {
    let printed = |byte: &u8| matches!(byte, 0x20..0x7f);
    text.as_bytes().iter().all(printed) || text.chars().all(|c| !c.is_control() && !turns(c))
}

fn turns(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_steer_a_terminal_is_shown() {
        let cases = [
            ("a\tb", "a    b"),
            ("\u{1b}[31mred\u{7}", "␛[31mred␇"),
            ("one\r\ntwo", "onetwo"),
            ("\u{9b}2J", "<009B>2J"),
            ("rm \u{202e}fdp", "rm <202E>fdp"),
            ("日本 e\u{301} 👩‍💻", "日本 e\u{301} 👩‍💻"),
        ];
        for (text, shown) in cases {
            assert_eq!(harmless(text), shown);
        }
    }

    #[test]
    fn nothing_in_a_question_is_invisible() {
        let cases = [
            ("touch a\rb.txt", "touch a␍b.txt"),
            ("rm a\u{200b}b \u{3164}\u{feff}\u{e0041}", "rm a<200B>b <3164><FEFF><E0041>"),
            ("\u{115f}x\u{2060}", "<115F>x<2060>"),
            ("echo 日本 e\u{301}", "echo 日本 e\u{301}"),
        ];
        for (text, shown) in cases {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn a_line_is_cut_to_its_room() {
        let line = Line::new([Span::plain("ab "), Span::new("日本語", Role::Code)]);
        let cut = |columns| line.clone().cut(columns).text();
        let texts = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(cut);
        assert_eq!(
            texts,
            ["", "…", "a…", "ab…", "ab …", "ab …", "ab 日…", "ab 日…", "ab 日本…", "ab 日本語"]
        );
    }

    #[test]
    fn widths_are_those_of_terminals() {
        for (text, cells) in [("abc", 3), ("日本", 4), ("e\u{301}", 1), ("👩‍💻", 2), ("", 0)] {
            assert_eq!(width(text), cells, "{text}");
        }
    }
}
