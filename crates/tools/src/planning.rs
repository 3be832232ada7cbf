//! What is kept while a session plans and works: the list of things to do, and findings.

use std::sync::{Mutex, PoisonError};

use rail_tool::{Finding, OutputNote, Session, Todo};

/// The session's list of things to do.
#[derive(Default)]
pub(crate) struct Todos(Mutex<Vec<Todo>>);

/// The session's findings.
#[derive(Default)]
pub(crate) struct Findings(Mutex<Vec<Finding>>);

impl Todos {
    pub(crate) fn replace(&self, todos: Vec<Todo>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = todos;
    }
}

impl Findings {
    /// Does something with all of them.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Vec<Finding>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The session's list of things to do, as `todo_write` left it.
pub fn todos(session: &Session) -> Vec<Todo> {
    session.services.get::<Todos>().0.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// What the session's `findings` hold.
pub fn findings(session: &Session) -> Vec<Finding> {
    session.services.get::<Findings>().with(|findings| findings.clone())
}

/// Puts back what a note of an earlier run of the session said, for a session that goes on.
pub fn recall(session: &Session, note: &OutputNote) {
    match note {
        OutputNote::Todos(todos) => session.services.get::<Todos>().replace(todos.clone()),
        OutputNote::Findings(kept) => {
            session.services.get::<Findings>().with(|findings| findings.clone_from(kept));
        }
        // The mode and the memory files are the session's own business.
        OutputNote::Plan(_) | OutputNote::MemoryFile(_) | OutputNote::Skill(_) => {}
    }
}
