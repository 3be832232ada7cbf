use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::line::{self, Carried, MAX_LINE};
use crate::pack::pack;
use crate::store::{ContentId, Store};
use crate::view::view_at;
use crate::walk::{CONTENTS, JOURNAL, Log};
use crate::{JournalError, Opened, Place, Record, Resumed, Rewound, State, Torn, UnixMillis, Way, view};

/// The name of the file that the process which writes a session holds locked.
const LOCK: &str = "lock";

/// Writes the journal of one session. There is one writer at a time: others are told which process it is.
#[derive(Debug)]
pub struct Writer {
    folder: PathBuf,
    path: PathBuf,
    file: File,
    store: Store,
    last: Place,
    state: State,
    /// Contents that are not yet known to be on the disk.
    contents: Vec<ContentId>,
    health: Health,
    /// Held as long as the writer lives.
    _lock: Lock,
}

/// What is known of the file behind the last line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Health {
    /// All is on the disk.
    Synced,
    /// Something was written since.
    Written,
    /// Half a line stands behind the last and could not be cut away yet.
    Torn,
    /// The disk did not take something; what is there is known only to who reads it anew.
    Lost,
}

impl Writer {
    /// Begins a session in a folder that is not there yet; its beginning is on the disk when this returns.
    ///
    /// # Errors
    /// The folder is there already or can't be made, or the disk is full.
    pub fn create(folder: &Path, at: UnixMillis, opened: Opened) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: folder.to_owned(), source };
        let above = folder.parent().unwrap_or(Path::new("/"));
        let mut private = DirBuilder::new();
        private.mode(0o700);
        private.recursive(true).create(above).map_err(io)?;
        private.recursive(false).create(folder).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists { folder: folder.to_owned() },
            _ => io(error),
        })?;
        Self::begin(folder, at, opened).inspect_err(|_| {
            // What never began is no session; that it could not be removed says nothing new.
            let _ = fs::remove_dir_all(folder);
        })
    }

    fn begin(folder: &Path, at: UnixMillis, opened: Opened) -> Result<Self, JournalError> {
        let io = |source| JournalError::Io { path: folder.to_owned(), source };
        let lock = lock(folder)?;
        let path = folder.join(JOURNAL);
        let file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(&path).map_err(io)?;
        let mut writer = Self {
            folder: folder.to_owned(),
            path,
            file,
            store: Store::at(folder.join(CONTENTS)),
            last: Place::default(),
            state: State::default(),
            contents: Vec::new(),
            health: Health::Written,
            _lock: lock,
        };
        writer.append(at, Record::Opened(opened))?;
        writer.sync()?;
        // The names on the way must outlive a crash too: of the file, the session, its project and the sessions.
        for above in folder.ancestors().take(4) {
            match sync_folder(above) {
                // A folder that may be passed through but not opened is not one that we made.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                synced => synced.map_err(io)?,
            }
        }
        Ok(writer)
    }

    /// Goes on with a session. Half a line at its end, as a crash leaves one, is moved to a file beside the journal.
    ///
    /// # Errors
    /// There is no such session, another process writes it, or what is read of it is not what was written.
    pub fn resume(folder: &Path) -> Result<(Self, Resumed), JournalError> {
        let path = folder.join(JOURNAL);
        if !path.exists() {
            return Err(JournalError::Missing { path });
        }
        let lock = lock(folder)?;
        let mut resumed = view(folder)?;
        let io = |source| JournalError::Io { path: path.clone(), source };
        let file = OpenOptions::new().append(true).open(&path).map_err(io)?;
        if let Some(torn) = &mut resumed.torn {
            torn.kept = Some(set_aside(folder, torn, resumed.last.n.saturating_add(1)).map_err(io)?);
            file.set_len(torn.from).map_err(io)?;
        }
        // What the process before wrote may not be on the disk, and whoever goes on builds on it.
        file.sync_all().map_err(io)?;
        let writer = Self {
            folder: folder.to_owned(),
            store: Store::at(folder.join(CONTENTS)),
            last: resumed.last,
            state: resumed.state.clone(),
            contents: Vec::new(),
            health: Health::Synced,
            _lock: lock,
            path,
            file,
        };
        Ok((writer, resumed))
    }

    /// The session's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The last line.
    pub fn last(&self) -> Place {
        self.last
    }

    /// Mode, model, title, todos and figures, after all that was written.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Writes a record behind the last, and gives its place. It outlives the process from now on, and the machine after
    /// [`sync`](Self::sync).
    ///
    /// # Errors
    /// It could not be written. Then nothing of it is there, all before it is, and it may be tried again.
    pub fn append(&mut self, at: UnixMillis, mut record: Record) -> Result<Place, JournalError> {
        self.mend()?;
        let failed = |source| JournalError::Write { path: self.path.clone(), source };
        let mut state = self.state.clone();
        // What carries the figures carries them with itself counted in. A title is made of texts, not of references to them.
        state.apply(&record, Place::default());
        let kept = pack(&mut record, &self.store).map_err(failed)?;
        let carried = match &record {
            Record::Compacted(_) | Record::Rewound(_) => Carried::State(&state),
            Record::Usage(_) | Record::Ended(_) => Carried::Sum(&state.sum),
            Record::Opened(_)
            | Record::Prompt(_)
            | Record::Message(_)
            | Record::Told(_)
            | Record::Queued(_)
            | Record::Taken(_)
            | Record::Partial(_)
            | Record::Void(_)
            | Record::Running(_)
            | Record::Results(_)
            | Record::Snapshot(_)
            | Record::Mode(_)
            | Record::Model(_)
            | Record::Title(_)
            | Record::Todos(_)
            | Record::Findings(_)
            | Record::Known(_)
            | Record::Note(_)
            | Record::Unknown { .. } => Carried::Nothing,
        };
        let bytes = line::write(self.last, at, &record, carried).map_err(|error| failed(error.into()))?;
        if bytes.len() as u64 > MAX_LINE {
            let (path, size) = (self.path.clone(), bytes.len() as u64);
            return Err(JournalError::TooLarge { path, size, limit: MAX_LINE });
        }
        let place = self.behind(&bytes);
        self.write(&bytes)?;
        if matches!(record, Record::Prompt(_)) {
            state.head = Some(place);
        }
        if let (Record::Queued(_), Some(waits)) = (&record, state.queued.last_mut()) {
            *waits = place;
        }
        self.contents.extend(kept);
        (self.last, self.state) = (place, state);
        Ok(place)
    }

    /// Forces all that was written to the disk, with what it refers to.
    ///
    /// # Errors
    /// The disk did not take it. Nobody knows then what of it is there, so this writer writes no more.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.mend()?;
        if self.health == Health::Synced {
            return Ok(());
        }
        if let Err(source) = self.sync_contents().and_then(|()| self.file.sync_data()) {
            self.health = Health::Lost;
            return Err(JournalError::Lost { path: self.path.clone(), source: Some(source) });
        }
        self.contents.clear();
        self.health = Health::Synced;
        Ok(())
    }

    /// Makes the conversation what it was when the line of a place was the last, and gives it. Title, mode, model and figures
    /// stay; the todo list is again the old one.
    ///
    /// # Errors
    /// The place is none of this journal, or the record could not be written.
    pub fn rewind(&mut self, at: UnixMillis, to: Place, way: Way) -> Result<Resumed, JournalError> {
        let log = Log::open(&self.folder)?;
        if to.n == 0 || to.end > self.last.end {
            return Err(JournalError::NoLine { path: self.path.clone(), n: to.n, lines: self.last.n });
        }
        let then = view_at(&log, to)?;
        let now = self.state.clone();
        (self.state.todos, self.state.queued) = (then.state.todos, then.state.queued);
        (self.state.findings, self.state.known) = (then.state.findings, then.state.known);
        if let Err(error) = self.append(at, Record::Rewound(Rewound { to, way })) {
            self.state = now;
            return Err(error);
        }
        self.sync()?;
        view_at(&log, self.last)
    }

    /// What lines refer to is on the disk before they are.
    fn sync_contents(&self) -> io::Result<()> {
        self.contents.iter().try_for_each(|id| self.store.sync(id))?;
        // The first content made the store's folder, whose name must outlive a crash, too.
        if self.contents.is_empty() { Ok(()) } else { sync_folder(&self.folder) }
    }

    /// Lets a fork count on where its origin was.
    pub(crate) fn count_from(&mut self, turns: u64, steps: u64) {
        (self.state.sum.totals.turns, self.state.sum.totals.steps) = (turns, steps);
    }

    /// The place of a line with its end.
    fn behind(&self, line: &[u8]) -> Place {
        let hash = crate::Hash::of(line.strip_suffix(b"\n").unwrap_or(line));
        Place { end: self.last.end + line.len() as u64, n: self.last.n.saturating_add(1), hash }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), JournalError> {
        self.health = Health::Written;
        self.file.write_all(bytes).map_err(|source| {
            // On a full disk the beginning of the line may stand there.
            self.health = Health::Torn;
            // If it can't be cut away now, that is tried before the next record.
            let _ = self.mend();
            JournalError::Write { path: self.path.clone(), source }
        })
    }

    /// Cuts away half a line that could not be written.
    fn mend(&mut self) -> Result<(), JournalError> {
        match self.health {
            Health::Synced | Health::Written => Ok(()),
            Health::Torn => {
                let cut = self.file.set_len(self.last.end);
                cut.map_err(|source| JournalError::Write { path: self.path.clone(), source })?;
                self.health = Health::Written;
                Ok(())
            }
            Health::Lost => Err(JournalError::Lost { path: self.path.clone(), source: None }),
        }
    }
}

/// Takes the lock of a session's folder, or says who has it.
pub(crate) fn lock(folder: &Path) -> Result<Lock, JournalError> {
    let path = folder.join(LOCK);
    let io = |source| JournalError::Io { path: path.clone(), source };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(&path).map_err(io)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            // Who has it is told where it can be; that somebody has it is certain.
            let _ = file.take(20).read_to_string(&mut text);
            return Err(JournalError::InUse { folder: folder.to_owned(), pid: text.trim().parse().ok() });
        }
        Err(TryLockError::Error(source)) => return Err(io(source)),
    }
    // Only for the message above, so a full disk is no reason to refuse.
    let _ =
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(Lock(file))
}

/// A session's lock, held.
#[derive(Debug)]
pub(crate) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing is not enough: a child that is just being started has the file open, too, until it becomes its program.
        let _ = self.0.unlock();
    }
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Copies what stands behind the last whole line to a file of its own, on the disk before anything is cut away.
fn set_aside(folder: &Path, torn: &Torn, n: u64) -> io::Result<PathBuf> {
    let mut from = File::open(folder.join(JOURNAL))?;
    from.seek(io::SeekFrom::Start(torn.from))?;
    for again in 0..100 {
        let more = if again == 0 { String::new() } else { format!("-{again}") };
        let path = folder.join(format!("journal.torn-{n}{more}"));
        let mut to = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened?,
        };
        let copied = io::copy(&mut from, &mut to).and_then(|_| to.sync_all());
        if let Err(error) = copied {
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        return Ok(path);
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
