use std::collections::BTreeMap;
use std::time::Duration;

use rail_stdx::date;

use crate::row::int;
use crate::usage::{Counted, Group, Grouped};
use crate::{By, Figures, Ledger, LedgerError, Point, UsageQuery, UsageRow};

impl Ledger {
    /// What requests used, told apart as asked: days in their order, all else with the dearest first.
    pub async fn usage(&self, query: &UsageQuery) -> Result<Vec<UsageRow>, LedgerError> {
        let UsageQuery { since, until, by } = *query;
        let grouped = self.count(since, until, Group::By(by)).await?;
        let names: BTreeMap<String, String> = match by {
            By::Key => self.keys().await?.into_iter().map(|key| (key.id.0, key.name)).collect(),
            By::Model | By::Day | By::Session | By::Client | By::VirtualModel | By::Provider => {
                BTreeMap::new()
            }
        };
        let row = |(of, figures): (Option<String>, Figures)| {
            let name = of.as_ref().and_then(|of| names.get(of).cloned());
            UsageRow { of, name, figures }
        };
        let mut rows: Vec<UsageRow> = grouped.into_iter().map(row).collect();
        match by {
            By::Day => {
                let number = |row: &UsageRow| row.of.as_ref().and_then(|of| of.parse::<u64>().ok());
                rows.sort_by_key(number);
                for row in &mut rows {
                    row.of = number(row).map(|days| date(days * 86_400));
                }
            }
            By::Model | By::Session | By::Key | By::Client | By::VirtualModel | By::Provider => {
                let rank = |row: &UsageRow| (row.figures.cost, row.figures.requests);
                rows.sort_by(|one, other| rank(other).cmp(&rank(one)).then_with(|| one.of.cmp(&other.of)));
            }
        }
        Ok(rows)
    }

    /// What all requests from one moment to before another used, both in Unix milliseconds.
    pub async fn total(&self, since: u64, until: u64) -> Result<Figures, LedgerError> {
        let all = self.count(since, until, Group::All).await?;
        Ok(all.into_iter().next().map(|(_, figures)| figures).unwrap_or_default())
    }

    /// What requests used from one moment to before another, both in Unix milliseconds, by stretches of this length; one in which
    /// there was none is left out.
    pub async fn series(&self, since: u64, until: u64, bucket: Duration) -> Result<Vec<Point>, LedgerError> {
        let length = u64::try_from(bucket.as_millis()).unwrap_or(u64::MAX).max(1);
        let grouped = self.count(since, until, Group::Stretch(int(length))).await?;
        let point = |(of, figures): (Option<String>, Figures)| {
            let number: u64 = of?.parse().ok()?;
            Some(Point { at: number.saturating_mul(length), figures })
        };
        let mut points: Vec<Point> = grouped.into_iter().filter_map(point).collect();
        points.sort_by_key(|point| point.at);
        Ok(points)
    }

    async fn count(&self, since: u64, until: u64, group: Group) -> Result<Vec<Grouped>, LedgerError> {
        let counted = Counted { since: int(since), until: int(until), group };
        self.ask(async move |store| store.count(counted).await).await
    }
}
