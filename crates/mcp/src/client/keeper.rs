//! Keeps one server: connects, listens, asks whether it lives, and connects again.

use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use rail_sandbox::{Bounds, Groups, Launch, Process, Shape, StartError, Streams};
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, RunningService, serve_client};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::answers::Answers;
use super::desk::{Changes, Desk, Fault};
use super::link::Link;
use super::lists::{self, Lists};
use super::names::cut;
use super::post::Post;
use super::server::Server;
use super::session::{Session, Trouble, Wait, how_it_ended, last_words};
use super::spec::Way;
use super::state::State;
use super::{known, sse, stdio, streamable};

/// A server that ended within this time died at once.
const AT_ONCE: Duration = Duration::from_secs(5);
/// How long a ping may take.
const PONG: Duration = Duration::from_secs(20);
/// How long the SDK has to end a connection.
const CLOSE: Duration = Duration::from_millis(1_500);
/// Changes of lists that come together are looked at together.
const TOGETHER: Duration = Duration::from_millis(20);

/// A connection and what it holds.
struct Live {
    running: RunningService<RoleClient, Answers>,
    process: Option<Arc<Process>>,
    session: Session,
}

/// Why a connection is over.
enum Over {
    /// It broke, for this reason.
    Broke(Fault),
    /// Somebody wants it anew.
    Again,
    /// The hub stops.
    Stop,
}

/// Why a server was not connected.
struct Failure {
    fault: Fault,
    /// Whether to try again by itself.
    hopeless: bool,
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self { fault, hopeless: false }
    }
}

/// Keeps a server until the hub stops.
pub(crate) async fn keep(server: Arc<Server>, groups: Arc<Groups>) {
    round(&server, &groups).await;
    server.change(|now| (now.state, now.session) = (State::Stopped, None));
}

async fn round(server: &Server, groups: &Groups) {
    let (limits, stop) = (&server.shared.limits, &server.shared.stop);
    let (mut pause, mut deaths) = (limits.retry, 0);
    loop {
        server.change(|now| (now.state, now.session) = (State::Connecting, None));
        let began = Instant::now();
        let connected = tokio::select! {
            connected = connect(server, groups) => connected,
            () = stop.cancelled() => return,
        };
        let failure = match connected {
            Ok(live) => match attend(server, live).await {
                Over::Broke(fault) => Failure::from(fault),
                Over::Again => {
                    (pause, deaths) = (limits.retry, 0);
                    continue;
                }
                Over::Stop => return,
            },
            Err(failure) => failure,
        };
        let lived = began.elapsed();
        if lived >= limits.healthy {
            pause = limits.retry;
        }
        let is_stdio = matches!(server.spec.way, Way::Stdio { .. });
        deaths = if is_stdio && lived < AT_ONCE { deaths + 1 } else { 0 };
        let (state, waits) = match failure {
            Failure { fault: Fault::Login { why, challenge }, .. } => {
                (State::NeedsLogin { why, challenge }, None)
            }
            Failure { fault: Fault::Gone(why), hopeless: true } => (State::Failed { why }, None),
            Failure { fault: Fault::Gone(why), .. } if deaths >= limits.deaths => {
                (State::Failed { why: format!("it failed at once, {deaths} times: {why}") }, None)
            }
            Failure { fault: Fault::Gone(why), .. } => (State::Retrying { after: pause, why }, Some(pause)),
        };
        server.change(|now| (now.state, now.session) = (state, None));
        let paused = async {
            match waits {
                Some(pause) => sleep(pause).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = paused => pause = (pause * 2).min(limits.retry_most),
            () = server.again.notified() => (pause, deaths) = (limits.retry, 0),
            () = stop.cancelled() => return,
        }
    }
}

/// Connects, and learns what the server has, within the time for a start.
async fn connect(server: &Server, groups: &Groups) -> Result<Live, Failure> {
    let (shared, spec) = (&server.shared, &server.spec);
    let desk = Arc::new(Desk::new(spec.name.clone(), Arc::clone(&shared.host), shared.limits.clone()));
    let (link, process) = match &spec.way {
        Way::Stdio { .. } => {
            let process = start(server, groups)?;
            let broken = || Fault::Gone("it has no input and output".to_owned());
            let talk = process.talk().ok_or_else(broken)?;
            let link = Link::new(Arc::clone(&desk), |letters, inbox| stdio::carry(talk, letters, inbox));
            (link, Some(Arc::new(process)))
        }
        Way::Http { url, headers } => {
            let post = Post::new(spec, Arc::clone(&shared.http), url, headers);
            (Link::new(Arc::clone(&desk), |letters, inbox| streamable::carry(post, letters, inbox)), None)
        }
        Way::Sse { url, headers } => {
            let post = Post::new(spec, Arc::clone(&shared.http), url, headers);
            (Link::new(Arc::clone(&desk), |letters, inbox| sse::carry(post, letters, inbox)), None)
        }
    };
    let made = timeout(spec.times.start, greet(server, &desk, link, process.as_ref())).await;
    let fault = match made {
        Ok(Ok(live)) => return Ok(live),
        Ok(Err(fault)) => fault,
        Err(_) => Fault::Gone(slow(server, process.as_deref())),
    };
    server.change(|now| {
        now.notes = desk.notes();
        now.stderr = process.as_deref().map(last_words).unwrap_or_default();
    });
    Err(fault.into())
}

fn slow(server: &Server, process: Option<&Process>) -> String {
    let words = process.map(last_words).filter(|words| !words.is_empty());
    let words = words.map_or_else(String::new, |words| format!("; its last words: {words}"));
    format!("it was not ready within {} s{words}", server.spec.times.start.as_secs_f32())
}

/// The handshake, and the lists.
async fn greet(
    server: &Server,
    desk: &Arc<Desk>,
    link: Link,
    process: Option<&Arc<Process>>,
) -> Result<Live, Fault> {
    let mut running = match serve_client(Answers::new(Arc::clone(desk)), link).await {
        Ok(running) => running,
        Err(error) => return Err(refusal(desk, process.map(AsRef::as_ref), error).await),
    };
    let hello = desk.hello();
    let version = hello.get("protocolVersion").and_then(Value::as_str).unwrap_or_default();
    let known = |known: &&ProtocolVersion| known.as_str() == version && known.has_initialize();
    if ProtocolVersion::KNOWN_VERSIONS.iter().find(known).is_none() {
        let version = cut(version, 40);
        return Err(Fault::Gone(format!(
            "it speaks the version `{version}` of the protocol, which is not known here"
        )));
    }
    let process_of = process.map_or_else(Weak::new, Arc::downgrade);
    let session = Session::new(Arc::clone(desk), running.peer().clone(), process_of);
    let all = Changes { tools: true, prompts: true, resources: true };
    if let Err(trouble) = learn(server, &session, all).await {
        let why = match trouble {
            Trouble::Gone(why) => why,
            other => format!("its tools can't be listed: {other}"),
        };
        // The reason is known; how the rest ends is not.
        let _ = running.close_with_timeout(CLOSE).await;
        return Err(desk
            .fault()
            .filter(|fault| matches!(fault, Fault::Login { .. }))
            .unwrap_or(Fault::Gone(why)));
    }
    Ok(Live { running, process: process.cloned(), session })
}

/// Why a handshake failed.
async fn refusal(desk: &Desk, process: Option<&Process>, error: ClientInitializeError) -> Fault {
    if let Some(fault @ Fault::Login { .. }) = desk.fault() {
        return fault;
    }
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            Fault::Gone(format!("it refused the handshake: {}", cut(&error.message, 1_000)))
        }
        ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            Fault::Gone("its answer to the handshake has the id of another request".to_owned())
        }
        _ => Fault::Gone(how_it_ended(desk, process).await),
    }
}

fn start(server: &Server, groups: &Groups) -> Result<Process, Failure> {
    let (shared, spec) = (&server.shared, &server.spec);
    let Way::Stdio { command, args, env, cwd } = &spec.way else {
        return Err(Fault::Gone("it is not started here".to_owned()).into());
    };
    let mut whole = shared.env.clone();
    whole.retain(|(name, _)| !env.iter().any(|(own, _)| name == own.as_str()));
    whole.extend(env.iter().map(|(name, value)| (name.into(), value.reveal().into())));
    let launch = Launch {
        program: PathBuf::from(command),
        args: args.iter().map(Into::into).collect(),
        env: whole,
        cwd: cwd.clone().unwrap_or_else(|| shared.cwd.clone()),
        streams: Streams::Talk,
        shape: Shape::Free,
        bounds: Bounds { head: 0, tail: shared.limits.stderr, file: 0 },
        ..Launch::default()
    };
    groups.start(launch).map_err(|error| {
        // A program that is not there will not be there in a second.
        let hopeless = matches!(&error, StartError::System { cause, .. }
            if [std::io::ErrorKind::NotFound, std::io::ErrorKind::PermissionDenied].contains(&cause.kind()));
        Failure { fault: Fault::Gone(error.to_string()), hopeless }
    })
}

/// Asks for the lists that have changed, and tells everybody what there is.
async fn learn(server: &Server, session: &Session, changed: Changes) -> Result<(), Trouble> {
    let hello = session.desk.hello();
    let can = |what: &str| hello.pointer(&format!("/capabilities/{what}")).is_some_and(|can| !can.is_null());
    let mut lists = Lists::clone(&server.lists());
    let before = lists.tools.clone();
    if changed.tools {
        lists.tools = match lists::tools(session).await {
            Ok(tools) => tools,
            // It never said that it had any.
            Err(Trouble::Refused(_)) if !can("tools") => Vec::new(),
            Err(trouble) => return Err(trouble),
        };
        lists.tools.retain(|tool| server.spec.tools.uses(&tool.name));
    }
    if changed.prompts {
        lists.prompts =
            if can("prompts") { noted(session, lists::prompts(session).await)? } else { Vec::new() };
    }
    if changed.resources {
        let has = can("resources");
        lists.resources = if has { noted(session, lists::resources(session).await)? } else { Vec::new() };
        lists.templates = if has { templates(session).await? } else { Vec::new() };
    }
    if lists.tools != before {
        remember(server, &lists).await;
    }
    let state = State::Ready {
        tools: lists.tools.len(),
        prompts: lists.prompts.len(),
        resources: lists.resources.len() + lists.templates.len(),
    };
    server.change(|now| {
        (now.lists, now.state, now.session) = (Arc::new(lists), state, Some(session.clone()));
        (now.hello, now.notes) = (hello, session.desk.notes());
    });
    Ok(())
}

/// A list that the server refuses is empty: its tools are there all the same.
fn noted<T>(session: &Session, listed: Result<Vec<T>, Trouble>) -> Result<Vec<T>, Trouble> {
    match listed {
        Err(Trouble::Refused(why)) => {
            session.desk.note(format!("it refuses a list that it said it had: {}", cut(&why, 200)));
            Ok(Vec::new())
        }
        other => other,
    }
}

/// Templates need not be there.
async fn templates(session: &Session) -> Result<Vec<lists::Template>, Trouble> {
    match lists::templates(session).await {
        Err(Trouble::Refused(_)) => Ok(Vec::new()),
        other => other,
    }
}

async fn remember(server: &Server, lists: &Lists) {
    let Some(folder) = &server.shared.cache else { return };
    let (file, tools) = (known::file(folder, &server.spec), lists.tools.clone());
    // What could not be kept is asked of the server the next time.
    let _ = tokio::task::spawn_blocking(move || known::save(&file, &tools)).await;
}

/// Attends to a connection until it is over.
async fn attend(server: &Server, live: Live) -> Over {
    let Live { mut running, process, session } = live;
    let token = server.shared.stop.clone();
    let over = tokio::select! {
        fault = watch_over(server, &session, process.as_deref()) => Over::Broke(fault),
        () = server.again.notified() => Over::Again,
        () = token.cancelled() => Over::Stop,
    };
    server.change(|now| {
        now.session = None;
        now.notes = session.desk.notes();
        now.stderr = process.as_deref().map(last_words).unwrap_or_default();
    });
    // It has ended or is ended now; how the SDK sees that is of no use.
    let _ = running.close_with_timeout(CLOSE).await;
    if let Some(process) = process {
        let grace = server.shared.limits.grace;
        // A server that is at the end of its input ends by itself.
        if timeout(grace, process.wait()).await.is_err() {
            process.end(grace).await;
        }
    }
    over
}

/// Ends when the connection does.
async fn watch_over(server: &Server, session: &Session, process: Option<&Process>) -> Fault {
    loop {
        tokio::select! {
            () = session.desk.closed() => {
                let fault = session.desk.fault().filter(|fault| matches!(fault, Fault::Login { .. }));
                return match fault {
                    Some(fault) => fault,
                    None => {
                        let words = how_it_ended(&session.desk, process).await;
                        session.desk.ended(&words);
                        Fault::Gone(words)
                    }
                };
            }
            changes = session.desk.changes() => {
                sleep(TOGETHER).await;
                match learn(server, session, changes).await {
                    Ok(()) | Err(Trouble::Gone(_) | Trouble::Cancelled) => {}
                    Err(trouble) => session.desk.note(format!("its lists changed and can't be read: {trouble}")),
                }
            }
            () = sleep(server.shared.limits.ping) => {
                let wait = Wait { idle: PONG, total: PONG, cancel: None, say: None };
                // A server that does something may do nothing else.
                if !session.is_busy()
                    && let Err(Trouble::Slow(time)) = session.ask("ping", json!({}), wait).await
                    && !session.is_busy()
                {
                    return Fault::Gone(format!("it hangs: it did not answer a ping within {} s", time.as_secs_f32()));
                }
            }
        }
    }
}
