//! A host whose sessions do what the prompt says, and a client that plays a script with it.

use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, LockResult, Mutex, MutexGuard, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use rail_acp::{BoxFuture, Editor, Facts, Host, Listed, Offered, Opened, Refused, Session, Wanted, serve};
use rail_model::{CallId, CallKind, Message, Part, Role, ToolResult};
use rail_proto::{
    Answer, Command, Doing, Done, Finish, Leave, PermissionAsk, Prompt, Reason, SessionEvent, ToolEnd,
    ToolStart,
};
use rail_testkit::AcpClient;
use serde_json::{Value, json};
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

/// A server in a thread of its own, and a client.
pub(crate) struct Bed {
    pub(crate) client: AcpClient,
    pub(crate) host: Arc<Fake>,
    serving: Option<JoinHandle<()>>,
}

impl Bed {
    pub(crate) fn new() -> Self {
        let Raw { to, from, host, serving, .. } = Raw::new();
        let client = AcpClient::new(to, from).keeping("cwd", "/");
        Self { client, host, serving: Some(serving) }
    }

    /// The same when the connection has begun.
    pub(crate) fn begun() -> Self {
        Self::new().play(json!([
            {"do": "request", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}},
            {"do": "await", "id": 0, "holding": {"result": {"protocolVersion": 1}}},
        ]))
    }

    /// The same with a session.
    pub(crate) fn open() -> Self {
        Self::begun().play(json!([
            {"do": "request", "id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}},
            {"do": "await", "id": 1, "keep": {"session": "/result/sessionId"}},
            {"do": "expect", "method": "session/update", "holding": {"update": {"sessionUpdate": "available_commands_update"}}},
        ]))
    }

    #[track_caller]
    pub(crate) fn play(mut self, script: Value) -> Self {
        if let Err(why) = self.client.play_script(&script) {
            panic!("{why}");
        }
        self
    }

    /// Hangs up, and waits until the server has returned; no session is left.
    #[track_caller]
    pub(crate) fn over(mut self) -> Arc<Fake> {
        self.client.play_script(&json!([{"do": "hangup"}, {"do": "over"}])).unwrap();
        self.serving.take().unwrap().join().unwrap();
        assert_eq!(self.host.open.load(Ordering::SeqCst), 0, "sessions are left");
        Arc::clone(&self.host)
    }
}

/// A server in a thread of its own, and the two pipes of a client: nobody reads but the test.
pub(crate) struct Raw {
    pub(crate) to: PipeWriter,
    pub(crate) from: PipeReader,
    pub(crate) stop: CancellationToken,
    pub(crate) host: Arc<Fake>,
    serving: JoinHandle<()>,
    /// Ends when the server has returned.
    over: mpsc::Receiver<()>,
}

impl Raw {
    pub(crate) fn new() -> Self {
        let (host, stop) = (Arc::new(Fake::default()), CancellationToken::new());
        let (to_server, from_client) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        let (served, stopped) = (Arc::clone(&host), stop.clone());
        let (ends, over) = mpsc::channel();
        let serving = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let from = pipe::Receiver::from_owned_fd(to_server.0.into()).unwrap();
                let to = pipe::Sender::from_owned_fd(from_client.1.into()).unwrap();
                serve(served, (from, to), stopped).await;
            });
            drop(ends);
        });
        Self { to: to_server.1, from: from_client.0, stop, host, serving, over }
    }

    pub(crate) fn say(&mut self, message: &Value) {
        writeln!(self.to, "{message}").unwrap();
    }

    /// The same when the client says nothing more.
    pub(crate) fn hung_up(mut self) -> Self {
        self.to = std::io::pipe().unwrap().1;
        self
    }

    /// Waits until the server has returned, though nobody reads what it says; no session is left.
    #[track_caller]
    pub(crate) fn over(self) {
        let ended = self.over.recv_timeout(Duration::from_secs(60));
        assert_eq!(ended, Err(mpsc::RecvTimeoutError::Disconnected), "it does not end");
        self.serving.join().unwrap();
        assert_eq!(self.host.open.load(Ordering::SeqCst), 0, "sessions are left");
    }
}

/// A prompt, for scripts.
pub(crate) fn prompt(id: i64, text: &str) -> Value {
    json!({"do": "request", "id": id, "method": "session/prompt",
        "params": {"sessionId": "${session}", "prompt": [{"type": "text", "text": text}]}})
}

/// The commands that sessions were given.
#[derive(Default)]
pub(crate) struct Commands {
    given: Mutex<Vec<Command>>,
    changed: Condvar,
}

impl Commands {
    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, Vec<Command>>> {
        self.given.lock()
    }

    fn came(&self, command: Command) {
        self.lock().unwrap().push(command);
        self.changed.notify_all();
    }

    /// Waits until a command was given.
    pub(crate) fn wait(&self, command: &Command) {
        let waits = |given: &mut Vec<Command>| !given.contains(command);
        let minute = Duration::from_secs(60);
        let (given, _) = self.changed.wait_timeout_while(self.lock().unwrap(), minute, waits).unwrap();
        assert!(given.contains(command), "{command:?} never came");
    }
}

/// Opens sessions that do what the prompt says.
#[derive(Default)]
pub(crate) struct Fake {
    open: Arc<AtomicUsize>,
    ids: AtomicUsize,
    /// What sessions were told.
    pub(crate) commands: Arc<Commands>,
}

impl Host for Fake {
    fn version(&self) -> String {
        "1.2.3".to_owned()
    }

    fn ready(&self) -> BoxFuture<'_, Result<(), Refused>> {
        Box::pin(std::future::ready(Err(Refused::NoProvider("no provider".to_owned()))))
    }

    fn check(&self, wanted: Wanted) -> BoxFuture<'_, Result<(), Refused>> {
        let wrong = wanted.cwd.ends_with("wrong");
        Box::pin(std::future::ready(if wrong { Err(Refused::Wrong("no folder".to_owned())) } else { Ok(()) }))
    }

    fn open(&self, wanted: Wanted, _: Arc<Editor>) -> BoxFuture<'_, Result<Opened, Refused>> {
        let opened = match wanted.id.as_str() {
            "unknown" => Err(Refused::Unknown(wanted.id)),
            _ => Ok(self.opened()),
        };
        Box::pin(std::future::ready(opened))
    }

    fn new_id(&self) -> Result<String, Refused> {
        Ok(format!("session-{}", self.ids.fetch_add(1, Ordering::SeqCst)))
    }

    fn list(&self, cwd: Option<PathBuf>) -> BoxFuture<'_, Result<Vec<Listed>, Refused>> {
        let listed = Listed { id: "a".to_owned(), cwd: cwd.unwrap_or_default(), title: None, last_ms: 0 };
        Box::pin(std::future::ready(Ok(vec![listed])))
    }

    fn delete(&self, _: String) -> BoxFuture<'_, Result<(), Refused>> {
        assert_eq!(self.open.load(Ordering::SeqCst), 0, "it was open while it was deleted");
        Box::pin(std::future::ready(Ok(())))
    }
}

impl Fake {
    fn opened(&self) -> Opened {
        self.open.fetch_add(1, Ordering::SeqCst);
        let session = Doer {
            open: Arc::clone(&self.open),
            commands: Arc::clone(&self.commands),
            events: VecDeque::new(),
            busy: false,
            over: false,
        };
        let said = |role, text: &str| Message::new(role, vec![Part::text(text)]);
        let history = vec![said(Role::User, "before"), said(Role::Assistant, "yes")];
        let commands =
            vec![Offered { name: "help".to_owned(), hint: String::new(), help: "Helps".to_owned() }];
        Opened {
            session: Box::new(session),
            facts: Facts { models: vec!["one,big".to_owned()], commands, ..Facts::default() },
            history: Box::new(history.into_iter()),
        }
    }
}

/// A session that does what the prompt says.
struct Doer {
    open: Arc<AtomicUsize>,
    commands: Arc<Commands>,
    events: VecDeque<SessionEvent>,
    busy: bool,
    over: bool,
}

impl Drop for Doer {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Doer {
    fn done(&mut self, reason: Reason, text: &str) {
        self.busy = false;
        self.events.push_back(SessionEvent::Done(Done { reason, text: text.to_owned(), ..Done::default() }));
    }

    fn text(&mut self, text: &str) {
        self.events.push_back(SessionEvent::Text { step: 1, text: text.to_owned() });
    }

    fn call(&mut self) {
        let input = json!({"command": "touch a"});
        self.events.push_back(SessionEvent::ToolStart(ToolStart {
            step: 1,
            id: "call".to_owned(),
            name: "bash".to_owned(),
            title: "Bash".to_owned(),
            input: input.clone(),
        }));
        self.events.push_back(SessionEvent::Permission(PermissionAsk {
            id: "call".to_owned(),
            tool: "bash".to_owned(),
            input,
            doing: vec![Doing::Runs("touch a".to_owned())],
            changes: Vec::new(),
            why: "it runs".to_owned(),
            always_asks: false,
            offers: vec![Leave { rules: vec!["Bash(touch:*)".to_owned()], says: String::new() }],
            without_anybody: String::new(),
        }));
    }

    fn called(&mut self, success: bool) {
        let result = ToolResult {
            id: CallId::Given("call".to_owned()),
            name: None,
            content: vec![Part::text("out")],
            is_error: Some(!success),
            kind: CallKind::Function,
        };
        let end = if success { Finish::Done } else { Finish::Cancelled };
        self.events.push_back(SessionEvent::ToolEnd(ToolEnd {
            step: 1,
            result,
            success,
            end,
            shown: None,
            duration_ms: 1,
        }));
    }
}

impl Session for Doer {
    fn submit(&mut self, prompt: Prompt) {
        assert!(!self.busy, "two tasks at once");
        self.busy = true;
        match prompt.parts[0].as_text().unwrap_or_default() {
            "hang" => self.text("begun"),
            // More than any pipe and any queue hold.
            "flood" => (0..2000).for_each(|_| self.text(&"x".repeat(1000))),
            "ask" => self.call(),
            "limit" => self.done(Reason::TurnLimit, ""),
            "budget" => self.done(Reason::Budget, ""),
            "refuse" => self.done(Reason::Refused, ""),
            "fail" => self.done(Reason::Failed, "it broke"),
            said => {
                self.text(&format!("you said {said}"));
                self.done(Reason::Answered, said);
            }
        }
    }

    fn command(&mut self, command: Command) {
        self.commands.came(command.clone());
        match command {
            Command::Interrupt if self.busy => self.done(Reason::Interrupted, ""),
            Command::Answer { answer, .. } if self.busy => {
                self.called(answer == Answer::Once);
                self.done(Reason::Answered, "");
            }
            Command::SetMode(mode) => self.events.push_back(SessionEvent::Mode(mode)),
            Command::SetModel(model) => self.events.push_back(SessionEvent::Model(model)),
            Command::End => {
                if self.busy {
                    self.done(Reason::Interrupted, "");
                }
                self.events.push_back(SessionEvent::Closed);
                self.over = true;
            }
            _ => {}
        }
    }

    fn next(&mut self) -> BoxFuture<'_, Option<SessionEvent>> {
        Box::pin(async {
            match self.events.pop_front() {
                Some(event) => Some(event),
                None if self.over => None,
                None => std::future::pending().await,
            }
        })
    }

    fn current(&self, _: &Path) -> Option<String> {
        None
    }
}
