//! Commands about the session that goes on.

use std::fmt::Write;

use anyhow::Context;
use rail_edit::diff::{FileDiff, Mark};
use rail_journal::snapshots::{Limits, Snapshots};
use rail_journal::store::Store;
use rail_journal::{Resumed, UnixMillis, project_key};
use rail_proto::{Mode, Todo};

use super::Ground;
use crate::Failure;
use crate::clock::Now;
use crate::sessions::{self, Folders, Format};

pub(super) fn view(ground: &Ground) -> Result<Resumed, Failure> {
    Ok(rail_journal::view(ground.session()?).context("the session can't be read")?)
}

/// Whether the session that goes on is planning.
pub(super) fn is_planning(ground: &Ground) -> Result<bool, Failure> {
    if let Some(live) = &ground.live {
        return Ok(live.mode == Mode::Plan);
    }
    if ground.session().is_err() {
        return Ok(false);
    }
    Ok(view(ground)?.state.mode.as_deref() == Some("plan"))
}

/// The list of what is to be done.
pub(super) fn todo(ground: &Ground) -> Result<String, Failure> {
    let todos = view(ground)?.state.todos.unwrap_or_default();
    let todos: Vec<Todo> = serde_json::from_value(todos).unwrap_or_default();
    if todos.is_empty() {
        return Ok("nothing is on the list\n".to_owned());
    }
    Ok(todos.iter().map(|todo| format!("{todo}\n")).collect())
}

/// What the session took.
pub(super) fn usage(ground: &Ground) -> Result<String, Failure> {
    let session = view(ground)?;
    let totals = session.state.sum.totals;
    let mut out = format!("messages {}\nrequests {}\n", totals.turns, totals.requests);
    let _ = writeln!(
        out,
        "tokens   {} in, {} from a cache, {} written to one, {} out, {} of reasoning",
        totals.input, totals.cache_read, totals.cache_write, totals.output, totals.reasoning
    );
    let _ = writeln!(out, "cost     ${:.4}", totals.cost_usd);
    if totals.unpriced > 0 {
        let _ = writeln!(out, "         without {} requests whose price is not known", totals.unpriced);
    }
    let seconds = session.last_at.0.saturating_sub(session.started.0) / 1000;
    let _ = writeln!(out, "time     {seconds} s from the first line to the last");
    Ok(out)
}

/// The user's messages with their numbers.
pub(super) fn messages(ground: &Ground) -> Result<String, Failure> {
    let turns = rail_journal::turns(ground.session()?).context("the session can't be read")?;
    let lines = turns.iter().enumerate().map(|(at, turn)| format!("{}  {}\n", at + 1, turn.title));
    Ok(lines.collect::<String>() + "`/rewind N [code|conversation|both]` goes back to before message N\n")
}

/// What is said where no files were changed.
pub(crate) const NO_CHANGES: &str = "the session has changed no files\n";

/// What the session has changed in files, as text.
pub(super) fn diff(ground: &Ground) -> Result<String, Failure> {
    let mut out = String::new();
    changes(ground)?.iter().for_each(|file| file_diff(file, &mut out));
    Ok(if out.is_empty() { NO_CHANGES.to_owned() } else { out })
}

/// What the session has changed in files: each step by itself, so that what others changed between them is not shown.
pub(crate) fn changes(ground: &Ground) -> Result<Vec<FileDiff>, Failure> {
    let session = view(ground)?;
    let store = Store::at(ground.prepared.state.join("snapshots").join(project_key(&session.opened.cwd)));
    let snapshots = Snapshots::open(store, &session.opened.cwd, Limits::default());
    let done = session.snapshots.len().saturating_sub(session.undone);
    let mut spans = Vec::new();
    for step in session.snapshots.iter().take(done) {
        let (Ok(before), Ok(after)) = (step.before.parse(), step.after.parse()) else { continue };
        match spans.last_mut() {
            // Nobody came between the two steps, so they are one.
            Some((_, last)) if *last == before => *last = after,
            Some(_) | None => spans.push((before, after)),
        }
    }
    let mut all = Vec::new();
    for (before, after) in spans {
        all.extend(snapshots.diff(before, after).context("the changes can't be read")?);
    }
    Ok(all)
}

fn file_diff(file: &FileDiff, out: &mut String) {
    let path = file.path.display();
    let from = file.moved_from.as_ref().map(|from| format!(", was {}", from.display())).unwrap_or_default();
    let _ = writeln!(out, "{path}  +{} -{}{from}", file.added, file.removed);
    for hunk in &file.hunks {
        let _ = writeln!(out, "@@ -{} +{} @@", hunk.old_start, hunk.new_start);
        for line in &hunk.lines {
            let mark = match line.mark {
                Mark::Same => ' ',
                Mark::Added => '+',
                Mark::Removed => '-',
            };
            let _ = writeln!(out, "{mark}{}", line.text);
        }
    }
}

/// The sessions of this folder, or the places where words stand in them.
pub(super) fn sessions(words: &str, ground: &Ground) -> Result<String, Failure> {
    let (folder, cwd) = (ground.prepared.state.join("sessions"), &ground.prepared.workspace);
    let told = if words.is_empty() {
        let listing = rail_journal::list(&folder, Some(cwd)).context("sessions can't be listed")?;
        sessions::table(&listing, Folders::Same, Now::read().unix)
    } else {
        let found =
            rail_journal::search(&folder, Some(cwd), words, 50).context("sessions can't be searched")?;
        sessions::told(&found.hits)
    };
    let told = if told.is_empty() { format!("`{words}` was not found\n") } else { told };
    Ok(ground.prepared.loaded.mask([]).cover(&told).into_owned())
}

/// A copy of the session.
pub(super) fn fork(ground: &Ground) -> Result<String, Failure> {
    let now = UnixMillis(Now::read().unix.saturating_mul(1000));
    let forked = rail_journal::fork(&ground.prepared.state.join("sessions"), ground.session()?, None, now);
    let (writer, _) = forked.context("the session can't be forked")?;
    let id = writer.folder().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(format!("{id}\n`/resume {id}` or `rail -r {id}` goes on with the copy\n"))
}

/// The session as Markdown or JSON, to a file if one is named.
pub(super) fn export(file: &str, ground: &Ground) -> Result<String, Failure> {
    let place = (!file.is_empty()).then(|| ground.prepared.workspace.join(file));
    let format = Format::of(place.as_deref());
    let text = sessions::exported(ground.session()?, format, &ground.prepared.loaded.mask([]))?;
    let Some(place) = place else { return Ok(text) };
    sessions::write(&place, &text)?;
    Ok(format!("written to {file}\n"))
}
