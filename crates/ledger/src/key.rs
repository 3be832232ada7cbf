use std::time::Duration;

use rail_stdx::fits;
use serde::{Deserialize, Serialize};

use crate::Money;

/// The public part of a key, which names it in listings and in the ledger.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(pub String);

/// A key, without its secret.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Key {
    /// Its public part.
    pub id: KeyId,
    /// A name of the user's own.
    pub name: String,
    /// Whether it may look at and change what the gateway shows besides models.
    pub admin: bool,
    /// The models it may ask for, by name or pattern with `*`; all when empty.
    pub models: Vec<String>,
    /// How many requests it may make.
    pub rate: Option<Rate>,
    /// What it may spend.
    pub budget: Option<Budget>,
    /// When it was made, in Unix milliseconds.
    pub created: u64,
    /// When it ends, in Unix milliseconds.
    pub expires: Option<u64>,
    /// When it was revoked, in Unix milliseconds.
    pub revoked: Option<u64>,
}

impl Key {
    /// Whether it may ask for a model by this name.
    pub fn allows(&self, name: &str) -> bool {
        self.models.is_empty() || self.models.iter().any(|pattern| fits(pattern, name))
    }
}

/// A key to be made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NewKey {
    /// A name of the user's own.
    pub name: String,
    /// Whether it may look at and change what the gateway shows besides models.
    pub admin: bool,
    /// The models it may ask for; all when empty.
    pub models: Vec<String>,
    /// How many requests it may make.
    pub rate: Option<Rate>,
    /// What it may spend.
    pub budget: Option<Budget>,
    /// When it ends, in Unix milliseconds.
    pub expires: Option<u64>,
}

/// How many requests a key may make: so many at once after a rest, and as many again in each minute, evenly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rate {
    /// Requests in a minute.
    pub per_minute: u32,
}

/// What a key may spend.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Budget {
    /// So much.
    pub amount: Money,
    /// In each of these; periods begin at midnight UTC.
    pub per: Period,
}

/// How long a budget lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Period {
    /// A day.
    Day,
    /// A month of the calendar.
    Month,
}

impl Period {
    /// The period by its word: `day`, `month`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
        }
    }
}

/// A key with what it has used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Standing {
    /// The key.
    pub key: Key,
    /// What requests cost that came in this period of its budget, or in this month where it has none.
    pub spent: Money,
    /// What requests that came in this period and are on their way are expected to cost.
    pub held: Money,
    /// Whether it opens the door.
    pub state: KeyState,
}

/// Whether a key opens the door.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyState {
    /// It does.
    Active,
    /// Not before the next period: its budget is spent.
    Spent,
    /// Its time is over.
    Expired,
    /// It was taken back.
    Revoked,
}

impl KeyState {
    /// The state by its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Spent => "spent",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// Why a key does not open the door.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// There is no such key, or its secret is wrong; which of the two is not told.
    #[error("this key is not known here; ask whoever runs the gateway for one (`rail key create NAME`)")]
    Unknown,
    /// It was revoked.
    #[error("the key `{name}` was revoked; ask whoever runs the gateway for another")]
    Revoked {
        /// The key's name.
        name: String,
    },
    /// It has expired.
    #[error("the key `{name}` has expired; ask whoever runs the gateway for another")]
    Expired {
        /// The key's name.
        name: String,
    },
    /// It may not ask for this model.
    #[error("the key `{name}` may not use the model `{model}`; it may use: {allowed}")]
    Model {
        /// The key's name.
        name: String,
        /// The model asked for.
        model: String,
        /// What it may ask for.
        allowed: String,
    },
    /// Too many requests for now.
    #[error("the key `{name}` makes more than {per_minute} requests a minute; try again in {} s", wait.as_secs_f64().ceil())]
    Rate {
        /// The key's name.
        name: String,
        /// What it may make.
        per_minute: u32,
        /// When the next one is taken.
        wait: Duration,
    },
    /// Its budget is spent, or not enough of it is left.
    #[error("the key `{name}` {} it begins anew in {} min", too_little(*budget, *per, *left, *expected), wait.as_secs().div_ceil(60))]
    Budget {
        /// The key's name.
        name: String,
        /// The budget.
        budget: Money,
        /// Its period.
        per: Period,
        /// What is neither spent nor held by requests on their way.
        left: Money,
        /// What the request is expected to cost.
        expected: Money,
        /// When the next period begins.
        wait: Duration,
    },
    /// The ledger can't be asked; a door that can't be guarded stays closed.
    #[error("the gateway's ledger does not answer: {problem}; try again")]
    Ledger {
        /// What happened.
        problem: String,
    },
}

fn too_little(budget: Money, per: Period, left: Money, expected: Money) -> String {
    let per = per.word();
    match left {
        Money(1..) => format!(
            "has {left} left of its budget of {budget} for this {per}, requests on their way counted, and this one is expected to cost \
             {expected}; send a smaller one, or wait:"
        ),
        Money(_) => format!("has spent its budget of {budget} for this {per};"),
    }
}
