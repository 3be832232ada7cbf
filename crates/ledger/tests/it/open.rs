//! Opening: files, versions, several at once.

use std::os::unix::fs::PermissionsExt;

use rail_ledger::{Ledger, Place};
use rail_stdx::Secret;

use crate::bed::{Bed, NOON, each, entry, key, named, run};

async fn problem(place: &Place) -> String {
    Ledger::open(place).await.err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn only_its_owner_reads_a_ledger() {
    run(async {
        let bed = Bed::File(tempfile::tempdir().unwrap());
        let ledger = bed.open().await;
        key(&ledger, &named("ci")).await;
        let Bed::File(folder) = &bed else { unreachable!() };
        let files: Vec<_> =
            std::fs::read_dir(folder.path().join("state")).unwrap().map(|file| file.unwrap()).collect();
        assert_eq!(files.len(), 3, "with its log and its index");
        for file in files {
            assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", file.path());
        }
    });
}

#[test]
fn many_may_open_a_new_ledger_at_once() {
    each(async |bed: Bed| {
        let opening: Vec<_> = (0..8)
            .map(|_| {
                let place = bed.place();
                tokio::spawn(async move { Ledger::open(&place).await.unwrap() })
            })
            .collect();
        let mut all = Vec::new();
        for one in opening {
            all.push(one.await.unwrap());
        }
        for (number, ledger) in all.iter().enumerate() {
            ledger.record(entry(&number.to_string(), NOON, None, None), None);
        }
        drop(all);
        assert_eq!(bed.sql("SELECT count(*) FROM @entries"), "8");
    });
}

#[test]
fn a_ledger_of_a_newer_version_is_not_touched() {
    each(async |bed: Bed| {
        drop(bed.open().await);
        bed.sql(match &bed {
            Bed::File(_) => "PRAGMA user_version = 99",
            Bed::Postgres(..) => "UPDATE @schema SET version = 99",
        });
        let said = problem(&bed.place()).await;
        let end =
            "a newer version of rail has written it (its version is 99, this rail knows 1); update rail";
        assert!(said.ends_with(end), "{said}");
    });
}

#[test]
fn what_can_not_be_opened_is_told() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| Place::File(folder.path().join(name));
        let told = async |place: &Place| problem(place).await.replace(folder.path().to_str().unwrap(), "");
        std::fs::write(
            folder.path().join("text"),
            "no database, but long enough to be taken for one ".repeat(50),
        )
        .unwrap();
        insta::assert_snapshot!(told(&place("text")).await, @"the ledger /text can't be opened: it is no SQLite database; move it away, and a new one is made");
        insta::assert_snapshot!(told(&place("text/ledger.db")).await, @"the ledger /text/ledger.db can't be opened: File exists (os error 17); it must be a file in a folder that can be written");
        std::fs::create_dir(folder.path().join("folder")).unwrap();
        insta::assert_snapshot!(told(&place("folder")).await, @"the ledger /folder can't be opened: Is a directory (os error 21); it must be a file in a folder that can be written");
        let away = Place::Postgres(Secret::new(format!(
            "postgres://u:hidden@{}/rail",
            folder.path().to_str().unwrap().replace('/', "%2F")
        )));
        insta::assert_snapshot!(told(&away).await, @"the ledger postgres://:5432/rail can't be opened: error connecting to server: No such file or directory (os error 2); is the server running, and is its address right?");
        let wrong = Place::Postgres(Secret::new("postgres://u:hidden@host:what/rail"));
        insta::assert_snapshot!(told(&wrong).await, @"the ledger at `gateway.ledger` can't be opened: its address can't be read; write `postgres://user:password@host/name`, with `%40` for an `@` in the password and the like");
    });
}

#[test]
fn an_address_is_known_by_its_scheme() {
    let is_known = |address: &str| Place::at(&Secret::new(address)).is_some();
    assert!(is_known("postgres://host/name") && is_known("postgresql://host/name"));
    assert!(!is_known("mysql://host/name") && !is_known("ledger.db") && !is_known(""));
}
