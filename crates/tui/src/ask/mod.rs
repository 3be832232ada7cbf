//! Questions to the user: may this be done, and what the model wants to know.

mod choices;
mod menu;
mod permission;

use crossterm::event::KeyEvent;
use rail_proto::Command;

use crate::screen::Live;
use crate::text::Line;

pub(crate) use choices::ChoicesAsk;
pub(crate) use permission::Permission;

/// A question that waits for its answer.
pub(crate) enum Ask {
    Permission(Box<Permission>),
    Choices(Box<ChoicesAsk>),
}

/// What a key does to a question.
pub(crate) enum Answered {
    /// It waits on.
    Not,
    /// It has its answer.
    By(Command),
    /// The key means nothing to it.
    Passed,
}

impl Ask {
    /// The question's id.
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Permission(ask) => ask.id(),
            Self::Choices(ask) => ask.id(),
        }
    }

    /// What it is about, in full. It goes to the scrollback, so that it can be read and copied whatever its length.
    pub(crate) fn about(&self, width: usize) -> Vec<Line> {
        match self {
            Self::Permission(ask) => ask.about(),
            Self::Choices(ask) => ask.about(width),
        }
    }

    /// A key of the user's.
    pub(crate) fn key(&mut self, key: KeyEvent) -> Answered {
        match self {
            Self::Permission(ask) => ask.key(key),
            Self::Choices(ask) => ask.key(key),
        }
    }

    /// A line that answers, where there are no keys.
    pub(crate) fn line(&mut self, text: &str) -> Answered {
        match self {
            Self::Permission(ask) => ask.line(text),
            Self::Choices(ask) => ask.line(text),
        }
    }

    /// What is pasted goes to the words that are being typed; whether there are any.
    pub(crate) fn paste(&mut self, text: &str) -> bool {
        match self {
            Self::Permission(ask) => ask.paste(text),
            Self::Choices(ask) => ask.paste(text),
        }
    }

    /// What keys do.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Permission(ask) => ask.hint(),
            Self::Choices(ask) => ask.hint(),
        }
    }

    /// What can be answered, in so many rows.
    pub(crate) fn view(&mut self, width: usize, rows: usize) -> Live {
        match self {
            Self::Permission(ask) => ask.view(width, rows),
            Self::Choices(ask) => ask.view(width, rows),
        }
    }
}
