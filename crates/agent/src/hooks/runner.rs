use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rail_config::settings::Hooks as HookSettings;
use rail_permit::{Mode, Question};
use rail_tool::{Before, BoxFuture, End, HookAnswer, HookSay, HookedCall, Hooks, Outcome, Session};
use serde_json::{Map, Value};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::callback::{CallbackHooks, HookCalls};
use super::event::groups;
use super::matcher::Matcher;
use super::process::{Job, Ran, Started};
use super::{FailedBy, HookEvent, HookOutcome, answer, callback, names};

/// How long a hook may take when the settings do not say.
const LIMIT: Duration = Duration::from_secs(60);

/// What hooks are told of the session.
#[derive(Clone, Debug)]
pub struct HookFacts {
    /// The session's id.
    pub id: String,
    /// The file that holds the conversation.
    pub transcript: PathBuf,
    /// The session: its workspace is the project's folder, and hooks run in its working folder with its environment.
    pub session: Arc<Session>,
}

/// Who is told what hooks around calls said that is not for the model: messages, problems, and that it is to stop.
pub trait HookWatch: Send + Sync {
    /// The hooks of one event came to this.
    fn said(&self, event: &'static str, outcome: &HookOutcome);
}

/// Runs the user's hooks.
pub struct HookRunner {
    groups: BTreeMap<&'static str, Vec<Group>>,
    facts: HookFacts,
    mode: Mutex<Mode>,
    watch: Arc<dyn HookWatch>,
    started: Arc<Started>,
    problems: Vec<String>,
    calls: Option<Arc<dyn HookCalls>>,
}

/// Hooks and what they are for.
struct Group {
    matcher: Matcher,
    hooks: Vec<(Hook, Duration)>,
}

/// One hook.
#[derive(Clone, PartialEq, Eq)]
enum Hook {
    /// A command of the user's.
    Command(String),
    /// A callback of the client's, by its id.
    Callback(String),
}

impl HookRunner {
    /// A runner of these hooks. Those of a project that is not trusted are not among them: the configuration leaves them out.
    pub fn new(settings: &HookSettings, facts: HookFacts, watch: Arc<dyn HookWatch>) -> Self {
        let mut problems = Vec::new();
        let mut read = |event: &str, group: &rail_config::settings::HookGroup| {
            let (matcher, problem) = Matcher::read(group.matcher.as_deref());
            problems.extend(problem.map(|problem| format!("hooks.{event}: {problem}")));
            let limit =
                |seconds: Option<u32>| seconds.map_or(LIMIT, |seconds| Duration::from_secs(seconds.into()));
            let hooks =
                group.hooks.iter().map(|hook| (Hook::Command(hook.command.clone()), limit(hook.timeout)));
            let hooks = hooks.collect();
            Group { matcher, hooks }
        };
        let groups = groups(settings)
            .map(|(event, groups)| (event, groups.iter().map(|group| read(event, group)).collect()));
        Self {
            groups: groups.into(),
            facts,
            mode: Mutex::new(Mode::default()),
            watch,
            started: Arc::default(),
            problems,
            calls: None,
        }
    }

    /// The same with hooks of the client's, which are called back.
    #[must_use]
    pub fn with_callbacks(mut self, callbacks: CallbackHooks) -> Self {
        let known: Vec<&'static str> = self.groups.keys().copied().collect();
        for group in callbacks.groups {
            let Some(event) = known.iter().find(|event| **event == group.event) else {
                self.problems.push(format!(
                    "there is no hook event `{}`; its callbacks are never called",
                    group.event
                ));
                continue;
            };
            let (matcher, problem) = Matcher::read(group.matcher.as_deref());
            self.problems.extend(problem.map(|problem| format!("hooks.{event}: {problem}")));
            let limit = group.limit.unwrap_or(LIMIT);
            let hooks = group.callbacks.into_iter().map(|id| (Hook::Callback(id), limit)).collect();
            self.groups.entry(event).or_default().push(Group { matcher, hooks });
        }
        self.calls = Some(callbacks.calls);
        self
    }

    /// What is wrong with the settings, told once when a session begins.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// What is asked about from now on, which hooks are told.
    pub fn set_mode(&self, mode: Mode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    /// Runs the hooks of an event side by side, the same command once. When it is cancelled they are ended, and nothing comes of them.
    pub async fn run(&self, event: &HookEvent, cancel: &CancellationToken) -> HookOutcome {
        let picked = self.picked(event);
        if picked.is_empty() {
            return HookOutcome::default();
        }
        let told = Arc::new(self.told(event));
        let input: Arc<[u8]> = told.to_string().into_bytes().into();
        let mut tasks = JoinSet::new();
        for (at, (hook, limit)) in picked.into_iter().enumerate() {
            match (hook, &self.calls) {
                (Hook::Command(command), _) => {
                    let job = Job {
                        command,
                        limit,
                        input: Arc::clone(&input),
                        env: self.env(),
                        cwd: self.cwd(),
                        started: Arc::clone(&self.started),
                    };
                    tasks.spawn(async move { (at, job.run().await) });
                }
                (Hook::Callback(id), Some(calls)) => {
                    let (calls, told) = (Arc::clone(calls), Arc::clone(&told));
                    tasks.spawn(async move { (at, callback::run(&*calls, id, &told, limit).await) });
                }
                // Callbacks come with whoever calls them.
                (Hook::Callback(_), None) => {}
            }
        }
        let mut ran: BTreeMap<usize, Ran> = BTreeMap::new();
        let broke_off = loop {
            tokio::select! {
                joined = tasks.join_next() => match joined {
                    None => break false,
                    Some(Ok((at, done))) => {
                        ran.insert(at, done);
                    }
                    Some(Err(_)) => break true,
                },
                () = cancel.cancelled() => {
                    tasks.shutdown().await;
                    return HookOutcome::default();
                }
            }
        };
        let mut outcome = HookOutcome::fold(ran.values().map(|ran| answer::read(event, ran)));
        if broke_off {
            outcome.problems.push(format!("a {} hook broke off, which is a fault of ours", event.name()));
        }
        outcome
    }

    /// The hooks that are for an event, each once, with how long they may take.
    fn picked(&self, event: &HookEvent) -> Vec<(Hook, Duration)> {
        let subjects = event.subjects();
        let groups = self.groups.get(event.name()).map(Vec::as_slice).unwrap_or_default();
        let mut picked: Vec<(Hook, Duration)> = Vec::new();
        for hook in
            groups.iter().filter(|group| group.matcher.picks(&subjects)).flat_map(|group| &group.hooks)
        {
            if !picked.iter().any(|(known, _)| *known == hook.0) {
                picked.push(hook.clone());
            }
        }
        picked
    }

    /// What hooks read.
    fn told(&self, event: &HookEvent) -> Value {
        let mode = match *self.mode.lock().unwrap_or_else(PoisonError::into_inner) {
            Mode::Default => "default",
            Mode::AcceptEdits => "acceptEdits",
            Mode::Plan => "plan",
            Mode::Bypass => "bypassPermissions",
        };
        let session = &self.facts.session;
        let cwd = session.cwd();
        let mut told = Map::new();
        let mut tell = |key: &str, value: Value| told.insert(key.to_owned(), value);
        tell("session_id", self.facts.id.as_str().into());
        tell("transcript_path", self.facts.transcript.to_string_lossy().into());
        tell("cwd", cwd.to_string_lossy().into());
        tell("permission_mode", mode.into());
        tell("hook_event_name", event.name().into());
        let mut input = Value::Null;
        if let Some(call) = event.call() {
            input = names::input(&call.input, &cwd, session.home.as_deref());
            tell("tool_name", names::theirs(&call.tool).into());
            tell("tool_input", input.clone());
            tell("tool_use_id", call.id.as_str().into());
        }
        told.extend(event.fields(&input));
        Value::Object(told)
    }

    fn env(&self) -> Vec<(OsString, OsString)> {
        let session = &self.facts.session;
        let mut env: BTreeMap<OsString, OsString> = session.env.iter().cloned().collect();
        for name in ["CLAUDE_PROJECT_DIR", "SWITCHRAIL_PROJECT_DIR"] {
            env.insert(name.into(), session.workspace.clone().into());
        }
        env.into_iter().collect()
    }

    /// The working folder, or the workspace where that is gone.
    fn cwd(&self) -> PathBuf {
        let cwd = self.facts.session.cwd();
        if cwd.is_dir() { cwd } else { self.facts.session.workspace.clone() }
    }

    /// Runs hooks around a call. Whoever runs the call drops this when nobody wants it any more, and that ends them.
    async fn around(&self, event: HookEvent) -> HookOutcome {
        let outcome = self.run(&event, &CancellationToken::new()).await;
        if outcome != HookOutcome::default() {
            self.watch.said(event.name(), &outcome);
        }
        outcome
    }
}

impl Hooks for HookRunner {
    fn before<'a>(&'a self, call: &'a HookedCall) -> BoxFuture<'a, Before> {
        Box::pin(async {
            let outcome = self.around(HookEvent::PreToolUse(call.clone())).await;
            let say = outcome.stop.map(HookSay::Deny).or(outcome.say);
            Before { input: outcome.updated_input, say, context: outcome.context }
        })
    }

    fn asked<'a>(&'a self, call: &'a HookedCall, _: &'a Question) -> BoxFuture<'a, Option<HookAnswer>> {
        Box::pin(async {
            let outcome = self.around(HookEvent::PermissionRequest(call.clone())).await;
            match outcome.stop.map(HookSay::Deny).or(outcome.say) {
                Some(HookSay::Allow) => Some(HookAnswer::Allow(outcome.updated_input)),
                Some(HookSay::Deny(why)) => Some(HookAnswer::Deny(why)),
                Some(HookSay::Ask(_)) | None => None,
            }
        })
    }

    fn after<'a>(&'a self, call: &'a HookedCall, outcome: &'a Outcome) -> BoxFuture<'a, Option<String>> {
        let call = call.clone();
        let failed = |call, by| HookEvent::PostToolUseFailure { call, error: outcome.text(), by };
        let event = match outcome.end {
            End::Done => HookEvent::PostToolUse { call, output: outcome.text() },
            End::Failed | End::Crashed => failed(call, FailedBy::Tool),
            End::Cancelled => failed(call, FailedBy::Interrupt),
            // It did not run.
            End::Refused | End::Denied | End::Rejected | End::Hooked => {
                return Box::pin(std::future::ready(None));
            }
        };
        Box::pin(async {
            let HookOutcome { blocked, context, .. } = self.around(event).await;
            let said: Vec<String> =
                blocked.map(|why| format!("a hook objects: {why}")).into_iter().chain(context).collect();
            (!said.is_empty()).then(|| said.join("\n"))
        })
    }
}
