//! One session with a client: what the client wants of it, what happens in it, and what is asked.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, CLIENT_METHOD_NAMES,
    CloseSessionResponse, ConfigOptionUpdate, CurrentModeUpdate, Error, PromptResponse, RequestId,
    RequestPermissionResponse, SessionNotification, SessionUpdate, SetSessionConfigOptionResponse,
    SetSessionModeResponse, StopReason, ToolCallStatus, ToolCallUpdateFields, UnstructuredCommandInput,
};
use rail_proto::{Answer, Choices, Chosen, Command, Done, PermissionAsk, Prompt, Reason, SessionEvent};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::task::{AbortHandle, JoinSet};

use crate::Editor;
use crate::ask::{self, Forms};
use crate::client::{Client, Message};
use crate::options;
use crate::port::{Facts, Offered, Session};
use crate::rpc::{self, failed, invalid, wrong};
use crate::update::{Teller, update};

/// How long a session has to end what it began.
const ENDING: Duration = Duration::from_secs(10);
/// How many prompts wait for the one that is worked on.
const PROMPTS: usize = 16;

/// What a client wants of a session.
pub(crate) enum Wish {
    /// Something is said to it.
    Prompt { id: RequestId, prompt: Prompt },
    /// What it does is to end now.
    Cancel,
    /// One prompt is taken back.
    TakeBack(RequestId),
    /// Another mode.
    Mode { id: RequestId, mode: String },
    /// Another value of an option.
    Option { id: RequestId, option: String, value: String },
    /// It is to end.
    Close { id: Option<RequestId> },
}

/// A wish on its way to a session. Requests hold a place there; what ends something has none to wait for.
pub(crate) type Wished = (Wish, Option<OwnedSemaphorePermit>);

/// What is to be said to the client.
enum Untold {
    /// It waits until there is room.
    Update(Value),
    /// It does not wait, but for what comes before it.
    Answer(Message),
}

/// A session with a client.
pub(crate) struct Talk {
    client: Arc<Client>,
    editor: Arc<Editor>,
    id: String,
    cwd: PathBuf,
    session: Box<dyn Session>,
    facts: Facts,
    teller: Teller,
    /// The prompt that is worked on.
    turn: Option<Turn>,
    /// Prompts that wait for it.
    waiting: VecDeque<(RequestId, Prompt)>,
    /// Questions that are not answered.
    asks: JoinSet<Command>,
    asked: BTreeMap<String, AbortHandle>,
    /// What the client is not told yet, in its order.
    untold: VecDeque<Untold>,
    ending: Option<Option<RequestId>>,
}

struct Turn {
    id: RequestId,
    /// Whether the client does not want it any more.
    cancelled: bool,
}

/// Whose session it is, and where.
pub(crate) struct Place {
    pub(crate) client: Arc<Client>,
    pub(crate) editor: Arc<Editor>,
    pub(crate) id: String,
    pub(crate) cwd: PathBuf,
}

impl Talk {
    pub(crate) fn new(place: Place, session: Box<dyn Session>, facts: Facts) -> Self {
        let Place { client, editor, id, cwd } = place;
        Self {
            teller: Teller::new(Arc::clone(&editor), cwd.clone()),
            client,
            editor,
            id,
            cwd,
            session,
            facts,
            turn: None,
            waiting: VecDeque::new(),
            asks: JoinSet::new(),
            asked: BTreeMap::new(),
            untold: VecDeque::new(),
            ending: None,
        }
    }

    /// Serves until the session is over, or nobody can want anything of it any more.
    pub(crate) async fn run(mut self, mut wishes: mpsc::UnboundedReceiver<Wished>) {
        self.tell(commands(&self.facts.commands));
        while self.ending.is_none() {
            // While the client does not read, nothing goes on but what is to end.
            let goes_on = self.untold.is_empty() || self.turn.as_ref().is_some_and(|turn| turn.cancelled);
            tokio::select! {
                biased;
                // A wish to stop does not wait behind what is to be shown.
                wish = wishes.recv() => match wish {
                    Some((wish, _)) => self.wished(wish),
                    None => self.ending = Some(None),
                },
                room = room(&self.client, self.untold.front()) => say(&self.client, &mut self.untold, room),
                event = self.session.next(), if goes_on => match event {
                    Some(event) => self.event(event),
                    None => break,
                },
                Some(answered) = self.asks.join_next() => if let Ok(command) = answered {
                    self.answered(command);
                },
            }
        }
        self.end().await;
    }

    /// Ends the session: what runs is interrupted, and each request has its answer.
    async fn end(mut self) {
        self.stop_asking();
        self.session.command(Command::End);
        let over = async {
            loop {
                tokio::select! {
                    biased;
                    room = room(&self.client, self.untold.front()) => say(&self.client, &mut self.untold, room),
                    event = self.session.next() => match event {
                        Some(event) => self.event(event),
                        None => break,
                    },
                }
            }
        };
        // Whatever still runs then ends with the session.
        let _ = tokio::time::timeout(ENDING, over).await;
        for id in self
            .turn
            .take()
            .map(|turn| turn.id)
            .into_iter()
            .chain(std::mem::take(&mut self.waiting).into_iter().map(|(id, _)| id))
        {
            self.answer(&id, Ok(PromptResponse::new(StopReason::Cancelled)));
        }
        if let Some(Some(id)) = self.ending.clone() {
            self.answer(&id, Ok(CloseSessionResponse::new()));
        }
        let Self { client, session, mut untold, .. } = self;
        drop(session);
        while !untold.is_empty() {
            let room = room(&client, untold.front()).await;
            say(&client, &mut untold, room);
        }
    }

    fn wished(&mut self, wish: Wish) {
        match wish {
            Wish::Prompt { id, prompt } if self.turn.is_none() => self.begin(id, prompt),
            Wish::Prompt { id, .. } if self.waiting.len() >= PROMPTS => {
                let many = invalid("too many prompts wait already");
                self.answer(&id, Err::<(), _>(many));
            }
            Wish::Prompt { id, prompt } => self.waiting.push_back((id, prompt)),
            Wish::Cancel => self.cancel(),
            Wish::TakeBack(id) => self.take_back(&id),
            Wish::Mode { id, mode } => {
                let set = self.set_mode(&mode).map(|()| SetSessionModeResponse::new());
                self.answer(&id, set);
            }
            Wish::Option { id, option, value } => {
                let set = match option.as_str() {
                    options::MODE => self.set_mode(&value),
                    options::MODEL => self.set_model(&value),
                    _ => Err(wrong(&format!("there is no option `{option}`"))),
                };
                let all = set.map(|()| SetSessionConfigOptionResponse::new(options::all(&self.facts)));
                self.answer(&id, all);
            }
            Wish::Close { id } => self.ending = Some(id),
        }
    }

    fn begin(&mut self, id: RequestId, prompt: Prompt) {
        self.turn = Some(Turn { id, cancelled: false });
        self.session.submit(prompt);
    }

    /// Ends what is worked on, and all that waits for it.
    fn cancel(&mut self) {
        for (id, _) in std::mem::take(&mut self.waiting) {
            self.answer(&id, Ok(PromptResponse::new(StopReason::Cancelled)));
        }
        self.stop_asking();
        if let Some(turn) = &mut self.turn {
            turn.cancelled = true;
            self.session.command(Command::Interrupt);
        }
    }

    fn take_back(&mut self, id: &RequestId) {
        if self.turn.as_ref().is_some_and(|turn| turn.id == *id) {
            return self.cancel();
        }
        if let Some(at) = self.waiting.iter().position(|(waiting, _)| waiting == id) {
            self.waiting.remove(at);
            self.answer(id, Err::<(), _>(Error::request_cancelled()));
        }
    }

    fn set_mode(&mut self, id: &str) -> Result<(), Error> {
        let mode = options::mode(id, &self.facts).map_err(|why| wrong(&why))?;
        self.facts.mode = mode;
        self.session.command(Command::SetMode(mode));
        Ok(())
    }

    fn set_model(&mut self, value: &str) -> Result<(), Error> {
        let model = options::model(value, &self.facts).map_err(|why| wrong(&why))?;
        self.facts.model.clone_from(&model);
        self.session.command(Command::SetModel(model));
        Ok(())
    }

    fn event(&mut self, event: SessionEvent) {
        for update in self.teller.event(&event) {
            self.tell(update);
        }
        match event {
            SessionEvent::Permission(ask) => self.permission(ask),
            SessionEvent::Choice { id, choices } => self.choice(id, choices),
            SessionEvent::Withdrawn { id } => self.withdraw(&id),
            SessionEvent::Mode(mode) => {
                self.facts.mode = mode;
                self.tell(SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new(options::word(mode))));
                self.options();
            }
            SessionEvent::Model(model) => {
                self.facts.model = model;
                self.options();
            }
            SessionEvent::Offered(offered) => self.offered(offered),
            SessionEvent::Done(done) => self.done(&done),
            _ => {}
        }
    }

    /// Prompts of MCP servers stand behind our own commands. Editors end a command's name at the first space, so it is one word.
    fn offered(&mut self, offered: rail_proto::Offered) {
        let remote = offered.commands.into_iter().map(|command| Offered {
            name: command.word,
            hint: command.hint,
            help: command.help,
        });
        let all: Vec<Offered> = self.facts.commands.iter().cloned().chain(remote).collect();
        self.tell(commands(&all));
    }

    fn options(&mut self) {
        let all = options::all(&self.facts);
        self.tell(SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(all)));
    }

    fn done(&mut self, done: &Done) {
        self.stop_asking();
        let Some(turn) = self.turn.take() else { return };
        self.answer(&turn.id, stopped(done, turn.cancelled).map(PromptResponse::new));
        if self.ending.is_none()
            && let Some((id, prompt)) = self.waiting.pop_front()
        {
            self.begin(id, prompt);
        }
    }

    fn permission(&mut self, ask: PermissionAsk) {
        if self.nobody_asks() {
            return self.session.command(Command::Answer { ask: ask.id, answer: Answer::No { why: None } });
        }
        let request = ask::permission(&self.id, &ask, &self.cwd, &|path| self.session.current(path));
        let (client, id) = (Arc::clone(&self.client), ask.id.clone());
        let asking = self.asks.spawn(async move {
            let said: Result<RequestPermissionResponse, _> =
                client.request(CLIENT_METHOD_NAMES.session_request_permission, &request).await;
            Command::Answer { answer: ask::permitted(&ask, said), ask: ask.id }
        });
        self.asked.insert(id, asking);
    }

    /// Somebody has answered. A call that may be done is told to be done: the question said that it waits.
    fn answered(&mut self, command: Command) {
        if let Command::Answer { ask, answer: Answer::Once | Answer::Offer { .. } } = &command {
            let fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress);
            self.tell(update(ask, fields));
        }
        self.session.command(command);
    }

    fn choice(&mut self, ask: String, choices: Choices) {
        if self.nobody_asks() {
            return self.session.command(Command::Choose { ask, chosen: Chosen::Dismissed { said: None } });
        }
        let forms = self.editor.can().elicitation.as_ref().is_some_and(|can| can.form.is_some());
        let forms = if forms { Forms::Shown } else { Forms::Unknown };
        let (client, session, id) = (Arc::clone(&self.client), self.id.clone(), ask.clone());
        let asking = self.asks.spawn(async move {
            let chosen = ask::choose(&client, &session, &ask, &choices, forms).await;
            Command::Choose { ask, chosen }
        });
        self.asked.insert(id, asking);
    }

    /// Whether what is worked on is not wanted any more: then nobody is asked about it.
    fn nobody_asks(&self) -> bool {
        self.ending.is_some() || self.turn.as_ref().is_some_and(|turn| turn.cancelled)
    }

    fn withdraw(&mut self, id: &str) {
        if let Some(asking) = self.asked.remove(id) {
            asking.abort();
        }
    }

    /// Takes back all questions.
    fn stop_asking(&mut self) {
        self.asked.clear();
        self.asks.abort_all();
    }

    fn tell(&mut self, update: SessionUpdate) {
        let told = SessionNotification::new(self.id.clone(), update);
        let told = rpc::notification(CLIENT_METHOD_NAMES.session_update, &told);
        self.untold.push_back(Untold::Update(told));
    }

    /// Answers a request, behind all that was told before.
    fn answer(&mut self, id: &RequestId, answer: Result<impl Serialize, Error>) {
        let answer = self.client.answering(id, answer);
        self.untold.push_back(Untold::Answer(answer));
    }
}

/// Waits until the next thing can be said.
async fn room(client: &Client, next: Option<&Untold>) -> Option<OwnedSemaphorePermit> {
    match next {
        None => std::future::pending().await,
        Some(Untold::Answer(_)) => None,
        Some(Untold::Update(_)) => client.room().await,
    }
}

/// Says the next thing; an update for which there is no room was waited for long enough.
fn say(client: &Client, untold: &mut VecDeque<Untold>, room: Option<OwnedSemaphorePermit>) {
    match (untold.pop_front(), room) {
        (Some(Untold::Answer(answer)), _) => client.say(answer),
        (Some(Untold::Update(update)), Some(room)) => client.put(update, room),
        (Some(Untold::Update(_)) | None, _) => {}
    }
}

/// Why a turn stopped, as the protocol has it; what failed is an error.
fn stopped(done: &Done, cancelled: bool) -> Result<StopReason, Error> {
    match done.reason {
        // Whatever came of it: the client is told that it has ended as it wanted.
        _ if cancelled => Ok(StopReason::Cancelled),
        Reason::Answered => Ok(StopReason::EndTurn),
        Reason::TurnLimit => Ok(StopReason::MaxTurnRequests),
        Reason::Budget => Ok(StopReason::MaxTokens),
        Reason::Refused => Ok(StopReason::Refusal),
        Reason::Interrupted => Ok(StopReason::Cancelled),
        Reason::Failed => Err(failed(&done.text)),
    }
}

/// The slash commands.
fn commands(offered: &[Offered]) -> SessionUpdate {
    let command = |offered: &Offered| {
        let input = UnstructuredCommandInput::new(offered.hint.clone());
        let input = (!offered.hint.is_empty()).then_some(AvailableCommandInput::Unstructured(input));
        AvailableCommand::new(offered.name.clone(), offered.help.clone()).input(input)
    };
    SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(
        offered.iter().map(command).collect(),
    ))
}
