//! Several gateways on one ledger: neither a lost update nor a double spend.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use rail_ledger::{Money, Period, Refusal};
use tokio::task::JoinSet;

use crate::bed::{Bed, NOON, each, entry, key, limited, on_file};

/// How many try at once, on each of two gateways.
const TASKS: usize = 20;
const EACH: usize = 5;

#[test]
fn a_budget_lets_through_exactly_what_the_rule_says() {
    each(async |bed: Bed| {
        // All hold 7 of 500 and none ends: for the 72nd, 3 are left.
        let ledgers = [bed.open().await, bed.open().await];
        let id = key(&ledgers[0], &limited("ci", None, Some((500, Period::Day)))).await.id;
        let mut tasks = JoinSet::new();
        for ledger in ledgers.iter().cycle().take(2 * TASKS) {
            let (ledger, id) = (ledger.clone(), id.clone());
            tasks.spawn(async move {
                let mut held = Vec::new();
                for _ in 0..EACH {
                    match ledger.hold(&id, &[], Money(7), NOON).await {
                        Ok(hold) => held.push(hold),
                        Err(Refusal::Budget { .. }) => {}
                        Err(refusal) => panic!("{refusal}"),
                    }
                }
                held
            });
        }
        let held: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();
        assert_eq!(held.len(), 71);
        assert_eq!(bed.sql("SELECT count(*), sum(amount) FROM @holds"), "71|497");
        for (number, hold) in held.into_iter().enumerate() {
            ledgers[number % 2].record(entry(&format!("{number:03}"), NOON, Some(&id), Some(5)), Some(hold));
        }
        for ledger in &ledgers {
            ledger.flush().await.unwrap();
        }
        assert_eq!(bed.sql("SELECT (SELECT amount FROM @spent), (SELECT count(*) FROM @holds)"), "355|0");
    });
}

#[test]
fn nothing_is_lost_between_holding_and_recording() {
    each(async |bed: Bed| {
        let ledgers = [bed.open().await, bed.open().await];
        let budget = 10_000;
        let id = key(&ledgers[0], &limited("ci", None, Some((budget, Period::Day)))).await.id;
        let (admitted, cost) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicI64::new(0)));
        let mut tasks = JoinSet::new();
        for (task, ledger) in ledgers.iter().cycle().take(2 * TASKS).cloned().enumerate() {
            let (id, admitted, cost) = (id.clone(), Arc::clone(&admitted), Arc::clone(&cost));
            tasks.spawn(async move {
                for turn in 0..EACH * 4 {
                    let Ok(hold) = ledger.hold(&id, &[], Money(100), NOON).await else { continue };
                    // Some cost less than was held, some more, some come to nothing.
                    let spent = [10, 100, 250][(task + turn) % 3];
                    if turn % 5 == 4 {
                        drop(hold);
                        continue;
                    }
                    admitted.fetch_add(1, Ordering::Relaxed);
                    cost.fetch_add(spent, Ordering::Relaxed);
                    ledger.record(
                        entry(&format!("{task:03}-{turn:03}"), NOON, Some(&id), Some(spent)),
                        Some(hold),
                    );
                }
            });
        }
        tasks.join_all().await;
        for ledger in &ledgers {
            ledger.flush().await.unwrap();
        }
        let (admitted, cost) = (admitted.load(Ordering::Relaxed), cost.load(Ordering::Relaxed));
        let told = bed.sql(
            "SELECT (SELECT amount FROM @spent), (SELECT sum(cost) FROM @entries), (SELECT count(*) FROM @entries), (SELECT count(*) FROM @holds)",
        );
        assert_eq!(told, format!("{cost}|{cost}|{admitted}|0"));
        // At most as many are on their way at once as there are tasks, and each costs at most 250.
        assert!(cost < budget + i64::try_from(2 * TASKS).unwrap() * 250, "{cost}");
        // What is left is let through, one by one, and no more.
        let mut number = 0;
        while let Ok(hold) = ledgers[number % 2].hold(&id, &[], Money(100), NOON).await {
            let id = &id;
            ledgers[number % 2]
                .record(entry(&format!("z{number:03}"), NOON, Some(id), Some(100)), Some(hold));
            ledgers[number % 2].flush().await.unwrap();
            number += 1;
        }
        let spent: i64 = bed.sql("SELECT amount FROM @spent").parse().unwrap();
        assert!(spent > budget - 100 && (number == 0 || spent <= budget), "{spent}");
    });
}

#[test]
fn a_rate_lets_through_exactly_its_burst() {
    on_file(async |bed: Bed| {
        let ledgers = [bed.open().await, bed.open().await];
        let id = key(&ledgers[0], &limited("ci", Some(70), None)).await.id;
        for (round, expected) in [(0, 70), (30_000, 35), (30_000, 0), (90_000, 70)] {
            let mut tasks = JoinSet::new();
            for ledger in ledgers.iter().cycle().take(2 * TASKS) {
                let (ledger, id) = (ledger.clone(), id.clone());
                tasks.spawn(async move {
                    let mut admitted = 0;
                    for _ in 0..EACH {
                        admitted += usize::from(ledger.hold(&id, &[], Money(0), NOON + round).await.is_ok());
                    }
                    admitted
                });
            }
            assert_eq!(tasks.join_all().await.into_iter().sum::<usize>(), expected, "{round}");
        }
    });
}

#[test]
fn the_clocks_of_gateways_on_a_server_do_not_decide_rates() {
    each(async |bed: Bed| {
        if let Bed::File(_) = bed {
            return;
        }
        let ledgers = [bed.open().await, bed.open().await];
        // A place comes back after half a minute.
        let id = key(&ledgers[0], &limited("ci", Some(2), None)).await.id;
        for (at, now, through) in
            [(0, NOON + 60_000, true), (1, NOON, true), (0, NOON + 60_000, false), (1, NOON, false)]
        {
            match ledgers[at].hold(&id, &[], Money(0), now).await {
                Ok(_) => assert!(through, "{at}"),
                Err(Refusal::Rate { wait, .. }) => assert!(!through && wait.as_secs() <= 30, "{at} {wait:?}"),
                Err(refusal) => panic!("{refusal}"),
            }
        }
    });
}
