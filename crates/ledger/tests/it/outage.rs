//! A database that goes away and comes back.

use rail_ledger::{Ledger, LedgerError, Money, Period, Place, Refusal};
use rail_stdx::Secret;
use rail_testkit::Postgres;
use tokio::task::JoinSet;

use crate::bed::{NOON, entry, key, limited, run};

#[test]
fn a_server_that_is_killed_admits_nothing_that_is_not_booked() {
    let Some(server) = Postgres::start_or_skip() else { return };
    run(async {
        let address = server.database().unwrap();
        let ledger = Ledger::open(&Place::Postgres(Secret::new(address.clone()))).await.unwrap();
        let (made, secret) =
            ledger.create_key(&limited("ci", None, Some((1_000_000_000, Period::Day))), NOON).await.unwrap();
        let id = made.id;
        let mut tasks = JoinSet::new();
        for task in 0..8 {
            let (ledger, id) = (ledger.clone(), id.clone());
            tasks.spawn(async move {
                let (mut admitted, mut away) = (0, 0);
                // Until it has seen that the server is away, however long that takes.
                for turn in 0.. {
                    match ledger.hold(&id, &[], Money(3), NOON).await {
                        Ok(hold) => {
                            admitted += 1;
                            let entry = entry(&format!("{task}-{turn:06}"), NOON, Some(&id), Some(2));
                            ledger.record(entry, Some(hold));
                        }
                        Err(Refusal::Ledger { .. }) => away += 1,
                        Err(refusal) => panic!("{refusal}"),
                    }
                    if away == 3 {
                        break;
                    }
                }
                admitted
            });
        }
        // In the middle: some are recorded, most are still to come.
        while server.sql(&address, "SELECT count(*) FROM rail_entries").unwrap() == "0" {}
        let mut trouble = ledger.trouble();
        assert!(ledger.has_keys().await.unwrap());
        assert_eq!((ledger.ping().await.is_ok(), trouble.borrow_and_update().clone()), (true, None));
        server.stop();
        assert!(
            ledger.ping().await.is_err() && ledger.has_keys().await.unwrap(),
            "that there are keys is known for ever"
        );
        let refusal = ledger.identify(&secret, NOON).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Ledger { .. }), "{refusal}");
        ledger.record(entry("while-away", NOON, Some(&id), Some(2)), None);
        assert!(matches!(ledger.flush().await, Err(LedgerError::Failed { .. })));
        assert!(trouble.has_changed().unwrap() && trouble.borrow_and_update().is_some());
        let all = tasks.join_all().await;
        server.restart().unwrap();
        let admitted: u64 = all.into_iter().sum();
        assert!(admitted > 0);
        ledger.identify(&secret, NOON).await.unwrap();
        ledger.hold(&id, &[], Money(1), NOON).await.unwrap();
        while ledger.flush().await.is_err() {}
        assert!(trouble.has_changed().unwrap(), "told once that it works again");
        assert_eq!(*trouble.borrow_and_update(), None);
        let told = server.sql(&address, "SELECT count(*), sum(cost) FROM rail_entries").unwrap();
        let recorded = admitted + 1;
        assert_eq!(told, format!("{recorded}|{}", recorded * 2));
        assert_eq!(
            server.sql(&address, "SELECT amount FROM rail_spent").unwrap(),
            (recorded * 2).to_string()
        );
        assert_eq!(ledger.dropped(), 0);
    });
}

#[test]
fn a_server_that_is_away_at_the_end_keeps_nobody() {
    let Some(server) = Postgres::start_or_skip() else { return };
    run(async {
        let ledger = Ledger::open(&Place::Postgres(Secret::new(server.database().unwrap()))).await.unwrap();
        key(&ledger, &limited("ci", None, None)).await;
        server.stop();
        ledger.record(entry("lost", NOON, None, None), None);
        drop(ledger);
    });
}
