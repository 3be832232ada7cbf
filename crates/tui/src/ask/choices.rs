//! What the model wants to know: questions with options, one after the other.

use crossterm::event::KeyEvent;
use rail_proto::{About, Choices, Chosen, Command, Pick, Picked as Chose};

use super::Answered;
use super::menu::{Menu, MenuOption, Picked};
use crate::call::under;
use crate::markdown;
use crate::screen::Live;
use crate::text::{Line, Look, Role, Span};

/// Questions that wait for their answers.
pub(crate) struct ChoicesAsk {
    id: String,
    choices: Choices,
    answers: Vec<Chose>,
    menu: Menu,
}

impl ChoicesAsk {
    pub(crate) fn new(id: String, choices: Choices) -> Self {
        let mut ask = Self { id, choices, answers: Vec::new(), menu: Menu::new(Vec::new()) };
        ask.menu = ask.next();
        ask
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The options of the question that comes next.
    fn next(&self) -> Menu {
        let Some(question) = self.choices.questions.get(self.answers.len()) else {
            return Menu::new(Vec::new());
        };
        let ticked = match question.pick {
            Pick::One => None,
            Pick::Several => Some(false),
        };
        let option = |option: &rail_proto::ChoiceOption| MenuOption {
            label: option.label.clone(),
            detail: option.description.clone(),
            ticked,
            takes_words: false,
        };
        let mut options: Vec<MenuOption> = question.options.iter().map(option).collect();
        if ticked.is_some() {
            options.push(MenuOption { label: "The ticked ones".to_owned(), ..MenuOption::default() });
        }
        let own =
            MenuOption { label: "In your own words".to_owned(), takes_words: true, ..MenuOption::default() };
        options.push(own);
        Menu::new(options)
    }

    pub(crate) fn about(&self, width: usize) -> Vec<Line> {
        match &self.choices.about {
            About::Question | About::EnterPlan => Vec::new(),
            About::LeavePlan { plan } => markdown::render(plan, width),
        }
    }

    pub(crate) fn key(&mut self, key: KeyEvent) -> Answered {
        let picked = self.menu.key(key);
        self.picked(picked)
    }

    pub(crate) fn line(&mut self, text: &str) -> Answered {
        let picked = self.menu.line(text);
        self.picked(picked)
    }

    fn picked(&mut self, picked: Picked) -> Answered {
        let several = self
            .choices
            .questions
            .get(self.answers.len())
            .is_some_and(|question| question.pick == Pick::Several);
        let chose = match picked {
            Picked::Nothing => return Answered::Not,
            Picked::Passed => return Answered::Passed,
            Picked::Tick(at) => {
                if let Some(ticked) = self.menu.options.get_mut(at).and_then(|option| option.ticked.as_mut())
                {
                    *ticked = !*ticked;
                }
                return Answered::Not;
            }
            Picked::None => {
                let chosen = Chosen::Dismissed { said: None };
                return Answered::By(Command::Choose { ask: self.id.clone(), chosen });
            }
            Picked::Words(words) => Chose { options: self.ticked(), said: Some(words) },
            Picked::Option(at) if several => {
                let mut options = self.ticked();
                // A single one is meant where enter is pressed on it and nothing is ticked.
                if options.is_empty()
                    && self.menu.options.get(at).is_some_and(|option| option.ticked.is_some())
                {
                    options.push(at);
                }
                Chose { options, said: None }
            }
            Picked::Option(at) => Chose::option(at),
        };
        self.answers.push(chose);
        if self.answers.len() < self.choices.questions.len() {
            self.menu = self.next();
            return Answered::Not;
        }
        let chosen = Chosen::Answered { answers: std::mem::take(&mut self.answers) };
        Answered::By(Command::Choose { ask: self.id.clone(), chosen })
    }

    fn ticked(&self) -> Vec<usize> {
        let ticked = self.menu.options.iter().enumerate().filter(|(_, option)| option.ticked == Some(true));
        ticked.map(|(at, _)| at).collect()
    }

    /// The questions with their answers, as they stand in the conversation from then on.
    pub(crate) fn told(&self, chosen: &Chosen) -> Vec<Line> {
        let answers = match chosen {
            Chosen::Answered { answers } => answers.as_slice(),
            Chosen::Dismissed { .. } | Chosen::Nobody => &[],
        };
        let mut lines = Vec::new();
        for (at, question) in self.choices.questions.iter().enumerate() {
            let spans =
                [Span::new("? ", Role::Warning), Span::new(&question.question, Look::default().bold())];
            lines.push(Line::hanging(spans, vec![Span::plain("  ")]));
            let labels = |chose: &Chose| {
                let options = chose
                    .options
                    .iter()
                    .filter_map(|at| question.options.get(*at))
                    .map(|option| option.label.clone());
                options.chain(chose.said.clone()).collect::<Vec<_>>().join(", ")
            };
            let text = answers
                .get(at)
                .map(labels)
                .filter(|text| !text.is_empty())
                .unwrap_or("not answered".to_owned());
            lines.extend(under(
                text.lines().map(|line| Line::words([Span::new(line, Role::Accent)])).collect(),
            ));
        }
        lines
    }

    /// What keys do.
    pub(crate) fn hint(&self) -> &'static str {
        let ticks = self.menu.options.iter().any(|option| option.ticked.is_some());
        match (&self.menu.words, ticks) {
            (Some(_), _) => "enter sends it, esc goes back",
            (None, true) => "space ticks, enter takes the ticked ones, esc does not answer",
            (None, false) => "enter chooses, esc does not answer",
        }
    }

    pub(crate) fn paste(&mut self, text: &str) -> bool {
        self.menu.paste(text)
    }

    pub(crate) fn view(&mut self, width: usize, rows: usize) -> Live {
        let mut live = Live::default();
        let at = self.answers.len();
        if let Some(question) = self.choices.questions.get(at) {
            let of = self.choices.questions.len();
            let number = if of > 1 { format!("{}/{of} ", at + 1) } else { String::new() };
            for (line_at, text) in question.question.lines().enumerate() {
                let sign = if line_at == 0 { "? " } else { "  " };
                let number = if line_at == 0 { number.as_str() } else { "" };
                let spans = [
                    Span::new(sign, Role::Warning),
                    Span::new(number, Role::Faint),
                    Span::new(text, Look::default().bold()),
                ];
                live.lines.push(Line::hanging(spans, vec![Span::plain("  ")]));
            }
        }
        let menu = self.menu.view(width, rows.saturating_sub(live.lines.len()));
        live.cursor = menu.cursor.map(|(row, column)| (row + live.lines.len(), column));
        live.lines.extend(menu.lines);
        live
    }
}
