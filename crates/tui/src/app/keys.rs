//! Keys.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rail_proto::{Command, Mode, mention};

use super::{App, End, Out};
use crate::ask::{Answered, Ask};
use crate::complete::{Choice, Item, Popup, Token, TokenKind, search_commands, token_at};
use crate::host::{PickerKind, Want};
use crate::input::{Entry, Handled, Search};
use crate::text::Line;

/// How long a second Ctrl-C ends the program.
const LEAVE: Duration = Duration::from_secs(2);
/// How soon a second Esc must follow.
const TWICE: Duration = Duration::from_millis(700);
/// A pause that is longer ends what somebody was typing.
const TYPING: Duration = Duration::from_millis(800);
/// So long a question must have been on the screen, and nobody pressed a key, before one answers it.
const READ: Duration = Duration::from_millis(500);
/// How many completions are shown.
const POPUP: usize = 8;

impl App {
    /// A key of the user's.
    pub fn key(&mut self, key: KeyEvent, now: Duration) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        self.hint = None;
        if self.is_for_all(key, now) {
            return;
        }
        self.leaving = None;
        let answers = self.is_read(now);
        self.typed_at = Some(now);
        if let Some(ask) = self.asks.front_mut().filter(|_| answers) {
            self.answering = true;
            let answered = ask.key(key);
            return self.answer(answered);
        }
        if self.answering && !self.asks.is_empty() {
            // It was meant for the question before, or for this one before anybody can have read it.
            return;
        }
        self.answering = false;
        if self.picking.is_some() {
            self.picking_key(key);
        } else if self.search.is_some() {
            self.search_key(key);
        } else if !self.popup_key(key) {
            self.line_key(key, now);
            self.complete();
        }
    }

    /// Whether keys answer the first question. It has to be on the screen for a while, and nobody in the middle of something else: what was
    /// typed ahead, or a key that is held, answers nothing.
    pub(super) fn is_read(&mut self, now: Duration) -> bool {
        if self.asks.is_empty() || self.picking.is_some() || self.search.is_some() {
            return false;
        }
        let Some(shown) = self.asked_at else { return false };
        let since = self.typed_at.map_or(shown, |typed| typed.max(shown));
        let pause = if self.editor.is_empty() { READ } else { TYPING };
        self.answers |= now.saturating_sub(since) >= pause;
        self.answers
    }

    /// What became of the first question.
    pub(super) fn answer(&mut self, answered: Answered) {
        match answered {
            Answered::Not | Answered::Passed => {}
            Answered::By(command) => {
                // What was asked stays in the conversation, and so does what was answered.
                match (self.asks.front(), &command) {
                    (Some(Ask::Permission(ask)), Command::Answer { answer, .. }) => {
                        self.talk.answered(ask.told(answer));
                    }
                    (Some(Ask::Choices(ask)), Command::Choose { chosen, .. }) => {
                        let lines = std::iter::once(Line::empty()).chain(ask.told(chosen));
                        self.talk.answered(lines.collect());
                    }
                    _ => {}
                }
                self.out.push(Out::Send(command));
                if let Some(id) = self.asks.front().map(|ask| ask.id().to_owned()) {
                    self.answered(&id);
                }
            }
        }
    }

    /// Text that was pasted.
    pub fn paste(&mut self, text: &str) {
        if self.answers && self.asks.front_mut().is_some_and(|ask| ask.paste(text)) {
            return;
        }
        // Some terminals send an empty text for an image, others the path of its file.
        if text.is_empty() {
            return self.out.push(Out::Want(Want::ClipboardImage));
        }
        if is_image_path(text) {
            return self.out.push(Out::Want(Want::FileImage(text.trim().to_owned())));
        }
        self.editor.paste(text);
        self.complete();
    }

    /// Keys that mean the same whatever is shown.
    fn is_for_all(&mut self, key: KeyEvent, now: Duration) -> bool {
        if !key.modifiers.contains(KeyModifiers::CONTROL) {
            return false;
        }
        match key.code {
            KeyCode::Char('c') => self.stop(now),
            KeyCode::Char('z') => self.out.push(Out::Suspend),
            KeyCode::Char('l') => self.out.push(Out::Redraw),
            KeyCode::Char('o') => self.switch_extent(),
            _ => return false,
        }
        true
    }

    /// Ctrl-C: what is open is left, what runs is stopped, and with nothing of both the program ends at the second time.
    pub(super) fn stop(&mut self, now: Duration) {
        if self.picking.take().is_some() || self.search.take().is_some() {
            return;
        }
        if self.shell.is_some() {
            return self.out.push(Out::Want(Want::StopShell));
        }
        if self.status.works() {
            return self.out.push(Out::Send(Command::Interrupt));
        }
        if !self.editor.is_empty() {
            // Nothing that was typed is lost: the history has it.
            let typed = self.editor.take();
            self.history.push(Entry::new(typed.text));
            self.popup = None;
            return;
        }
        match self.leaving {
            Some(until) if now <= until => self.out.push(Out::End(End::Quit)),
            _ => self.leaving = Some(now + LEAVE),
        }
    }

    fn search_key(&mut self, key: KeyEvent) {
        let Some(search) = &mut self.search else { return };
        match search.key(key) {
            Choice::Taken | Choice::Passed => {}
            Choice::Dismiss => self.search = None,
            Choice::Accept(_) => {
                if let Some(entry) = search.selected() {
                    self.editor.set(&entry.text.clone());
                }
                self.search = None;
            }
        }
    }

    /// A key while completions are shown; whether it was theirs.
    fn popup_key(&mut self, key: KeyEvent) -> bool {
        let Some((token, popup)) = &mut self.popup else { return false };
        match popup.key(key) {
            Choice::Taken => true,
            Choice::Passed => false,
            Choice::Dismiss => {
                self.unwanted = Some(token.clone());
                self.popup = None;
                true
            }
            Choice::Accept(at) => {
                let (token, label) = (token.clone(), popup.items().get(at).map(|item| item.label.clone()));
                self.popup = None;
                if let Some(label) = label {
                    self.accept(&token, &label, key.code);
                }
                true
            }
        }
    }

    fn accept(&mut self, token: &Token, label: &str, by: KeyCode) {
        match token.kind {
            TokenKind::Command => {
                let name = label.trim_start_matches('/');
                self.editor.replace(token.range.clone(), &format!("/{name} "));
                // What needs no more words is done at once; a hint in brackets is no need.
                let needs = |hint: &str| !hint.is_empty() && !hint.starts_with('[');
                let waits = self.commands.iter().any(|command| command.name == name && needs(&command.hint));
                if by == KeyCode::Enter && !waits {
                    self.submit();
                }
            }
            TokenKind::File => {
                let folder = label.ends_with('/');
                let behind = if folder { "" } else { " " };
                self.editor.replace(token.range.clone(), &format!("{}{behind}", mention(label)));
                if folder {
                    self.complete();
                }
            }
        }
    }

    fn line_key(&mut self, key: KeyEvent, now: Duration) {
        let escaped = self.escaped.take();
        match self.editor.key(key) {
            Handled::Taken => {}
            Handled::Submit => self.submit(),
            Handled::Passed => self.passed(key, now, escaped),
        }
    }

    /// Keys that the input line has no use for.
    fn passed(&mut self, key: KeyEvent, now: Duration, escaped: Option<Duration>) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => self.escape(now, escaped),
            KeyCode::BackTab => self.next_mode(),
            KeyCode::Up => {
                self.history.older(&mut self.editor);
            }
            KeyCode::Down => {
                self.history.newer(&mut self.editor);
            }
            KeyCode::Char('d') if control && self.editor.is_empty() => self.out.push(Out::End(End::Quit)),
            KeyCode::Char('r') if control => self.search = Some(Search::new(&self.history)),
            KeyCode::Char('g') if control => self.out.push(Out::Edit(self.editor.text().to_owned())),
            KeyCode::Char('t') if control => self.pick_work(),
            KeyCode::Char('v') if control => self.out.push(Out::Want(Want::ClipboardImage)),
            _ => {}
        }
    }

    fn escape(&mut self, now: Duration, escaped: Option<Duration>) {
        if self.shell.is_some() {
            self.out.push(Out::Want(Want::StopShell));
        } else if self.status.works() {
            self.out.push(Out::Send(Command::Interrupt));
        } else if escaped.is_some_and(|at| now.saturating_sub(at) <= TWICE) {
            self.out.push(Out::Want(Want::Picker(PickerKind::Rewind)));
        } else {
            self.escaped = Some(now);
            self.hint = Some("esc once more goes back to an earlier message".to_owned());
        }
    }

    fn next_mode(&mut self) {
        let mode = match self.status.mode {
            Mode::Default => Mode::AcceptEdits,
            Mode::AcceptEdits => Mode::Plan,
            Mode::Plan | Mode::Bypass => Mode::Default,
        };
        self.out.push(Out::Send(Command::SetMode(mode)));
    }

    /// Brings the completions to what is typed now.
    pub(super) fn complete(&mut self) {
        let token = token_at(self.editor.text(), self.editor.cursor());
        let Some(token) = token.filter(|token| self.unwanted.as_ref() != Some(token)) else {
            self.popup = None;
            return;
        };
        self.unwanted = None;
        let items = match token.kind {
            TokenKind::Command => self.found_commands(&token.query),
            TokenKind::File => self.found_files(&token),
        };
        let known = self.popup.take().filter(|(_, popup)| popup.items() == items.as_slice());
        self.popup = match (known, items.is_empty()) {
            (_, true) => None,
            (Some((_, popup)), false) => Some((token, popup)),
            (None, false) => Some((token, Popup::new(items, POPUP))),
        };
    }

    fn found_commands(&self, query: &str) -> Vec<Item> {
        let hits = search_commands(query, &self.commands);
        let item = |hit: crate::complete::CommandHit| {
            let command = self.commands.get(hit.index)?;
            let hint = if command.hint.is_empty() { String::new() } else { format!("{} ", command.hint) };
            let positions = hit.positions.iter().map(|at| at + 1).collect();
            Some(Item {
                label: format!("/{}", command.name),
                detail: format!("{hint}{}", command.help),
                positions,
            })
        };
        hits.into_iter().filter_map(item).collect()
    }

    fn found_files(&mut self, token: &Token) -> Vec<Item> {
        // The list is asked for whenever somebody begins to name a file, since files come and go.
        let begins = !self.popup.as_ref().is_some_and(|(known, _)| known.kind == TokenKind::File);
        let wanted = begins && token.query.is_empty() || self.finder.is_none();
        if wanted && !std::mem::replace(&mut self.files_wanted, true) {
            self.out.push(Out::Want(Want::Files));
        }
        let hits = self.finder.as_mut().map(|finder| finder.search(&token.query, 50)).unwrap_or_default();
        let files = hits.into_iter().map(|hit| Item {
            label: hit.path,
            detail: String::new(),
            positions: hit.positions,
        });
        // Whoever types a server's name wants what it has; for everyone else files come first.
        let (meant, others): (Vec<Item>, Vec<Item>) = self
            .found_resources(&token.query)
            .into_iter()
            .partition(|item| !token.query.is_empty() && item.label.starts_with(&token.query));
        meant.into_iter().chain(files).chain(others).collect()
    }

    fn found_resources(&self, query: &str) -> Vec<Item> {
        let item = |hit: crate::complete::CommandHit| {
            let resource = self.resources.get(hit.index)?;
            Some(Item {
                label: resource.name.clone(),
                detail: resource.help.clone(),
                positions: hit.positions,
            })
        };
        search_commands(query, &self.resources).into_iter().filter_map(item).collect()
    }
}

/// Whether a pasted text is the path of an image, as terminals paste a file that is dropped on them.
fn is_image_path(text: &str) -> bool {
    let text = text.trim().trim_matches(['\'', '"']);
    let is_path = text.starts_with('/') || text.starts_with("~/") || text.starts_with("file://");
    let lower = text.to_lowercase();
    let is_image = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"].iter().any(|end| lower.ends_with(end));
    is_path && is_image && !text.contains('\n')
}
