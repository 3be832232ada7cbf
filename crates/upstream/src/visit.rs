//! All that is tried with one target.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rail_model::{ApiError, ErrorKind};
use rail_route::{Attempt, Retry};
use rail_wire::Shrink;
use tokio::time::{Instant, sleep};

use crate::errand::Errand;
use crate::failure::Class;
use crate::fix::Remedy;
use crate::learned::Lesson;
use crate::letter::Letter;
use crate::send::{Arrived, Envelope, Log, send};
use crate::shared::Shared;
use crate::transport::MOST_STALE;
use crate::verdict::Miss;
use crate::{Fix, Note, Transport};

/// So many new changes are tried with one target for one request.
const MOST_FIXES: usize = 4;

/// What came of a visit.
pub(crate) enum Visited<T> {
    /// Content.
    Answered(T, Letter),
    /// A complete answer with nothing in it.
    Empty(T, Letter),
    /// Nothing.
    Missed(Miss),
    /// The target can't be asked that: its protocol has no call for it.
    Unknown,
}

/// One target and one errand.
pub(crate) struct Visit<'a, E> {
    pub(crate) transport: &'a dyn Transport,
    pub(crate) shared: &'a Arc<Shared>,
    pub(crate) attempt: &'a Attempt,
    pub(crate) errand: &'a E,
    pub(crate) shrink: Option<Shrink>,
}

/// What was tried so far.
struct Tried {
    fixes: Vec<Fix>,
    /// Changes of this request, with what the target said and whether they hold for others.
    new: Vec<(Remedy, String)>,
    /// The last of them was not sent yet.
    unsent: bool,
    key: Option<usize>,
    keys: Vec<usize>,
    again: u32,
    stale: u32,
    since: Instant,
}

/// What to do after a failed send.
enum Next {
    /// The same target again.
    Again,
    /// The same target, with another letter.
    Rewritten(Letter),
    /// The next target.
    Leave(Class),
}

impl<E: Errand> Visit<'_, E> {
    /// Asks the target until it answers, or there is nothing more to try with it.
    pub(crate) async fn run(&self, log: &mut Log<'_>) -> Visited<E::Got> {
        let Attempt { target, provider, .. } = self.attempt;
        let fixes = self.shared.lessons.fixes(target);
        let mut letter = match self.errand.write(self.attempt, &fixes, self.shrink) {
            Ok(Some(letter)) => letter,
            Ok(None) => return Visited::Unknown,
            Err(why) => {
                let error = ApiError::new(ErrorKind::NotFound, why);
                return Visited::Missed(self.missed(Class::Target, error));
            }
        };
        let since = Instant::now();
        let key = self.shared.keys.first(provider, since);
        let mut tried =
            Tried { fixes, new: Vec::new(), unsent: false, key, keys: Vec::new(), again: 0, stale: 0, since };
        loop {
            let key = tried.key.and_then(|at| provider.keys.get(at));
            let newest = tried.new.last().map(|(remedy, _)| &remedy.fix).filter(|_| tried.unsent);
            tried.unsent = false;
            let envelope = Envelope { target, letter: &letter, key, fix: newest };
            match send(self.transport, log, self.errand, &envelope).await {
                Ok(Arrived::Content(answer, latency)) => {
                    if E::TELLS_OF_HEALTH {
                        self.shared.succeeded(target, latency);
                    }
                    self.learn(log, tried.new).await;
                    return Visited::Answered(answer, letter);
                }
                Ok(Arrived::Empty(answer)) => {
                    self.failed(log, "the answer was empty");
                    return Visited::Empty(answer, letter);
                }
                Err((class, error)) => match self.after(log, &letter, class, &error, &mut tried).await {
                    Next::Again => {}
                    Next::Rewritten(other) => letter = other,
                    Next::Leave(class) => return Visited::Missed(self.missed(class, error)),
                },
            }
        }
    }

    /// Decides what to do after a failure, and does all of it but the send.
    async fn after(
        &self,
        log: &Log<'_>,
        letter: &Letter,
        class: Class,
        error: &ApiError,
        tried: &mut Tried,
    ) -> Next {
        if self.other_key(error, tried) {
            return Next::Again;
        }
        let target = &self.attempt.target;
        match class {
            Class::Stale if tried.stale < MOST_STALE => {
                tried.stale += 1;
                log.note(Note::Retrying { target: target.clone(), wait: Duration::ZERO });
                Next::Again
            }
            Class::Stale => self.again(log, error, None, tried).await,
            Class::Passing { retry_after } => self.again(log, error, retry_after, tried).await,
            Class::Target => {
                self.refused(log, error);
                Next::Leave(Class::Target)
            }
            Class::Fixable(remedy) => match self.rewrite(letter, &remedy, tried) {
                Some(letter) => {
                    let (fix, because) = (remedy.fix.clone(), error.message.clone());
                    log.note(Note::Fixing { target: target.clone(), fix, because: because.clone() });
                    tried.fixes.push(remedy.fix.clone());
                    tried.new.push((remedy, because));
                    tried.unsent = true;
                    Next::Rewritten(letter)
                }
                None => Next::Leave(Class::unfixed(error)),
            },
            Class::TooLong | Class::Request => Next::Leave(class),
        }
    }

    /// Waits before the same target is asked again, unless the next one is better.
    async fn again(
        &self,
        log: &Log<'_>,
        error: &ApiError,
        retry_after: Option<Duration>,
        tried: &mut Tried,
    ) -> Next {
        let Attempt { target, provider, .. } = self.attempt;
        let since = tried.since.elapsed();
        let Some(wait) = pause(&provider.retry, tried.again, retry_after, since) else {
            // Tries in quick succession say the same thing: a target fails once for each request.
            self.failed(log, &error.message);
            return Next::Leave(Class::Passing { retry_after });
        };
        tried.again += 1;
        log.note(Note::Retrying { target: target.clone(), wait });
        if !wait.is_zero() {
            sleep(wait).await;
        }
        Next::Again
    }

    /// Takes another key if the failure was about this one and there is another that was not tried.
    fn other_key(&self, error: &ApiError, tried: &mut Tried) -> bool {
        let provider = &self.attempt.provider;
        let (Some(at), now) = (tried.key, Instant::now()) else { return false };
        if !self.shared.keys.rest(provider, at, error, now) {
            return false;
        }
        tried.keys.push(at);
        let Some(next) = self.shared.keys.next(provider, &tried.keys, now) else { return false };
        tried.key = Some(next);
        true
    }

    /// The letter with one more change; None when it was made before, changes nothing, or there were enough of them.
    fn rewrite(&self, letter: &Letter, remedy: &Remedy, tried: &Tried) -> Option<Letter> {
        if tried.new.len() >= MOST_FIXES || tried.fixes.contains(&remedy.fix) {
            return None;
        }
        let fixes = [&tried.fixes[..], std::slice::from_ref(&remedy.fix)].concat();
        let other = self.errand.write(self.attempt, &fixes, self.shrink).ok()??;
        (!other.says_the_same(letter)).then_some(other)
    }

    /// Keeps the changes that have just worked.
    async fn learn(&self, log: &Log<'_>, new: Vec<(Remedy, String)>) {
        let at = unix_now();
        let lasting = new.into_iter().filter(|(remedy, _)| remedy.lasting);
        let lessons: Vec<Lesson> =
            lasting.map(|(remedy, because)| Lesson { fix: remedy.fix, because, at }).collect();
        if lessons.is_empty() {
            return;
        }
        let target = &self.attempt.target;
        for Lesson { fix, because, .. } in &lessons {
            log.note(Note::Learned { target: target.clone(), fix: fix.clone(), because: because.clone() });
        }
        let (shared, of) = (Arc::clone(self.shared), target.clone());
        // The file is synced to disk, which may take long; other requests go on meanwhile.
        let kept = tokio::task::spawn_blocking(move || shared.lessons.learn(&of, lessons)).await;
        if let Err(problem) = kept.unwrap_or_else(|stopped| Err(stopped.to_string())) {
            log.note(Note::NotKept { problem });
        }
    }

    fn failed(&self, log: &Log<'_>, because: &str) {
        if E::TELLS_OF_HEALTH
            && let Some(opened) = self.shared.failed(&self.attempt.target, because)
        {
            log.note(opened);
        }
    }

    fn refused(&self, log: &Log<'_>, error: &ApiError) {
        if !E::TELLS_OF_HEALTH {
            return;
        }
        let (target, because) = (&self.attempt.target, error.message.clone());
        if let Some(opened) = self.shared.refused(target, &because) {
            log.note(opened);
        }
        if self.shared.is_news(target, error.kind) {
            log.note(Note::Refused { target: target.clone(), kind: error.kind, because });
        }
    }

    fn missed(&self, class: Class, error: ApiError) -> Miss {
        Miss { target: self.attempt.target.clone(), class, error }
    }
}

/// How long to wait before the same target is asked again; None when the next one is better.
fn pause(retry: &Retry, again: u32, retry_after: Option<Duration>, since: Duration) -> Option<Duration> {
    if again >= retry.tries {
        return None;
    }
    let most = retry.wait.saturating_mul(2_u32.saturating_pow(again)).min(retry.max_wait);
    let wait = match retry_after {
        Some(asked) if asked > retry.max_wait => return None,
        Some(asked) => asked,
        // Requests that failed together must not come back together.
        None => most.mul_f64(fastrand::f64()),
    };
    (since + wait <= retry.within).then_some(wait)
}

/// Unix seconds.
#[expect(clippy::disallowed_methods, reason = "a driver: what is learned is stamped with the time")]
pub(crate) fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses() {
        let seconds = Duration::from_secs;
        let retry = Retry { tries: 2, wait: seconds(1), max_wait: seconds(5), within: seconds(15) };
        for (again, retry_after, since, expected) in [
            (0, Some(3), 0, Some(3)),
            (0, Some(5), 0, Some(5)),
            (0, Some(6), 0, None),
            (0, Some(0), 0, Some(0)),
            (2, Some(1), 0, None),
            (1, Some(5), 11, None),
            (1, Some(4), 11, Some(4)),
        ] {
            let got = pause(&retry, again, retry_after.map(seconds), seconds(since));
            assert_eq!(got, expected.map(seconds), "{again} {retry_after:?} {since}");
        }
        for again in 0..2 {
            let drawn = pause(&retry, again, None, seconds(0)).unwrap();
            assert!(drawn <= seconds(1) * 2_u32.pow(again));
        }
        assert_eq!(pause(&retry, 0, None, seconds(16)), None);
    }
}
