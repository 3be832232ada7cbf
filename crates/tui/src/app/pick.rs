//! Lists to pick from: models, routes, messages to go back to, sessions, themes, what runs in the background.

use crossterm::event::KeyEvent;
use rail_proto::{Command, What};

use super::{App, End, Out};
use crate::call::under;
use crate::complete::{self, Choice, Picker};
use crate::host::{Item, PickerKind};
use crate::screen::Live;
use crate::text::{Line, Look, Role, Span};
use crate::theme::Theme;
use crate::wrap::{Long, rows as rows_of};

/// A list that the user picks from.
pub(super) struct Picking {
    title: String,
    of: Of,
    items: Vec<Item>,
    picker: Picker,
}

/// What is picked.
#[derive(Clone)]
enum Of {
    Host(PickerKind),
    /// What goes back to before this message.
    RewindWhat(u64),
    Theme,
    Work,
    /// What is to become of something that works.
    WorkWhat(Item),
}

/// How many rows of a list are shown.
const ROWS: usize = 10;
/// How many rows of what is known of an entry are kept free for it.
const MORE: usize = 2;

impl Picking {
    fn new(title: &str, of: Of, items: Vec<Item>) -> Self {
        let shown =
            items.iter().map(|item| complete::Item::new(item.label.clone(), item.detail.clone())).collect();
        Self { title: title.to_owned(), of, items, picker: Picker::new(shown, ROWS) }
    }

    pub(super) fn theme(now: Theme) -> Self {
        let item = |theme: &Theme| Item {
            value: theme.name().to_owned(),
            label: theme.name().to_owned(),
            detail: theme.about().to_owned(),
            more: Vec::new(),
        };
        let mut picking = Self::new("Which theme?", Of::Theme, Theme::ALL.iter().map(item).collect());
        picking.picker.select(Theme::ALL.iter().position(|theme| *theme == now).unwrap_or(0));
        picking
    }

    /// The whole list with numbers, where there are no keys.
    pub(super) fn lines(&self) -> Vec<Line> {
        let mut lines = vec![Line::of(&self.title, Role::Plain)];
        for (at, item) in self.items.iter().enumerate() {
            let detail = if item.detail.is_empty() { String::new() } else { format!(": {}", item.detail) };
            lines.push(Line::of(format!("{}. {}{detail}", at + 1, item.label), Role::Plain));
            lines.extend(item.more.iter().map(|more| Line::of(format!("   {more}"), Role::Plain)));
        }
        lines
    }

    /// The list, and what is known of the entry that is chosen, in so many rows.
    pub(super) fn view(&mut self, width: usize, rows: usize) -> Live {
        let mut lines = vec![Line::words([Span::new(&self.title, Look::default().bold())]).cut(width)];
        // What is known of an entry has as many rows as the list leaves, but always some.
        self.picker.set_rows(ROWS.min(rows.saturating_sub(lines.len() + 1 + MORE)));
        lines.extend(self.picker.view(width));
        let mut room = rows.saturating_sub(lines.len());
        let more = self.picker.selected().and_then(|at| self.items.get(at)).map(|item| item.more.as_slice());
        for text in more.unwrap_or_default() {
            let line =
                Line::hanging([Span::new(format!("    {text}"), Role::Faint)], vec![Span::plain("      ")]);
            let taken = rows_of(&line, width, Long::Split).len();
            if taken > room {
                break;
            }
            room -= taken;
            lines.push(line);
        }
        // The filter stands in the second line, behind its name.
        let column = "filter: ".len() + crate::text::width(self.picker.filter());
        Live { lines, cursor: Some((1, column.min(width.saturating_sub(1)))) }
    }
}

impl App {
    /// The host's list.
    pub(super) fn pick_from(&mut self, kind: PickerKind, items: Vec<Item>) {
        let (title, none) = match kind {
            PickerKind::Models => ("Which model?", "there is no model; `rail init` sets one up"),
            PickerKind::Routes => {
                ("Where do requests go?", "there are no routes; `rail init` sets providers up")
            }
            PickerKind::Rewind => ("Back to before which message?", "there is no message to go back to"),
            PickerKind::Sessions => ("Which session?", "there is no other session of this folder"),
        };
        if items.is_empty() {
            return self.talk.note(none, Role::Warning);
        }
        let last = items.len() - 1;
        let mut picking = Picking::new(title, Of::Host(kind), items);
        if kind == PickerKind::Rewind {
            picking.picker.select(last);
        }
        self.picking = Some(picking);
    }

    /// What runs beside the conversation, to look at or to stop.
    pub(super) fn pick_work(&mut self) {
        let agents = self.talk.agents().iter().map(|agent| Item {
            value: format!("agent {}", agent.began.id),
            label: format!("{}: {}", agent.began.kind, agent.began.description),
            detail: agent.doing.clone(),
            more: std::iter::once(format!("{} · model {}", agent.began.agent, agent.began.model))
                .chain(agent.did.iter().cloned())
                .collect(),
        });
        let shells = self.status.running_shells().map(|shell| Item {
            value: format!("shell {}", shell.id),
            label: crate::call::one_line(&shell.command),
            detail: format!("in the background, {}", crate::figures::bytes(shell.printed)),
            more: shell.last.lines().map(str::to_owned).collect(),
        });
        let items: Vec<Item> = agents.chain(shells).collect();
        if items.is_empty() {
            self.hint = Some("no agent works, and no command runs in the background".to_owned());
            return;
        }
        self.picking = Some(Picking::new("At work", Of::Work, items));
    }

    /// What was picked of what is at work: it is looked at, or stopped.
    fn work(&mut self, item: &Item, what: &str) {
        match (what, item.value.split_once(' ')) {
            ("stop", Some(("agent", id))) => {
                self.out.push(Out::Send(Command::StopAgent { id: id.to_owned() }));
            }
            ("stop", Some((_, id))) => self.out.push(Out::Send(Command::KillShell { id: id.to_owned() })),
            _ => {
                let head = Line::words([Span::new(&item.label, Look::default().bold())]);
                let lines = item.more.iter().map(|line| Line::of(line, Role::Faint)).collect();
                self.talk.show(std::iter::once(head).chain(under(lines)).collect());
            }
        }
    }

    /// A line while a list is shown: a number picks, anything else leaves.
    pub(super) fn picking_line(&mut self, text: &str) {
        let Some(picking) = self.picking.take() else { return };
        let number = text.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        if let Some(item) = number.and_then(|at| picking.items.get(at)) {
            self.picked(picking.of.clone(), item.clone());
        }
    }

    /// A key while a list is shown.
    pub(super) fn picking_key(&mut self, key: KeyEvent) {
        let Some(picking) = &mut self.picking else { return };
        match picking.picker.key(key) {
            Choice::Taken | Choice::Passed => {}
            Choice::Dismiss => self.picking = None,
            Choice::Accept(at) => {
                let picked = picking.items.get(at).map(|item| (picking.of.clone(), item.clone()));
                self.picking = None;
                if let Some((of, item)) = picked {
                    self.picked(of, item);
                }
            }
        }
    }

    fn picked(&mut self, of: Of, item: Item) {
        let value = item.value.clone();
        match of {
            Of::Host(PickerKind::Models | PickerKind::Routes) => {
                self.out.push(Out::Send(Command::SetModel(value)))
            }
            Of::Host(PickerKind::Sessions) => self.out.push(Out::End(End::Open(value))),
            Of::Host(PickerKind::Rewind) => {
                if let Ok(turn) = value.parse() {
                    self.picking =
                        Some(Picking::new("What goes back?", Of::RewindWhat(turn), WHATS.map(choice).into()));
                }
            }
            Of::RewindWhat(turn) => {
                let what = match value.as_str() {
                    "code" => What::Code,
                    "conversation" => What::Conversation,
                    _ => What::Both,
                };
                self.out.push(Out::Send(Command::Rewind { turn, what }));
            }
            Of::Theme => {
                if let Some(theme) = Theme::named(&value) {
                    self.set_theme(theme);
                }
            }
            Of::Work => {
                let title = format!("What with {}?", item.label);
                self.picking =
                    Some(Picking::new(&title, Of::WorkWhat(item), LOOK_OR_STOP.map(choice).into()));
            }
            Of::WorkWhat(work) => self.work(&work, &item.value),
        }
    }
}

const LOOK_OR_STOP: [(&str, &str, &str); 2] =
    [("look", "Look at it", "shows what it did last"), ("stop", "Stop it", "what it has done stays")];
const WHATS: [(&str, &str, &str); 3] = [
    ("both", "Files and conversation", "as if nothing had been said since"),
    ("conversation", "The conversation alone", "files stay as they are"),
    ("code", "The files alone", "the conversation goes on"),
];

fn choice((value, label, detail): (&str, &str, &str)) -> Item {
    Item { value: value.to_owned(), label: label.to_owned(), detail: detail.to_owned(), more: Vec::new() }
}
