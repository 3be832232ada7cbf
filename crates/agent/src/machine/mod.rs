//! What the agent does next, decided without a clock, a socket or a file.
//!
//! [`Machine::step`] takes one [`Input`] and gives [`Effect`]s that are done in their order. So crash safety is a property of a
//! list: no calls are run before they are written down, and no result is shown before it is.

mod bounds;
mod compact;
mod finish;
mod listen;

use rail_journal::{Record, Said, Window};
use rail_model::{Assembler, Event, Message, Part, Request, Role, ToolCall, ToolDecl};
use rail_proto::{Done, Prompt, Reason, SessionEvent, Spent, ToolEnd};

use crate::context::{Account, Tried};
use crate::hooks::CompactTrigger;
use crate::repeat::{Repeats, Verdict};
pub use bounds::{Bounds, Head, Room, Summaries};
use compact::Making;
pub(crate) use listen::written;

/// Names one request or one batch of calls: late news of one that was given up has no effect.
pub type StepId = u64;

/// What comes to the machine.
#[derive(Clone, PartialEq, Debug)]
pub enum Input {
    /// The user says something.
    Submit(Prompt),
    /// Whatever runs is to end now.
    Interrupt,
    /// The calls that run are being ended: once all have results the task is over, and nothing more is asked.
    LastCalls,
    /// More of an answer.
    Reply(StepId, Vec<Event>),
    /// An answer is complete; what it took.
    ReplyEnded(StepId, Box<Spent>),
    /// There is no answer, or it broke.
    ReplyFailed(StepId, AskFailure),
    /// A call has its result.
    ToolDone(StepId, Box<ToolEnd>),
    /// Whether the task may end: what to say to the model instead, if it may not.
    MayEnd(StepId, Option<String>),
    /// Whether the conversation may be made shorter: why not, if it may not.
    MayCompact(StepId, Option<String>),
    /// Something that the model is told before the next request.
    Tell(String),
    /// Another model from now on.
    SetModel(String),
    /// Other instructions and tools from now on.
    SetHead(Vec<Part>, Vec<ToolDecl>),
    /// The conversation is to be made shorter; what is to be kept above all.
    Compact(Option<String>),
    /// How much the model that serves takes, as far as that is known.
    Room(Option<Room>),
    /// No more may be spent on this task, for this reason.
    Exhausted(String),
}

/// What the machine wants done, in order.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Write this down.
    Persist(Record),
    /// Nothing that follows may be done before all that was written is safe.
    Sync,
    /// Tell it to everybody who listens.
    Emit(Box<SessionEvent>),
    /// Ask a model.
    Ask(StepId, Box<Request>),
    /// Run these calls and give each result back.
    RunTools(StepId, Vec<ToolCall>),
    /// End what this step does.
    Cancel(StepId),
    /// Ask whether the task may end with this answer.
    Ending(StepId, String),
    /// Ask whether the conversation may be made shorter; what is to be kept above all.
    Compacting(StepId, CompactTrigger, Option<String>),
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AskFailure {
    /// What happened, and what to do about it.
    pub why: String,
    /// What can be done.
    pub kind: FailureKind,
}

/// What can be done about a missing answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FailureKind {
    /// It broke on the way: the same can be asked again.
    Broke,
    /// The conversation is too long for all targets.
    TooLong,
    /// Nothing.
    Final,
}

/// The agent's machine.
#[derive(Clone, Debug)]
pub struct Machine {
    head: Head,
    bounds: Bounds,
    window: Window,
    state: State,
    step: StepId,
    task: Task,
    /// What the model is to be told before the next request.
    tell: Vec<String>,
    account: Account,
    room: Option<Room>,
    repeats: Repeats,
    /// The user wants the conversation shorter; what is to be kept above all.
    compact_wanted: Option<Option<String>>,
}

/// What it is doing.
#[derive(Clone, Debug)]
enum State {
    /// Nothing.
    Idle,
    /// A model is asked, and may be answering.
    Asking { step: StepId, said: Box<Assembler>, shown: bool },
    /// Calls run.
    Executing { step: StepId },
    /// A summary is due unless somebody objects.
    Due { step: StepId, making: Box<Making> },
    /// A model is asked for a summary.
    Summarising { step: StepId, said: Box<Assembler>, making: Box<Making> },
    /// The task is over unless somebody objects.
    Ending { step: StepId, text: String },
}

/// What a task has taken so far.
#[derive(Clone, Debug, Default)]
struct Task {
    turns: u64,
    usd: f64,
    tokens: u64,
    /// How often the same request broke.
    broke: u32,
    /// How often the model was told to go on.
    nudged: u32,
    /// What was done so that the next request fits.
    tried: Tried,
    /// Whether a target said that the conversation is too long.
    squeezed: bool,
    /// Whether the user wants the task to end once the calls that run have results.
    last_calls: bool,
    /// Why the task is to end once the calls that run have results.
    circle: Option<String>,
    /// The last text of the model.
    text: String,
}

impl Machine {
    /// A machine for a new conversation.
    pub fn new(head: Head, bounds: Bounds) -> Self {
        Self::of(head, bounds, Window::default())
    }

    /// A machine that goes on with a conversation. What was left open is closed: the records for that are the effects.
    pub fn resumed(head: Head, bounds: Bounds, window: Window, out: &mut Vec<Effect>) -> Self {
        let mut machine = Self::of(head, bounds, window);
        machine.mend(out);
        machine
    }

    fn of(head: Head, bounds: Bounds, window: Window) -> Self {
        let step = window.last_step();
        let account = account(&head, &window);
        Self {
            head,
            bounds,
            window,
            state: State::Idle,
            step,
            task: Task::default(),
            tell: Vec::new(),
            account,
            room: None,
            repeats: Repeats::default(),
            compact_wanted: None,
        }
    }

    /// The conversation.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The part of every request that stays the same.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// What a task is held to.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// Whether a task is being worked on.
    pub fn is_busy(&self) -> bool {
        !matches!(self.state, State::Idle)
    }

    /// The step whose calls run.
    pub fn executing(&self) -> Option<StepId> {
        match self.state {
            State::Executing { step } => Some(step),
            State::Idle
            | State::Asking { .. }
            | State::Due { .. }
            | State::Summarising { .. }
            | State::Ending { .. } => None,
        }
    }

    /// Takes one input; what is to be done about it is added to `out`.
    pub fn step(&mut self, input: Input, out: &mut Vec<Effect>) {
        match input {
            Input::Submit(prompt) => self.submit(prompt, out),
            Input::Interrupt => self.stop(Reason::Interrupted, "interrupted".to_owned(), out),
            Input::LastCalls => self.task.last_calls = self.executing().is_some(),
            Input::Reply(step, events) => self.reply(step, events, out),
            Input::ReplyEnded(step, spent) => self.reply_ended(step, *spent, out),
            Input::ReplyFailed(step, failure) => self.reply_failed(step, failure, out),
            Input::ToolDone(step, end) => self.tool_done(step, *end, out),
            Input::MayEnd(step, instead) => self.may_end(step, instead, out),
            Input::MayCompact(step, blocked) => self.may_compact(step, blocked, out),
            Input::Tell(text) => self.tell_model(text, out),
            Input::SetModel(model) => {
                self.head.model.clone_from(&model);
                emit(out, SessionEvent::Model(model));
            }
            Input::SetHead(system, tools) => {
                self.head = Head { system, tools, ..std::mem::take(&mut self.head) };
                self.account = account(&self.head, &self.window);
            }
            Input::Compact(keep) => self.compact(keep, out),
            Input::Room(room) => self.room = room,
            Input::Exhausted(why) => self.stop(Reason::Budget, why, out),
        }
    }

    fn submit(&mut self, prompt: Prompt, out: &mut Vec<Effect>) {
        let message = Message::new(Role::User, prompt.parts.clone());
        if self.is_busy() {
            self.persist(Record::Queued(Said { step: self.step, message }), out);
            emit(out, SessionEvent::Queued(prompt));
            return;
        }
        self.task = Task::default();
        self.repeats.user_spoke();
        // What an ended task had left waiting was said before.
        self.take_queue(out);
        self.told(out);
        self.persist(Record::Message(Said { step: self.step, message }), out);
        emit(out, SessionEvent::Prompted(prompt));
        self.request(out);
    }

    /// Asks the model, unless a limit is reached: budgets are checked before a request, not after.
    fn request(&mut self, out: &mut Vec<Effect>) {
        if let Some((reason, text)) = self.limit() {
            return self.finish(reason, text, out);
        }
        self.take_queue(out);
        self.told(out);
        if !self.fit(out) {
            return;
        }
        self.task.tried = Tried::Nothing;
        self.account.sent();
        self.step += 1;
        let step = self.step;
        self.state = State::Asking { step, said: Box::default(), shown: false };
        emit(out, SessionEvent::Asking { step });
        out.push(Effect::Ask(step, Box::new(self.next_request())));
    }

    /// The request that would go out now.
    pub fn next_request(&self) -> Request {
        let Head { model, system, tools, sampling, thinking } = self.head.clone();
        let messages = self.window.messages().to_vec();
        Request { model, system, tools, sampling, thinking, messages, stream: true, ..Request::default() }
    }

    fn limit(&self) -> Option<(Reason, String)> {
        if let Some(turns) = self.bounds.turns.filter(|turns| self.task.turns >= *turns) {
            return Some((
                Reason::TurnLimit,
                format!("the task was ended after {turns} turns, as many as were allowed"),
            ));
        }
        if let Some(tokens) = self.bounds.tokens.filter(|tokens| self.task.tokens >= *tokens) {
            let used = self.task.tokens;
            let text = format!("the task was ended: {used} tokens are used of {tokens} that were allowed");
            return Some((Reason::Budget, text));
        }
        let usd = self.bounds.usd.filter(|usd| self.task.usd >= *usd)?;
        let text = format!("the task was ended: ${:.4} are spent of ${usd} that were allowed", self.task.usd);
        Some((Reason::Budget, text))
    }

    /// What the user said meanwhile is taken in.
    fn take_queue(&mut self, out: &mut Vec<Effect>) {
        let prompts: Vec<Prompt> = self.window.queued().iter().map(prompt).collect();
        if !prompts.is_empty() {
            self.repeats.user_spoke();
            self.persist(Record::Taken(self.step), out);
            prompts.into_iter().for_each(|prompt| emit(out, SessionEvent::Prompted(prompt)));
        }
    }

    /// While calls run nothing can stand between them and their results; else it is written down at once, so that it is told even if
    /// nothing more is asked in this process.
    fn tell_model(&mut self, text: String, out: &mut Vec<Effect>) {
        self.tell.push(text);
        if !self.is_busy() {
            self.told(out);
        }
    }

    /// What the model is to be told goes into the conversation as a message; the system prompt never changes.
    fn told(&mut self, out: &mut Vec<Effect>) {
        if self.tell.is_empty() {
            return;
        }
        let parts = std::mem::take(&mut self.tell).into_iter().map(Part::text).collect();
        let said = Said { step: self.step, message: Message::new(Role::User, parts) };
        self.persist(Record::Told(said), out);
    }

    fn persist(&mut self, record: Record, out: &mut Vec<Effect>) {
        let before = self.window.messages().len();
        self.window.apply(&record);
        if let Record::Compacted(_) = record {
            self.account = self.account.again(self.window.messages());
        } else {
            self.window.messages().iter().skip(before).for_each(|message| self.account.push(message));
        }
        out.push(Effect::Persist(record));
    }
}

/// What the head and the conversation come to.
fn account(head: &Head, window: &Window) -> Account {
    let Head { system, tools, .. } = head;
    let fixed = Request { system: system.clone(), tools: tools.clone(), ..Request::default() };
    Account::new(rail_route::estimate(&fixed).total()).again(window.messages())
}

fn prompt(message: &Message) -> Prompt {
    Prompt { id: None, parts: message.parts.clone() }
}

fn emit(out: &mut Vec<Effect>, event: SessionEvent) {
    out.push(Effect::Emit(Box::new(event)));
}

fn done(reason: Reason, text: String, task: &Task) -> SessionEvent {
    let Task { turns, usd, .. } = task;
    SessionEvent::Done(Done { reason, text, turns: *turns, cost_usd: *usd, ..Done::default() })
}

#[cfg(test)]
mod tests;
