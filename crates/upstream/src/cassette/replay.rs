use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::line::{Content, Exchange};
use super::play::Played;
use super::scrub::Scrub;
use super::{CassetteError, CassetteHead};
use crate::{Body, BoxFuture, Incoming, Outgoing, Transport, TransportError, TransportErrorKind};

/// Which recorded exchange answers a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Matching {
    /// The first unused one of the same request, and no other.
    #[default]
    Same,
    /// The same, or else the next unused one, whatever it was asked.
    InOrder,
}

/// How fast a recording is played.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pace {
    /// Without any wait.
    #[default]
    AtOnce,
    /// With the waits that were measured.
    AsRecorded,
}

/// A transport that answers from a recording, byte for byte. Each exchange is played once.
pub struct Replay {
    path: PathBuf,
    head: CassetteHead,
    exchanges: Vec<Exchange>,
    /// Whether the exchange of that place was played.
    played: Mutex<Vec<bool>>,
    matching: Matching,
    pace: Pace,
}

impl Replay {
    /// Reads the whole cassette.
    pub fn open(path: &Path, matching: Matching, pace: Pace) -> Result<Self, CassetteError> {
        let (head, exchanges) = super::open(path)?;
        let played = Mutex::new(vec![false; exchanges.len()]);
        Ok(Self { path: path.to_owned(), head, exchanges, played, matching, pace })
    }

    /// What the cassette says of itself.
    pub fn head(&self) -> &CassetteHead {
        &self.head
    }

    /// How many exchanges were not played yet.
    pub fn unplayed(&self) -> usize {
        self.played.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(|played| !**played).count()
    }

    async fn answer(&self, call: &Outgoing) -> Result<Incoming, TransportError> {
        let exchange = self.take(&Wanted::new(call))?;
        let Some(answer) = &exchange.response else {
            return Err(exchange
                .end
                .error()
                .unwrap_or_else(|| unsendable("the recording has no answer".to_owned())));
        };
        if self.pace == Pace::AsRecorded {
            tokio::time::sleep(Duration::from_millis(answer.ms)).await;
        }
        let body = Body::new(Played::new(answer, &exchange.end, self.pace));
        Ok(Incoming { status: answer.status, headers: answer.headers.clone(), body })
    }

    fn take(&self, wanted: &Wanted) -> Result<&Exchange, TransportError> {
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let unused =
            || self.exchanges.iter().zip(played.iter()).enumerate().filter(|(_, (_, played))| !**played);
        let same = unused().find(|(_, (exchange, _))| wanted.is(exchange)).map(|(at, _)| at);
        let next = || match self.matching {
            Matching::Same => None,
            Matching::InOrder => unused().next().map(|(at, _)| at),
        };
        let found = same.or_else(next);
        match found.and_then(|at| Some((played.get_mut(at)?, self.exchanges.get(at)?))) {
            Some((used, exchange)) => {
                *used = true;
                Ok(exchange)
            }
            None => Err(self.missing(wanted, &played)),
        }
    }

    fn missing(&self, wanted: &Wanted, played: &[bool]) -> TransportError {
        let Wanted { method, path, .. } = wanted;
        let file = self.path.display();
        let asked = format!("the cassette {file} has no answer left for {method} {path}");
        let nearest = self.exchanges.iter().zip(played).max_by_key(|(exchange, played)| {
            // Of equally near ones the unused, and then the first.
            (wanted.likeness(exchange), !**played, std::cmp::Reverse(exchange.n))
        });
        let problem = match nearest {
            None => format!("{asked}: it is empty; record again"),
            Some((exchange, _)) if wanted.is(exchange) => {
                format!(
                    "{asked}: exchange {} is this request, and was played already; record again",
                    exchange.n
                )
            }
            Some((exchange, _)) => {
                let Exchange { n, .. } = exchange;
                format!(
                    "{asked}: exchange {n} comes nearest, and differs in {}; record again",
                    wanted.difference(exchange)
                )
            }
        };
        unsendable(problem)
    }
}

impl Transport for Replay {
    fn send<'a>(&'a self, call: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        Box::pin(async move { self.answer(&call).await })
    }
}

fn unsendable(problem: String) -> TransportError {
    TransportError { kind: TransportErrorKind::Unsendable, problem }
}

/// A request as a recording would have it.
struct Wanted {
    method: String,
    path: String,
    body: Content,
}

impl Wanted {
    fn new(call: &Outgoing) -> Self {
        let scrub = Scrub::new(call);
        let mut body = call.body.to_vec();
        scrub.mask(&mut body);
        Self { method: call.method.clone(), path: scrub.path(call), body: Content::of(&body) }
    }

    fn is(&self, exchange: &Exchange) -> bool {
        let asked = &exchange.request;
        asked.method == self.method && asked.path == self.path && asked.body == self.body
    }

    /// How much of a recorded request is the same: the address first, then the values of the body.
    fn likeness(&self, exchange: &Exchange) -> (bool, usize) {
        let asked = &exchange.request;
        let same = match (&asked.body, &self.body) {
            (Content::Json(recorded), Content::Json(wanted)) => same_values(recorded, wanted),
            (recorded, wanted) => usize::from(recorded == wanted),
        };
        (asked.method == self.method && asked.path == self.path, same)
    }

    fn difference(&self, exchange: &Exchange) -> String {
        let asked = &exchange.request;
        if (&asked.method, &asked.path) != (&self.method, &self.path) {
            return format!("the address, {} {}", asked.method, asked.path);
        }
        match (&asked.body, &self.body) {
            (Content::Json(recorded), Content::Json(wanted)) => {
                first_difference("$", recorded, wanted).unwrap_or_else(|| "nothing".to_owned())
            }
            (Content::Json(_) | Content::Text(_) | Content::Base64(_), _) => {
                "its body, which is not JSON in both".to_owned()
            }
        }
    }
}

fn same_values(one: &Value, other: &Value) -> usize {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.iter().filter_map(|(key, value)| Some(same_values(value, other.get(key)?))).sum()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.iter().zip(other).map(|(one, other)| same_values(one, other)).sum()
        }
        (one, other) => usize::from(one == other),
    }
}

/// The first place, in the order of the recording, where two bodies are not the same.
fn first_difference(path: &str, recorded: &Value, asked: &Value) -> Option<String> {
    match (recorded, asked) {
        (Value::Object(before), Value::Object(now)) => {
            let inside = before.iter().find_map(|(key, value)| match now.get(key) {
                Some(given) => first_difference(&format!("{path}.{key}"), value, given),
                None => Some(format!("{path}.{key}: recorded {}, asked without it", short(value))),
            });
            let more = || now.iter().find(|(key, _)| !before.contains_key(key.as_str()));
            inside.or_else(|| {
                more()
                    .map(|(key, value)| format!("{path}.{key}: recorded without it, asked {}", short(value)))
            })
        }
        (Value::Array(before), Value::Array(now)) => {
            let inside = before.iter().zip(now).enumerate();
            let inside =
                inside.map(|(at, (one, other))| first_difference(&format!("{path}[{at}]"), one, other));
            inside.flatten().next().or_else(|| {
                let (recorded, asked) = (before.len(), now.len());
                (recorded != asked).then(|| format!("{path}: recorded {recorded} items, asked {asked}"))
            })
        }
        (recorded, asked) if recorded == asked => None,
        (recorded, asked) => Some(format!("{path}: recorded {}, asked {}", short(recorded), short(asked))),
    }
}

fn short(value: &Value) -> String {
    const MOST: usize = 80;
    let text = value.to_string();
    if text.chars().count() <= MOST { text } else { text.chars().take(MOST).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences() {
        let long = "x".repeat(200);
        for (recorded, asked, expected) in [
            (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1}), None),
            (json!({"a": 1.0}), json!({"a": 1}), Some("$.a: recorded 1.0, asked 1")),
            (
                json!({"a": {"b": [1, {"c": "x"}]}}),
                json!({"a": {"b": [1, {"c": "y"}]}}),
                Some(r#"$.a.b[1].c: recorded "x", asked "y""#),
            ),
            (json!({"a": 1}), json!({}), Some("$.a: recorded 1, asked without it")),
            (json!({}), json!({"a": 1}), Some("$.a: recorded without it, asked 1")),
            (json!([1]), json!([1, 2]), Some("$: recorded 1 items, asked 2")),
            (json!("a"), json!(long), Some(&*format!("$: recorded \"a\", asked \"{}…", "x".repeat(79)))),
        ] {
            assert_eq!(first_difference("$", &recorded, &asked).as_deref(), expected);
        }
    }
}
