//! The interface without a live region: lines in, lines out.

use std::time::Duration;

use super::App;
use crate::text::{Line, Role};

/// What the user is asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Waits {
    /// Nothing: it works.
    #[default]
    Nothing,
    /// Something to do.
    Words,
    /// An answer, to what these lines say.
    Answer(Vec<String>),
}

impl App {
    /// A line that the user typed.
    pub(crate) fn typed(&mut self, text: &str, _now: Duration) {
        if let Some(ask) = self.asks.front_mut() {
            let answered = ask.line(text);
            return self.answer(answered);
        }
        if self.picking.is_some() {
            return self.picking_line(text);
        }
        self.editor.set(text);
        self.submit();
    }

    /// What the user is asked for now.
    pub(crate) fn waits(&mut self) -> Waits {
        let width = self.size.columns;
        let texts = |lines: Vec<Line>| lines.iter().map(Line::text).collect();
        if let Some(ask) = self.asks.front_mut() {
            let mut lines = ask.view(width, usize::MAX).lines;
            lines.push(Line::of("Answer with a number, or in your own words.", Role::Plain));
            return Waits::Answer(texts(lines));
        }
        if let Some(picking) = &self.picking {
            let mut lines = picking.lines();
            lines.push(Line::of("Pick by a number; an empty line leaves.", Role::Plain));
            return Waits::Answer(texts(lines));
        }
        if self.status.works() || self.shell.is_some() || self.status.cwd.is_empty() {
            Waits::Nothing
        } else {
            Waits::Words
        }
    }

    /// Ctrl-C where there are no keys.
    pub(crate) fn interrupted(&mut self, now: Duration) {
        self.stop(now);
    }

    /// What it does, in a few words; None while it waits for the user.
    pub(crate) fn doing(&self) -> Option<&str> {
        self.status.what()
    }
}
