//! The connection: requests are sorted to their sessions, and sessions begin and end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol_schema::v1::{
    AGENT_METHOD_NAMES, AuthenticateRequest, AuthenticateResponse, CLIENT_METHOD_NAMES, CancelNotification,
    CancelRequestNotification, ClientCapabilities, CloseSessionRequest, DeleteSessionRequest,
    DeleteSessionResponse, Error, InitializeRequest, ListSessionsRequest, LoadSessionRequest,
    LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse, PROTOCOL_LEVEL_METHOD_NAMES,
    PromptRequest, RequestId, ResumeSessionRequest, ResumeSessionResponse, SessionConfigOptionValue,
    SessionNotification, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use rail_proto::Prompt;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::Editor;
use crate::client::{Client, Message};
use crate::history::Past;
use crate::lines::{LONGEST, Line, Lines};
use crate::opening::{self, folder, of_folder, page};
use crate::options;
use crate::port::{Begin, Host, Opened, Wanted};
use crate::prompt;
use crate::rpc::{self, Incoming, invalid, wrong};
use crate::session::{Place, Talk, Wish, Wished};

/// How many sessions a client may have open.
const SESSIONS: usize = 64;
/// How many requests wait for a session.
const WISHES: usize = 64;
/// How long a client may go without reading that has a thousand answers to read: then it is as good as gone.
const STUCK: Duration = Duration::from_secs(10);
/// How long a client that is gone may still take to read: what is said at the end is told if it can be.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long all sessions have to end; each has its own time, which is shorter.
const ENDING: Duration = Duration::from_secs(15);

/// Serves a client on two streams until it is gone or we are told to stop; then every session is ended.
pub async fn serve(
    host: Arc<dyn Host>,
    (from, to): (impl AsyncRead + Unpin, impl AsyncWrite + Send + Unpin + 'static),
    stop: CancellationToken,
) {
    let (client, messages) = Client::new();
    let client = Arc::new(client);
    let mut tasks = JoinSet::new();
    let broken = stop.child_token();
    let writing = write(messages, to, broken.clone());
    let mut writer = JoinSet::new();
    writer.spawn(writing);
    let mut server = Server {
        host,
        client: Arc::clone(&client),
        can: None,
        sessions: BTreeMap::new(),
        opening: 0,
        tasks: &mut tasks,
    };
    let mut lines = Lines::new(from, LONGEST);
    loop {
        tokio::select! {
            biased;
            () = broken.cancelled() => break,
            Some(done) = server.tasks.join_next() => if let Ok(done) = done {
                server.done(done);
            },
            // A client that can't be read any more is gone. Nothing is waited for here: it is seen at any time.
            line = next(&mut lines, &client) => match line {
                Some(Line::Whole(line)) => server.line(&line),
                Some(Line::TooLong) => {
                    let error = invalid(&format!("a message has more than {} MiB", LONGEST >> 20));
                    server.client.answer(&RequestId::Null, Err::<(), _>(error));
                }
                None => break,
            },
        }
    }
    client.gone();
    server.sessions.clear();
    drop(server);
    // Sessions see that nobody wants anything of them any more, and end by themselves within their time.
    let ending = async { while tasks.join_next().await.is_some() {} };
    let close = async {
        tokio::time::sleep(LAST_WORDS).await;
        client.close();
        tokio::time::sleep(ENDING).await;
    };
    tokio::select! {
        () = ending => {}
        () = close => {}
    }
    tasks.shutdown().await;
    drop(client);
    // Last words, for a client that still reads; one that does not is not waited for.
    let _ = tokio::time::timeout(LAST_WORDS, writer.join_next()).await;
}

/// The next line of a client; nothing where it is gone. One that says much and reads nothing is not listened to meanwhile.
async fn next(lines: &mut Lines<impl AsyncRead + Unpin>, client: &Client) -> Option<Line> {
    tokio::time::timeout(STUCK, client.keeps_up()).await.ok()?;
    lines.next().await.ok().flatten()
}

/// Writes messages, one a line.
async fn write(
    mut messages: mpsc::UnboundedReceiver<Message>,
    mut to: impl AsyncWrite + Unpin,
    broken: CancellationToken,
) {
    while let Some(message) = messages.recv().await {
        let line = format!("{}\n", message.value);
        let written = async {
            to.write_all(line.as_bytes()).await?;
            to.flush().await
        };
        if written.await.is_err() {
            break;
        }
    }
    // Who still has something to say is not kept waiting.
    messages.close();
    broken.cancel();
}

/// What is known of a client.
struct Server<'a> {
    host: Arc<dyn Host>,
    client: Arc<Client>,
    /// What it can do; nothing before it has begun.
    can: Option<ClientCapabilities>,
    sessions: BTreeMap<String, Link>,
    /// How many sessions are being opened.
    opening: usize,
    tasks: &'a mut JoinSet<Finished>,
}

/// The way to a session.
struct Link {
    wishes: mpsc::UnboundedSender<Wished>,
    /// The places of requests that wait.
    room: Arc<Semaphore>,
    /// What was said to it last.
    last: Last,
    /// Ends when the session has.
    over: Option<oneshot::Receiver<()>>,
}

/// What was said to a session last: to cancel twice is to cancel once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Last {
    Request,
    Cancel,
}

/// What a task came to.
enum Finished {
    /// A session is open.
    Opened(Box<Ready>),
    /// A session that is open could be opened anew.
    Checked(RequestId, Box<Wanted>),
    /// A session could not be opened, which was answered.
    Refused,
    /// A request was answered.
    Answered,
    /// A session is over; which one, and the way to it.
    Over(String, mpsc::WeakUnboundedSender<Wished>),
}

/// A session that can be talked with.
struct Ready {
    request: RequestId,
    id: String,
    talk: Talk,
    /// What the request is answered.
    answer: Value,
}

impl Server<'_> {
    fn line(&mut self, line: &[u8]) {
        match rpc::read(line) {
            None => {}
            Some(Incoming::Wrong { id, error }) => self.client.answer(&id, Err::<(), _>(error)),
            Some(Incoming::Response { id, answer }) => self.client.answered(&id, answer),
            Some(Incoming::Notification { method, params }) => self.notified(&method, params),
            Some(Incoming::Request { id, method, params }) => {
                if !self.client.take(&id) {
                    // An answer with this id would be taken for that of the other.
                    let twice =
                        invalid(&format!("the id {id} is that of a request that is not answered yet"));
                    return self.client.answer(&RequestId::Null, Err::<(), _>(twice));
                }
                if let Err(error) = self.requested(&id, &method, params) {
                    self.client.answer(&id, Err::<(), _>(error));
                }
            }
        }
    }

    /// What nobody waits for an answer of. What makes no sense is of no effect.
    fn notified(&mut self, method: &str, params: Value) {
        if method == AGENT_METHOD_NAMES.session_cancel {
            let Ok(cancel) = read::<CancelNotification>(params) else { return };
            if let Some(link) = self.sessions.get_mut(cancel.session_id.0.as_ref())
                && std::mem::replace(&mut link.last, Last::Cancel) == Last::Request
            {
                // Whatever waits for the session: it is not lost.
                let _ = link.wishes.send((Wish::Cancel, None));
            }
        } else if method == PROTOCOL_LEVEL_METHOD_NAMES.cancel_request {
            let Ok(cancel) = read::<CancelRequestNotification>(params) else { return };
            if self.client.take_back(&cancel.request_id) {
                for link in self.sessions.values() {
                    let _ = link.wishes.send((Wish::TakeBack(cancel.request_id.clone()), None));
                }
            }
        }
    }

    fn requested(&mut self, id: &RequestId, method: &str, params: Value) -> Result<(), Error> {
        let names = &AGENT_METHOD_NAMES;
        if method == names.initialize {
            return self.initialize(id, read(params)?);
        }
        let Some(can) = self.can.clone() else {
            return Err(invalid("`initialize` comes first"));
        };
        if method == names.authenticate {
            self.authenticate(id, &read(params)?)
        } else if method == names.session_new {
            let asked: NewSessionRequest = read(params)?;
            let fresh = self.host.new_id()?;
            let wanted =
                wanted(fresh, Begin::New, asked.cwd, asked.additional_directories, asked.mcp_servers)?;
            self.open(id, wanted, can)
        } else if method == names.session_load {
            let asked: LoadSessionRequest = read(params)?;
            let known = asked.session_id.to_string();
            let wanted =
                wanted(known, Begin::Load, asked.cwd, asked.additional_directories, asked.mcp_servers)?;
            self.open(id, wanted, can)
        } else if method == names.session_resume {
            let asked: ResumeSessionRequest = read(params)?;
            let known = asked.session_id.to_string();
            let wanted =
                wanted(known, Begin::Resume, asked.cwd, asked.additional_directories, asked.mcp_servers)?;
            self.open(id, wanted, can)
        } else if method == names.session_list {
            self.list(id, read(params)?)
        } else if method == names.session_delete {
            self.delete(id, &read(params)?)
        } else if method == names.session_close {
            let asked: CloseSessionRequest = read(params)?;
            self.wish(&asked.session_id.to_string(), Wish::Close { id: Some(id.clone()) })
        } else if method == names.session_prompt {
            let asked: PromptRequest = read(params)?;
            let prompt = Prompt { id: None, parts: prompt::parts(asked.prompt)? };
            self.wish(&asked.session_id.to_string(), Wish::Prompt { id: id.clone(), prompt })
        } else if method == names.session_set_mode {
            let asked: SetSessionModeRequest = read(params)?;
            let wish = Wish::Mode { id: id.clone(), mode: asked.mode_id.to_string() };
            self.wish(&asked.session_id.to_string(), wish)
        } else if method == names.session_set_config_option {
            let asked: SetSessionConfigOptionRequest = read(params)?;
            let SessionConfigOptionValue::ValueId { value } = asked.value else {
                return Err(wrong("the options here are chosen by the ids of their values"));
            };
            let wish = Wish::Option {
                id: id.clone(),
                option: asked.config_id.to_string(),
                value: value.to_string(),
            };
            self.wish(&asked.session_id.to_string(), wish)
        } else {
            let mut error = Error::method_not_found();
            error.message = format!("{}: {method}", error.message);
            Err(error)
        }
    }

    fn initialize(&mut self, id: &RequestId, asked: InitializeRequest) -> Result<(), Error> {
        if self.can.is_some() {
            return Err(invalid("this connection has begun already"));
        }
        let welcome = opening::welcome(&asked, &self.host.version());
        self.can = Some(asked.client_capabilities);
        self.client.answer(id, Ok(welcome));
        Ok(())
    }

    fn authenticate(&mut self, id: &RequestId, asked: &AuthenticateRequest) -> Result<(), Error> {
        if asked.method_id.0.as_ref() != opening::CONFIGURED {
            return Err(wrong(&format!("there is no way `{}` to log in", asked.method_id)));
        }
        let host = Arc::clone(&self.host);
        self.answering(id, async move { host.ready().await.map(|()| AuthenticateResponse::new()) });
        Ok(())
    }

    fn list(&mut self, id: &RequestId, asked: ListSessionsRequest) -> Result<(), Error> {
        let (cwd, host) = (of_folder(asked.cwd)?, Arc::clone(&self.host));
        self.answering(id, async move { page(host.list(cwd).await?, asked.cursor.as_deref()) });
        Ok(())
    }

    /// Deletes a session; one that is open ends first.
    fn delete(&mut self, id: &RequestId, asked: &DeleteSessionRequest) -> Result<(), Error> {
        let session = asked.session_id.to_string();
        let (host, over) = (Arc::clone(&self.host), self.close(&session));
        self.answering(id, async move {
            ended(over).await;
            host.delete(session).await.map(|()| DeleteSessionResponse::new())
        });
        Ok(())
    }

    /// Answers a request in its own time.
    fn answering<T, E>(&mut self, id: &RequestId, answer: impl Future<Output = Result<T, E>> + Send + 'static)
    where
        T: serde::Serialize + Send + 'static,
        E: Into<Error> + Send + 'static,
    {
        let (client, id) = (Arc::clone(&self.client), id.clone());
        self.tasks.spawn(async move {
            let answer = answer.await.map_err(Into::into);
            client.answer(&id, answer);
            Finished::Answered
        });
    }

    /// Ends a session that is open; the end of it can be awaited.
    fn close(&mut self, session: &str) -> Option<oneshot::Receiver<()>> {
        // Without the way to it, the session sees that nobody wants anything of it any more.
        self.sessions.remove(session).and_then(|mut link| link.over.take())
    }

    /// Opens a session. One of the same id that is open ends first: the client begins anew with it.
    fn open(&mut self, request: &RequestId, wanted: Wanted, can: ClientCapabilities) -> Result<(), Error> {
        if self.sessions.len() + self.opening >= SESSIONS {
            return Err(invalid(&format!("more than {SESSIONS} sessions can't be open; close one")));
        }
        self.opening += 1;
        if !self.sessions.contains_key(&wanted.id) {
            self.begin(request.clone(), wanted, can);
            return Ok(());
        }
        // What is refused harms nothing that is open.
        let (host, client, request) = (Arc::clone(&self.host), Arc::clone(&self.client), request.clone());
        self.tasks.spawn(async move {
            match host.check(wanted.clone()).await {
                Ok(()) => Finished::Checked(request, Box::new(wanted)),
                Err(refused) => {
                    client.answer(&request, Err::<(), _>(refused.into()));
                    Finished::Refused
                }
            }
        });
        Ok(())
    }

    fn begin(&mut self, request: RequestId, wanted: Wanted, can: ClientCapabilities) {
        let over = self.close(&wanted.id);
        let (host, client) = (Arc::clone(&self.host), Arc::clone(&self.client));
        let editor = Arc::new(Editor::new(Arc::clone(&client), wanted.id.clone(), can));
        self.tasks.spawn(async move {
            ended(over).await;
            let (id, begin, cwd) = (wanted.id.clone(), wanted.begin, wanted.cwd.clone());
            let Opened { session, facts, history } = match host.open(wanted, Arc::clone(&editor)).await {
                Ok(opened) => opened,
                Err(refused) => {
                    client.answer(&request, Err::<(), _>(refused.into()));
                    return Finished::Refused;
                }
            };
            let mut past = Past::default();
            for message in history {
                for update in past.message(&message, &cwd) {
                    let told = SessionNotification::new(id.clone(), update);
                    client.notify(CLIENT_METHOD_NAMES.session_update, &told).await;
                }
            }
            let (modes, options) = (options::modes(&facts), options::all(&facts));
            let place = Place { client: Arc::clone(&client), editor, id: id.clone(), cwd };
            let talk = Talk::new(place, session, facts);
            let answer = match begin {
                Begin::New => serde_json::to_value(
                    NewSessionResponse::new(id.clone()).modes(modes).config_options(options),
                ),
                Begin::Load => {
                    serde_json::to_value(LoadSessionResponse::new().modes(modes).config_options(options))
                }
                Begin::Resume => {
                    serde_json::to_value(ResumeSessionResponse::new().modes(modes).config_options(options))
                }
            };
            // These types can be written.
            let answer = answer.unwrap_or_default();
            Finished::Opened(Box::new(Ready { request, id, talk, answer }))
        });
    }

    fn done(&mut self, finished: Finished) {
        match finished {
            Finished::Answered => {}
            Finished::Refused => self.opening -= 1,
            Finished::Checked(request, wanted) => {
                self.begin(request, *wanted, self.can.clone().unwrap_or_default());
            }
            Finished::Opened(ready) => {
                let Ready { request, id, talk, answer } = *ready;
                self.opening -= 1;
                let client = Arc::clone(&self.client);
                let (wishes, wished) = mpsc::unbounded_channel();
                let (ends, over) = oneshot::channel();
                let (own, name) = (wishes.downgrade(), id.clone());
                // The client may say something as soon as it has the answer: the way is there before.
                let room = Arc::new(Semaphore::new(WISHES));
                self.sessions.insert(id, Link { wishes, room, last: Last::Cancel, over: Some(over) });
                self.tasks.spawn(async move {
                    client.answer(&request, Ok(answer));
                    talk.run(wished).await;
                    // Who waits for it may be gone.
                    let _ = ends.send(());
                    Finished::Over(name, own)
                });
            }
            Finished::Over(id, own) => {
                // Another session of the same id may be open by now.
                let own = own.upgrade();
                let is_it = |link: &Link| own.as_ref().is_some_and(|own| own.same_channel(&link.wishes));
                if self.sessions.get(&id).is_some_and(is_it) {
                    self.sessions.remove(&id);
                }
            }
        }
    }

    fn wish(&mut self, session: &str, wish: Wish) -> Result<(), Error> {
        let unknown = || Error::from(crate::Refused::Unknown(session.to_owned()));
        let link = self.sessions.get_mut(session).ok_or_else(unknown)?;
        let Ok(place) = Arc::clone(&link.room).try_acquire_owned() else {
            return Err(invalid("too many requests wait for this session"));
        };
        link.last = Last::Request;
        link.wishes.send((wish, Some(place))).map_err(|_| unknown())
    }
}

/// Waits until a session has ended, if there is one.
async fn ended(over: Option<oneshot::Receiver<()>>) {
    if let Some(over) = over {
        let _ = over.await;
    }
}

fn wanted(
    id: String,
    begin: Begin,
    cwd: PathBuf,
    folders: Vec<PathBuf>,
    servers: Vec<McpServer>,
) -> Result<Wanted, Error> {
    let folders = folders.into_iter().map(folder).collect::<Result<_, _>>()?;
    Ok(Wanted { id, begin, cwd: folder(cwd)?, folders, servers })
}

/// Parameters of a request.
fn read<T: DeserializeOwned>(params: Value) -> Result<T, Error> {
    // A request without parameters has none that are wrong.
    let params = if params.is_null() { Value::Object(serde_json::Map::new()) } else { params };
    serde_json::from_value(params).map_err(|error| wrong(&error.to_string()))
}
