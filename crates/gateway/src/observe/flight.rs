//! The requests on their way.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rail_model::Json;
use rail_upstream::{Note, Outcome};
use serde::Serialize;

use super::Came;
use super::trace::Context;

/// So many are remembered; the gateway takes fewer at once. Beyond it the oldest is forgotten here, and goes on all the same.
const MOST: usize = 20_000;
/// The most that is kept of what went wrong.
const MOST_BECAUSE: usize = 300;

/// The requests on their way, by id, the oldest first.
#[derive(Default)]
pub(crate) struct Flights(Mutex<BTreeMap<String, Flight>>);

/// A request on its way.
#[derive(Clone)]
pub(crate) struct Flight {
    /// When it came, in Unix milliseconds.
    pub(crate) at: u64,
    pub(crate) protocol: String,
    pub(crate) operation: String,
    pub(crate) state: State,
    /// Its route, once it is decided.
    pub(crate) route: Option<Json>,
    /// The target that was asked last.
    pub(crate) target: Option<String>,
    /// What went wrong there, if it did.
    because: Option<String>,
    /// Whether that target is tried to see if it works again.
    probing: bool,
    /// Its place in a trace, if traces are sent.
    pub(crate) trace: Option<Context>,
}

/// How far a request has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum State {
    /// It is here.
    Came,
    /// Its route is decided.
    Routed,
    /// A target was asked and has not answered yet.
    Sending,
    /// An answer is coming.
    Streaming,
}

/// What a note means for its request and its targets.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Turn {
    /// Nothing but what it says.
    None,
    /// Another target is asked, after this one, for this reason.
    Failover { from: String, because: String },
    /// A target works again.
    Recovered,
}

impl Flights {
    /// A request has come.
    pub(crate) fn came(&self, came: &Came<'_>, trace: Option<Context>) {
        let flight = Flight {
            at: came.at,
            protocol: came.protocol.to_owned(),
            operation: came.operation.to_owned(),
            state: State::Came,
            route: None,
            target: None,
            because: None,
            probing: false,
            trace,
        };
        let mut all = self.all();
        all.insert(came.id.to_owned(), flight);
        if all.len() > MOST {
            all.pop_first();
        }
    }

    /// Its route is decided.
    pub(crate) fn routed(&self, id: &str, route: Json) {
        if let Some(flight) = self.all().get_mut(id) {
            flight.route = Some(route);
            flight.state = State::Routed;
        }
    }

    /// Something happened on its way.
    pub(crate) fn noted(&self, id: &str, note: &Note) -> Turn {
        self.all().get_mut(id).map_or(Turn::None, |flight| flight.noted(note))
    }

    /// It came to its end.
    pub(crate) fn ended(&self, id: &str) -> Option<Flight> {
        self.all().remove(id)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }

    /// The newest, at most so many, the newest first.
    pub(crate) fn newest(&self, most: usize) -> Vec<(String, Flight)> {
        let all = self.all();
        all.iter().rev().take(most).map(|(id, flight)| (id.clone(), flight.clone())).collect()
    }

    /// The one of this id.
    pub(crate) fn get(&self, id: &str) -> Option<Flight> {
        self.all().get(id).cloned()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Flight>> {
        // A panic elsewhere leaves the map whole: each change is one call.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Flight {
    fn noted(&mut self, note: &Note) -> Turn {
        match note {
            Note::Sending { target, .. } => {
                let before = self.target.replace(target.to_string());
                self.state = State::Sending;
                let from = before.filter(|before| Some(before) != self.target.as_ref());
                let because = self.because.take().unwrap_or_default();
                return from.map_or(Turn::None, |from| Turn::Failover { from, because });
            }
            Note::Sent(sent) => match &sent.outcome {
                Outcome::Answered => {
                    self.state = State::Streaming;
                    if std::mem::take(&mut self.probing) {
                        return Turn::Recovered;
                    }
                }
                Outcome::Empty => self.failed("the answer was empty"),
                Outcome::Failed { problem, .. } => self.failed(problem),
                Outcome::Left => {}
            },
            Note::Probing { .. } => self.probing = true,
            Note::Deferred { .. }
            | Note::Retrying { .. }
            | Note::Fixing { .. }
            | Note::Learned { .. }
            | Note::Refused { .. }
            | Note::CircuitOpened { .. }
            | Note::Lost { .. }
            | Note::NotKept { .. } => {}
        }
        Turn::None
    }

    fn failed(&mut self, problem: &str) {
        self.because = Some(problem.chars().take(MOST_BECAUSE).collect());
        self.probing = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::world::{came, failed, sending, sent};

    #[test]
    fn a_request_is_followed_to_its_end() {
        let flights = Flights::default();
        flights.came(&came("1"), None);
        flights.came(&came("2"), None);
        let state = || flights.get("1").map(|flight| (flight.state, flight.target));
        assert_eq!(state(), Some((State::Came, None)));
        flights.routed("1", Json::from(serde_json::json!({"why": "so"})));
        assert_eq!(state(), Some((State::Routed, None)));
        assert_eq!(flights.noted("1", &sending("p,a")), Turn::None);
        assert_eq!(flights.noted("1", &failed("p,a", "HTTP 503")), Turn::None);
        assert_eq!(flights.noted("1", &sending("p,a")), Turn::None, "the same target again is no failover");
        assert_eq!(flights.noted("1", &failed("p,a", "HTTP 500")), Turn::None);
        let turn = Turn::Failover { from: "p,a".to_owned(), because: "HTTP 500".to_owned() };
        assert_eq!(flights.noted("1", &sending("p,b")), turn);
        assert_eq!(flights.noted("1", &sent("p,b", Outcome::Answered)), Turn::None);
        assert_eq!(state(), Some((State::Streaming, Some("p,b".to_owned()))));
        assert_eq!(flights.newest(5).into_iter().map(|(id, _)| id).collect::<Vec<_>>(), ["2", "1"]);
        assert!(flights.ended("1").is_some_and(|flight| flight.route.is_some()));
        assert_eq!((flights.count(), flights.ended("1").is_none()), (1, true));
        assert_eq!(
            flights.noted("1", &sending("p,a")),
            Turn::None,
            "of a request that is over nothing is kept"
        );
    }

    #[test]
    fn a_target_that_is_tried_and_answers_works_again() {
        let flights = Flights::default();
        flights.came(&came("1"), None);
        let target = "p,a".parse().unwrap();
        assert_eq!(flights.noted("1", &Note::Probing { target }), Turn::None);
        assert_eq!(flights.noted("1", &sending("p,a")), Turn::None);
        assert_eq!(flights.noted("1", &sent("p,a", Outcome::Answered)), Turn::Recovered);
        let target = "p,a".parse().unwrap();
        flights.noted("1", &Note::Probing { target });
        flights.noted("1", &failed("p,a", "HTTP 503"));
        flights.noted("1", &sending("p,b"));
        assert_eq!(flights.noted("1", &sent("p,b", Outcome::Answered)), Turn::None, "another one answered");
    }

    #[test]
    fn what_never_ends_fills_no_memory() {
        let flights = Flights::default();
        for at in 0..MOST + 5 {
            flights.came(&came(&format!("{at:09}")), None);
        }
        assert_eq!(flights.count(), MOST);
        assert!(flights.get("000000004").is_none() && flights.get("000000005").is_some());
    }
}
