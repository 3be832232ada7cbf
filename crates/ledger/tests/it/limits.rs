//! Rates and budgets of one gateway.

use std::time::Duration;

use rail_ledger::{Money, NewKey, Period, Refusal};

use crate::bed::{Bed, DAY, NOON, each, entry, key, limited, named, on_file};

const HALF_AN_HOUR: u64 = 1_800_000;

fn gone(refusal: Result<rail_ledger::Hold, Refusal>) -> bool {
    matches!(refusal, Err(Refusal::Budget { .. }))
}

#[test]
fn a_budget_counts_what_is_held_and_what_was_spent() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let id = key(&ledger, &limited("ci", None, Some((100, Period::Day)))).await.id;
        let first = ledger.hold(&id, &[], Money(60), NOON).await.unwrap();
        assert!(gone(ledger.hold(&id, &[], Money(41), NOON).await));
        let second = ledger.hold(&id, &[], Money(35), NOON).await.unwrap();
        let refusal = ledger.hold(&id, &[], Money(6), NOON).await.unwrap_err();
        let expected = Refusal::Budget {
            name: "ci".to_owned(),
            budget: Money(100),
            per: Period::Day,
            left: Money(5),
            expected: Money(6),
            wait: Duration::from_secs(12 * 3600),
        };
        assert_eq!(refusal, expected);
        // The one cost more than expected, the other came to nothing.
        ledger.record(entry("a", NOON, Some(&id), Some(99)), Some(first));
        drop(second);
        ledger.flush().await.unwrap();
        let third = ledger.hold(&id, &[], Money(1), NOON).await.unwrap();
        assert!(gone(ledger.hold(&id, &[], Money(0), NOON).await));
        // It cost nothing that is known.
        ledger.record(entry("b", NOON, Some(&id), None), Some(third));
        ledger.flush().await.unwrap();
        let fourth = ledger.hold(&id, &[], Money(1), NOON).await.unwrap();
        ledger.record(entry("c", NOON, Some(&id), Some(1)), Some(fourth));
        ledger.flush().await.unwrap();
        assert!(gone(ledger.hold(&id, &[], Money(1), NOON).await));
        assert_eq!(bed.sql("SELECT amount FROM @spent"), "100");
        assert_eq!(bed.sql("SELECT count(*) FROM @holds"), "0");
    });
}

#[test]
fn what_is_spent_counts_in_the_period_in_which_the_request_came() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let id = key(&ledger, &limited("ci", None, Some((100, Period::Day)))).await.id;
        let late = NOON + DAY / 2 - 1;
        let hold = ledger.hold(&id, &[], Money(100), late).await.unwrap();
        assert!(gone(ledger.hold(&id, &[], Money(1), late).await));
        // The next day has a budget of its own; what came yesterday does not count there, held or spent.
        let next = ledger.hold(&id, &[], Money(1), late + 1).await.unwrap();
        ledger.record(entry("a", late, Some(&id), Some(100)), Some(hold));
        ledger.flush().await.unwrap();
        assert!(gone(ledger.hold(&id, &[], Money(1), late).await));
        ledger.record(entry("b", late + 1, Some(&id), Some(99)), Some(next));
        ledger.flush().await.unwrap();
        drop(ledger.hold(&id, &[], Money(1), late + 1).await.unwrap());
        let spent = bed.sql("SELECT day, amount FROM @spent ORDER BY day");
        let today = NOON / DAY;
        assert_eq!(spent, format!("{today}|100\n{}|99", today + 1));
    });
}

#[test]
fn a_month_counts_all_its_days() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let id = key(&ledger, &limited("ci", None, Some((100, Period::Month)))).await.id;
        ledger.record(entry("a", NOON - DAY, Some(&id), Some(1000)), None);
        ledger.record(entry("b", NOON, Some(&id), Some(50)), None);
        ledger.record(entry("c", NOON + 20 * DAY, Some(&id), Some(50)), None);
        ledger.flush().await.unwrap();
        assert!(gone(ledger.hold(&id, &[], Money(1), NOON + 30 * DAY).await));
        drop(ledger.hold(&id, &[], Money(1), NOON + 31 * DAY).await.unwrap());
    });
}

#[test]
fn what_a_crash_left_behind_runs_out() {
    each(async |bed: Bed| {
        let crashed = bed.open().await;
        let id = key(&crashed, &limited("ci", None, Some((100, Period::Day)))).await.id;
        std::mem::forget(crashed.hold(&id, &[], Money(100), NOON).await.unwrap());
        drop(crashed);
        let ledger = bed.open().await;
        assert!(gone(ledger.hold(&id, &[], Money(1), NOON + HALF_AN_HOUR - 1).await));
        let hold = ledger.hold(&id, &[], Money(1), NOON + HALF_AN_HOUR).await.unwrap();
        assert_eq!(bed.sql("SELECT amount FROM @holds"), "1", "what has run out is swept away");
        drop(hold);
    });
}

#[test]
fn a_hold_that_nobody_settles_is_given_back() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let id = key(&ledger, &limited("ci", None, Some((1, Period::Day)))).await.id;
        for _ in 0..3 {
            drop(ledger.hold(&id, &[], Money(1), NOON).await.unwrap());
            ledger.flush().await.unwrap();
        }
        // A client that leaves while its hold is booked: whichever comes first, nothing stays behind.
        for wait in 0..20 {
            let hold = ledger.hold(&id, &[], Money(1), NOON);
            let _ = tokio::time::timeout(Duration::from_micros(wait * 20), hold).await;
        }
        for _ in 0..200 {
            ledger.flush().await.unwrap();
            if bed.sql("SELECT count(*) FROM @holds") == "0" {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("a hold is left: {}", bed.sql("SELECT count(*) FROM @holds"));
    });
}

#[test]
fn a_rate_is_shared_by_all_who_open_the_ledger() {
    on_file(async |bed: Bed| {
        let (one, other) = (bed.open().await, bed.open().await);
        let id = key(&one, &limited("ci", Some(3), None)).await.id;
        for ledger in [&one, &other, &one] {
            drop(ledger.hold(&id, &[], Money(0), NOON).await.unwrap());
        }
        let wait = async |now: u64| match other.hold(&id, &[], Money(0), now).await {
            Ok(_) => None,
            Err(Refusal::Rate { wait, per_minute: 3, .. }) => Some(wait.as_millis()),
            Err(refusal) => panic!("{refusal}"),
        };
        assert_eq!(wait(NOON).await, Some(20_000));
        assert_eq!(wait(NOON + 20_000).await, None);
        assert_eq!(wait(NOON + 20_000).await, Some(20_000));
    });
}

#[test]
fn neither_limit_is_counted_when_the_other_refuses() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let id = key(&ledger, &limited("ci", Some(1), Some((100, Period::Day)))).await.id;
        drop(ledger.hold(&id, &[], Money(1), NOON).await.unwrap());
        assert!(matches!(ledger.hold(&id, &[], Money(1), NOON).await, Err(Refusal::Rate { .. })));
        ledger.flush().await.unwrap();
        assert_eq!(bed.sql("SELECT count(*) FROM @holds"), "0");
        let full_at = bed.sql("SELECT full_at FROM @keys");
        ledger.record(entry("a", NOON, Some(&id), Some(100)), None);
        ledger.flush().await.unwrap();
        assert!(gone(ledger.hold(&id, &[], Money(1), NOON).await));
        assert_eq!(bed.sql("SELECT full_at FROM @keys"), full_at);
    });
}

#[test]
fn a_key_is_looked_at_again_when_it_holds() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let models = vec!["claude-*".to_owned()];
        let free = key(&ledger, &NewKey { models: models.clone(), ..named("free") }).await;
        let limited = key(&ledger, &NewKey { models, ..limited("limited", Some(9), None) }).await;
        for one in [&free, &limited] {
            drop(ledger.hold(&one.id, &["alias", "claude-x"], Money(1), NOON).await.unwrap());
            let refusal = ledger.hold(&one.id, &["gpt-5"], Money(1), NOON).await.unwrap_err();
            assert!(matches!(refusal, Refusal::Model { .. }), "{refusal}");
            ledger.revoke(&one.id.0, NOON).await.unwrap();
            let refusal = ledger.hold(&one.id, &["claude-x"], Money(1), NOON).await.unwrap_err();
            assert_eq!(refusal, Refusal::Revoked { name: one.name.clone() });
        }
        let unknown = rail_ledger::KeyId("nobody".to_owned());
        assert_eq!(ledger.hold(&unknown, &[], Money(1), NOON).await.unwrap_err(), Refusal::Unknown);
        ledger.flush().await.unwrap();
        assert_eq!(bed.sql("SELECT count(*) FROM @holds"), "0");
    });
}
