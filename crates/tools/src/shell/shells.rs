use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rail_sandbox::confine::ConfineError;
use rail_sandbox::{Bounds, Ended, Groups, Input, Launch, Ordered, Process, Shape, StartError};
use rail_tool::{Session, Shell, ShellState, ToolFault};
use tokio::sync::{OnceCell, watch};

use super::environment::{self, Environment};
use super::script::{Script, shell};

/// Commands that have ended and whose end nobody has read, and as many that front ends are told of whose end was read; the oldest
/// are forgotten first.
const UNREAD: usize = 32;

/// All that the session's commands share. Dropping it ends whatever they left.
#[derive(Default)]
pub(crate) struct Shells {
    environment: OnceCell<Environment>,
    background: Mutex<BTreeMap<u32, Arc<Background>>>,
    /// Those that are forgotten, as they were in the end.
    past: Mutex<BTreeMap<u32, Shell>>,
    /// Told when there is another one, or one less.
    pub(crate) changed: watch::Sender<()>,
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
    /// Whether the user or the model wanted it to end.
    pub(crate) killed: AtomicBool,
    /// Whether nobody waits for its end any more.
    given_up: AtomicBool,
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
        let environment = self.environment(session).await;
        let Script { args, fed } = Script::new(order.command);
        let kept = session.limits.output_file_bytes;
        let number = self.started.fetch_add(1, Ordering::Relaxed) + 1;
        let launch = Launch {
            program: shell_of(environment),
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

    /// A command for a terminal of the editor's; nothing where it is too long for that. The name of the file for its report comes behind
    /// its arguments.
    pub(crate) async fn for_terminal(
        &self,
        session: &Session,
        order: Order<'_>,
    ) -> Option<rail_sandbox::Order> {
        let environment = self.environment(session).await;
        let Script { args, fed: None } = Script::new(order.command) else { return None };
        let (program, env) = (shell_of(environment), environment.clone());
        Some(rail_sandbox::Order { program, args, env, cwd: order.cwd, shape: order.shape })
    }

    /// Makes an order one of this session's.
    pub(crate) fn order(&self, order: rail_sandbox::Order) -> (rail_sandbox::Order, Ordered) {
        self.groups.order(order)
    }

    async fn environment(&self, session: &Session) -> &Environment {
        let found = async || environment::merge(session, &environment::login(session, &self.groups).await);
        self.environment.get_or_init(found).await
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
        let shell = Arc::new(Background {
            number,
            command: command.to_owned(),
            shape,
            process,
            read: read.into(),
            killed: AtomicBool::new(false),
            given_up: AtomicBool::new(false),
        });
        background.insert(number, Arc::clone(&shell));
        let over: Vec<Arc<Background>> =
            background.values().filter(|shell| shell.process.ended().is_some()).cloned().collect();
        drop(background);
        let many = over.len().saturating_sub(UNREAD);
        over.iter().take(many).for_each(|shell| self.forget(shell));
        self.changed.send_replace(());
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
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.insert(shell.number, shell.shown());
        while past.len() > UNREAD {
            past.pop_first();
        }
        drop(past);
        self.lock().remove(&shell.number);
        self.changed.send_replace(());
    }

    /// All of them as front ends are told of them, in the order in which they were begun.
    pub(crate) fn shown(&self) -> Vec<Shell> {
        // The past is looked at last: one that is forgotten meanwhile is there twice, and not missing.
        let mut all: BTreeMap<u32, Shell> =
            self.lock().iter().map(|(number, shell)| (*number, shell.shown())).collect();
        all.extend(
            self.past
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .iter()
                .map(|(at, shell)| (*at, shell.clone())),
        );
        all.into_values().collect()
    }

    /// Those of these that were running, with what they had printed.
    pub(crate) fn running(&self, told: &[Shell]) -> Vec<(Arc<Process>, u64)> {
        let running = told.iter().filter(|shell| shell.state == ShellState::Running);
        let background = self.lock();
        let process = |shell: &Shell| {
            let own = background.values().find(|own| own.id() == shell.id)?;
            Some((Arc::clone(&own.process), shell.printed))
        };
        running.filter_map(process).collect()
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
        let running: Vec<Arc<Background>> =
            self.lock().values().filter(|shell| shell.process.ended().is_none()).cloned().collect();
        running.iter().for_each(|shell| shell.killed.store(true, Ordering::Relaxed));
        self.groups.end(grace).await;
        running.iter().for_each(|shell| shell.given_up.store(true, Ordering::Relaxed));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Background>>> {
        self.background.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The shell that an environment leads to.
fn shell_of(environment: &Environment) -> PathBuf {
    let path = environment.iter().find(|(name, _)| name == OsStr::new("PATH"));
    shell(path.map(|(_, value)| value.as_os_str()), Path::is_file)
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
    /// Ends it and all it started; nothing is returned where the system holds it.
    pub(crate) async fn kill(&self, grace: Duration) -> Option<Arc<Ended>> {
        if self.process.ended().is_none() {
            self.killed.store(true, Ordering::Relaxed);
        }
        self.process.end(grace).await
    }

    /// Whether it was killed, and nobody waits until it is told that it has ended.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

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
