//! Keys: made, known, taken back.

use rail_ledger::{Budget, KeyState, LedgerError, Money, NewKey, Period, Rate, Refusal};
use rail_stdx::Secret;

use crate::bed::{Bed, DAY, NOON, each, entry, key, limited, named};

#[test]
fn a_key_opens_the_door_until_it_is_revoked_by_whomever() {
    each(async |bed: Bed| {
        let (serving, managing) = (bed.open().await, bed.open().await);
        assert!(!serving.has_keys().await.unwrap());
        let new = NewKey {
            name: " ci ".to_owned(),
            admin: true,
            models: vec!["claude-*".to_owned(), "\"odd\"".to_owned()],
            rate: Some(Rate { per_minute: u32::MAX }),
            budget: Some(Budget { amount: Money(5_000_000_000), per: Period::Month }),
            expires: Some(NOON + DAY),
        };
        let (made, secret) = managing.create_key(&new, NOON).await.unwrap();
        assert!(serving.has_keys().await.unwrap());
        assert_eq!((made.name.as_str(), made.created, made.revoked), ("ci", NOON, None));
        assert_eq!(serving.identify(&secret, NOON).await, Ok(made.clone()));
        assert_eq!(managing.keys().await.unwrap(), std::slice::from_ref(&made));

        let wrong = secret.reveal().replace(char::is_numeric, "0");
        let elsewhere = secret.reveal().replacen(&made.id.0, "000000000000", 1);
        for wrong in [wrong.as_str(), &elsewhere, "", "rail_", "sk-ant", &made.id.0, "rail_a\0_b", "rail__"] {
            assert_eq!(serving.identify(&Secret::new(wrong), NOON).await, Err(Refusal::Unknown), "{wrong}");
        }
        let expired = Err(Refusal::Expired { name: "ci".to_owned() });
        assert_eq!(serving.identify(&secret, NOON + DAY).await, expired);

        let revoked = managing.revoke("ci", NOON + 1).await.unwrap().unwrap();
        assert_eq!(revoked.revoked, Some(NOON + 1));
        assert_eq!(serving.identify(&secret, NOON).await, Err(Refusal::Revoked { name: "ci".to_owned() }));
        assert_eq!(serving.revoke("ci", NOON + 2).await.unwrap(), None);
        assert!(serving.has_keys().await.unwrap(), "an open door is not opened by revoking keys");
    });
}

#[test]
fn no_secret_is_kept() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let (made, secret) = ledger.create_key(&named("ci"), NOON).await.unwrap();
        let kept = bed.sql("SELECT id, name, models, length(secret) FROM @keys");
        assert_eq!(kept, format!("{}|ci|[]|32", made.id.0));
        if let Bed::File(folder) = &bed {
            ledger.flush().await.unwrap();
            let hidden = secret.reveal().rsplit('_').next().unwrap();
            for file in std::fs::read_dir(folder.path().join("state")).unwrap() {
                let bytes = std::fs::read(file.unwrap().path()).unwrap();
                assert!(!bytes.windows(hidden.len()).any(|window| window == hidden.as_bytes()));
            }
        }
    });
}

#[test]
fn a_name_is_taken_until_its_key_is_revoked() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let first = key(&ledger, &named("ci")).await;
        let taken = ledger.create_key(&named("ci"), NOON).await.unwrap_err();
        assert!(matches!(&taken, LedgerError::NameTaken { name } if name == "ci"));
        assert_eq!(
            taken.to_string(),
            "there is a key `ci` already; choose another name, or revoke it first: `rail key revoke ci`"
        );
        assert_eq!(ledger.revoke(&first.id.0, NOON).await.unwrap().unwrap().id, first.id);
        let second = key(&ledger, &named("ci")).await;
        // A name that is another key's id means the id.
        let third = key(&ledger, &named(&second.id.0)).await;
        assert_eq!(ledger.revoke(&second.id.0, NOON).await.unwrap().unwrap().id, second.id);
        assert_eq!(ledger.revoke(&second.id.0, NOON).await.unwrap().unwrap().id, third.id);
        assert_eq!(ledger.revoke("nobody", NOON).await.unwrap(), None);
        assert_eq!(ledger.revoke("no\0body", NOON).await.unwrap(), None);
        let ids: Vec<_> = ledger.keys().await.unwrap().into_iter().map(|key| key.id).collect();
        assert_eq!(ids, [first.id, second.id, third.id]);
    });
}

#[test]
fn a_key_that_could_open_nothing_is_not_made() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let wrong = async |new: NewKey| ledger.create_key(&new, NOON).await.unwrap_err().to_string();
        assert_eq!(wrong(named(" ")).await, "`` is no name of a key; write 1 to 64 characters");
        assert_eq!(wrong(named("a\nb")).await, r"`a\nb` is no name of a key; write 1 to 64 characters");
        assert_eq!(
            wrong(NewKey { models: vec![String::new()], ..named("a") }).await,
            "a model has no name; write one, or a pattern such as `claude-*`"
        );
        assert_eq!(
            wrong(limited("a", Some(0), None)).await,
            "a rate of 0 lets nothing through; write one of at least 1 a minute"
        );
        assert_eq!(
            wrong(limited("a", None, Some((0, Period::Day)))).await,
            "a budget of nothing lets nothing through; write one of more than 0"
        );
        assert_eq!(
            wrong(NewKey { expires: Some(NOON), ..named("a") }).await,
            "a key that has expired already opens nothing; write a moment in the future"
        );
        assert!(!ledger.has_keys().await.unwrap());
    });
}

#[test]
fn what_keys_have_used_is_told_by_their_periods() {
    each(async |bed: Bed| {
        let ledger = bed.open().await;
        let now = NOON + 2 * DAY;
        let daily = key(&ledger, &limited("daily", None, Some((100, Period::Day)))).await;
        let monthly = key(&ledger, &limited("monthly", None, Some((100, Period::Month)))).await;
        let free = key(&ledger, &named("free")).await;
        let old = key(&ledger, &NewKey { expires: Some(now), ..named("old") }).await;
        let gone = key(&ledger, &named("gone")).await;
        ledger.revoke("gone", now).await.unwrap();
        for (number, one) in [&daily, &monthly, &free].into_iter().enumerate() {
            ledger.record(entry(&format!("a{number}"), NOON - DAY, Some(&one.id), Some(1000)), None);
            ledger.record(entry(&format!("b{number}"), NOON, Some(&one.id), Some(60)), None);
            ledger.record(entry(&format!("c{number}"), now, Some(&one.id), Some(40)), None);
        }
        let hold = ledger.hold(&daily.id, &[], Money(7), now).await.unwrap();
        ledger.flush().await.unwrap();
        let standings = ledger.standings(now).await.unwrap();
        let told: Vec<_> =
            standings.iter().map(|one| (one.key.id.clone(), one.spent.0, one.held.0, one.state)).collect();
        assert_eq!(
            told,
            [
                (daily.id, 40, 7, KeyState::Active),
                (monthly.id, 100, 0, KeyState::Spent),
                (free.id, 100, 0, KeyState::Active),
                (old.id, 0, 0, KeyState::Expired),
                (gone.id, 0, 0, KeyState::Revoked),
            ]
        );
        drop(hold);
    });
}
