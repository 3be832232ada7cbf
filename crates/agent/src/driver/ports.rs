//! What runs beside the driver, and how it reaches it: everything comes in by one channel.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rail_config::Inputs;
use rail_model::Event;
use rail_permit::{Answer, Question, Rule};
use rail_proto::{Chosen, Routed, SessionEvent, Shell, Spent};
use rail_tool::{Asks, BoxFuture, Choices, HookedCall, Reply, ToolEvent, Watch};
use tokio::sync::{mpsc, oneshot};

use crate::hooks::{HookOutcome, HookWatch};
use crate::machine::{AskFailure, Room, StepId};

/// What comes to the driver from what runs beside it.
pub(super) enum News {
    /// More of an answer.
    Reply(StepId, Vec<Event>),
    /// Who answers.
    Routed(Routed),
    /// Something about a request that the user should know.
    Note(rail_proto::NoteKind, String),
    /// How much the targets of a request take.
    Room(Option<Room>),
    /// An answer is complete.
    ReplyEnded(StepId, Box<Spent>),
    /// There is no answer, or it broke.
    ReplyFailed(StepId, AskFailure),
    /// Something became of a call.
    Tool(StepId, ToolEvent),
    /// Somebody must say whether a call may be done.
    Ask { call: Box<HookedCall>, question: Box<Question>, answer: oneshot::Sender<Reply> },
    /// Somebody must choose.
    Choose { id: String, choices: Choices, answer: oneshot::Sender<Chosen> },
    /// Nobody waits for the answer to this question any more.
    Withdrawn { id: String },
    /// Hooks around calls said something.
    Hooked { event: &'static str, outcome: Box<HookOutcome> },
    /// The hooks have seen what the user said first of all that waits.
    Submitted { outcome: Box<HookOutcome> },
    /// The hooks have had their say on whether a task may end.
    MayEnd { step: StepId, outcome: Box<HookOutcome> },
    /// The hooks have heard that the conversation begins anew.
    Began { outcome: Box<HookOutcome> },
    /// The hooks have had their say on whether the conversation may be made shorter.
    MayCompact { step: StepId, outcome: Box<HookOutcome> },
    /// Something of an agent that a call set to work.
    Agent(Box<SessionEvent>),
    /// Calls of such an agent that were not allowed, each with the rule that would allow it.
    AgentDenied(Vec<(String, String)>),
    /// Something of the MCP servers has changed.
    Servers,
    /// Something of the commands in the background has changed: all of them.
    Shells(Vec<Shell>),
    /// The calls of a step have ended, and what they changed.
    ToolsEnded { step: StepId, changed: Option<(String, String)> },
}

/// The way to the driver for those who run beside it.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) to: mpsc::UnboundedSender<News>,
    /// The step whose calls run.
    pub(super) step: Arc<AtomicU64>,
    /// Where the configuration comes from, for what is allowed for always.
    pub(super) inputs: Arc<Inputs>,
}

impl Line {
    /// Tells the driver; one that is gone wants no news.
    pub(super) fn tell(&self, news: News) {
        let _ = self.to.send(news);
    }
}

impl Watch for Line {
    fn event(&self, event: ToolEvent) {
        self.tell(News::Tool(self.step.load(Ordering::Acquire), event));
    }
}

impl Asks for Line {
    fn ask<'a>(&'a self, call: &'a HookedCall, question: &'a Question) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let _waits = Waits { line: self, id: &call.id };
            let (call, question) = (Box::new(call.clone()), Box::new(question.clone()));
            self.tell(News::Ask { call, question, answer });
            answered.await.unwrap_or(Reply::Answer(Answer::No(None)))
        })
    }

    fn keep(&self, rules: &[Rule]) -> Result<(), String> {
        let texts: Vec<String> = rules.iter().map(|rule| rule.text.clone()).collect();
        rail_config::allow_always(&self.inputs, &texts).map(drop).map_err(|error| error.to_string())
    }

    fn choose<'a>(&'a self, id: &'a str, choices: &'a Choices) -> BoxFuture<'a, Chosen> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let _waits = Waits { line: self, id };
            self.tell(News::Choose { id: id.to_owned(), choices: choices.clone(), answer });
            answered.await.unwrap_or(Chosen::Nobody)
        })
    }
}

/// Somebody waits for an answer as long as this is there. Of a question that has one by then the driver knows nothing any more.
struct Waits<'a> {
    line: &'a Line,
    id: &'a str,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.line.tell(News::Withdrawn { id: self.id.to_owned() });
    }
}

impl HookWatch for Line {
    fn said(&self, event: &'static str, outcome: &HookOutcome) {
        self.tell(News::Hooked { event, outcome: Box::new(outcome.clone()) });
    }
}
