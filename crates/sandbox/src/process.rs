use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::net::unix::pipe;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::confine::{ConfineError, dress, dress_on};
use crate::launch::{Input, Launch, StartError, Streams};
use crate::pump::{Errors, Pump, feed};
use crate::starter::on_starter;
use crate::tape::{More, Tape};
use crate::trace::{self, Trace};
use crate::{Ended, Kept, Piece, Shape, Straggler, Support, leader};

/// All that a session starts. Dropping it ends whatever is left of it, also what went into sessions of its own.
#[derive(Debug)]
pub struct Groups {
    token: String,
    started: AtomicU64,
}

/// A running program, and all it started. Dropping it ends them.
#[derive(Debug)]
pub struct Process {
    shared: Arc<Shared>,
    input: tokio::sync::Mutex<Option<pipe::Sender>>,
    talk: Mutex<Option<Talk>>,
    status: watch::Receiver<Status>,
    began: Instant,
    // Ends with the process: nothing reads on that nobody asks for.
    _tasks: JoinSet<()>,
}

/// The two ends of a talk with a program: dropping the input ends it.
#[derive(Debug)]
pub struct Talk {
    /// What it reads.
    pub input: pipe::Sender,
    /// What it prints; a program whose output nobody reads waits.
    pub output: pipe::Receiver,
}

/// What the process and its reader share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) tape: Mutex<Tape>,
    pub(crate) errors: Mutex<Tape>,
    pub(crate) trace: Trace,
}

/// How far a process is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status {
    pub(crate) printed: u64,
    pub(crate) ended: Option<Arc<Ended>>,
}

/// Why a program got no input.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// It was started without any, or its input was closed.
    #[error("it takes no input: that was closed, or it was started without")]
    Closed,
    /// It has ended, or closed its input.
    #[error("it reads no input any more")]
    Ended,
    /// It did not read within the time.
    #[error("it did not read its input in time")]
    Slow,
}

impl Default for Groups {
    fn default() -> Self {
        Self::new()
    }
}

impl Groups {
    /// A session that has started nothing.
    pub fn new() -> Self {
        let mut token = [0; 12];
        // Without chance the number of this process still tells our own from others that run now.
        if getrandom::fill(&mut token).is_err() {
            token.iter_mut().zip(std::process::id().to_le_bytes()).for_each(|(to, from)| *to = from);
        }
        Self { token: token.iter().map(|byte| format!("{byte:02x}")).collect(), started: AtomicU64::new(0) }
    }

    /// Starts a program as the leader of a session of its own. It must be called within a tokio runtime.
    ///
    /// # Errors
    /// It can't be confined as it must be, or the system did not start it.
    pub fn start(&self, launch: Launch) -> Result<Process, StartError> {
        let mark = self.mark();
        let at = (launch.program.clone(), launch.cwd.clone());
        start(launch, mark).map_err(|stopped| match stopped {
            Stopped::Confine(error) => StartError::Confine(error),
            Stopped::System(cause) => StartError::System { program: at.0, cwd: at.1, cause },
        })
    }

    /// Ends all that the session has started: it is asked to end (TERM), and whoever is there after the grace is killed.
    pub async fn end(&self, grace: Duration) {
        end(&self.trace(), grace).await;
    }

    /// A mark for one more command.
    pub(crate) fn mark(&self) -> String {
        format!("{}.{}.", self.token, self.started.fetch_add(1, Ordering::Relaxed))
    }

    /// All commands that were started.
    fn trace(&self) -> Trace {
        Trace { leader: None, mark: format!("{}.", self.token) }
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        if self.started.load(Ordering::Relaxed) > 0 {
            kill(&self.trace());
        }
    }
}

enum Stopped {
    Confine(ConfineError),
    System(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

fn start(launch: Launch, mark: String) -> Result<Process, Stopped> {
    let Launch { program, args, env, cwd, input, fed, streams, shape, support, bounds, file } = launch;
    let mut tasks = JoinSet::new();
    let (output, output_end) = wire()?;
    let output = pipe::Receiver::from_owned_fd(output)?;
    let (report, report_end) = wire()?;
    rustix::io::ioctl_fionbio(&report, true).map_err(io::Error::from)?;
    let (stdin, writer) = written(if streams == Streams::Talk { Input::Written } else { input })?;
    let mut inherit = if streams == Streams::Talk { Vec::new() } else { vec![report_end] };
    if let Some(bytes) = fed {
        let (end, feeder) = wire()?;
        inherit.push(end);
        tasks.spawn(feed(pipe::Sender::from_owned_fd(feeder)?, bytes));
    }
    let mut command = command(&program);
    command.args(args).env_clear().envs(env).env(trace::VARIABLE, &mark).current_dir(cwd);
    let (errors, errors_end) = match streams {
        // Both streams go into one pipe: so they are in the order in which they were written.
        Streams::Together => (None, output_end.try_clone()?),
        Streams::Apart | Streams::Talk => {
            let (errors, end) = wire()?;
            (Some(pipe::Receiver::from_owned_fd(errors)?), end)
        }
    };
    command.stdin(stdin).stdout(output_end).stderr(errors_end);
    let child = spawn(command, inherit, (&shape, support.as_ref()), streams)?;
    let (output, writer, talk) = match (streams, writer) {
        // The reader has a pipe of its own, which is at its end from the start.
        (Streams::Talk, Some(input)) => {
            (pipe::Receiver::from_owned_fd(wire()?.0)?, None, Some(Talk { input, output }))
        }
        (Streams::Together | Streams::Apart | Streams::Talk, writer) => (output, writer, None),
    };
    let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let [tape, errors_tape] = [bounds; 2].map(|bounds| Mutex::new(Tape::new(bounds)));
    let shared = Arc::new(Shared { tape, errors: errors_tape, trace: Trace { leader, mark } });
    let (told, status) = watch::channel(Status::default());
    let errors = Errors::read(errors, &shared, &mut tasks);
    tasks.spawn(Pump { child, output, errors, report, shared: Arc::clone(&shared), told, file }.run());
    let (input, talk) = (tokio::sync::Mutex::new(writer), Mutex::new(talk));
    Ok(Process { shared, input, talk, status, began: Instant::now(), _tasks: tasks })
}

/// Starts the command. It holds our copies of the child's ends of the pipes, which have no end as long as it lives: so it goes.
fn spawn(
    mut command: std::process::Command,
    inherit: Vec<OwnedFd>,
    (shape, support): (&Shape, Option<&Support>),
    streams: Streams,
) -> Result<tokio::process::Child, Stopped> {
    command.args(inherit.iter().map(|end| format!("/dev/fd/{}", end.as_raw_fd())));
    let dressed = match support {
        Some(support) => dress_on(&mut command, shape, support),
        None => dress(&mut command, shape),
    };
    let dressed = dressed.map_err(Stopped::Confine)?;
    // After the confinement, which takes all descriptors from the child.
    leader::lead(&mut command, inherit);
    let child = match streams {
        Streams::Together | Streams::Apart => {
            tokio::process::Command::from(command).kill_on_drop(true).spawn()
        }
        // What is talked with may run as long as we do, and longer if nobody ends it.
        Streams::Talk => {
            leader::die_with_us(&mut command);
            let runtime = tokio::runtime::Handle::current();
            on_starter(move || {
                let _entered = runtime.enter();
                tokio::process::Command::from(command).kill_on_drop(true).spawn()
            })
            .flatten()
        }
    };
    child.map_err(|error| match dressed.explain(&error) {
        Some(confine) => Stopped::Confine(confine),
        None => Stopped::System(error),
    })
}

/// What the child reads from, and what writes to it.
fn written(input: Input) -> io::Result<(Stdio, Option<pipe::Sender>)> {
    match input {
        Input::Nothing => Ok((Stdio::null(), None)),
        Input::Written => {
            let (end, writer) = wire()?;
            Ok((Stdio::from(end), Some(pipe::Sender::from_owned_fd(writer)?)))
        }
    }
}

/// A pipe: what is read from, what is written to. No other child gets it.
fn wire() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

#[expect(clippy::disallowed_methods, reason = "this is where child processes are started")]
pub(crate) fn command(program: &Path) -> std::process::Command {
    std::process::Command::new(program)
}

impl Process {
    /// The number of the first process, which leads the group.
    pub fn id(&self) -> i32 {
        self.shared.trace.leader.map_or(0, |leader| leader.as_raw_nonzero().get())
    }

    /// What it reads and prints, if it was started for a talk and nobody took it yet.
    pub fn talk(&self) -> Option<Talk> {
        self.talk.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// How long ago it was started.
    pub fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// How many bytes it printed until now.
    pub fn printed(&self) -> u64 {
        self.shared.tape().len()
    }

    /// What it printed behind a place.
    pub fn since(&self, from: u64) -> Piece {
        let more = if self.ended().is_some() { More::Never } else { More::Comes };
        self.shared.tape().since(from, more)
    }

    /// What it said of errors, if that is kept apart.
    pub fn errors(&self) -> Piece {
        self.shared.errors().since(0, More::Never)
    }

    /// The last lines that it printed, at most this many.
    pub fn last_lines(&self, lines: usize) -> String {
        self.shared.tape().last_lines(lines)
    }

    /// The file that holds what it printed, if that was too much for memory.
    pub fn kept(&self) -> Option<Kept> {
        self.shared.tape().kept().cloned()
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Arc<Ended>> {
        self.status.borrow().ended.clone()
    }

    /// Waits until it has ended and its output is read.
    pub async fn wait(&self) -> Arc<Ended> {
        let mut status = self.status.clone();
        let ended = status.wait_for(|status| status.ended.is_some()).await;
        // The reader tells the end before it goes, whatever happens; if it broke off, nothing is known.
        ended.ok().and_then(|status| status.ended.clone()).unwrap_or_default()
    }

    /// Waits until it has printed more than this many bytes, or has ended.
    pub async fn printed_more_than(&self, bytes: u64) {
        let mut status = self.status.clone();
        // If the reader broke off there is nothing to wait for.
        let _ = status.wait_for(|status| status.printed > bytes || status.ended.is_some()).await;
    }

    /// Gives it input.
    ///
    /// # Errors
    /// It takes none, or does not read it within the time.
    pub async fn write(&self, bytes: &[u8], within: Duration) -> Result<(), WriteError> {
        use tokio::io::AsyncWriteExt;
        let mut input = self.input.lock().await;
        let Some(writer) = input.as_mut() else { return Err(WriteError::Closed) };
        match tokio::time::timeout(within, writer.write_all(bytes)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => {
                *input = None;
                Err(WriteError::Ended)
            }
            Err(_) => Err(WriteError::Slow),
        }
    }

    /// Ends its input.
    pub async fn close_input(&self) {
        *self.input.lock().await = None;
    }

    /// Ends it and all it started: it is asked to end (TERM), and whoever is there after the grace is killed.
    ///
    /// What it printed before is on its tape. Nothing is returned for a process that even a kill does not end, since the system
    /// holds it.
    pub async fn end(&self, grace: Duration) -> Option<Arc<Ended>> {
        let known = self.signal(Signal::TERM, &[]);
        // Whoever ends in time may; the time over is no error.
        let _ = tokio::time::timeout(grace, async {
            self.wait().await;
            gone(&self.shared.trace, &known).await;
        })
        .await;
        self.signal(Signal::KILL, &known);
        kill(&self.shared.trace);
        tokio::time::timeout(Duration::from_secs(1), self.wait()).await.ok()
    }

    /// Sends a signal to all of it, and to those who were known before; gives all who are known now.
    ///
    /// They are looked for first: when a parent is gone its children may not be found any more.
    fn signal(&self, signal: Signal, known: &[Straggler]) -> Vec<Straggler> {
        let mut found = self.shared.trace.find();
        found.extend(known.iter().cloned());
        if self.ended().is_none() {
            self.shared.trace.signal_group(signal);
        }
        found.iter().for_each(|process| process.signal(signal));
        found
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended().is_none_or(|ended| !ended.left.is_empty()) {
            self.signal(Signal::KILL, &[]);
            kill(&self.shared.trace);
        }
    }
}

impl Shared {
    pub(crate) fn tape(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn errors(&self) -> MutexGuard<'_, Tape> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until nothing is left of a command. Nobody tells when the children of others end, so it is looked at again and again.
async fn gone(trace: &Trace, known: &[Straggler]) {
    let mut pause = Duration::from_millis(2);
    while known.iter().any(Straggler::lives) || !trace.find().is_empty() {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Ends all processes of a trace: they are asked to end (TERM), and whoever is there after the grace is killed.
pub(crate) async fn end(trace: &Trace, grace: Duration) {
    trace.find().iter().for_each(|process| process.signal(Signal::TERM));
    // Whoever ends in time may; the time over is no error.
    let _ = tokio::time::timeout(grace, gone(trace, &[])).await;
    kill(trace);
}

/// Kills all processes of a command. Those that are being started meanwhile are found the next time, so it looks again.
pub(crate) fn kill(trace: &Trace) {
    for _ in 0..20 {
        let found = trace.find();
        if found.is_empty() {
            return;
        }
        found.iter().for_each(|process: &Straggler| process.signal(Signal::KILL));
    }
}
