//! A real agent in a scratch folder, on a scripted model at a real socket.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rail_agent::machine::Bounds;
use rail_agent::team::AgentType;
use rail_agent::{Agent, Begin, Handle, Setup};
use rail_config::{Env, Inputs};
use rail_model::{Message, Part, PartBody, Request};
use rail_permit::{Mode, Policy, Rules};
use rail_proto::{Answer, Command, Done, Prompt, SessionEvent};
use rail_testkit::{Models, Turn};
use rail_tool::{Confine, Session};
use rail_upstream::{Live, LiveSettings, Upstream};
use tempfile::TempDir;
use tokio::task::JoinSet;

/// The protocols, each the name of a provider too.
pub(crate) const PROTOCOLS: [&str; 4] = ["anthropic", "openai-chat", "openai-responses", "gemini"];

/// More than any healthy wait takes; a test that hangs fails.
const DEADLINE: Duration = Duration::from_secs(60);

/// A folder to work in, a model that answers, and what is configured.
pub(crate) struct Bed {
    root: TempDir,
    pub(crate) models: Models,
    pub(crate) provider: &'static str,
    /// The model that is asked for, if it is not the provider's.
    pub(crate) model: Option<&'static str>,
    pub(crate) config: String,
    /// More of each provider.
    pub(crate) provider_lines: &'static str,
    /// More of each model.
    pub(crate) price: &'static str,
    pub(crate) mode: Mode,
    pub(crate) rules: Rules,
    pub(crate) bounds: Bounds,
    /// The types of agents that calls can set to work.
    pub(crate) agents: Vec<AgentType>,
    /// The window of the models and the most that they write.
    pub(crate) window: (u64, u64),
}

impl Bed {
    /// With a model that plays these turns.
    pub(crate) fn new(script: Vec<Turn>) -> Self {
        Self::on(Models::start(script).unwrap())
    }

    /// With this model.
    pub(crate) fn on(models: Models) -> Self {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("work")).unwrap();
        Self {
            root,
            models,
            provider: "anthropic",
            model: None,
            config: String::new(),
            provider_lines: "",
            price: "",
            mode: Mode::Bypass,
            rules: Rules::default(),
            bounds: Bounds::default(),
            agents: Vec::new(),
            window: (200_000, 8_000),
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap()
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.root().join("work")
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.work().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.work().join(file)).unwrap_or_else(|error| format!("{file}: {error}"))
    }

    fn configured(&self) -> String {
        let (window, output) = self.window;
        let provider = |name: &str| {
            let id = rail_wire::find(name).unwrap().id;
            format!(
                "[providers.{name}]\nprotocol = \"{name}\"\nbase_url = \"{}\"\nkey = \"none\"\n{}\n\
                 models = {{ m = {{ window = {window}, max_output = {output}, vision = true{} }} }}\n",
                self.models.base_url(id),
                self.provider_lines,
                self.price,
            )
        };
        let providers: String = PROTOCOLS.iter().map(|name| provider(name)).collect();
        format!("{providers}\n[router]\ndefault = \"{},m\"\n{}", self.provider, self.config)
    }

    fn setup(&self, begin: Begin) -> Setup {
        let root = self.root();
        let place = |name: &str| root.join(name).to_str().unwrap().to_owned();
        let env: Env = [
            ("HOME", place("home")),
            ("XDG_CONFIG_HOME", place("config")),
            ("XDG_STATE_HOME", place("state")),
            ("XDG_CACHE_HOME", place("cache")),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ]
        .into_iter()
        .collect();
        let file = root.join("config.toml");
        rail_stdx::replace(&file, self.configured().as_bytes(), rail_stdx::Access::Owner).unwrap();
        let inputs =
            Inputs { env: env.clone(), working_folder: self.work(), config: Some(file), ..Inputs::default() };
        let loaded = rail_config::load(&inputs).unwrap_or_else(|problems| panic!("{problems}"));
        let mut session = Session::new(self.work(), root.join("outputs"));
        session.confine = Confine::Off;
        session.env = env.all().map(|(name, value)| (name.into(), value.into())).collect();
        let policy = Policy {
            mode: self.mode,
            rules: self.rules.clone(),
            folders: vec![self.work()],
            ..Policy::default()
        };
        Setup {
            loaded: Arc::new(loaded),
            env,
            upstream: Upstream::new(Arc::new(Live::new(LiveSettings::default()))),
            registry: rail_tools::registry(),
            policy,
            session,
            model: self.model.map_or_else(|| format!("{},m", self.provider), str::to_owned),
            bounds: self.bounds.clone(),
            state: root.join("state"),
            begin,
            commands: Vec::new(),
            role: None,
            also: None,
            callbacks: None,
            mcp: None,
            agent_types: self.agents.clone().into(),
        }
    }

    /// A new session.
    pub(crate) fn open(&self) -> Talk {
        self.begin(Begin::New(None))
    }

    /// The session in this folder goes on.
    pub(crate) fn resume(&self, folder: &Path) -> Talk {
        self.begin(Begin::Resume(folder.to_owned()))
    }

    fn begin(&self, begin: Begin) -> Talk {
        let (agent, handle) = Agent::open(self.setup(begin)).unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { agent.run().await.map_err(|error| error.to_string()) });
        Talk { handle, tasks, seen: Vec::new(), answer: None }
    }

    /// The folder of the only session.
    pub(crate) fn session(&self) -> PathBuf {
        let listing = rail_journal::list(&self.root().join("state/sessions"), None).unwrap();
        let [session] = listing.sessions.as_slice() else { panic!("{:?}", listing.sessions) };
        session.folder.clone()
    }

    /// The requests for answers so far, as the model read them.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.models.requests().iter().filter_map(|asked| asked.request().cloned()).collect()
    }

    /// The last request.
    pub(crate) fn last(&self) -> Request {
        self.requests().pop().unwrap()
    }
}

/// A front end that sends commands and keeps all it is told.
pub(crate) struct Talk {
    pub(crate) handle: Handle,
    tasks: JoinSet<Result<(), String>>,
    pub(crate) seen: Vec<SessionEvent>,
    /// What questions about calls are answered with at once.
    pub(crate) answer: Option<Answer>,
}

impl Talk {
    pub(crate) fn send(&self, command: Command) {
        self.handle.commands.send(command).unwrap();
    }

    pub(crate) fn say(&self, text: &str) {
        self.send(Command::Submit(Prompt::text(text)));
    }

    /// Says something, and waits for the end of the task.
    pub(crate) async fn ask(&mut self, text: &str) -> Done {
        self.say(text);
        self.done().await
    }

    /// Waits for the end of a task.
    pub(crate) async fn done(&mut self) -> Done {
        self.until(|event| if let SessionEvent::Done(done) = event { Some(done.clone()) } else { None }).await
    }

    /// Waits for an event that is looked for.
    pub(crate) async fn until<T>(&mut self, mut find: impl FnMut(&SessionEvent) -> Option<T>) -> T {
        loop {
            let next = tokio::time::timeout(DEADLINE, self.handle.events.recv());
            let Ok(Some(numbered)) = next.await else { panic!("it never came: {:#?}", self.seen) };
            assert_eq!(numbered.seq, self.seen.len() as u64 + 1);
            self.seen.push(numbered.event.clone());
            if let (SessionEvent::Permission(ask), Some(answer)) = (&numbered.event, &self.answer) {
                self.send(Command::Answer { ask: ask.id.clone(), answer: answer.clone() });
            }
            if let Some(found) = find(&numbered.event) {
                return found;
            }
        }
    }

    /// Waits for an event that this holds for.
    pub(crate) async fn sees(&mut self, holds: impl Fn(&SessionEvent) -> bool) {
        self.until(|event| holds(event).then_some(())).await;
    }

    /// Ends the session, and gives all that was told.
    pub(crate) async fn end(mut self) -> Vec<SessionEvent> {
        // It may have ended by itself.
        let _ = self.handle.commands.send(Command::End);
        self.sees(|event| matches!(event, SessionEvent::Closed)).await;
        self.tasks.join_next().await.unwrap().unwrap().unwrap();
        self.seen
    }

    /// The results of calls so far: whether they were done, and their texts.
    pub(crate) fn results(&self) -> Vec<(bool, String)> {
        let ends = self.seen.iter().filter_map(|event| match event {
            SessionEvent::ToolEnd(end) => Some((end.success, text_of(&end.result.content))),
            _ => None,
        });
        ends.collect()
    }
}

pub(crate) fn text_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
}

/// The texts of a request, in order, results of calls among them.
pub(crate) fn texts(request: &Request) -> Vec<String> {
    request.messages.iter().map(message_text).collect()
}

pub(crate) fn message_text(message: &Message) -> String {
    let parts = message.parts.iter().map(|part| match &part.body {
        PartBody::Text(text) | PartBody::Refusal(text) | PartBody::Thinking(text) => text.clone(),
        PartBody::ToolCall(call) => format!("{}({})", call.name, call.arguments),
        PartBody::ToolResult(result) => format!("=> {}", text_of(&result.content)),
        PartBody::Media(_) => "[media]".to_owned(),
        PartBody::Redacted(_) | PartBody::Opaque(_) => "[hidden]".to_owned(),
    });
    parts.collect::<Vec<_>>().join("\n")
}

/// Every call has its result behind it, before anybody else speaks, and no result is without its call. Nothing is empty.
pub(crate) fn assert_valid(request: &Request) {
    let mut waiting: Vec<String> = Vec::new();
    for message in &request.messages {
        assert!(!message.parts.is_empty(), "an empty message: {request:#?}");
        for part in &message.parts {
            match &part.body {
                PartBody::ToolResult(result) => {
                    let at = waiting.iter().position(|id| id == result.id.as_str());
                    let Some(at) = at else { panic!("a result without a call: {result:?} in {request:#?}") };
                    waiting.remove(at);
                }
                PartBody::ToolCall(call) => waiting.push(call.id.as_str().to_owned()),
                PartBody::Text(text) => {
                    assert!(!text.is_empty(), "an empty text: {request:#?}");
                    let user = message.role == rail_model::Role::User;
                    assert!(
                        !user || waiting.is_empty(),
                        "calls without results: {waiting:?} in {request:#?}"
                    );
                }
                PartBody::Refusal(_)
                | PartBody::Thinking(_)
                | PartBody::Redacted(_)
                | PartBody::Media(_)
                | PartBody::Opaque(_) => {}
            }
        }
    }
    assert!(waiting.is_empty(), "calls without results: {waiting:?} in {request:#?}");
    assert_eq!(request.messages.first().map(|message| message.role), Some(rail_model::Role::User));
}
