//! `rail sessions list`.

use anyhow::Context;
use clap::Args;
use rail_journal::{Listing, Summary};
use serde_json::{Value, json};

use super::Kept;
use crate::clock::Now;
use crate::permission::workspace;
use crate::table::{Side, lines};
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct List {
    /// Those of all folders.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self, kept: &Kept) -> Result<(), Failure> {
        let cwd = if self.all { None } else { Some(workspace()?) };
        let listing =
            rail_journal::list(&kept.sessions, cwd.as_deref()).context("sessions can't be listed")?;
        tell_unreadable(&listing);
        if self.json {
            let sessions: Vec<Value> =
                listing.sessions.iter().map(|session| row_json(session, kept)).collect();
            return output::print_json(&Value::Array(sessions));
        }
        if listing.sessions.is_empty() {
            let none = if self.all {
                "there are no sessions yet; `rail -p \"what to do\"` begins one\n"
            } else {
                "there are no sessions of this folder; `--all` shows those of others\n"
            };
            return output::print(none);
        }
        let folders = if self.all { Folders::Shown } else { Folders::Same };
        output::print(&kept.mask.cover(&table(&listing, folders, Now::read().unix)))
    }
}

/// Whether the folder of each session is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folders {
    /// It is.
    Shown,
    /// All have the same.
    Same,
}

/// Sessions as a table; `now` is in seconds.
pub(crate) fn table(listing: &Listing, folders: Folders, now: u64) -> String {
    let mut head = vec!["id", "age", "turns", "cost", "title"];
    let mut sides = vec![Side::Left, Side::Right, Side::Right, Side::Right, Side::Left];
    if folders == Folders::Shown {
        head.insert(4, "folder");
        sides.insert(4, Side::Left);
    }
    let mut rows = vec![head.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for session in &listing.sessions {
        let title = session.title.clone().unwrap_or_else(|| "–".to_owned());
        let mut row = vec![
            session.id.to_string(),
            age(now.saturating_sub(session.last.0 / 1000)),
            session.turns.to_string(),
            format!("${:.4}", session.cost_usd),
            title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(),
        ];
        if folders == Folders::Shown {
            row.insert(4, session.cwd.display().to_string());
        }
        rows.push(row);
    }
    lines(&sides, &rows)
}

pub(super) fn tell_unreadable(listing: &Listing) {
    for (folder, error) in &listing.unreadable {
        output::tell(&format!("warning: {} can't be read: {error}", folder.display()));
    }
}

fn row_json(session: &Summary, kept: &Kept) -> Value {
    json!({
        "id": session.id.as_str(),
        "title": session.title.as_deref().map(|title| kept.mask.cover(title)),
        "cwd": session.cwd.to_string_lossy(),
        "started": session.started.0,
        "last": session.last.0,
        "turns": session.turns,
        "cost_usd": session.cost_usd,
        "parent": session.parent.as_ref().map(|id| id.as_str()),
    })
}

/// How long ago, in the largest unit that fits.
pub(crate) fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn ages_are_told_in_the_largest_unit() {
        let told: Vec<String> = [0, 59, 60, 3599, 3600, 86_399, 86_400, 8_640_000].map(age).to_vec();
        assert_eq!(told, ["0s", "59s", "1m", "59m", "1h", "23h", "1d", "100d"]);
    }
}
