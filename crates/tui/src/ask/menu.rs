//! A few answers to choose from, and words of the user's own.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::input::{Editor, Handled, Keys, View};
use crate::screen::Live;
use crate::text::{Line, Look, Role, Span};
use crate::wrap::{Long, rows as wrapped};

/// How far what belongs to an option stands from the left.
const INDENT: usize = 5;
/// How many rows of the question options leave to it, if they can.
const QUESTION: usize = 4;

/// Answers to choose from, of which one is marked.
pub(crate) struct Menu {
    pub(crate) options: Vec<MenuOption>,
    pub(crate) at: usize,
    /// Words that are being typed for the option that takes some.
    pub(crate) words: Option<Editor>,
}

/// One answer.
#[derive(Clone, Default)]
pub(crate) struct MenuOption {
    pub(crate) label: String,
    /// What it would mean.
    pub(crate) detail: String,
    /// Whether it takes words of the user's own.
    pub(crate) takes_words: bool,
    /// Whether it is ticked, where several can be.
    pub(crate) ticked: Option<bool>,
}

/// What a key does to a menu.
pub(crate) enum Picked {
    /// Something within it.
    Nothing,
    /// This option is it.
    Option(usize),
    /// These words of the user's own.
    Words(String),
    /// This one is ticked, or no longer.
    Tick(usize),
    /// The user wants none of it.
    None,
    /// The key means nothing here.
    Passed,
}

impl Menu {
    pub(crate) fn new(options: Vec<MenuOption>) -> Self {
        Self { options, at: 0, words: None }
    }

    pub(crate) fn key(&mut self, key: KeyEvent) -> Picked {
        if self.words.is_some() {
            return self.typing(key);
        }
        let last = self.options.len().saturating_sub(1);
        match key.code {
            KeyCode::Char(_) if key.modifiers.contains(KeyModifiers::ALT) => Picked::Nothing,
            KeyCode::Char('c' | 'z' | 'l' | 'o') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                Picked::Passed
            }
            KeyCode::Up | KeyCode::Char('k') => self.mark(self.at.checked_sub(1).unwrap_or(last)),
            KeyCode::Down | KeyCode::Char('j') => self.mark(if self.at == last { 0 } else { self.at + 1 }),
            KeyCode::Home => self.mark(0),
            KeyCode::End => self.mark(last),
            KeyCode::Esc => Picked::None,
            KeyCode::Enter => self.take(self.at),
            KeyCode::Char(' ') if self.ticks(self.at) => Picked::Tick(self.at),
            KeyCode::Char(digit) => match digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()) {
                Some(number) if (1..=self.options.len()).contains(&number) => {
                    self.at = number - 1;
                    if self.ticks(self.at) { Picked::Tick(self.at) } else { self.take(self.at) }
                }
                _ => Picked::Nothing,
            },
            KeyCode::Tab if self.options.get(self.at).is_some_and(|option| option.takes_words) => {
                self.take(self.at)
            }
            _ => Picked::Nothing,
        }
    }

    /// What is pasted goes to the words that are being typed; whether there are any.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        if let Some(words) = &mut self.words {
            words.paste(text);
        }
        self.words.is_some()
    }

    /// A line that answers: a number, words of the user's own, or a number with words behind it.
    pub(crate) fn line(&mut self, text: &str) -> Picked {
        let text = text.trim();
        let (first, rest) =
            text.split_once(char::is_whitespace).map_or((text, ""), |(first, rest)| (first, rest.trim()));
        let number = first.parse::<usize>().ok().filter(|number| (1..=self.options.len()).contains(number));
        let own = self.options.iter().any(|option| option.takes_words);
        match number.and_then(|number| Some((number - 1, self.options.get(number - 1)?))) {
            Some((_, option)) if option.takes_words && !rest.is_empty() => Picked::Words(rest.to_owned()),
            Some((_, option)) if option.takes_words => Picked::Nothing,
            Some((at, option)) if option.ticked.is_some() => Picked::Tick(at),
            // A sentence may begin with a number; it is no answer then.
            Some((at, _)) if rest.is_empty() => Picked::Option(at),
            Some(_) if own => Picked::Words(text.to_owned()),
            Some(_) => Picked::Nothing,
            None if text.is_empty() || !own => Picked::Nothing,
            None => Picked::Words(text.to_owned()),
        }
    }

    fn mark(&mut self, at: usize) -> Picked {
        self.at = at;
        Picked::Nothing
    }

    fn ticks(&self, at: usize) -> bool {
        self.options.get(at).is_some_and(|option| option.ticked.is_some())
    }

    fn take(&mut self, at: usize) -> Picked {
        if self.options.get(at).is_some_and(|option| option.takes_words) {
            self.words = Some(Editor::new(Keys::Usual));
            return Picked::Nothing;
        }
        Picked::Option(at)
    }

    fn typing(&mut self, key: KeyEvent) -> Picked {
        let Some(editor) = &mut self.words else { return Picked::Nothing };
        match editor.key(key) {
            Handled::Submit => {
                let text = editor.take().text;
                self.words = None;
                if text.trim().is_empty() { Picked::Nothing } else { Picked::Words(text) }
            }
            Handled::Passed if key.code == KeyCode::Esc => {
                self.words = None;
                Picked::Nothing
            }
            Handled::Passed => Picked::Passed,
            Handled::Taken => Picked::Nothing,
        }
    }

    /// The options, with a number each; the marked one has a sign, so that it is told without colours.
    ///
    /// Where rows are few, only the marked one is shown in full: what is asked should be seen as well.
    pub(crate) fn view(&mut self, width: usize, rows: usize) -> Live {
        let words = self.words.as_mut().map(|editor| editor.view(width.saturating_sub(INDENT).max(1), 5));
        let all = 0..self.options.len();
        let mut blocks: Vec<Vec<Line>> = all.filter_map(|at| self.option(at, words.as_ref())).collect();
        let height = |blocks: &[Vec<Line>]| {
            blocks.iter().flatten().map(|line| wrapped(line, width, Long::Split).len()).sum::<usize>()
        };
        if height(&blocks) + QUESTION > rows {
            let others = blocks.iter_mut().enumerate().filter(|(at, _)| *at != self.at);
            for line in others.flat_map(|(_, block)| block) {
                *line = std::mem::take(line).cut(width);
            }
        }
        // What is furthest from the marked one goes first.
        let (mut from, mut to) = (0, blocks.len());
        while to - from > 1 && height(blocks.get(from..to).unwrap_or_default()) > rows {
            if self.at.saturating_sub(from) > to - 1 - self.at.min(to - 1) { from += 1 } else { to -= 1 }
        }
        let mut live = Live::default();
        for (at, block) in blocks.into_iter().enumerate().take(to).skip(from) {
            if let Some(words) = words.as_ref().filter(|_| at == self.at) {
                live.cursor = Some((live.lines.len() + 1 + words.cursor.0, words.cursor.1 + INDENT));
            }
            live.lines.extend(block);
        }
        live
    }

    /// The lines of an option, below the marked one with the words that are being typed.
    fn option(&self, at: usize, words: Option<&View>) -> Option<Vec<Line>> {
        let option = self.options.get(at)?;
        let marked = at == self.at;
        let sign = if marked { "› " } else { "  " };
        let tick = match option.ticked {
            None => "",
            Some(false) => "[ ] ",
            Some(true) => "[x] ",
        };
        let look = if marked { Look::of(Role::Accent).bold() } else { Look::default() };
        let mut spans = vec![
            Span::new(sign, Role::Accent),
            Span::new(format!("{}. {tick}{}", at + 1, option.label), look),
        ];
        if !option.detail.is_empty() {
            spans.push(Span::new(format!("  {}", option.detail), Role::Faint));
        }
        let indent = [Span::plain(" ".repeat(INDENT))];
        let head = Line::hanging(spans, indent.to_vec());
        let words = words.filter(|_| marked).into_iter().flat_map(|words| words.rows.iter().cloned());
        Some(std::iter::once(head).chain(words.map(|row| row.behind(&indent))).collect())
    }
}
