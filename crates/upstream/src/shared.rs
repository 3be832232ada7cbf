//! What all requests share: how targets fare, which keys rest, what was learned. No lock is ever held while waiting.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rail_model::ErrorKind;
use rail_route::{Circuit, Health, Target};
use tokio::time::Instant;

use crate::Note;
use crate::keys::Keys;
use crate::learned::Lessons;

/// So many refusals are remembered as reported: clients may ask for any model, and each is a target of its own.
const MOST_REPORTED: usize = 1_000;

/// What all requests share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    health: Mutex<Health>,
    /// Targets that some request tries just now to see whether they work again.
    probed: Mutex<BTreeSet<Target>>,
    /// What was reported of which target already.
    reported: Mutex<Vec<(Target, ErrorKind)>>,
    pub(crate) keys: Keys,
    pub(crate) lessons: Lessons,
}

/// How health is told of a failure.
type Count = fn(&mut Health, &Target, &str, std::time::Instant);

/// Whether a target is asked now.
pub(crate) enum Admission {
    /// Yes.
    Yes,
    /// Yes, to see whether it works again.
    Probe(Probe),
    /// Only if nothing else is left.
    Last,
}

/// A target is being tried; nobody else tries it until this is dropped.
pub(crate) struct Probe {
    shared: Arc<Shared>,
    target: Target,
}

impl Drop for Probe {
    fn drop(&mut self) {
        lock(&self.shared.probed).remove(&self.target);
    }
}

impl Shared {
    /// Nothing known of any target but these lessons.
    pub(crate) fn knowing(lessons: Lessons) -> Self {
        Self { lessons, ..Self::default() }
    }

    /// Whether a target is asked now.
    pub(crate) fn admit(self: &Arc<Self>, target: &Target) -> Admission {
        match self.circuit(target) {
            Circuit::Closed => Admission::Yes,
            Circuit::Open(_) => Admission::Last,
            Circuit::HalfOpen if lock(&self.probed).insert(target.clone()) => {
                Admission::Probe(Probe { shared: Arc::clone(self), target: target.clone() })
            }
            Circuit::HalfOpen => Admission::Last,
        }
    }

    /// Takes this for how targets fare.
    pub(crate) fn remember(&self, health: &Health) {
        lock(&self.health).clone_from(health);
    }

    /// How targets fare, as it is now.
    pub(crate) fn health(&self) -> Health {
        lock(&self.health).clone()
    }

    /// A target answered.
    pub(crate) fn succeeded(&self, target: &Target, latency: Duration) {
        lock(&self.health).succeeded(target, latency, Instant::now().into_std());
        lock(&self.reported).retain(|(known, _)| known != target);
    }

    /// A target failed in a way that will pass; the note says that its circuit opened by that.
    pub(crate) fn failed(&self, target: &Target, because: &str) -> Option<Note> {
        self.count(target, because, Health::failed)
    }

    /// A target can't be used as it is; the note says that its circuit opened by that.
    pub(crate) fn refused(&self, target: &Target, because: &str) -> Option<Note> {
        self.count(target, because, Health::refused)
    }

    /// Whether this was not reported of the target yet.
    pub(crate) fn is_news(&self, target: &Target, kind: ErrorKind) -> bool {
        let mut reported = lock(&self.reported);
        let news = !reported.iter().any(|(known, what)| known == target && *what == kind);
        if news {
            if reported.len() >= MOST_REPORTED {
                reported.remove(0);
            }
            reported.push((target.clone(), kind));
        }
        news
    }

    fn circuit(&self, target: &Target) -> Circuit {
        lock(&self.health).circuit(target, Instant::now().into_std())
    }

    fn count(&self, target: &Target, because: &str, count: Count) -> Option<Note> {
        let now = Instant::now().into_std();
        let mut health = lock(&self.health);
        let is_open = |health: &Health| matches!(health.circuit(target, now), Circuit::Open(_));
        let was_open = is_open(&health);
        count(&mut health, target, because, now);
        let opened = !was_open && is_open(&health);
        opened.then(|| Note::CircuitOpened { target: target.clone(), because: because.to_owned() })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves these values whole: each change is one call.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_are_told_once_and_the_oldest_forgotten() {
        let shared = Shared::default();
        let of = |at: usize| shared.is_news(&Target::new("p", at.to_string()), ErrorKind::NotFound);
        for at in 0..MOST_REPORTED * 2 {
            assert!(of(at) && !of(at));
        }
        assert_eq!(lock(&shared.reported).len(), MOST_REPORTED);
        assert!(of(0), "it was forgotten long ago");
    }
}
