use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::Kept;
use crate::process::{Shared, Status};

/// Reads a process's output onto its tape, and into a file once it is too long for memory.
pub(crate) struct Reader {
    /// Whether somebody can still write.
    pub(crate) open: bool,
    pub(crate) told: watch::Sender<Status>,
    output: pipe::Receiver,
    shared: Arc<Shared>,
    spill: Spill,
    buffer: Vec<u8>,
}

/// The file that holds what memory does not.
enum Spill {
    /// There is none yet, and it would be here.
    Later(PathBuf),
    /// It is being written.
    Open(PathBuf, File),
    /// Nothing more goes into it, or there is none.
    Done,
}

impl Reader {
    pub(crate) fn new(
        output: pipe::Receiver,
        shared: Arc<Shared>,
        told: watch::Sender<Status>,
        file: Option<PathBuf>,
    ) -> Self {
        let spill = file.map_or(Spill::Done, Spill::Later);
        Self { open: true, told, output, shared, spill, buffer: vec![0; 64 * 1024] }
    }

    /// Reads until something else has happened.
    pub(crate) async fn read_until<T>(&mut self, stop: impl Future<Output = T>) -> T {
        let mut stop = std::pin::pin!(stop);
        loop {
            // Only the reading itself may be left half-way: what was read is always taken.
            let count = tokio::select! {
                biased;
                stopped = &mut stop => return stopped,
                count = self.output.read(&mut self.buffer), if self.open => count,
            };
            self.take(count).await;
        }
    }

    /// Reads until nobody can write any more, at most for this long.
    pub(crate) async fn read_for(&mut self, at_most: Duration) {
        let until = Instant::now() + at_most;
        while self.open {
            match timeout_at(until, self.output.read(&mut self.buffer)).await {
                Ok(count) => self.take(count).await,
                Err(_) => return,
            }
        }
    }

    async fn take(&mut self, count: io::Result<usize>) {
        let count = count.unwrap_or(0);
        self.open = count > 0;
        let bytes = self.buffer.get(..count).unwrap_or_default();
        self.spill = spill(std::mem::replace(&mut self.spill, Spill::Done), &self.shared, bytes).await;
        self.shared.tape().push(bytes);
        self.told.send_modify(|status| status.printed += count as u64);
    }
}

/// Writes to the file what memory would lose, up to its bound; a file that can't be written is said on the tape.
async fn spill(spill: Spill, shared: &Arc<Shared>, bytes: &[u8]) -> Spill {
    let (path, file, content) = match spill {
        Spill::Done => return Spill::Done,
        Spill::Later(path) => {
            let tape = shared.tape();
            if tape.holds(bytes.len()) {
                return Spill::Later(path);
            }
            (path, None, [&tape.held(), bytes].concat())
        }
        Spill::Open(path, file) => (path, Some(file), bytes.to_vec()),
    };
    let (before, bound) = {
        let tape = shared.tape();
        (tape.kept().map_or(0, |kept| kept.bytes), tape.bounds().file)
    };
    let room = usize::try_from(bound.saturating_sub(before)).unwrap_or(usize::MAX);
    let fits = room.min(content.len());
    let at = path.clone();
    let written = tokio::task::spawn_blocking(move || {
        let mut file = file.map_or_else(|| create(&at), Ok)?;
        file.write_all(content.get(..fits).unwrap_or_default())?;
        Ok::<File, io::Error>(file)
    });
    let written = written.await.unwrap_or_else(|error| Err(io::Error::other(error)));
    let mut tape = shared.tape();
    match written {
        Ok(file) => {
            tape.keep(Kept { path: path.clone(), bytes: before + fits as u64, trouble: None });
            if fits < room { Spill::Open(path, file) } else { Spill::Done }
        }
        Err(error) => {
            tape.keep(Kept { path, bytes: before, trouble: Some(error.to_string()) });
            Spill::Done
        }
    }
}

/// A new file that only the user reads: what a command prints can be secret.
fn create(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}
