use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rail_sandbox::confine::ConfineError;
use rail_sandbox::{Bounds, Groups, Input, Launch, Process, Shape, StartError};
use rail_tool::{Session, ToolFault};
use tokio::sync::OnceCell;

use super::environment::{self, Environment};
use super::script::{Script, shell};

/// Commands that have ended and whose end nobody has read; the oldest are forgotten first.
const UNREAD: usize = 32;

/// All that the session's commands share. Dropping it ends whatever they left.
#[derive(Default)]
pub(crate) struct Shells {
    environment: OnceCell<Environment>,
    background: Mutex<BTreeMap<u32, Arc<Background>>>,
    // What left its session goes on as long as its process is kept.
    daemons: Mutex<Vec<Arc<Process>>>,
    started: AtomicU32,
    in_background: AtomicU32,
    groups: Groups,
}

/// A command that runs in the background, or did and nobody has read its end.
pub(crate) struct Background {
    number: u32,
    /// The command.
    pub(crate) command: String,
    /// How it is confined.
    pub(crate) shape: Shape,
    /// It and all it started.
    pub(crate) process: Arc<Process>,
    /// How much of its output was read.
    pub(crate) read: tokio::sync::Mutex<u64>,
}

/// A command that is to be started.
pub(crate) struct Order<'a> {
    pub(crate) command: &'a str,
    pub(crate) cwd: PathBuf,
    pub(crate) input: Input,
    pub(crate) shape: Shape,
}

impl Shells {
    /// Starts a command.
    pub(crate) async fn start(&self, session: &Session, order: Order<'_>) -> Result<Arc<Process>, ToolFault> {
        let environment = self
            .environment
            .get_or_init(async || {
                environment::merge(session, &environment::login(session, &self.groups).await)
            })
            .await;
        let path = environment
            .iter()
            .find(|(name, _)| name == OsStr::new("PATH"))
            .map(|(_, value)| value.as_os_str());
        let Script { args, fed } = Script::new(order.command);
        let kept = session.limits.output_file_bytes;
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let launch = Launch {
            program: shell(path, Path::is_file),
            args,
            env: environment.clone(),
            cwd: order.cwd,
            input: order.input,
            fed,
            shape: order.shape,
            support: session.support.clone(),
            bounds: Bounds { file: kept, ..Bounds::default() },
            file: (kept > 0).then(|| session.folder.join("outputs").join(format!("command-{number}.txt"))),
            ..Launch::default()
        };
        let started = self.groups.start(launch);
        started.map(Arc::new).map_err(|error| not_run(&error))
    }

    /// Whether one more command can run in the background.
    pub(crate) fn room(&self, session: &Session) -> Result<(), ToolFault> {
        let running = self.lock().values().filter(|shell| shell.process.ended().is_none()).count();
        if running < session.limits.background_commands {
            return Ok(());
        }
        Err(ToolFault::new(format!(
            "{running} commands run in the background already, and no more can; end one with ‹kill_bash› first. {}",
            self.list()
        )))
    }

    /// Lets a command go on in the background.
    pub(crate) fn keep(
        &self,
        command: &str,
        shape: Shape,
        process: Arc<Process>,
        read: u64,
    ) -> Arc<Background> {
        let mut background = self.lock();
        let number = self.in_background.fetch_add(1, Ordering::Relaxed) + 1;
        let shell = Background { number, command: command.to_owned(), shape, process, read: read.into() };
        let shell = Arc::new(shell);
        background.insert(number, Arc::clone(&shell));
        let over: Vec<Arc<Background>> =
            background.values().filter(|shell| shell.process.ended().is_some()).cloned().collect();
        drop(background);
        let many = over.len().saturating_sub(UNREAD);
        over.iter().take(many).for_each(|shell| self.forget(shell));
        shell
    }

    /// Lets what a command left in a session of its own go on, if it did.
    pub(crate) fn keep_daemons(&self, process: &Arc<Process>) {
        if process.ended().is_some_and(|ended| !ended.left.is_empty()) {
            self.daemons.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(process));
        }
    }

    /// The command of this id.
    pub(crate) fn find(&self, id: &str) -> Result<Arc<Background>, ToolFault> {
        let number = id.trim().trim_start_matches("bash_").parse().ok();
        let found = number.and_then(|number: u32| self.lock().get(&number).cloned());
        found.ok_or_else(|| {
            ToolFault::new(format!(
                "there is no command `{id}` in the background; one that ended is forgotten when its end was read. {}",
                self.list()
            ))
        })
    }

    /// Forgets a command.
    pub(crate) fn forget(&self, shell: &Background) {
        self.keep_daemons(&shell.process);
        self.lock().remove(&shell.number);
    }

    /// Those that there are, in a sentence.
    fn list(&self) -> String {
        let shells: Vec<String> = self
            .lock()
            .values()
            .map(|shell| {
                let state = if shell.process.ended().is_some() { "ended" } else { "running" };
                format!("`{}` ({state}: `{}`)", shell.id(), shell.short())
            })
            .collect();
        if shells.is_empty() {
            "There are none.".to_owned()
        } else {
            format!("There are: {}.", shells.join(", "))
        }
    }

    /// Ends all that commands have started and that still runs.
    pub(crate) async fn end(&self, grace: Duration) {
        self.groups.end(grace).await;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Background>>> {
        self.background.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a command did not start; where the sandbox is the reason, the user may want it outside.
fn not_run(error: &StartError) -> ToolFault {
    let way_out = match error {
        StartError::Confine(
            ConfineError::CantHide { .. } | ConfineError::Impossible { .. } | ConfineError::Failed { .. },
        ) => "; if it is needed, call again with `dangerouslyDisableSandbox: true`, which asks the user",
        StartError::Confine(ConfineError::HiddenHere { .. }) | StartError::System { .. } => "",
    };
    ToolFault::new(format!("the command was not run: {error}{way_out}"))
}

impl Background {
    /// The id by which it is asked for.
    pub(crate) fn id(&self) -> String {
        format!("bash_{}", self.number)
    }

    /// The beginning of its command.
    pub(crate) fn short(&self) -> String {
        let line = self.command.lines().next().unwrap_or_default();
        match line.char_indices().nth(60) {
            Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
            None => line.to_owned(),
        }
    }
}
