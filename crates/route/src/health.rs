use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::Target;

/// Outcomes older than this count no more.
const WINDOW: Duration = Duration::from_secs(60);
/// So many outcomes are needed before their rate says anything.
const ENOUGH: usize = 5;
/// So many failures in a row open a circuit, however many went well before.
const IN_A_ROW: u32 = 3;
/// How long a circuit is open the first time; it doubles each time the target still fails.
const OPEN_FIRST: Duration = Duration::from_secs(30);
/// How long it is open at most.
const OPEN_MOST: Duration = Duration::from_secs(5 * 60);
/// A probe that nobody reported of is taken as lost after this.
const PROBE: Duration = Duration::from_secs(60);
/// The most outcomes kept of a target.
const MOST_OUTCOMES: usize = 100;
/// The most targets kept; the one not heard of for longest goes first.
const MOST_TARGETS: usize = 1_000;
/// The most characters kept of an error.
const MOST_ERROR_CHARS: usize = 300;
/// How much the newest latency counts in the average.
const NEWEST_COUNTS: f64 = 0.2;

/// Whether a target is asked at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Circuit {
    /// Yes.
    Closed,
    /// Not before this moment, unless nothing else is left.
    Open(Instant),
    /// One request is let through to see whether it works again.
    HalfOpen,
}

/// What was seen of each target lately, as a value: who has it decides when it changes.
#[derive(Clone, Debug, Default)]
pub struct Health {
    seen: BTreeMap<Target, Seen>,
    turn: u64,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    /// When each lately ended, and whether well.
    outcomes: VecDeque<(Instant, Ended)>,
    failures_in_a_row: u32,
    /// Until when the circuit is open, and how long that was; None while it is closed.
    open: Option<(Instant, Duration)>,
    /// When the one request was let through.
    probe: Option<Instant>,
    latency: Option<Duration>,
    succeeded: u64,
    failed: u64,
    last_error: Option<LastError>,
    /// The turn of the last change, to know who was not heard of for longest.
    turn: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ended {
    Well,
    Badly,
}

/// The last error of a target.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LastError {
    /// Whether it will pass by itself.
    pub class: ErrorClass,
    /// What was said.
    pub text: String,
}

/// Whether a target's failure will pass by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// It will: an overload, a broken connection.
    Passing,
    /// It will not: a wrong key, an unknown model, no quota.
    Refused,
}

/// One target's health, for listings.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TargetHealth {
    /// The target, written `provider,model`.
    pub target: String,
    /// `closed`, `open` or `half-open`.
    pub circuit: &'static str,
    /// Seconds until an open circuit lets one request through.
    pub open_seconds: Option<u64>,
    /// The share of failures in the last minute, 0 to 1; None when nothing ended in it.
    pub failure_rate: Option<f64>,
    /// The time to the first content, averaged so that new answers count more.
    pub latency_ms: Option<u64>,
    /// Answers so far.
    pub succeeded: u64,
    /// Failures so far.
    pub failed: u64,
    /// The last failure.
    pub last_error: Option<LastError>,
    /// Seconds since something last ended there.
    pub heard_seconds_ago: Option<u64>,
}

impl Health {
    /// Whether a target is asked at all, at this moment.
    pub fn circuit(&self, target: &Target, now: Instant) -> Circuit {
        self.seen.get(target).map_or(Circuit::Closed, |seen| seen.circuit(now))
    }

    /// A request goes to a target whose circuit is half-open: until its end is known, no other is let through.
    pub fn probing(&mut self, target: &Target, now: Instant) {
        if self.circuit(target, now) == Circuit::HalfOpen {
            self.seen(target).probe = Some(now);
        }
    }

    /// A target answered, its first content after this long.
    pub fn succeeded(&mut self, target: &Target, latency: Duration, now: Instant) {
        let seen = self.seen(target);
        if seen.open.is_some() {
            // What went wrong before it was open must not open it again at the next failure.
            seen.outcomes.clear();
        }
        seen.ended(Ended::Well, now);
        seen.succeeded += 1;
        (seen.open, seen.probe, seen.failures_in_a_row) = (None, None, 0);
        let newest = latency.mul_f64(NEWEST_COUNTS);
        seen.latency =
            Some(seen.latency.map_or(latency, |before| before.mul_f64(1.0 - NEWEST_COUNTS) + newest));
    }

    /// A target failed in a way that will pass; the reason is kept for listings.
    pub fn failed(&mut self, target: &Target, reason: &str, now: Instant) {
        let seen = self.seen(target);
        seen.broke(ErrorClass::Passing, reason, now);
        if seen.is_failing(now) {
            seen.open(now);
        }
    }

    /// A target failed in a way that will not pass by itself: a wrong key, an unknown model, no quota.
    pub fn refused(&mut self, target: &Target, reason: &str, now: Instant) {
        let seen = self.seen(target);
        seen.broke(ErrorClass::Refused, reason, now);
        seen.open(now);
    }

    /// Another process has seen that a target's circuit is open, and will be for this long.
    pub fn open_for(&mut self, target: &Target, left: Duration, now: Instant) {
        // Nothing we write is open for longer; what was stored may have been edited.
        let left = left.min(OPEN_MOST);
        self.seen(target).open = Some((now + left, left.max(OPEN_FIRST)));
    }

    /// What is known of every target, in the order of their names.
    pub fn snapshot(&self, now: Instant) -> Vec<TargetHealth> {
        self.seen.iter().map(|(target, seen)| seen.listed(target, now)).collect()
    }

    fn seen(&mut self, target: &Target) -> &mut Seen {
        self.turn += 1;
        if self.seen.len() >= MOST_TARGETS && !self.seen.contains_key(target) {
            let oldest = self.seen.iter().min_by_key(|(_, seen)| seen.turn).map(|(target, _)| target.clone());
            oldest.and_then(|oldest| self.seen.remove(&oldest));
        }
        let seen = self.seen.entry(target.clone()).or_default();
        seen.turn = self.turn;
        seen
    }
}

impl Seen {
    fn circuit(&self, now: Instant) -> Circuit {
        let Some((until, _)) = self.open else { return Circuit::Closed };
        let busy_until = self.probe.map_or(until, |probe| probe + PROBE);
        if now < busy_until { Circuit::Open(busy_until) } else { Circuit::HalfOpen }
    }

    fn broke(&mut self, class: ErrorClass, reason: &str, now: Instant) {
        self.ended(Ended::Badly, now);
        self.failed += 1;
        self.failures_in_a_row = self.failures_in_a_row.saturating_add(1);
        self.last_error = Some(LastError { class, text: reason.chars().take(MOST_ERROR_CHARS).collect() });
    }

    fn ended(&mut self, how: Ended, now: Instant) {
        self.outcomes.push_back((now, how));
        while self.outcomes.len() > MOST_OUTCOMES
            || self.outcomes.front().is_some_and(|(at, _)| now.saturating_duration_since(*at) > WINDOW)
        {
            self.outcomes.pop_front();
        }
    }

    /// How many ended badly in the last minute, and how many ended.
    fn lately(&self, now: Instant) -> (usize, usize) {
        let recent = self.outcomes.iter().filter(|(at, _)| now.saturating_duration_since(*at) <= WINDOW);
        recent.fold((0, 0), |(bad, all), (_, how)| (bad + usize::from(*how == Ended::Badly), all + 1))
    }

    fn is_failing(&self, now: Instant) -> bool {
        let (bad, all) = self.lately(now);
        self.open.is_some() || self.failures_in_a_row >= IN_A_ROW || (all >= ENOUGH && bad * 2 >= all)
    }

    /// Opens the circuit, for longer if it is the probe that failed. What was under way before it opened changes nothing.
    fn open(&mut self, now: Instant) {
        let wait = match self.open {
            None => OPEN_FIRST,
            Some((until, _)) if now < until => return,
            Some((_, before)) => (before * 2).min(OPEN_MOST),
        };
        self.open = Some((now + wait, wait));
        self.probe = None;
    }

    fn listed(&self, target: &Target, now: Instant) -> TargetHealth {
        let (bad, all) = self.lately(now);
        let (circuit, open_seconds) = match self.circuit(now) {
            Circuit::Closed => ("closed", None),
            Circuit::Open(until) => ("open", Some(until.saturating_duration_since(now).as_secs())),
            Circuit::HalfOpen => ("half-open", None),
        };
        TargetHealth {
            target: target.to_string(),
            circuit,
            open_seconds,
            failure_rate: (all > 0).then(|| rate(bad, all)),
            latency_ms: self.latency.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            succeeded: self.succeeded,
            failed: self.failed,
            last_error: self.last_error.clone(),
            heard_seconds_ago: self
                .outcomes
                .back()
                .map(|(at, _)| now.saturating_duration_since(*at).as_secs()),
        }
    }
}

fn rate(bad: usize, all: usize) -> f64 {
    let [bad, all] = [bad, all].map(|number| f64::from(u32::try_from(number).unwrap_or(u32::MAX)));
    bad / all
}
