//! Records: written as they are, found again, forgotten.

use rail_ledger::{Bodies, Ending, Entry, KeyId, Ledger, Money, Place, SentEntry, Tokens};
use rail_model::Json;
use serde_json::json;

use crate::bed::{Bed, NOON, each, entry, run};

fn rich(id: &str) -> Entry {
    Entry {
        id: id.to_owned(),
        at: NOON,
        key: Some(KeyId("k".to_owned())),
        client: "Müller's \"client\"".to_owned(),
        session: Some("s".to_owned()),
        protocol: "gemini".to_owned(),
        operation: "embed".to_owned(),
        stream: false,
        asked: "模型".to_owned(),
        virtual_model: Some("coding".to_owned()),
        route: Some(Json::from(json!({"asked": "模型", "attempts": [{"why": "1.50"}]}))),
        target: Some("two,small,er".to_owned()),
        sent: vec![SentEntry {
            target: "one,big".to_owned(),
            began_ms: 1,
            took_ms: 2,
            status: Some(529),
            outcome: "failed".to_owned(),
            problem: Some("busy".to_owned()),
            possible_charge: true,
        }],
        relayed: true,
        repairs: vec![Json::from(json!({"did": "mended"})), Json::from(json!("x"))],
        losses: vec!["seed".to_owned()],
        tokens: Tokens { input: 1, cache_read: 2, cache_write: 3, output: 4, reasoning: 5 },
        cost: Some(Money(-7)),
        first_ms: None,
        total_ms: 9,
        ending: Ending::Broken,
        status: 502,
        problem: Some("it broke off".to_owned()),
        bodies: Some(Bodies { request: "{}".to_owned(), answer: "…".to_owned() }),
    }
}

#[test]
fn a_record_is_read_as_it_was_written() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let plain =
            Entry { key: None, target: None, ending: Ending::Refused, ..entry("b", NOON, None, None) };
        ledger.record(rich("a"), None);
        ledger.record(plain.clone(), None);
        ledger.flush().await.unwrap();
        assert_eq!(ledger.entry("a").await.unwrap(), Some(rich("a")));
        assert_eq!(ledger.entry("c").await.unwrap(), None);
        assert_eq!(ledger.entry("a\0").await.unwrap(), None);
        let listed = Entry { bodies: None, ..rich("a") };
        assert_eq!(ledger.recent(9, None).await.unwrap(), [plain, listed]);
    });
}

#[test]
fn what_no_database_should_choke_on() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let odd = Entry {
            asked: "a\0b".to_owned(),
            problem: Some("\0".to_owned()),
            at: u64::MAX,
            total_ms: u64::MAX,
            tokens: Tokens { input: u64::MAX, ..Tokens::default() },
            bodies: Some(Bodies { request: "\0".repeat(3), answer: String::new() }),
            ..rich("odd")
        };
        ledger.record(odd, None);
        ledger.record(rich("good"), None);
        ledger.flush().await.unwrap();
        assert_eq!(ledger.dropped(), 0);
        let ids: Vec<String> =
            ledger.recent(9, None).await.unwrap().into_iter().map(|entry| entry.id).collect();
        assert_eq!(ids, ["odd", "good"]);
    });
}

#[test]
fn the_newest_come_first_and_pages_do_not_overlap() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        // Capitals come before small letters here, whatever the language of the database.
        for id in ["a1", "a2", "B3", "a4", "_5"] {
            ledger.record(entry(id, NOON, None, None), None);
        }
        ledger.flush().await.unwrap();
        let page = async |most: usize, before: Option<&str>| -> Vec<String> {
            ledger.recent(most, before).await.unwrap().into_iter().map(|entry| entry.id).collect()
        };
        assert_eq!(page(2, None).await, ["a4", "a2"]);
        assert_eq!(page(2, Some("a2")).await, ["a1", "_5"]);
        assert_eq!(page(2, Some("_5")).await, ["B3"]);
        assert_eq!(page(0, None).await, Vec::<String>::new());
    });
}

#[test]
fn a_record_that_comes_twice_is_spent_once() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let id = KeyId("k".to_owned());
        for _ in 0..2 {
            ledger.record(entry("a", NOON, Some(&id), Some(5)), None);
            ledger.record(entry("a", NOON, Some(&id), Some(5)), None);
            ledger.flush().await.unwrap();
        }
        assert_eq!(bed.sql("SELECT count(*) FROM @entries"), "1");
        assert_eq!(bed.sql("SELECT amount FROM @spent"), "5");
    });
}

#[test]
fn the_last_one_who_leaves_writes_what_is_left() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let clone = ledger.clone();
        for number in 0..1000 {
            ledger.record(entry(&format!("{number:04}"), NOON, None, Some(1)), None);
        }
        drop(ledger);
        drop(clone);
        assert_eq!(bed.sql("SELECT count(*) FROM @entries"), "1000");
    });
}

#[test]
fn a_ledger_in_memory_is_one_for_all_its_clones() {
    run(async {
        let ledger = Ledger::open(&Place::Memory).await.unwrap();
        ledger.record(entry("a", NOON, None, None), None);
        ledger.flush().await.unwrap();
        assert_eq!(ledger.clone().recent(1, None).await.unwrap().len(), 1);
        let (key, secret) = ledger.create_key(&crate::bed::limited("ci", Some(1), None), NOON).await.unwrap();
        assert_eq!(ledger.identify(&secret, NOON).await.unwrap().id, key.id);
        assert!(ledger.hold(&key.id, &[], Money(1), NOON).await.is_ok());
        assert!(ledger.hold(&key.id, &[], Money(1), NOON).await.is_err());
    });
}
