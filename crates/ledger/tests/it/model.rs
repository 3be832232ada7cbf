//! Any sequence of what can be done with keys, against a simple model.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rail_ledger::{Hold, KeyId, Ledger, Money, Period, Refusal};

use crate::bed::{Bed, DAY, NOON, entry, limited, run};

/// Holds are made before midnight and after it.
const NEARLY_MIDNIGHT: u64 = NOON + DAY / 2 - 20_000;
const BUDGET: i64 = 60;
const PER_MINUTE: u32 = 4;

#[derive(Clone, Debug)]
enum Step {
    Hold { key: usize, gateway: usize, expected: i64 },
    Record { which: usize, gateway: usize, cost: Option<i64> },
    Release { which: usize },
    Revoke { key: usize, gateway: usize },
    Pass { milliseconds: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let (key, gateway, which) = (0..3usize, 0..2usize, any::<usize>());
    prop_oneof![
        30 => (key.clone(), gateway.clone(), 0..50i64).prop_map(|(key, gateway, expected)| Step::Hold { key, gateway, expected }),
        8 => (which, gateway.clone(), prop::option::of(0..80i64)).prop_map(|(which, gateway, cost)| Step::Record { which, gateway, cost }),
        3 => which.prop_map(|which| Step::Release { which }),
        1 => (key, gateway).prop_map(|(key, gateway)| Step::Revoke { key, gateway }),
        8 => prop_oneof![8 => 0..10_000u64, 1 => Just(1_900_000), 1 => Just(13 * 3_600_000)].prop_map(|milliseconds| Step::Pass { milliseconds }),
    ]
}

/// What a key may do, kept in the simplest way: everything that ever happened.
#[derive(Default)]
struct Model {
    revoked: bool,
    /// When each was let through.
    taken: Vec<u64>,
    /// When each came that is held, and how much it holds.
    held: BTreeMap<usize, (u64, i64)>,
    /// When each came that was recorded, and what it cost.
    spent: Vec<(u64, i64)>,
}

#[derive(PartialEq, Eq, Debug)]
enum Said {
    Through,
    Revoked,
    Budget,
    Rate,
}

impl Model {
    fn says(&self, limits: Limits, expected: i64, now: u64) -> Said {
        let today = |at: u64| at / 86_400_000 == now / 86_400_000;
        let spent: i64 = self.spent.iter().filter(|(at, _)| today(*at)).map(|(_, cost)| cost).sum();
        let held = self.held.values().filter(|(at, _)| today(*at) && at + 1_800_000 > now);
        let gone = spent + held.map(|(_, amount)| amount).sum::<i64>();
        // A leaky bucket in thousandths of a request, which loses one each `60_000 / rate` ms.
        let (mut level, mut last) = (0, 0);
        for at in &self.taken {
            level = i64::max(0, level - i64::try_from(at - last).unwrap() * i64::from(PER_MINUTE)) + 60_000;
            last = *at;
        }
        level = i64::max(0, level - i64::try_from(now - last).unwrap() * i64::from(PER_MINUTE));
        match limits {
            _ if self.revoked => Said::Revoked,
            Limits::Budget | Limits::Both if gone >= BUDGET || gone + expected > BUDGET => Said::Budget,
            Limits::Rate | Limits::Both if level + 60_000 > i64::from(PER_MINUTE) * 60_000 => Said::Rate,
            Limits::Budget | Limits::Rate | Limits::Both => Said::Through,
        }
    }
}

#[derive(Clone, Copy)]
enum Limits {
    Budget,
    Rate,
    Both,
}

/// On a file. A server counts rates by its own clock, which knows nothing of the time here.
const KEYS: [Limits; 3] = [Limits::Budget, Limits::Rate, Limits::Both];

struct World {
    limits: [Limits; 3],
    gateways: [Ledger; 2],
    ids: Vec<KeyId>,
    models: Vec<Model>,
    /// Holds on their way: of which key, its number in the model, when it came.
    open: Vec<(usize, usize, u64, Hold)>,
    now: u64,
    number: usize,
}

impl World {
    async fn new(bed: &Bed, tag: usize) -> Self {
        let gateways = [bed.open().await, bed.open().await];
        let limits = match bed {
            Bed::File(_) => KEYS,
            Bed::Postgres(..) => [Limits::Budget; 3],
        };
        let mut ids = Vec::new();
        for (number, limits) in limits.into_iter().enumerate() {
            let budget = (!matches!(limits, Limits::Rate)).then_some((BUDGET, Period::Day));
            let rate = (!matches!(limits, Limits::Budget)).then_some(PER_MINUTE);
            let new = limited(&format!("{tag}-{number}"), rate, budget);
            ids.push(gateways[0].create_key(&new, NOON).await.unwrap().0.id);
        }
        let models = KEYS.map(|_| Model::default()).into();
        Self { limits, gateways, ids, models, open: Vec::new(), now: NEARLY_MIDNIGHT, number: tag * 100_000 }
    }

    async fn step(&mut self, step: Step) {
        let now = self.now;
        match step {
            Step::Pass { milliseconds } => self.now += milliseconds,
            Step::Revoke { key, gateway } => {
                let revoked = self.gateways[gateway].revoke(&self.ids[key].0, now).await.unwrap();
                assert_eq!(revoked.is_some(), !self.models[key].revoked);
                self.models[key].revoked = true;
            }
            Step::Hold { key, gateway, expected } => {
                let held = self.gateways[gateway].hold(&self.ids[key], &["m"], Money(expected), now).await;
                let said = match &held {
                    Ok(_) => Said::Through,
                    Err(Refusal::Revoked { .. }) => Said::Revoked,
                    Err(Refusal::Budget { .. }) => Said::Budget,
                    Err(Refusal::Rate { .. }) => Said::Rate,
                    Err(refusal) => panic!("{refusal}"),
                };
                assert_eq!(said, self.models[key].says(self.limits[key], expected, now));
                if let Ok(hold) = held {
                    self.number += 1;
                    self.models[key].taken.push(now);
                    self.models[key].held.insert(self.number, (now, expected));
                    self.open.push((key, self.number, now, hold));
                }
            }
            Step::Record { which, gateway, cost } => {
                let Some((key, number, came, hold)) = self.take(which) else { return };
                let entry = entry(&format!("{number:09}"), came, Some(&self.ids[key]), cost);
                self.gateways[gateway].record(entry, Some(hold));
                self.gateways[gateway].flush().await.unwrap();
                self.models[key].spent.extend(cost.map(|cost| (came, cost)));
            }
            Step::Release { which } => {
                let Some((_, _, _, hold)) = self.take(which) else { return };
                drop(hold);
                for gateway in &self.gateways {
                    gateway.flush().await.unwrap();
                }
            }
        }
    }

    fn take(&mut self, which: usize) -> Option<(usize, usize, u64, Hold)> {
        let at = which.checked_rem(self.open.len())?;
        let taken = self.open.swap_remove(at);
        self.models[taken.0].held.remove(&taken.1);
        Some(taken)
    }
}

#[test]
fn the_ledger_does_what_the_model_says() {
    for bed in Bed::all() {
        let mut runner =
            TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
        let cases = std::cell::Cell::new(0);
        let ran = runner.run(&prop::collection::vec(step(), 1..80), |steps| {
            cases.set(cases.get() + 1);
            run(async {
                let mut world = World::new(&bed, cases.get()).await;
                for step in steps {
                    world.step(step).await;
                }
            });
            Ok(())
        });
        ran.unwrap();
    }
}
