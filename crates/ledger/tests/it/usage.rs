//! Figures.

use std::time::Duration;

use rail_ledger::{By, Ending, Entry, Figures, KeyId, Latency, Ledger, Money, Tokens, UsageQuery};
use rail_model::Json;
use serde_json::json;

use crate::bed::{Bed, DAY, NOON, each, entry, key, named};

async fn filled(bed: &Bed) -> (Ledger, KeyId) {
    let ledger = bed.open().await;
    let id = key(&ledger, &named("ci")).await.id;
    let entries = [
        entry("1", NOON, Some(&id), Some(100)),
        Entry { first_ms: Some(200), total_ms: 3000, ..entry("2", NOON + 1, Some(&id), Some(50)) },
        Entry {
            target: Some("one,small".to_owned()),
            session: Some("s".to_owned()),
            ..entry("3", NOON + DAY, None, None)
        },
        Entry {
            target: None,
            ending: Ending::Refused,
            tokens: Tokens::default(),
            first_ms: None,
            total_ms: 1,
            ..entry("4", NOON + DAY, None, None)
        },
        Entry {
            target: Some("two,big,ger".to_owned()),
            ending: Ending::Broken,
            client: "codex".to_owned(),
            virtual_model: Some("coding".to_owned()),
            repairs: vec![Json::from(json!(1)), Json::from(json!(2))],
            ..entry("5", NOON + DAY + 1, None, Some(7))
        },
        Entry { ending: Ending::Failed, tokens: Tokens::default(), ..entry("6", NOON + 2 * DAY, None, None) },
    ];
    entries.into_iter().for_each(|entry| ledger.record(entry, None));
    ledger.flush().await.unwrap();
    (ledger, id)
}

#[test]
fn told_apart_by_anything() {
    each(async |bed: Bed| {
        let (ledger, id) = filled(&bed).await;
        let of = async |by: By| -> Vec<(Option<String>, u64, i64)> {
            let query = UsageQuery { since: NOON, until: NOON + 2 * DAY, by };
            let rows = ledger.usage(&query).await.unwrap();
            rows.into_iter().map(|row| (row.of, row.figures.requests, row.figures.cost.0)).collect()
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            of(By::Model).await,
            [(some("one,big"), 2, 150), (some("two,big,ger"), 1, 7), (None, 1, 0), (some("one,small"), 1, 0)]
        );
        assert_eq!(of(By::Provider).await, [(some("one"), 3, 150), (some("two"), 1, 7), (None, 1, 0)]);
        assert_eq!(of(By::Day).await, [(some("2026-03-01"), 2, 150), (some("2026-03-02"), 3, 7)]);
        assert_eq!(of(By::Session).await, [(None, 4, 157), (some("s"), 1, 0)]);
        assert_eq!(of(By::Key).await, [(some(&id.0), 2, 150), (None, 3, 7)]);
        assert_eq!(of(By::Client).await, [(some("claude-code"), 4, 150), (some("codex"), 1, 7)]);
        assert_eq!(of(By::VirtualModel).await, [(None, 4, 150), (some("coding"), 1, 7)]);
        let query = UsageQuery { since: 0, until: NOON, by: By::Model };
        assert_eq!(ledger.usage(&query).await.unwrap(), []);
        let query = UsageQuery { since: 0, until: u64::MAX, by: By::Key };
        assert_eq!(ledger.usage(&query).await.unwrap()[0].name.as_deref(), Some("ci"));
    });
}

#[test]
fn all_figures_of_all_requests() {
    each(async |bed: Bed| {
        let (ledger, _) = filled(&bed).await;
        let expected = Figures {
            requests: 6,
            failures: 2,
            refused: 1,
            tokens: Tokens { input: 40, output: 20, ..Tokens::default() },
            cost: Money(157),
            unpriced: 1,
            repaired: 2,
            first_ms: Latency { p50: Some(100), p95: Some(200) },
            total_ms: Latency { p50: Some(1000), p95: Some(3000) },
        };
        assert_eq!(ledger.total(0, u64::MAX).await.unwrap(), expected);
        assert_eq!(ledger.total(0, 1).await.unwrap(), Figures::default());
    });
}

#[test]
fn a_series_leaves_out_what_is_empty() {
    each(async |bed: Bed| {
        let (ledger, _) = filled(&bed).await;
        let hour = Duration::from_secs(3600);
        let points = ledger.series(NOON, NOON + 9 * DAY, hour).await.unwrap();
        let told: Vec<_> = points.iter().map(|point| (point.at, point.figures.requests)).collect();
        assert_eq!(told, [(NOON, 2), (NOON + DAY, 3), (NOON + 2 * DAY, 1)]);
        assert_eq!(points[0].figures.total_ms, Latency { p50: Some(1000), p95: Some(3000) });
        assert_eq!(ledger.series(0, u64::MAX, Duration::ZERO).await.unwrap().len(), 5);
        let expected = json!({
            "at": NOON + 2 * DAY, "requests": 1, "failures": 1, "refused": 0,
            "tokens": {"input": 0, "cache_read": 0, "cache_write": 0, "output": 0, "reasoning": 0},
            "cost": 0, "unpriced": 0, "repaired": 0,
            "first_ms": {"p50": 100, "p95": 100}, "total_ms": {"p50": 1000, "p95": 1000},
        });
        assert_eq!(serde_json::to_value(&points[2]).unwrap(), expected);
    });
}
