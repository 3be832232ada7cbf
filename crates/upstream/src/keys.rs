//! A provider's keys: used in turn, and left alone for a while when one was refused.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rail_model::{ApiError, ErrorKind};
use rail_route::Provider;
use rail_stdx::Secret;
use tokio::time::Instant;

/// How long a key rests after "too many requests" that named no time.
const BUSY: Duration = Duration::from_secs(60);
/// How long a key rests that is wrong, may not do this, or has no quota left.
const REFUSED: Duration = Duration::from_secs(10 * 60);

/// What is known of all providers' keys, by the provider's name.
#[derive(Debug, Default)]
pub(crate) struct Keys(Mutex<BTreeMap<String, Ring>>);

#[derive(Debug, Default)]
struct Ring {
    /// How many requests have drawn a first key.
    drawn: usize,
    /// Keys that rest, and until when. By the key and not its place: the configuration may change.
    resting: BTreeMap<Secret, Instant>,
}

impl Keys {
    /// The key to begin with: the next in turn that does not rest, else the one that rests least long.
    pub(crate) fn first(&self, provider: &Provider, now: Instant) -> Option<usize> {
        let mut rings = self.rings();
        let ring = rings.entry(provider.name.clone()).or_default();
        let start = ring.drawn;
        ring.drawn = ring.drawn.wrapping_add(1);
        ring.turn(provider, start)
            .min_by_key(|at| ring.rests_until(provider, *at).filter(|until| *until > now))
    }

    /// The next key in turn that was not tried yet and does not rest.
    pub(crate) fn next(&self, provider: &Provider, tried: &[usize], now: Instant) -> Option<usize> {
        let rings = self.rings();
        let ring = rings.get(&provider.name)?;
        let start = tried.last().map_or(0, |last| last + 1);
        let ready = |at: &usize| ring.rests_until(provider, *at).is_none_or(|until| until <= now);
        ring.turn(provider, start).find(|at| !tried.contains(at) && ready(at))
    }

    /// Lets a key rest after this error, if the error is about the key. Says whether it is.
    pub(crate) fn rest(&self, provider: &Provider, at: usize, error: &ApiError, now: Instant) -> bool {
        let (Some(rest), Some(key)) = (rest_for(error), provider.keys.get(at)) else { return false };
        let mut rings = self.rings();
        let ring = rings.entry(provider.name.clone()).or_default();
        ring.resting.retain(|_, until| *until > now);
        ring.resting.insert(key.clone(), now + rest);
        true
    }

    fn rings(&self) -> MutexGuard<'_, BTreeMap<String, Ring>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    /// The places of all keys, beginning with this one.
    fn turn(&self, provider: &Provider, start: usize) -> impl Iterator<Item = usize> + use<> {
        let count = provider.keys.len();
        (0..count).map(move |step| start.wrapping_add(step) % count.max(1))
    }

    fn rests_until(&self, provider: &Provider, at: usize) -> Option<Instant> {
        provider.keys.get(at).and_then(|key| self.resting.get(key)).copied()
    }
}

/// How long a key rests after this error; None when the error is not about the key.
fn rest_for(error: &ApiError) -> Option<Duration> {
    match error.kind {
        ErrorKind::RateLimited => Some(error.retry_after.unwrap_or(BUSY)),
        ErrorKind::Quota => Some(error.retry_after.unwrap_or(REFUSED)),
        ErrorKind::Authentication | ErrorKind::Permission => Some(REFUSED),
        ErrorKind::InvalidRequest
        | ErrorKind::NotFound
        | ErrorKind::Conflict
        | ErrorKind::TooLarge
        | ErrorKind::ContextLength
        | ErrorKind::Refused
        | ErrorKind::Overloaded
        | ErrorKind::Timeout
        | ErrorKind::Server => None,
    }
}

#[cfg(test)]
mod tests {
    use rail_model::ProtocolId;

    use super::*;

    fn provider(keys: &[&str]) -> Provider {
        let keys = keys.iter().map(|key| Secret::new(*key)).collect();
        Provider { keys, ..Provider::new("p", ProtocolId::new("openai-chat"), "http://h") }
    }

    #[tokio::test(start_paused = true)]
    async fn keys_take_turns_and_rest() {
        let (keys, provider, start) = (Keys::default(), provider(&["a", "b", "c"]), Instant::now());
        let first = |now| keys.first(&provider, now).unwrap();
        assert_eq!([first(start), first(start), first(start), first(start)], [0, 1, 2, 0]);

        let busy = ApiError::new(ErrorKind::RateLimited, "");
        assert!(keys.rest(&provider, 1, &busy, start));
        assert_eq!(keys.next(&provider, &[1], start), Some(2));
        assert_eq!(keys.next(&provider, &[1, 2], start), Some(0));
        assert_eq!(keys.next(&provider, &[1, 2, 0], start), None);
        assert_eq!([first(start), first(start), first(start)], [2, 2, 0], "the second rests");
        let later = start + BUSY;
        assert_eq!([first(later), first(later)], [1, 2], "it is back");
    }

    #[tokio::test(start_paused = true)]
    async fn when_all_rest_the_one_that_is_back_first_is_used() {
        let (keys, provider, start) = (Keys::default(), provider(&["a", "b"]), Instant::now());
        keys.rest(&provider, 0, &ApiError::new(ErrorKind::Authentication, ""), start);
        let soon = ApiError {
            retry_after: Some(Duration::from_secs(1)),
            ..ApiError::new(ErrorKind::RateLimited, "")
        };
        keys.rest(&provider, 1, &soon, start);
        assert_eq!([keys.first(&provider, start), keys.first(&provider, start)], [Some(1), Some(1)]);
        assert!(!keys.rest(&provider, 0, &ApiError::new(ErrorKind::Server, ""), start));
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_without_keys_has_none_to_choose() {
        let (keys, provider) = (Keys::default(), provider(&[]));
        assert_eq!(keys.first(&provider, Instant::now()), None);
        assert_eq!(keys.next(&provider, &[], Instant::now()), None);
    }
}
