//! What the live region shows.

use std::time::Duration;

use super::App;
use crate::call::{Extent, one_line};
use crate::complete::is_shell;
use crate::figures::count;
use crate::input::VimMode;
use crate::screen::Live;
use crate::status::moving;
use crate::text::{Line, Role, Span};
use crate::wrap::{Long, rows as wrapped};

/// How many completions are shown.
const POPUP: usize = 8;
/// How many rows the input line takes at most.
const INPUT: usize = 10;
/// How many rows the list of things to do takes at most.
const TODOS: usize = 6;
/// How many lines of a command of the user's own are shown while it runs.
const OUTPUT: usize = 5;
/// How many rows of anything else are kept for the conversation.
const TALK: usize = 3;

impl App {
    /// The live region as it is now.
    pub fn live(&mut self, now: Duration) -> Live {
        if self.leaving.is_some_and(|until| now > until) {
            self.leaving = None;
        }
        let below = self.below(now);
        let room = self.size.rows.saturating_sub(below.lines.len() + 1).max(TALK);
        // While the user is asked, the question says what would run.
        let mut lines = if self.asks.is_empty() { self.talk.now(now, room) } else { Vec::new() };
        if let Some(shell) = &self.shell {
            let all: Vec<&str> = shell.output.lines().collect();
            let hidden = all.len().saturating_sub(OUTPUT);
            lines.extend((!all.is_empty()).then(Line::empty));
            lines.extend(
                all.iter().skip(hidden).map(|line| Line::of(line, Role::Faint).cut(self.size.columns)),
            );
        }
        lines.push(Line::empty());
        let above = lines.len();
        lines.extend(below.lines);
        Live { lines, cursor: below.cursor.map(|(row, column)| (row + above, column)) }
    }

    /// All below the conversation: what it does, what is to be done, what the user types.
    fn below(&mut self, now: Duration) -> Live {
        let mut live = Live::default();
        let columns = self.size.columns;
        let small = self.size.rows < 16;
        if self.asks.is_empty() {
            live.lines.extend(self.status.activity(now));
            let own = self.shell.as_ref().map(|_| moving("your command runs", " · esc stops it", now));
            live.lines.extend(own);
        }
        live.lines.extend(self.status.todo_lines(if small { 1 } else { TODOS }));
        if !small {
            live.lines.extend(self.status.shell_lines(columns).into_iter().take(3));
        }
        let queued = |text: &String| Line::of(format!("queued: {}", one_line(text)), Role::Faint);
        live.lines.extend(self.status.queued.iter().take(3).map(queued));
        // Rows are few: what only says how things are takes one each.
        live.lines = live.lines.into_iter().map(|line| line.cut(columns)).collect();
        if live.lines.len() > 1 && !small {
            live.lines.push(Line::empty());
        }
        let entry = self.entry(now, self.size.rows.saturating_sub(live.lines.len() + 1));
        live.cursor = entry.cursor.map(|(row, column)| (row + live.lines.len(), column));
        live.lines.extend(entry.lines);
        live
    }

    /// Where the user is asked, picks or types, in so many rows.
    fn entry(&mut self, now: Duration, rows: usize) -> Live {
        let columns = self.size.columns;
        if let Some(picking) = &mut self.picking {
            let mut live = picking.view(columns, rows.saturating_sub(1));
            if !self.asks.is_empty() {
                live.lines
                    .push(Line::of("a question waits; esc leaves this list", Role::Warning).cut(columns));
            }
            return live;
        }
        if self.search.is_none() && !self.asks.is_empty() {
            return self.question(now, rows);
        }
        let mut live = self.input();
        if let Some(search) = &mut self.search {
            search.set_rows(rows.saturating_sub(2));
            live.lines = search.view(columns);
            live.cursor = Some((0, search.column().min(columns.saturating_sub(1))));
        } else if let Some((_, popup)) = &mut self.popup {
            // The foot goes before rows of the list do.
            popup.set_rows(POPUP.min(rows.saturating_sub(live.lines.len())));
            live.lines.extend(popup.view(columns));
        }
        let small = self.size.rows < 16;
        if self.popup.is_none() || !small {
            live.lines.push(self.foot().cut(columns));
        }
        live
    }

    /// The first question's answers, in so many rows.
    fn question(&mut self, now: Duration, rows: usize) -> Live {
        let columns = self.size.columns;
        self.asked_at.get_or_insert(now);
        let read = self.is_read(now);
        let typed = one_line(self.editor.text());
        let more = self.asks.len().saturating_sub(1);
        let Some(ask) = self.asks.front_mut() else { return Live::default() };
        let mut live = ask.view(columns, rows.saturating_sub(1));
        let mut hint = match (read, typed.is_empty()) {
            (true, _) => ask.hint().to_owned(),
            (false, true) => "keys answer in a moment".to_owned(),
            (false, false) => format!("you type: {typed} · keys answer after a pause"),
        };
        if more > 0 {
            hint.push_str(&format!(" · {more} more to answer"));
        }
        let height = |lines: &[Line]| -> usize {
            lines.iter().map(|line| wrapped(line, columns, Long::Split).len()).sum()
        };
        let above = (height(&ask.about(columns)) + height(&live.lines) + 1).saturating_sub(self.size.rows);
        if above > 0 {
            hint.insert_str(0, &format!("begins {} above · ", count(above, "row")));
        }
        live.lines.push(Line::of(hint, Role::Faint).cut(columns));
        live
    }

    fn input(&mut self) -> Live {
        let at_most = INPUT.min(self.size.rows / 3).max(1);
        let columns = self.size.columns.saturating_sub(2).max(1);
        let view = self.editor.view(columns, at_most);
        let sign = if is_shell(self.editor.text()) { "! " } else { "› " };
        let last = view.rows.len().saturating_sub(1);
        let row = |(at, row): (usize, Line)| {
            // What does not fit is not seen, but that there is more of it is.
            let sign = match at {
                0 if view.above > 0 => Span::new("↑ ", Role::Faint),
                0 => Span::new(sign, Role::Accent),
                at if at == last && view.below > 0 => Span::new("↓ ", Role::Faint),
                _ => Span::plain("  "),
            };
            row.behind(&[sign])
        };
        let mut lines: Vec<Line> = view.rows.into_iter().enumerate().map(row).collect();
        if self.editor.is_empty() {
            let what = if self.status.works() {
                "say more; the next step takes it in"
            } else {
                "what is to be done?"
            };
            let line = Line::new([Span::new("› ", Role::Accent), Span::new(what, Role::Faint)]);
            lines = vec![line.cut(self.size.columns)];
        }
        Live { lines, cursor: Some((view.cursor.0, view.cursor.1 + 2)) }
    }

    /// The line below everything.
    fn foot(&self) -> Line {
        if self.leaving.is_some() {
            return Line::of("ctrl+c once more ends", Role::Warning);
        }
        if let Some(hint) = &self.hint {
            return Line::of(hint, Role::Faint);
        }
        let vim = self.editor.mode().map(|mode| match mode {
            VimMode::Insert => "insert",
            VimMode::Normal => "normal",
            VimMode::Visual | VimMode::VisualLine => "visual",
        });
        let verbose = (self.talk.extent == Extent::Verbose).then_some("in full");
        let more: Vec<String> = vim.into_iter().chain(verbose).map(str::to_owned).collect();
        self.status.line(self.size.columns, &more)
    }
}
