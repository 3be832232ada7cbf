//! `GET /api/health`: how providers and targets fare. `GET /metrics`: the same in figures.

use http::Response;
use rail_config::KeyShown;
use rail_route::TargetHealth;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::answer;
use crate::Gateway;
use crate::body::Body;
use crate::clock::unix_ms;

/// How targets fare now.
pub(super) fn targets(gateway: &Gateway) -> Vec<TargetHealth> {
    gateway.upstream().health().snapshot(Instant::now().into_std())
}

/// How providers and targets fare, and what was learned of them.
pub(crate) fn health(gateway: &Gateway) -> Response<Body> {
    let loaded = gateway.configuration();
    let now = unix_ms();
    let providers: Vec<Value> = loaded
        .listed_providers(None)
        .into_iter()
        .map(|listed| {
            json!({
                "name": listed.provider.name,
                "protocol": listed.provider.protocol.name(),
                "address": listed.address,
                "active": listed.active,
                "origin": listed.origin,
                "key": match listed.key {
                    KeyShown::None => "none",
                    KeyShown::Hints(_) => "set",
                    KeyShown::InHeader(_) => "in a header",
                },
                "unusable": listed.provider.unusable,
            })
        })
        .collect();
    let targets: Vec<Value> = targets(gateway).iter().map(|target| shown(target, now)).collect();
    let learned = gateway.upstream().learned();
    let lessons: Vec<Value> = learned
        .all()
        .flat_map(|(target, lessons)| lessons.iter().map(move |lesson| (target, lesson)))
        .map(|(target, lesson)| {
            json!({
                "target": target,
                "fix": lesson.fix,
                "text": lesson.fix.to_string(),
                "because": lesson.because,
                "at": lesson.at.saturating_mul(1000),
            })
        })
        .collect();
    answer::json(gateway, &json!({"providers": providers, "targets": targets, "learned": lessons}))
}

fn shown(target: &TargetHealth, now: u64) -> Value {
    let ago = |seconds: u64| now.saturating_sub(seconds.saturating_mul(1000));
    json!({
        "target": target.target,
        "circuit": target.circuit,
        "open_until": target.open_seconds.map(|seconds| now.saturating_add(seconds.saturating_mul(1000))),
        "heard_at": target.heard_seconds_ago.map(ago),
        "failure_rate": target.failure_rate,
        "latency_ms": target.latency_ms,
        "succeeded": target.succeeded,
        "failed": target.failed,
        "last_error": target.last_error,
    })
}

/// All that is counted, as Prometheus reads it.
pub(crate) fn metrics(gateway: &Gateway) -> Response<Body> {
    let text = gateway.observe().metrics(&targets(gateway), gateway.ledger().dropped());
    answer::of_type("text/plain; version=0.0.4; charset=utf-8", text)
}
