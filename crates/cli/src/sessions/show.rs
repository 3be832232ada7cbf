//! `rail sessions show`.

use anyhow::Context;
use clap::Args;
use rail_journal::{Cause, Resumed, What};
use rail_model::{Message, Role};

use super::part::{Length, part};
use super::{Kept, pick};
use crate::{Failure, output};

#[derive(Args)]
pub(crate) struct Show {
    /// The session, or the beginning of its id.
    #[arg(value_name = "ID")]
    id: String,
    /// All of it: whole results, whole arguments, and what the model thought.
    #[arg(long)]
    verbose: bool,
}

impl Show {
    pub(super) fn run(self, kept: &Kept) -> Result<(), Failure> {
        let folder = pick(&kept.sessions, &self.id)?;
        let session = rail_journal::view(&folder).context("the session can't be read")?;
        let length = if self.verbose { Length::Whole } else { Length::Cut };
        output::print(&kept.mask.cover(&head(&session)))?;
        for shown in rail_journal::messages(&folder).context("the session can't be read")? {
            let shown = shown.context("the session can't be read to its end")?;
            let text = match &shown.what {
                What::Message(message) | What::Told(message) => said(shown.n, message, length),
                What::Compacted { cause, by } => compacted(shown.n, *cause, by.as_deref()),
            };
            output::print(&kept.mask.cover(&text))?;
        }
        Ok(())
    }
}

fn head(session: &Resumed) -> String {
    let opened = &session.opened;
    let sum = &session.state.sum;
    let title = sum.title.as_deref().unwrap_or("a session without a title");
    let mut head = format!("{title}\n  session  {}\n  folder   {}\n", opened.id, opened.cwd.display());
    if !session.state.model.is_empty() {
        head += &format!("  model    {}\n", session.state.model);
    }
    head += &format!("  begun    {}\n", rail_stdx::date(session.started.0 / 1000));
    if let Some(fork) = &opened.parent {
        head += &format!("  from     {}, line {}\n", fork.id, fork.at.n);
    }
    head + &format!("  turns    {}, ${:.4}\n", sum.totals.turns, sum.totals.cost_usd)
}

fn said(n: u64, message: &Message, length: Length) -> String {
    let who = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "results",
    };
    let mut text = format!("\n[{n}] {who}\n");
    message.parts.iter().for_each(|each| part(each, length, &mut text));
    text
}

fn compacted(n: u64, cause: Cause, by: Option<&str>) -> String {
    let why = match cause {
        Cause::Full => "the window was nearly full",
        Cause::Asked => "the user asked for it",
        Cause::Trimmed => "old output was cut away",
        Cause::Forked => "the session was forked",
    };
    let by = by.map(|by| format!(", summary by {by}")).unwrap_or_default();
    format!("\n[{n}] made shorter: {why}{by}\n")
}
