//! `GET /api/usage` and `GET /api/usage/series`: tokens, cost, latency, failures.

use std::time::Duration;

use http::Response;
use rail_ledger::{By, Figures, Latency, Moment, UsageQuery};
use serde_json::{Map, Value, json};

use super::answer::{self, Wrong};
use super::query::Query;
use crate::Gateway;
use crate::body::Body;
use crate::clock::unix_ms;

/// What is shown when nobody says since when: a week.
const USUAL: u64 = 7 * 24 * HOUR;
/// The most points of a series.
const MOST_POINTS: u64 = 2000;
/// About so many are shown when nobody says how long a step is.
const USUAL_POINTS: u64 = 200;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
/// The steps that are taken when nobody says.
const STEPS: [u64; 7] = [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR, 7 * 24 * HOUR];

const BY: [(&str, By); 7] = [
    ("model", By::Model),
    ("provider", By::Provider),
    ("virtual-model", By::VirtualModel),
    ("day", By::Day),
    ("session", By::Session),
    ("client", By::Client),
    ("key", By::Key),
];

/// Figures by what they are told apart.
pub(crate) async fn usage(gateway: &Gateway, query: &Query) -> Result<Response<Body>, Wrong> {
    let by = query.word("by", &BY)?.unwrap_or(By::Model);
    let (since, until) = stretch(query, unix_ms())?;
    let rows = gateway.ledger().usage(&UsageQuery { since, until, by }).await?;
    let rows: Vec<Value> = rows
        .iter()
        .map(|row| with(&[("of", json!(row.of)), ("name", json!(row.name))], &row.figures))
        .collect();
    let total = gateway.ledger().total(since, until).await?;
    let by = BY.iter().find(|(_, known)| *known == by).map(|(word, _)| *word);
    let page = json!({"since": since, "until": until, "by": by, "rows": rows, "total": with(&[], &total)});
    Ok(answer::json(gateway, &page))
}

/// Figures over time.
pub(crate) async fn series(gateway: &Gateway, query: &Query) -> Result<Response<Body>, Wrong> {
    let (since, until) = stretch(query, unix_ms())?;
    let step = step(query, until - since)?;
    let points = gateway.ledger().series(since, until, Duration::from_millis(step)).await?;
    let points: Vec<Value> =
        points.iter().map(|point| with(&[("at", json!(point.at))], &point.figures)).collect();
    Ok(answer::json(gateway, &json!({"since": since, "until": until, "step_ms": step, "points": points})))
}

/// From when to when, in Unix milliseconds: `7d`, `2026-12-31`, or milliseconds themselves.
fn stretch(query: &Query, now: u64) -> Result<(u64, u64), Wrong> {
    let moment = |name: &str, of: fn(Moment, u64) -> u64| match query.text(name) {
        None => Ok(None),
        Some(text) => match (text.parse::<u64>(), text.parse::<Moment>()) {
            (Ok(ms), _) => Ok(Some(ms)),
            (Err(_), Ok(moment)) => Ok(Some(of(moment, now))),
            (Err(_), Err(error)) => Err(Wrong::query(format!("`{name}`: {error}, or Unix milliseconds"))),
        },
    };
    // What ended in this very millisecond counts.
    let until = moment("until", Moment::until)?.unwrap_or(now + 1);
    let since = moment("since", Moment::since)?.unwrap_or(until.saturating_sub(USUAL));
    match since < until {
        true => Ok((since, until)),
        false => Err(Wrong::query(format!("`since` is {since} and not before `until`, which is {until}"))),
    }
}

/// The length of a step, in milliseconds.
fn step(query: &Query, length: u64) -> Result<u64, Wrong> {
    let points = |step: u64| length.div_ceil(step);
    let Some(text) = query.text("step") else {
        let fits = STEPS.into_iter().find(|step| points(*step) <= USUAL_POINTS);
        return Ok(fits.unwrap_or_else(|| length.div_ceil(USUAL_POINTS).max(1)));
    };
    match text.parse() {
        Ok(Moment::Away(step)) if step > 0 && points(step) <= MOST_POINTS => Ok(step),
        Ok(Moment::Away(step)) if step > 0 => {
            let message =
                format!("steps of `{text}` make {} points; {MOST_POINTS} are shown at most", points(step));
            Err(Wrong::query(message))
        }
        Ok(Moment::Away(_) | Moment::Day(_)) | Err(_) => {
            Err(Wrong::query(format!("`step` is a length of time such as `5m`, `1h` or `1d`, not `{text}`")))
        }
    }
}

/// Figures, behind what they are of.
fn with(before: &[(&str, Value)], figures: &Figures) -> Value {
    let latency = |latency: Latency| json!({"p50": latency.p50, "p95": latency.p95});
    let figures = [
        ("requests", json!(figures.requests)),
        ("failures", json!(figures.failures)),
        ("refused", json!(figures.refused)),
        ("tokens", json!(figures.tokens)),
        ("cost_usd", json!(figures.cost.dollars())),
        ("unpriced", json!(figures.unpriced)),
        ("repaired", json!(figures.repaired)),
        ("first_ms", latency(figures.first_ms)),
        ("total_ms", latency(figures.total_ms)),
    ];
    let all: Map<String, Value> =
        before.iter().cloned().chain(figures).map(|(name, value)| (name.to_owned(), value)).collect();
    Value::Object(all)
}
