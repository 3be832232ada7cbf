use std::path::Path;

use rail_model::{Message, Part, PartBody, Role};

use crate::entries::Lines;
use crate::view::view_at;
use crate::walk::{Log, Walk};
use crate::{
    Cause, Compacted, Fork, JournalError, OpenStep, Opened, Partial, Place, Record, Resumed, Running, Said,
    SessionId, Totals, UnixMillis, VERSION, Window, Writer, session_folder,
};

/// Begins a session with the conversation of another: as it is now, or as it was when line `at` was the last.
///
/// The origin stays as it is, and may be in use. What it cost is not counted again.
///
/// # Errors
/// There is no such session or line, it is broken there, or the new one can't be written.
pub fn fork(
    sessions: &Path,
    from: &Path,
    at: Option<u64>,
    now: UnixMillis,
) -> Result<(Writer, Resumed), JournalError> {
    let log = Log::open(from)?;
    let place = match at {
        Some(n) => line_place(from, n)?,
        None => match Walk::from_end(&log, log.whole()?.end).line()? {
            Some(met) => met.place,
            None => return Err(JournalError::Empty { path: log.path }),
        },
    };
    let origin = view_at(&log, place)?;
    let id = SessionId::mint(now).map_err(|error| log.io(error))?;
    let folder = session_folder(sessions, &origin.opened.cwd, &id);
    let opened = Opened {
        version: VERSION,
        id,
        cwd: origin.opened.cwd.clone(),
        model: origin.state.model.clone(),
        parent: Some(Fork { id: origin.opened.id.clone(), at: place }),
        agent_of: None,
    };
    let mut writer = Writer::create(&folder, now, opened)?;
    let begun = fill(&mut writer, now, origin);
    begun.inspect_err(|_| {
        // Half a fork is none; that it could not be removed says nothing new.
        let _ = std::fs::remove_dir_all(&folder);
    })?;
    drop(writer);
    Writer::resume(&folder)
}

/// Brings what the origin had into the new journal.
fn fill(writer: &mut Writer, now: UnixMillis, origin: Resumed) -> Result<(), JournalError> {
    let Resumed { state, head, window, .. } = origin;
    let said = [
        head.map(Record::Prompt),
        state.mode.map(Record::Mode),
        state.sum.title.map(Record::Title),
        state.todos.map(Record::Todos),
        state.findings.map(Record::Findings),
        state.known.map(Record::Known),
    ];
    for record in said.into_iter().flatten() {
        writer.append(now, record)?;
    }
    let Totals { turns, steps, .. } = state.sum.totals;
    // What waits is said once more below, and counted there.
    writer.count_from(turns.saturating_sub(window.queued().len() as u64), steps);
    for record in conversation(&window) {
        writer.append(now, record)?;
    }
    writer.sync()
}

/// The records that make a conversation what it is.
fn conversation(window: &Window) -> Vec<Record> {
    let mut whole = window.messages().to_vec();
    // Calls without results come after what is whole, as they did in the origin.
    let asked = window.open().and_then(|_| whole.iter().rposition(|message| message.role == Role::Assistant));
    let rest = whole.split_off(asked.unwrap_or(whole.len()));
    let mut records = vec![Record::Compacted(Compacted { window: whole, cause: Cause::Forked, by: None })];
    if let Some(OpenStep { step, results, begun, .. }) = window.open().cloned() {
        // Not as messages: what the user said is counted already.
        records.extend(rest.into_iter().map(|message| Record::Told(Said { step, message })));
        // That calls were begun must not be forgotten: they must not run a second time here either.
        records.push(Record::Running(Running { step, calls: begun }));
        let parts = results.into_iter().flatten().map(|result| Part::new(PartBody::ToolResult(result)));
        records.push(Record::Results(Said { step, message: Message::new(Role::Tool, parts.collect()) }));
    }
    if let Some((step, text)) = window.partial() {
        records.push(Record::Partial(Partial { step, text: text.to_owned(), ..Partial::default() }));
    }
    let step = window.last_step();
    let waits = window.queued().iter().cloned();
    records.extend(waits.map(|message| Record::Queued(Said { step, message })));
    records
}

/// The place of a line by its number.
fn line_place(folder: &Path, n: u64) -> Result<Place, JournalError> {
    let log = Log::open(folder)?;
    let end = log.whole()?.end;
    let mut lines = Lines::up_to(log, end)?;
    let mut last = 0;
    while let Some(met) = lines.next().transpose()? {
        last = met.place.n;
        if last == n {
            return Ok(met.place);
        }
    }
    Err(JournalError::NoLine { path: lines.log.path, n, lines: last })
}
