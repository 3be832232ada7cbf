//! Whether a key lets a request through: pure, so that both databases decide alike.

use std::time::Duration;

use rail_stdx::date;

use crate::{Budget, Key, Money, Period, Rate, Refusal};

/// So long counts what a request holds. Nobody renews it: what a gateway that crashed has left behind is free again after that,
/// and a request that takes longer is only counted when it ends.
pub(crate) const HOLD: Duration = Duration::from_secs(30 * 60);
/// In a minute, in nanoseconds.
const MINUTE: i64 = 60_000_000_000;
const DAY_MS: u64 = 86_400_000;

/// A key as the database has it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Account {
    pub(crate) key: Key,
    /// SHA-256 of its secret.
    pub(crate) hash: Vec<u8>,
    /// When a bucket that was never empty would have room for all its requests, in Unix nanoseconds.
    pub(crate) full_at: i64,
}

/// What of a budget is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Used {
    /// By requests that came in this period and are recorded.
    pub(crate) spent: Money,
    /// By requests that came in this period and are on their way.
    pub(crate) held: Money,
    /// The time by the clock of a database that several gateways share, in Unix milliseconds: theirs may differ, and a rate that one
    /// of them counts ahead of time would be gone for the others.
    pub(crate) clock: Option<u64>,
}

/// What is written when a request is let through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Booking {
    /// The key's new `full_at`.
    pub(crate) full_at: i64,
    /// What the request holds.
    pub(crate) amount: Money,
    /// When it came, in Unix milliseconds.
    pub(crate) at: u64,
    /// When it no longer counts, in Unix milliseconds.
    pub(crate) until: u64,
}

/// Whether there is anything to count.
pub(crate) fn is_limited(key: &Key) -> bool {
    key.rate.is_some() || key.budget.is_some()
}

/// Whether the key is good at this moment.
pub(crate) fn is_good(key: &Key, now: u64) -> Result<(), Refusal> {
    let name = || key.name.clone();
    if key.revoked.is_some() {
        return Err(Refusal::Revoked { name: name() });
    }
    if key.expires.is_some_and(|at| at <= now) {
        return Err(Refusal::Expired { name: name() });
    }
    Ok(())
}

/// Whether the key is good and may ask for a model of these names.
pub(crate) fn admits(key: &Key, names: &[String], now: u64) -> Result<(), Refusal> {
    is_good(key, now)?;
    if key.models.is_empty() || names.iter().any(|name| key.allows(name)) {
        return Ok(());
    }
    let model = names.first().cloned().unwrap_or_default();
    Err(Refusal::Model { name: key.name.clone(), model, allowed: key.models.join(", ") })
}

/// Whether rate and budget let one more request through; if so, what is to be written. What is used says by which clock rates go.
pub(crate) fn book(account: &Account, used: Used, expected: Money, now: u64) -> Result<Booking, Refusal> {
    let key = &account.key;
    let expected = Money(expected.0.max(0));
    if let Some(Budget { amount, per }) = key.budget {
        let left = Money(amount.0.saturating_sub(used.spent.0.saturating_add(used.held.0)));
        // What costs nothing is not let through either when nothing is left: what it costs may turn out to be more.
        if left.0 <= 0 || expected > left {
            let wait = Duration::from_millis(next_period(per, now).saturating_sub(now));
            let (name, budget) = (key.name.clone(), amount);
            return Err(Refusal::Budget { name, budget, per, left, expected, wait });
        }
    }
    let full_at = match key.rate {
        Some(rate) => counted(rate, account.full_at, used.clock.unwrap_or(now))
            .map_err(|wait| Refusal::Rate { name: key.name.clone(), per_minute: rate.per_minute, wait })?,
        None => account.full_at,
    };
    let until = now.saturating_add(u64::try_from(HOLD.as_millis()).unwrap_or(u64::MAX));
    Ok(Booking { full_at, amount: expected, at: now, until })
}

/// Counts one request against a rate: the new `full_at`, or how long to wait.
fn counted(rate: Rate, full_at: i64, now: u64) -> Result<i64, Duration> {
    let now = i64::try_from(now).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    let Some(each) = MINUTE.checked_div(i64::from(rate.per_minute)) else {
        return Err(Duration::from_secs(60));
    };
    // A request takes one place, and places come back one by one; all of them are back after a minute.
    let full_at = full_at.max(now).saturating_add(each);
    match u64::try_from(full_at.saturating_sub(now).saturating_sub(MINUTE)) {
        Ok(wait @ 1..) => Err(Duration::from_nanos(wait)),
        Ok(0) | Err(_) => Ok(full_at),
    }
}

/// The day of a moment: days since 1970.
pub(crate) fn day(at: u64) -> i64 {
    i64::try_from(at / DAY_MS).unwrap_or(i64::MAX)
}

/// The first day of the period that a moment is in.
pub(crate) fn first_day(per: Period, at: u64) -> i64 {
    match per {
        Period::Day => day(at),
        Period::Month => day(at) - day_of_month(at / DAY_MS) + 1,
    }
}

/// When the next period begins, in Unix milliseconds.
fn next_period(per: Period, at: u64) -> u64 {
    let today = at / DAY_MS;
    let days = match per {
        Period::Day => 1,
        Period::Month => (1..=31).find(|days| day_of_month(today + days) == 1).unwrap_or(31),
    };
    (today + days).saturating_mul(DAY_MS)
}

fn day_of_month(day: u64) -> i64 {
    let date = date(day.saturating_mul(DAY_MS / 1000));
    date.rsplit('-').next().and_then(|day| day.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::KeyId;

    const NOON: u64 = 1_772_366_400_000; // 2026-03-01T12:00:00Z

    fn account(rate: Option<u32>, budget: Option<(i64, Period)>) -> Account {
        let key = Key {
            id: KeyId("k".to_owned()),
            name: "ci".to_owned(),
            admin: false,
            models: vec!["claude-*".to_owned(), "gpt-5".to_owned()],
            rate: rate.map(|per_minute| Rate { per_minute }),
            budget: budget.map(|(amount, per)| Budget { amount: Money(amount), per }),
            created: 0,
            expires: None,
            revoked: None,
        };
        Account { key, hash: Vec::new(), full_at: 0 }
    }

    #[test]
    fn a_key_is_good_until_it_ends() {
        let mut key = account(None, None).key;
        key.expires = Some(NOON);
        assert_eq!(is_good(&key, NOON - 1), Ok(()));
        assert_eq!(is_good(&key, NOON), Err(Refusal::Expired { name: "ci".to_owned() }));
        key.revoked = Some(1);
        assert_eq!(is_good(&key, 0), Err(Refusal::Revoked { name: "ci".to_owned() }));
    }

    #[test]
    fn models_by_any_of_their_names() {
        let key = account(None, None).key;
        let said = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            admits(&key, &names, 0).map_err(|refusal| refusal.to_string())
        };
        assert_eq!(said(&["claude-opus"]), Ok(()));
        assert_eq!(said(&["coding", "openai,gpt-5", "gpt-5"]), Ok(()));
        assert_eq!(
            said(&["gpt-5-mini", "openai,gpt-5-mini"]),
            Err("the key `ci` may not use the model `gpt-5-mini`; it may use: claude-*, gpt-5".to_owned())
        );
        assert!(said(&[]).is_err());
    }

    #[test]
    fn a_budget_is_never_reached_by_what_is_expected() {
        let used = |spent, held| Used { spent: Money(spent), held: Money(held), clock: None };
        let day = account(None, Some((100, Period::Day)));
        let booking = |used| book(&day, used, Money(7), NOON);
        let expected = Booking { full_at: 0, amount: Money(7), at: NOON, until: NOON + 1_800_000 };
        assert_eq!(booking(used(60, 33)), Ok(expected));
        let said = |refused: Result<Booking, Refusal>| refused.unwrap_err().to_string();
        assert!(booking(used(60, 34)).is_err());
        let cents = |cents: i64| Money(cents * 10_000_000);
        let day = account(None, Some((cents(100).0, Period::Day)));
        let refused = |spent| said(book(&day, Used { spent, held: cents(40), clock: None }, cents(7), NOON));
        insta::assert_snapshot!(refused(cents(54)), @"the key `ci` has $0.0600 left of its budget of $1.0000 for this day, requests on their way counted, and this one is expected to cost $0.0700; send a smaller one, or wait: it begins anew in 720 min");
        insta::assert_snapshot!(refused(cents(60)), @"the key `ci` has spent its budget of $1.0000 for this day; it begins anew in 720 min");
        assert_eq!(refused(Money(i64::MAX)), refused(cents(60)));
        let month = account(None, Some((cents(100).0, Period::Month)));
        let refused = book(&month, Used { spent: cents(100), ..Used::default() }, cents(0), NOON);
        insta::assert_snapshot!(said(refused), @"the key `ci` has spent its budget of $1.0000 for this month; it begins anew in 43920 min");
        let never = account(None, Some((0, Period::Day)));
        assert!(book(&never, Used::default(), Money(0), NOON).is_err());
    }

    #[test]
    fn a_rate_takes_its_burst_and_then_as_many_a_minute() {
        let mut account = account(Some(3), None);
        let mut take = |now: u64| {
            let booked = book(&account, Used::default(), Money(0), now);
            account.full_at = booked.as_ref().map_or(account.full_at, |booking| booking.full_at);
            booked.map_err(|refusal| match refusal {
                Refusal::Rate { wait, .. } => wait.as_millis(),
                other => panic!("{other}"),
            })
        };
        for _ in 0..3 {
            assert!(take(NOON).is_ok());
        }
        assert_eq!(take(NOON), Err(20_000));
        assert_eq!(take(NOON + 19_999), Err(1));
        assert!(take(NOON + 20_000).is_ok());
        assert_eq!(take(NOON + 20_000), Err(20_000));
        // A clock that went back gives no place twice.
        assert_eq!(take(NOON), Err(40_000));
        assert!(take(NOON + 120_000).is_ok());
    }

    #[test]
    fn no_rate_at_all_is_never() {
        assert!(matches!(counted(Rate { per_minute: 0 }, 0, NOON), Err(wait) if wait.as_secs() == 60));
    }

    #[test]
    fn periods_begin_at_midnight_and_on_the_first() {
        let day = DAY_MS;
        for (at, first_of_month, next) in [
            (0, 0, 31),
            (30 * day, 0, 31),
            (31 * day, 31, 59),
            (59 * day - 1, 31, 59),
            (NOON, i64::try_from(NOON / day).unwrap(), 20_544),
        ] {
            assert_eq!(first_day(Period::Month, at), first_of_month, "{at}");
            assert_eq!(next_period(Period::Month, at), next * day, "{at}");
            assert_eq!(next_period(Period::Day, at), (at / day + 1) * day);
        }
    }

    proptest! {
        #[test]
        fn no_minute_has_more_than_twice_the_rate(per_minute in 1u32..50, steps in prop::collection::vec(0u64..4000, 1..200)) {
            let (mut account, mut now, mut taken) = (account(Some(per_minute), None), NOON, Vec::new());
            for step in steps {
                now += step;
                if let Ok(booking) = book(&account, Used::default(), Money(0), now) {
                    account.full_at = booking.full_at;
                    taken.push(now);
                }
            }
            for at in &taken {
                let within = taken.iter().filter(|other| *other >= at && **other < at + 60_000).count();
                prop_assert!(within <= 2 * per_minute as usize);
            }
        }

        #[test]
        fn any_moment_has_its_period(at: u64, full_at: i64, per_minute: u32) {
            for per in [Period::Day, Period::Month] {
                prop_assert!(first_day(per, at) <= day(at));
                let _ = next_period(per, at);
            }
            let _ = counted(Rate { per_minute }, full_at, at);
        }
    }
}
