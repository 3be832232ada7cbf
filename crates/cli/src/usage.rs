//! `rail usage`: what requests through the gateway used.

use clap::{Args, ValueEnum};
use rail_ledger::{By, Figures, Latency, Moment, UsageQuery, UsageRow};
use rail_stdx::date;
use serde_json::{Value, json};

use crate::clock::Now;
use crate::ledger::with_ledger;
use crate::setup::Common;
use crate::table::{Side, lines};
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Usage {
    /// From when on: so long ago, such as `7d` or `12h`, or from a day on, such as `2026-12-01`.
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: Moment,
    /// Until when: so long ago, or with all of a day; until now if not given.
    #[arg(long, value_name = "TIME")]
    until: Option<Moment>,
    /// By what requests are told apart.
    #[arg(long, value_enum, default_value_t = Kind::Model)]
    by: Kind,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// By what requests are told apart.
#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// The target that answered.
    Model,
    /// The day in UTC.
    Day,
    /// The conversation.
    Session,
    /// The gateway's key.
    Key,
    /// The client.
    Client,
    /// The virtual model.
    #[value(alias = "virtual")]
    VirtualModel,
    /// The provider that answered.
    Provider,
}

impl Kind {
    /// What it is for the ledger, and the word for it.
    fn by(self) -> (By, &'static str) {
        match self {
            Self::Model => (By::Model, "model"),
            Self::Day => (By::Day, "day"),
            Self::Session => (By::Session, "session"),
            Self::Key => (By::Key, "key"),
            Self::Client => (By::Client, "client"),
            Self::VirtualModel => (By::VirtualModel, "virtual-model"),
            Self::Provider => (By::Provider, "provider"),
        }
    }
}

impl Usage {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let now = Now::read().unix.saturating_mul(1000);
        let (by, word) = self.by.by();
        let since = self.since.since(now);
        let until = self.until.map(|moment| moment.until(now));
        // What came in this second counts too.
        let query = UsageQuery { since, until: until.unwrap_or(u64::MAX), by };
        let (rows, total) = with_ledger(common, async |ledger| {
            Ok((ledger.usage(&query).await?, ledger.total(query.since, query.until).await?))
        })?;
        if self.json {
            let rows: Vec<Value> = rows.iter().map(|row| row_json(word, row)).collect();
            let total = figures_json(&total);
            return output::print_json(
                &json!({"since": since, "until": until, "by": word, "rows": rows, "total": total}),
            );
        }
        if rows.is_empty() {
            let since = date(since / 1000);
            let end = until.map(|until| format!(" and until {}", date(until.saturating_sub(1) / 1000)));
            return output::print(&format!(
                "nothing was recorded since {since}{}\n",
                end.unwrap_or_default()
            ));
        }
        output::print(&table(word, &rows, &total))
    }
}

fn row_json(word: &str, row: &UsageRow) -> Value {
    // A field has the name that it has in a request's record.
    let mut told = json!({word.replace('-', "_"): row.of});
    if let (Value::Object(told), Value::Object(figures)) = (&mut told, figures_json(&row.figures)) {
        if let Some(name) = &row.name {
            told.insert("name".to_owned(), name.clone().into());
        }
        told.extend(figures);
    }
    told
}

fn figures_json(figures: &Figures) -> Value {
    let Figures { requests, failures, refused, tokens, cost, unpriced, repaired, first_ms, total_ms } =
        figures;
    json!({
        "requests": requests,
        "failures": failures,
        "refused": refused,
        "tokens": tokens,
        "cost_usd": cost.dollars(),
        "unpriced": unpriced,
        "repaired": repaired,
        "first_ms": first_ms,
        "total_ms": total_ms,
    })
}

const HEAD: [&str; 10] = [
    "requests",
    "failed",
    "refused",
    "input",
    "cached",
    "output",
    "cost",
    "first p50/p95",
    "total p50/p95",
    "repaired",
];

fn table(word: &str, rows: &[UsageRow], total: &Figures) -> String {
    let line = |of: &str, figures: [String; 10]| -> Vec<String> {
        [of.to_owned()].into_iter().chain(figures).collect()
    };
    let mut all = vec![line(&word.replace('-', " "), HEAD.map(str::to_owned))];
    all.extend(rows.iter().map(|row| {
        let of = row.name.as_ref().or(row.of.as_ref()).map_or("–", String::as_str);
        line(of, cells(&row.figures))
    }));
    if rows.len() > 1 {
        all.push(line("total", cells(total)));
    }
    let sides: Vec<Side> = [Side::Left].into_iter().chain(HEAD.map(|_| Side::Right)).collect();
    let mut out = lines(&sides, &all);
    if total.unpriced > 0 {
        let requests = if total.unpriced == 1 { "request is" } else { "requests are" };
        out += &format!("{} {requests} not in the cost: no price of the model is known\n", total.unpriced);
    }
    out
}

fn cells(figures: &Figures) -> [String; 10] {
    let Figures { requests, failures, refused, tokens, cost, unpriced: _, repaired, first_ms, total_ms } =
        figures;
    [
        requests.to_string(),
        failures.to_string(),
        refused.to_string(),
        (tokens.input + tokens.cache_write).to_string(),
        tokens.cache_read.to_string(),
        (tokens.output + tokens.reasoning).to_string(),
        cost.to_string(),
        latency(*first_ms),
        latency(*total_ms),
        repaired.to_string(),
    ]
}

fn latency(latency: Latency) -> String {
    match (latency.p50, latency.p95) {
        (Some(p50), Some(p95)) => format!("{}/{}", time(p50), time(p95)),
        (Some(_) | None, _) => "–".to_owned(),
    }
}

/// Milliseconds, short enough for a column.
fn time(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds}ms"),
        1000..100_000 => format!("{}.{}s", milliseconds / 1000, milliseconds / 100 % 10),
        _ => format!("{}s", milliseconds / 1000),
    }
}
