//! What a check finds.

use super::Cx;

/// How a thing is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// It works.
    Ok,
    /// It works, but not as well as it could, or not for long.
    Warning,
    /// It does not work.
    Problem,
    /// It was not looked at, or is not here and not needed.
    Skipped,
}

/// What was found of one thing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Check {
    /// What was looked at.
    pub(super) name: String,
    /// How it is.
    pub(super) state: State,
    /// What was found; may be several lines.
    pub(super) says: String,
    /// What to do about it.
    pub(super) fix: Option<String>,
}

/// A check, or several of a kind.
#[derive(Clone, Copy)]
pub(super) enum Look {
    One(fn(&Cx) -> Check),
    Many(fn(&Cx) -> Vec<Check>),
}

impl Look {
    pub(super) fn at(self, cx: &Cx) -> Vec<Check> {
        match self {
            Self::One(look) => vec![look(cx)],
            Self::Many(look) => look(cx),
        }
    }
}

impl Check {
    pub(super) fn new(name: impl Into<String>, state: State, says: impl Into<String>) -> Self {
        Self { name: name.into(), state, says: says.into(), fix: None }
    }

    pub(super) fn ok(name: impl Into<String>, says: impl Into<String>) -> Self {
        Self::new(name, State::Ok, says)
    }

    pub(super) fn skipped(name: impl Into<String>, says: impl Into<String>) -> Self {
        Self::new(name, State::Skipped, says)
    }

    /// What a message says, which after the first semicolon says what to do, as all of ours do.
    pub(super) fn of_message(name: impl Into<String>, state: State, message: &str) -> Self {
        match message.split_once("; ") {
            Some((says, fix)) => Self::new(name, state, says).with_fix(fix),
            None => Self::new(name, state, message),
        }
    }

    pub(super) fn with_fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}
