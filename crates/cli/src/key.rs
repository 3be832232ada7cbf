//! `rail key`: the gateway's own keys.

use anyhow::anyhow;
use clap::{ArgAction, Args, Subcommand};
use rail_ledger::{Budget, Key, Moment, NewKey, Rate, Standing};
use rail_stdx::date;
use serde_json::{Value, json};

use crate::clock::Now;
use crate::ledger::with_ledger;
use crate::setup::Common;
use crate::table::{Side, lines};
use crate::{Failure, output};

/// What can be done with keys.
#[derive(Subcommand)]
pub(crate) enum KeyCommand {
    /// Make a key; its secret is shown this once.
    Create(Create),
    /// List the keys: what each may do, what it has spent, and whether it is good.
    List(List),
    /// Take a key back: from the next request on it opens nothing.
    Revoke(Revoke),
}

impl KeyCommand {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        match self {
            Self::Create(create) => create.run(common),
            Self::List(list) => list.run(common),
            Self::Revoke(revoke) => revoke.run(common),
        }
    }
}

#[derive(Args)]
pub(crate) struct Create {
    /// A name of your own for it, such as whose it is.
    name: String,
    /// A model that it may ask for, by name or by a pattern with `*`; may be given again. All if none is given.
    // Of the same id as the flag of all commands, whose place it takes.
    #[arg(id = "model", short, long, value_name = "PATTERN", action = ArgAction::Append)]
    models: Vec<String>,
    /// How many requests it may make in a minute, such as `60/min`.
    #[arg(long, value_name = "N/min")]
    rate: Option<Rate>,
    /// What it may spend in dollars, such as `5/day` or `20/month`; days and months are those of UTC.
    #[arg(long, value_name = "N/day|N/month")]
    budget: Option<Budget>,
    /// When it ends: after a time such as `30d`, or after a day such as `2026-12-31`.
    #[arg(long, value_name = "TIME")]
    expires: Option<Moment>,
    /// It may also see and change what the gateway's own pages show.
    #[arg(long)]
    admin: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl Create {
    fn run(self, common: &Common) -> Result<(), Failure> {
        let Self { name, models, rate, budget, expires, admin, json } = self;
        let now = now();
        let expires = expires.map(|moment| moment.ahead(now));
        let new = NewKey { name, admin, models, rate, budget, expires };
        let (key, secret) = with_ledger(common, async |ledger| ledger.create_key(&new, now).await)?;
        let secret = secret.reveal();
        if json {
            let mut told = key_json(&key);
            if let Value::Object(told) = &mut told {
                told.insert("secret".to_owned(), secret.into());
            }
            return output::print_json(&told);
        }
        output::print(&format!("{secret}\n"))?;
        output::tell(&format!(
            "the key `{}` ({}) is made; keep its secret, which is not shown again",
            key.name, key.id.0
        ));
        Ok(())
    }
}

#[derive(Args)]
pub(crate) struct List {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl List {
    fn run(self, common: &Common) -> Result<(), Failure> {
        let standings = with_ledger(common, async |ledger| ledger.standings(now()).await)?;
        if self.json {
            return output::print_json(&standings.iter().map(standing_json).collect());
        }
        if standings.is_empty() {
            return output::print("there are no keys; make one with `rail key create NAME`\n");
        }
        let mut rows = vec![["name", "id", "models", "limits", "spent", "state"].map(str::to_owned).into()];
        rows.extend(standings.iter().map(row));
        use Side::{Left, Right};
        output::print(&lines(&[Left, Left, Left, Left, Right, Left], &rows))
    }
}

fn row(standing: &Standing) -> Vec<String> {
    let Standing { key, spent, held: _, state } = standing;
    let Key { id, name, models, rate, budget, .. } = key;
    let limits = [rate.map(|rate| rate.to_string()), budget.map(|budget| budget.to_string())];
    let limits: Vec<String> = limits.into_iter().flatten().collect();
    let all = |list: Vec<String>, none: &str| if list.is_empty() { none.to_owned() } else { list.join(", ") };
    let mut state = state.word().to_owned();
    if key.admin {
        state += ", admin";
    }
    if let Some(expires) = key.expires {
        state += &format!(", until {}", date(expires.saturating_sub(1) / 1000));
    }
    vec![
        name.clone(),
        id.0.clone(),
        all(models.clone(), "all"),
        all(limits, "none"),
        spent.to_string(),
        state,
    ]
}

fn key_json(key: &Key) -> Value {
    let Key { id, name, admin, models, rate, budget, created, expires, revoked } = key;
    let budget = budget.map(|budget| json!({"usd": budget.amount.dollars(), "per": budget.per.word()}));
    json!({
        "id": id.0,
        "name": name,
        "admin": admin,
        "models": models,
        "per_minute": rate.map(|rate| rate.per_minute),
        "budget": budget,
        "created": created,
        "expires": expires,
        "revoked": revoked,
    })
}

fn standing_json(standing: &Standing) -> Value {
    let mut told = key_json(&standing.key);
    if let Value::Object(told) = &mut told {
        told.insert("spent_usd".to_owned(), standing.spent.dollars().into());
        told.insert("held_usd".to_owned(), standing.held.dollars().into());
        told.insert("state".to_owned(), standing.state.word().into());
    }
    told
}

#[derive(Args)]
pub(crate) struct Revoke {
    /// The key's name or id.
    #[arg(value_name = "NAME|ID")]
    which: String,
}

impl Revoke {
    fn run(self, common: &Common) -> Result<(), Failure> {
        let which = &self.which;
        match with_ledger(common, async |ledger| ledger.revoke(which, now()).await)? {
            Some(key) => output::print(&format!("the key `{}` ({}) is revoked\n", key.name, key.id.0)),
            None => {
                let problem = format!("there is no key `{which}` that is not revoked; see `rail key list`");
                Err(Failure::Task(anyhow!(problem)))
            }
        }
    }
}

/// Unix milliseconds.
fn now() -> u64 {
    Now::read().unix.saturating_mul(1000)
}
