use std::path::{Path, PathBuf};

use rail_model::Message;

use crate::walk::{Log, Walk};
use crate::{
    Compacted, JournalError, Opened, Place, Prompt, Record, Rewound, Snapshot, State, UnixMillis, Way,
    Window, Wrong,
};

/// A session as its journal has it: all that is needed to go on.
#[derive(Clone, PartialEq, Debug)]
pub struct Resumed {
    /// How it began.
    pub opened: Opened,
    /// When it began.
    pub started: UnixMillis,
    /// The conversation that is sent, besides the head.
    pub window: Window,
    /// The head of requests, if one was written.
    pub head: Option<Prompt>,
    /// Mode, model, title, todos and figures.
    pub state: State,
    /// The snapshots of the steps in the conversation, oldest first, as far up as was read.
    pub snapshots: Vec<Snapshot>,
    /// How many of the last of them are undone: their changes of files were taken back.
    pub undone: usize,
    /// Where a redo goes, if the last thing that happened to the conversation was that something was taken back.
    pub redo: Option<Place>,
    /// The last line.
    pub last: Place,
    /// When the last line was written.
    pub last_at: UnixMillis,
    /// What stood behind the last whole line.
    pub torn: Option<Torn>,
    /// How many bytes of the journal were read for this.
    pub read: u64,
}

/// A last line that was being written when the process or the machine ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Torn {
    /// Where it begins.
    pub from: u64,
    /// How many bytes of it there were.
    pub bytes: u64,
    /// The file it was moved to, once it was.
    pub kept: Option<PathBuf>,
}

/// Reads a session without changing anything: from the end to where the conversation that counts begins.
///
/// Time and memory depend on that conversation, not on the length of the file. What was read is proved by its hashes.
///
/// # Errors
/// There is no journal, or what was read of it is not what was written.
pub fn view(folder: &Path) -> Result<Resumed, JournalError> {
    let log = Log::open(folder)?;
    let whole = log.whole()?;
    let walk = Walk::from_end(&log, whole.end);
    let mut resumed = resumed(&log, walk)?;
    resumed.torn = whole.torn;
    resumed.read += whole.read;
    Ok(resumed)
}

/// The session as it was when the line of a place was the last.
pub(crate) fn view_at(log: &Log, place: Place) -> Result<Resumed, JournalError> {
    resumed(log, Walk::from_place(log, place))
}

fn resumed(log: &Log, mut walk: Walk<'_>) -> Result<Resumed, JournalError> {
    let gathered = gather(log, &mut walk)?;
    let Some((last, last_at)) = gathered.last else {
        return Err(JournalError::Empty { path: log.path.clone() });
    };
    let (opened, started, first) = log.opened()?;
    let mut state = gathered.state.unwrap_or_default();
    let mut window = gathered.window;
    let mut snapshots = Vec::new();
    let mut undone = 0;
    for Live { record, place, counts } in gathered.live.into_iter().rev() {
        if counts {
            state.apply(&record, place);
        }
        window.apply(&record);
        if let Some(count) = undone_by(&record) {
            undone = count.min(snapshots.len());
        }
        if let Record::Snapshot(snapshot) = record {
            // What was undone before a new step can't be done again.
            snapshots.truncate(snapshots.len() - undone);
            undone = 0;
            // What agents changed is told while their step goes on: the last word on it counts.
            let again = |last: &Snapshot| (last.step, &last.before) == (snapshot.step, &snapshot.before);
            if snapshots.last().is_some_and(again) {
                snapshots.pop();
            }
            snapshots.push(snapshot);
        }
    }
    window.count_from(state.sum.totals.steps);
    let (head, head_read) = head(log, &state, last)?;
    let read = walk.read() + first + head_read + gathered.read;
    let redo = gathered.redo;
    Ok(Resumed {
        opened,
        started,
        window,
        head,
        state,
        snapshots,
        undone,
        redo,
        last,
        last_at,
        torn: None,
        read,
    })
}

/// How many of the last steps are undone from this record on, if it says so.
fn undone_by(record: &Record) -> Option<usize> {
    let Record::Note(note) = record else { return None };
    let count = (note.about == UNDONE).then(|| note.value.as_u64())??;
    usize::try_from(count).ok()
}

/// What the note is about that says how many of the last steps with changes of files are undone.
pub const UNDONE: &str = "undone";

/// The head of requests, which may stand far above the conversation.
fn head(log: &Log, state: &State, last: Place) -> Result<(Option<Prompt>, u64), JournalError> {
    let Some(place) = state.head else { return Ok((None, 0)) };
    match record_at(log, place, last)? {
        (Record::Prompt(prompt), _, read) => Ok((Some(prompt), read)),
        (other, from, _) => {
            let wrong = format!("the head of requests is due here, and this is `{}`", other.kind());
            Err(log.broken(from, Wrong::Unreadable(wrong)))
        }
    }
}

/// What waited at a line, which may have been said far above it.
fn queued(log: &Log, state: &State, last: Place) -> Result<(Vec<Message>, u64), JournalError> {
    let (mut messages, mut all_read) = (Vec::new(), 0);
    for place in &state.queued {
        let (record, from, read) = record_at(log, *place, last)?;
        let Record::Queued(said) = record else {
            let wrong = format!("a message that waits is due here, and this is `{}`", record.kind());
            return Err(log.broken(from, Wrong::Unreadable(wrong)));
        };
        messages.push(said.message);
        all_read += read;
    }
    Ok((messages, all_read))
}

/// The record of a place before a line's end, where it begins, and how many bytes were read for it.
fn record_at(log: &Log, place: Place, last: Place) -> Result<(Record, u64, u64), JournalError> {
    if place.end > last.end {
        return Err(log.broken(last.end, Wrong::Place(place.end)));
    }
    let mut walk = Walk::from_place(log, place);
    let met = walk.line()?.ok_or_else(|| log.broken(0, Wrong::Place(place.end)))?;
    Ok((log.record(&met.line, met.before.end)?, met.before.end, walk.read()))
}

/// What was met on the way back, the last first.
#[derive(Default)]
struct Gathered {
    live: Vec<Live>,
    last: Option<(Place, UnixMillis)>,
    /// The conversation that the rest follows.
    window: Window,
    /// The state that the records which count follow.
    state: Option<State>,
    redo: Option<Place>,
    /// How many bytes were read besides.
    read: u64,
}

struct Live {
    record: Record,
    place: Place,
    /// Whether the state that was found does not know it yet.
    counts: bool,
}

fn gather(log: &Log, walk: &mut Walk<'_>) -> Result<Gathered, JournalError> {
    let mut all = Gathered::default();
    let mut redo_is_known = false;
    while let Some(met) = walk.line()? {
        let from = met.before.end;
        all.last.get_or_insert((met.place, met.line.at));
        let record = log.record(&met.line, from)?;
        match record {
            Record::Compacted(Compacted { window, .. }) => {
                let state = met.line.state().map_err(|wrong| log.broken(from, wrong))?;
                let state = state.unwrap_or_default();
                let (queued, read) = queued(log, &state, met.before)?;
                all.window = Window::compacted(window, queued, state.sum.totals.steps);
                all.read = read;
                all.state.get_or_insert(state);
                break;
            }
            Record::Rewound(Rewound { to, way }) => {
                if to.end > from {
                    return Err(log.broken(from, Wrong::Place(to.end)));
                }
                if all.state.is_none() {
                    all.state = met.line.state().map_err(|wrong| log.broken(from, wrong))?;
                }
                // What a redo brought back may itself have been taken back something.
                if !redo_is_known && way == Way::Back {
                    all.redo = Some(met.before);
                    redo_is_known = true;
                }
                walk.jump(to);
            }
            record => {
                redo_is_known |= matches!(
                    record,
                    Record::Message(_) | Record::Told(_) | Record::Queued(_) | Record::Results(_)
                );
                let counts = all.state.is_none();
                all.live.push(Live { record, place: met.place, counts });
            }
        }
    }
    Ok(all)
}
