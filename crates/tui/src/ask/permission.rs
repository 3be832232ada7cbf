//! May this call be done? The question shows exactly what would run or change, and what each answer would allow.

use crossterm::event::KeyEvent;
use rail_proto::{Answer, Command, Doing, FileChange, Lasting, PermissionAsk};
use serde_json::Value;

use super::Answered;
use super::menu::{Menu, MenuOption, Picked};
use crate::call::under;
use crate::diff;
use crate::screen::Live;
use crate::text::{Line, Look, Role, Span, visible};

/// A question about a call.
pub(crate) struct Permission {
    ask: PermissionAsk,
    /// The agent that asks, if it is not the conversation itself.
    asker: Option<String>,
    answers: Vec<Answer>,
    menu: Menu,
}

impl Permission {
    pub(crate) fn new(ask: PermissionAsk, asker: Option<String>) -> Self {
        let (mut answers, mut options) = (vec![Answer::Once], vec![option("Yes, this once", "")]);
        let lastings = [
            (Lasting::Session, "Yes, and until this session ends"),
            (Lasting::Always, "Yes, and from now on in this project"),
        ];
        if !ask.always_asks {
            for (at, offer) in ask.offers.iter().enumerate() {
                for (lasting, label) in lastings {
                    answers.push(Answer::Offer { at, lasting });
                    let rules = offer.rules.join(", ");
                    options.push(option(&format!("{label}{}", allows(&offer.says)), &rules));
                }
            }
        }
        answers.push(Answer::No { why: None });
        options.push(option("No", "esc"));
        answers.push(Answer::No { why: None });
        options.push(MenuOption { takes_words: true, ..option("No, and say what to do instead", "") });
        Self { ask, asker, answers, menu: Menu::new(options) }
    }

    pub(crate) fn id(&self) -> &str {
        &self.ask.id
    }

    pub(crate) fn about(&self) -> Vec<Line> {
        let mut head =
            vec![Span::new("? ", Role::Warning), Span::new(visible(&self.title()), Look::default().bold())];
        head.extend(self.asker.as_ref().map(|asker| Span::new(format!("  asked by {asker}"), Role::Faint)));
        let mut lines = vec![Line::hanging(head, vec![Span::plain("  ")])];
        lines.extend(self.exactly());
        let why = [Span::new(format!("  {}", self.ask.why), Role::Faint)];
        lines.push(Line::hanging(why, vec![Span::plain("  ")]));
        lines
    }

    fn title(&self) -> String {
        let tool = &self.ask.tool;
        let first = |find: fn(&Doing) -> Option<&String>| self.ask.doing.iter().find_map(find);
        let runs = first(|doing| if let Doing::Runs(what) = doing { Some(what) } else { None });
        let writes = first(|doing| if let Doing::Writes(what) = doing { Some(what) } else { None });
        let speaks = first(|doing| if let Doing::Speaks(what) = doing { Some(what) } else { None });
        let reads = first(|doing| if let Doing::Reads(what) = doing { Some(what) } else { None });
        match (runs, writes, speaks, reads) {
            (Some(_), ..) => "Run this command?".to_owned(),
            (_, Some(path), ..) => format!("Change {path}?"),
            (_, _, Some(host), _) => format!("Let {tool} speak with {host}?"),
            (.., Some(path)) => format!("Read {path}?"),
            (None, None, None, None) => format!("Do {tool}?"),
        }
    }

    /// What would be done, whole: nothing in it is invisible.
    fn exactly(&self) -> Vec<Line> {
        let code = |text: &str| Line::of(format!("  {}", visible(text)), Role::Code);
        let indent = [Span::plain("  ")];
        let changes: Vec<FileChange> = self.ask.changes.iter().map(seen).collect();
        let changed = diff::files(&changes, diff::Extent::All);
        let mut lines: Vec<Line> = changed.into_iter().map(|line| line.behind(&indent)).collect();
        let run = |doing: &Doing| if let Doing::Runs(what) = doing { Some(what.clone()) } else { None };
        let commands: Vec<String> = self.ask.doing.iter().filter_map(run).collect();
        lines.extend(commands.iter().flat_map(|command| command.split('\n')).map(code));
        let input = match &self.ask.input {
            Value::Object(input) => input,
            other if lines.is_empty() => return vec![code(&other.to_string())],
            _ => return lines,
        };
        // Whatever it is, all of its input is shown; of a command what the command does not say, and of changes nothing more.
        let fields = input.iter().filter(|(key, value)| match value.as_str() {
            _ if lines.is_empty() => true,
            _ if commands.is_empty() => false,
            Some(text) => {
                !commands.iter().any(|command| command.trim() == text.trim()) && *key != "description"
            }
            None => true,
        });
        let said: Vec<String> = fields.map(|(key, value)| field(key, value)).collect();
        lines.extend(said.iter().flat_map(|text| text.split('\n')).map(code));
        lines
    }

    pub(crate) fn key(&mut self, key: KeyEvent) -> Answered {
        let picked = self.menu.key(key);
        self.picked(picked)
    }

    pub(crate) fn line(&mut self, text: &str) -> Answered {
        let picked = self.menu.line(text);
        self.picked(picked)
    }

    fn picked(&self, picked: Picked) -> Answered {
        let answer = match picked {
            Picked::Nothing | Picked::Tick(_) => return Answered::Not,
            Picked::Passed => return Answered::Passed,
            Picked::None => Answer::No { why: None },
            Picked::Option(at) => self.answers.get(at).cloned().unwrap_or(Answer::No { why: None }),
            Picked::Words(words) => Answer::No { why: Some(words) },
        };
        Answered::By(Command::Answer { ask: self.ask.id.clone(), answer })
    }

    /// The answer, as it stands below the question from then on.
    pub(crate) fn told(&self, answer: &Answer) -> Vec<Line> {
        let offer =
            |at: usize| self.ask.offers.get(at).map(|offer| offer.rules.join(", ")).unwrap_or_default();
        let text = match answer {
            Answer::Once | Answer::Changed { .. } => "yes, this once".to_owned(),
            Answer::Offer { at, lasting: Lasting::Session } => {
                format!("yes, and until this session ends: {}", offer(*at))
            }
            Answer::Offer { at, lasting: Lasting::Always } => {
                format!("yes, and from now on in this project: {}", offer(*at))
            }
            Answer::No { why: None } | Answer::Nobody { .. } => "no".to_owned(),
            Answer::No { why: Some(why) } => format!("no: {why}"),
        };
        under(text.lines().map(|line| Line::words([Span::new(line, Role::Accent)])).collect())
    }

    /// What keys do.
    pub(crate) fn hint(&self) -> &'static str {
        if self.menu.words.is_some() { "enter sends it, esc goes back" } else { "enter chooses, esc says no" }
    }

    pub(crate) fn paste(&mut self, text: &str) -> bool {
        self.menu.paste(text)
    }

    pub(crate) fn view(&mut self, width: usize, rows: usize) -> Live {
        self.menu.view(width, rows)
    }
}

/// What an offer would allow, as the end of a sentence.
fn allows(says: &str) -> String {
    says.strip_prefix("lets the agent ")
        .map_or_else(|| format!(": {says}"), |may| format!(" the agent may {may}"))
}

fn option(label: &str, detail: &str) -> MenuOption {
    MenuOption { label: label.to_owned(), detail: detail.to_owned(), ..MenuOption::default() }
}

/// A change in which nothing is invisible.
fn seen(change: &FileChange) -> FileChange {
    let mut change = change.clone();
    for line in change.hunks.iter_mut().flat_map(|hunk| &mut hunk.lines) {
        line.text = visible(&line.text);
    }
    change
}

/// A field of an input; texts as they are, so that line ends are seen.
fn field(key: &str, value: &Value) -> String {
    match value.as_str() {
        Some(text) if text.contains('\n') => format!("{key}:\n{text}"),
        Some(text) => format!("{key}: {text}"),
        None => format!("{key}: {value}"),
    }
}
