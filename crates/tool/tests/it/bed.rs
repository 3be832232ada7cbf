//! A few tools that do what a test tells them, and the real executor around them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use rail_model::{CallId, CallKind, ToolCall};
use rail_permit::{Answer, Facet, Level, Mode, Policy, Question, Rule, Scope};
use rail_tool::{
    AnyTool, Asks, BoxFuture, Card, Dialect, Example, Executor, FacetCx, Generation, HookedCall, Hooks, Lane,
    NoHooks, Outcome, Parts, Registry, Reply, Session, Shown, Tool, ToolCx, ToolEvent, ToolFault, ToolOutput,
    Watch,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tempfile::TempDir;
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

/// What a test tool is told.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Orders {
    /// What to do: `say`, `read`, `meet`, `wait`, `panic`, `fail`.
    pub(crate) order: String,
    /// What to say, or the file to read.
    #[serde(default)]
    pub(crate) text: String,
}

/// What the tools share in a test.
#[derive(Default)]
pub(crate) struct Stage {
    pub(crate) running: Mutex<(usize, usize)>,
    pub(crate) meeting: Mutex<Option<Arc<Barrier>>>,
    pub(crate) log: Mutex<Vec<String>>,
}

const fn card(name: &'static str, level: Level, lane: Lane, shown: Shown) -> Card<'static> {
    let generation = Generation::Gen1;
    Card {
        name,
        title: name,
        summary: "does as told",
        prompt: "Does as it is told.",
        generation,
        level,
        lane,
        shown,
    }
}

macro_rules! told {
    ($tool:ident, $card:expr) => {
        pub(crate) struct $tool;

        impl Tool for $tool {
            type Input = Orders;
            const CARD: Card<'static> = $card;

            fn facets(input: &Orders, cx: &FacetCx<'_>) -> Vec<Facet> {
                if input.order == "read" { vec![Facet::Read(cx.path(&input.text))] } else { Vec::new() }
            }

            async fn run(input: Orders, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
                obey(input, cx).await
            }

            fn examples() -> &'static [Example] {
                &[]
            }
        }
    };
}

told!(Look, card("look_around", Level::Read, Lane::Shared, Shown::Whole));
told!(Change, card("change_it", Level::None, Lane::Exclusive, Shown::Whole));
told!(Rare, card("rare_thing", Level::None, Lane::Shared, Shown::Brief));

async fn obey(input: Orders, cx: ToolCx) -> Result<ToolOutput, ToolFault> {
    let stage = cx.session().services.get::<Stage>();
    {
        let mut running = stage.running.lock().unwrap();
        running.0 += 1;
        running.1 = running.1.max(running.0);
    }
    stage.log.lock().unwrap().push(format!("begin {}", input.text));
    let meeting = stage.meeting.lock().unwrap().clone();
    let done = match input.order.as_str() {
        "read" => cx
            .files()
            .read(&cx.path(&input.text), 1000)
            .map_err(ToolFault::from)
            .map(|(_, bytes)| ToolOutput::text(String::from_utf8_lossy(&bytes))),
        "meet" => {
            if let Some(meeting) = meeting {
                meeting.wait().await;
            }
            Ok(ToolOutput::text(input.text.clone()))
        }
        "wait" => {
            cx.progress().say("waiting");
            cx.cancel().cancelled().await;
            Err(ToolFault::new("interrupted"))
        }
        "hang" => {
            cx.progress().say("hanging");
            std::future::pending().await
        }
        "block" => {
            let (work, stage) = (cx.clone(), Arc::clone(&stage));
            cx.blocking(move || {
                work.progress().say("working");
                tokio::runtime::Handle::current().block_on(work.cancel().cancelled());
                stage.log.lock().unwrap().push("ended".to_owned());
                Err(ToolFault::new("interrupted"))
            })
            .await
        }
        "panic" => panic!("{}", input.text),
        "fail" => Err(ToolFault::caused(input.text.clone(), "errno 5")),
        _ => Ok(ToolOutput::text(input.text.clone())),
    };
    stage.log.lock().unwrap().push(format!("end {}", input.text));
    stage.running.lock().unwrap().0 -= 1;
    done
}

/// Who looks on, and who answers.
#[derive(Default)]
pub(crate) struct Front {
    pub(crate) events: Mutex<Vec<ToolEvent>>,
    pub(crate) answers: Mutex<Vec<Reply>>,
    pub(crate) kept: Mutex<Vec<String>>,
    /// For how long the first offer of the next question is taken.
    pub(crate) takes: Mutex<Option<Scope>>,
    /// Cancelled as soon as a tool says something.
    pub(crate) cancel_at_progress: Mutex<Option<CancellationToken>>,
}

impl Watch for Front {
    fn event(&self, event: ToolEvent) {
        if matches!(event, ToolEvent::Progress { .. })
            && let Some(cancel) = self.cancel_at_progress.lock().unwrap().as_ref()
        {
            cancel.cancel();
        }
        self.events.lock().unwrap().push(event);
    }
}

impl Asks for Front {
    fn ask<'a>(&'a self, _: &'a HookedCall, question: &'a Question) -> BoxFuture<'a, Reply> {
        let taken = self
            .takes
            .lock()
            .unwrap()
            .take()
            .map(|scope| Answer::Offer(question.offers[0].clone(), scope).into());
        let answer = taken.or_else(|| self.answers.lock().unwrap().pop());
        // Without an answer the question stays open.
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }

    fn keep(&self, rules: &[Rule]) -> Result<(), String> {
        self.kept.lock().unwrap().extend(rules.iter().map(|rule| rule.text.clone()));
        Ok(())
    }
}

/// An executor with these tools in a folder of its own.
pub(crate) struct Bed {
    pub(crate) executor: Executor,
    pub(crate) session: Arc<Session>,
    pub(crate) front: Arc<Front>,
    pub(crate) root: TempDir,
}

impl Bed {
    pub(crate) fn new() -> Self {
        Self::with(Arc::new(NoHooks), |_, _| ())
    }

    pub(crate) fn with(hooks: Arc<dyn Hooks>, change: impl FnOnce(&mut Session, &mut Policy)) -> Self {
        let root = tempfile::tempdir().unwrap();
        let workspace = root.path().canonicalize().unwrap().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        let mut session = Session::new(workspace.clone(), root.path().join("session"));
        let mut policy = Policy { mode: Mode::AcceptEdits, folders: vec![workspace], ..Policy::default() };
        change(&mut session, &mut policy);
        let session = Arc::new(session);
        let front = Arc::new(Front::default());
        let tools: Vec<Arc<dyn AnyTool>> = vec![Arc::new(Look), Arc::new(Change), Arc::new(Rare)];
        let executor = Executor::new(Parts {
            registry: Registry::new(tools),
            session: Arc::clone(&session),
            policy: policy.into(),
            asks: Arc::clone(&front) as Arc<dyn Asks>,
            hooks,
            watch: Arc::clone(&front) as Arc<dyn Watch>,
            dialect: Dialect::default(),
        });
        Self { executor, session, front, root }
    }

    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.session.workspace.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn run(&self, calls: &[(&str, &str)]) -> Vec<Outcome> {
        self.run_until(calls, &CancellationToken::new())
    }

    pub(crate) fn run_until(&self, calls: &[(&str, &str)], cancel: &CancellationToken) -> Vec<Outcome> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(self.executor.run(of(calls), cancel))
    }

    /// The names of the events of one call, in order.
    pub(crate) fn events(&self, id: &str) -> Vec<&'static str> {
        let events = self.front.events.lock().unwrap();
        let of = |event: &ToolEvent| match event {
            ToolEvent::Start { call } => call.id.as_str() == id,
            ToolEvent::Asked { id: own, .. } | ToolEvent::Progress { id: own, .. } => own == id,
            ToolEvent::End(outcome) => outcome.call.id.as_str() == id,
        };
        events.iter().filter(|event| of(event)).map(ToolEvent::name).collect()
    }
}

/// How calls ended and what they said, a line each.
pub(crate) fn told(outcomes: &[Outcome]) -> Vec<String> {
    outcomes
        .iter()
        .map(|outcome| format!("{} {:?}: {}", outcome.call.id.as_str(), outcome.end, outcome.text()))
        .collect()
}

/// The calls of these tools with these arguments.
pub(crate) fn of(calls: &[(&str, &str)]) -> Vec<ToolCall> {
    let call = |(at, (name, arguments)): (usize, &(&str, &str))| ToolCall {
        id: CallId::Given(format!("call_{at}")),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
        kind: CallKind::Function,
    };
    calls.iter().enumerate().map(call).collect()
}
