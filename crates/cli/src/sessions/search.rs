//! `rail sessions search`.

use anyhow::Context;
use clap::Args;
use rail_journal::{Hit, Listing};
use serde_json::{Value, json};

use super::Kept;
use super::list::tell_unreadable;
use crate::permission::workspace;
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Search {
    /// What is looked for, whatever its case.
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    /// In the sessions of all folders.
    #[arg(long)]
    all: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// At most so many places.
    #[arg(long, value_name = "N", default_value_t = 50)]
    most: usize,
}

impl Search {
    pub(super) fn run(self, kept: &Kept) -> Result<(), Failure> {
        let cwd = if self.all { None } else { Some(workspace()?) };
        let words = self.words.join(" ");
        let found = rail_journal::search(&kept.sessions, cwd.as_deref(), &words, self.most)
            .context("sessions can't be searched")?;
        tell_unreadable(&Listing { sessions: Vec::new(), unreadable: found.unreadable });
        if self.json {
            let hits: Vec<Value> = found.hits.iter().map(|hit| hit_json(hit, kept)).collect();
            return output::print_json(&Value::Array(hits));
        }
        if found.hits.is_empty() {
            return output::print(&format!("`{words}` was not found\n"));
        }
        output::print(&kept.mask.cover(&told(&found.hits)))
    }
}

/// The places, those of one session under its title.
pub(crate) fn told(hits: &[Hit]) -> String {
    let mut out = String::new();
    let mut last = None;
    for hit in hits {
        if last.replace(&hit.id) != Some(&hit.id) {
            out += &format!("{}  {}\n", hit.id, hit.title.as_deref().unwrap_or("–"));
        }
        if hit.n > 0 {
            out += &format!("  [{}] {}\n", hit.n, hit.excerpt);
        }
    }
    out
}

fn hit_json(hit: &Hit, kept: &Kept) -> Value {
    json!({
        "id": hit.id.as_str(),
        "title": hit.title.as_deref().map(|title| kept.mask.cover(title)),
        "n": hit.n,
        "at": hit.at.0,
        "excerpt": kept.mask.cover(&hit.excerpt),
    })
}
