//! What becomes of a line that was sent.

use super::pick::Picking;
use super::{App, End, Out, OwnShell};
use crate::call::Extent;
use crate::complete::{CommandInfo, is_shell};
use crate::host::{PickerKind, Want};
use crate::input::{Entry, Keys};
use crate::talk::user_lines;
use crate::text::{Line, Role, Span, width};
use crate::theme::Theme;

/// Commands that only an interface has.
pub(super) fn local() -> Vec<CommandInfo> {
    let info = |(name, hint, help): (&str, &str, &str)| CommandInfo {
        name: name.to_owned(),
        hint: hint.to_owned(),
        help: help.to_owned(),
    };
    [
        ("clear", "", "Begins a new session."),
        ("keys", "", "Lists the keys."),
        ("verbose", "", "Shows results in full, or in short again."),
        ("vim", "", "Takes Vim's keys in the input line, or the usual ones again."),
    ]
    .map(info)
    .into()
}

const KEYS: &str = "\
| key | what it does |
| --- | --- |
| enter | sends; while the agent works, its next step takes it in |
| ctrl+j, shift+enter | a new line, as alt+enter and `\\` enter are |
| esc | stops what runs; twice at rest: to an earlier message |
| ctrl+c | stops what runs; twice: ends |
| ctrl+d | ends, with nothing typed |
| shift+tab | the next mode: asks, edits without asking, plans only |
| ctrl+o | results in full or in short; shows the last one anew |
| ctrl+t | shows or stops agents and commands in the background |
| ctrl+r | searches what was typed before; up and down walk in it |
| ctrl+g | the text in your `$VISUAL` or `$EDITOR` |
| ctrl+v | attaches the image in the clipboard |
| ctrl+l | draws anew |
| ctrl+z | suspends |
| `@` | names a file |
| `/` | a command |
| `!` | a shell command of your own |
";

impl App {
    /// Sends what is typed.
    pub(super) fn submit(&mut self) {
        let typed = self.editor.take();
        self.popup = None;
        if typed.text.trim().is_empty() && typed.attachments.is_empty() {
            return;
        }
        if !typed.text.trim().is_empty() {
            self.history.push(Entry::new(typed.text.clone()));
            self.out.push(Out::Want(Want::Remember(typed.text.clone())));
        }
        let text = typed.text.trim_end();
        if is_shell(text) {
            return self.run(text.trim_start_matches('!').trim());
        }
        if self.is_local(text.trim()) {
            return;
        }
        if text.starts_with('/') {
            self.talk.show(user_lines(text));
        }
        let context = if text.starts_with('/') { Vec::new() } else { std::mem::take(&mut self.context) };
        self.out.push(Out::Want(Want::Line { text: text.to_owned(), attached: typed.attachments, context }));
    }

    fn run(&mut self, command: &str) {
        if command.is_empty() {
            return;
        }
        if self.shell.is_some() {
            return self.talk.note("another command of yours still runs; esc stops it", Role::Warning);
        }
        let lines = command
            .lines()
            .map(|line| Line::new([Span::new("! ", Role::Accent), Span::new(line, Role::User)]));
        self.talk.show(lines.collect());
        self.shell = Some(OwnShell { command: command.to_owned(), output: String::new() });
        self.out.push(Out::Want(Want::Shell(command.to_owned())));
    }

    /// Does what concerns the interface alone.
    fn is_local(&mut self, text: &str) -> bool {
        let Some(typed) = text.strip_prefix('/') else { return false };
        let (name, args) =
            typed.split_once(char::is_whitespace).map_or((typed, ""), |(name, args)| (name, args.trim()));
        let picker = |kind| Out::Want(Want::Picker(kind));
        match (name, args) {
            ("quit" | "exit", _) => self.out.push(Out::End(End::Quit)),
            ("clear" | "new", _) => self.out.push(Out::End(End::New)),
            ("keys", _) => {
                self.talk.show(user_lines(text));
                self.talk.say(KEYS);
            }
            ("help", _) => {
                self.talk.show(user_lines(text));
                self.help();
            }
            ("verbose", _) => self.switch_extent(),
            ("vim", _) => {
                let keys = if self.editor.mode().is_some() { Keys::Usual } else { Keys::Vim };
                self.editor.set_keys(keys);
                let keys = match keys {
                    Keys::Usual => "the usual keys",
                    Keys::Vim => "Vim's keys; `[tui] keys = \"vim\"` keeps them",
                };
                self.talk.note(keys, Role::Faint);
            }
            ("theme", "") => self.picking = Some(Picking::theme(self.theme)),
            ("theme", name) => match Theme::named(name) {
                Some(theme) => self.set_theme(theme),
                None => {
                    let names: Vec<&str> = Theme::ALL.iter().map(|theme| theme.name()).collect();
                    self.talk.note(
                        &format!("there is no theme `{name}`; there are {}", names.join(", ")),
                        Role::Bad,
                    );
                }
            },
            ("diff", "") => {
                self.talk.show(user_lines(text));
                self.out.push(Out::Want(Want::Changes));
            }
            ("model", "") => self.out.push(picker(PickerKind::Models)),
            ("route", "") => self.out.push(picker(PickerKind::Routes)),
            ("rewind", "") => self.out.push(picker(PickerKind::Rewind)),
            ("resume", "") => self.out.push(picker(PickerKind::Sessions)),
            ("resume", id) => self.out.push(Out::End(End::Open(id.to_owned()))),
            _ => return false,
        }
        true
    }

    /// All that can be typed.
    fn help(&mut self) {
        let named =
            |command: &CommandInfo| format!("/{} {}", command.name, command.hint).trim_end().to_owned();
        let names: Vec<String> = self.commands.iter().map(named).collect();
        let column = names.iter().map(|name| width(name)).max().unwrap_or(0).min(self.size.columns / 2);
        let row = |(name, command): (&String, &CommandInfo)| {
            let gap = " ".repeat(column.saturating_sub(width(name)) + 2);
            let spans = [Span::new(name, Role::Accent), Span::plain(gap), Span::plain(&command.help)];
            Line::hanging(spans, vec![Span::plain(" ".repeat(column + 2))])
        };
        let mut lines: Vec<Line> = names.iter().zip(&self.commands).map(row).collect();
        lines.push(Line::empty());
        lines.push(Line::words([Span::new(
            "@ names a file, ! runs a shell command of your own, /keys lists the keys.",
            Role::Faint,
        )]));
        self.talk.show(lines);
    }

    pub(super) fn set_theme(&mut self, theme: Theme) {
        self.theme = theme;
        self.out.push(Out::Theme(theme));
        self.out.push(Out::Want(Want::KeepTheme(theme.name())));
    }

    pub(super) fn switch_extent(&mut self) {
        self.talk.extent = self.talk.extent.other();
        let now = match self.talk.extent {
            Extent::Condensed => "results in short",
            Extent::Verbose => "results in full",
        };
        self.talk.release();
        self.talk.note(now, Role::Faint);
        self.talk.show_last();
        if !self.asks.is_empty() {
            // What is asked stays right above its answers.
            self.show_ask();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KEYS;

    #[test]
    fn the_documentation_lists_the_same_keys() {
        let page = include_str!("../../../../docs/tui.md");
        for row in KEYS.lines() {
            assert!(page.lines().any(|line| line == row), "docs/tui.md: {row}");
        }
    }
}
