//! A gateway of its parts, on a socket, until it is told to stop.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, anyhow};
use rail_config::Loaded;
use rail_gateway::{Configuration, Gateway, Observe, Parts, ServeError};
use rail_ledger::{Ledger, Place};
use rail_stdx::Secret;
use rail_upstream::{HealthFile, Upstream};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::clock::Now;
use crate::signals::{Signals, Told};
use crate::{Failure, output};

/// How often it is written down how targets fare.
const KEEP_HEALTH: Duration = Duration::from_secs(30);

/// How long the last lines of the log may take when it is told to end at once.
const LAST_LINES: Duration = Duration::from_millis(200);

/// What a gateway is started with.
pub(crate) struct Start {
    /// Its configuration.
    pub(crate) configuration: Configuration,
    /// Who asks targets.
    pub(crate) upstream: Upstream,
    /// Who is told of requests.
    pub(crate) observe: Observe,
    /// Where its ledger is.
    pub(crate) ledger: Place,
    /// Where it listens, `host:port`.
    pub(crate) listen: String,
    /// The file that says how targets fare, if there is one.
    pub(crate) health: Option<PathBuf>,
    /// What is printed before it says where it listens.
    pub(crate) banner: String,
    /// What opens it to a program that it is there for; without keys, to nobody else.
    pub(crate) guest: Option<Secret>,
}

/// A gateway that serves. Dropping it ends it at once.
pub(crate) struct Running {
    /// Where it listens.
    pub(crate) addr: SocketAddr,
    /// Tells it to stop; what is on its way comes to its end first.
    pub(crate) stop: CancellationToken,
    /// What it is, in a line.
    pub(crate) about: String,
    serving: JoinSet<Result<(), Failure>>,
}

impl Running {
    /// Waits until it has ended.
    pub(crate) async fn ended(&mut self) -> Result<(), Failure> {
        match self.serving.join_next().await {
            None => Ok(()),
            Some(Ok(ended)) => ended,
            Some(Err(broken)) => Err(Failure::Task(anyhow!("the gateway broke off: {broken}"))),
        }
    }
}

/// Serves until Ctrl-C or until it is told to stop; the second time it is told so, at once.
pub(crate) fn serve(runtime: Runtime, start: Start) -> Result<(), Failure> {
    let ended = runtime.block_on(serve_until_told(start));
    // A look-up of a name can't be cancelled; nobody waits for it.
    runtime.shutdown_background();
    ended
}

async fn serve_until_told(start: Start) -> Result<(), Failure> {
    let mut signals = Signals::listen().context("signals can't be heard")?;
    let (banner, observe) = (start.banner.clone(), start.observe.clone());
    let mut running = Box::pin(begin(start)).await?;
    // Clients do not need what is printed here, so that a closed pipe is no reason to end.
    let Running { addr, about, .. } = &running;
    let _ = output::print(&format!("{banner}The gateway listens on http://{addr}: {about}\n"));
    let told = tokio::select! {
        ended = running.ended() => return ended,
        told = signals.next() => told,
    };
    running.stop.cancel();
    tokio::select! {
        ended = running.ended() => ended?,
        // What was told of requests so far is written; nobody is waited for.
        _again = signals.next() => drop(timeout(LAST_LINES, observe.flush()).await),
    }
    match told {
        Told::Interrupt => Err(Failure::Interrupted),
        Told::Terminate => Ok(()),
    }
}

/// Starts a gateway; it serves once this has returned.
pub(crate) async fn begin(start: Start) -> Result<Running, Failure> {
    let Start { configuration, upstream, observe, ledger: place, listen, health, banner: _, guest } = start;
    let listener = TcpListener::bind(&listen).await.map_err(|error| unbound(&listen, &error))?;
    let addr = listener.local_addr().context("the gateway's address can't be told")?;
    let ledger = Ledger::open(&place).await.map_err(|error| Failure::Task(error.into()))?;
    let has_keys = ledger.has_keys().await.map_err(|error| Failure::Task(error.into()))?;
    if !has_keys && !addr.ip().to_canonical().is_loopback() {
        return Err(Failure::Usage(match place {
            Place::File(_) | Place::Postgres(_) => ServeError::Open(addr).into(),
            Place::Memory => anyhow!(
                "{addr} can be reached from other machines, and this gateway can have no keys, since its ledger is in memory only; listen on 127.0.0.1"
            ),
        }));
    }
    let about = about(&configuration.current(), has_keys, &place);
    let upstream = match &health {
        Some(path) => upstream.remembering(&in_force(path)),
        None => upstream,
    };
    let parts =
        Parts { configuration, upstream: upstream.clone(), ledger: ledger.clone(), observe: observe.clone() };
    let stop = CancellationToken::new();
    let mut serving = JoinSet::new();
    let gateway = match guest {
        Some(secret) => Gateway::for_guest(parts, secret),
        None => Gateway::new(parts),
    };
    let served = rail_gateway::serve(gateway, listener, stop.clone());
    serving.spawn(async move {
        let served = tokio::select! {
            served = served => served,
            never = keep_health(&upstream, health.as_ref()) => match never {},
        };
        save_health(&upstream, health.as_ref()).await;
        let flushed = ledger.flush().await;
        observe.flush().await;
        served.map_err(|error| Failure::Task(error.into()))?;
        flushed.map_err(|error| Failure::Task(error.into()))
    });
    Ok(Running { addr, stop, about, serving })
}

/// How many providers and targets a configuration has.
fn extent(loaded: &Loaded) -> String {
    let routing = &loaded.routing;
    let targets = routing.providers.keys().map(|name| routing.targets_of(name).len()).sum();
    format!("{}, {}", count(routing.providers.len(), "provider"), count(targets, "target"))
}

fn count(many: usize, what: &str) -> String {
    if many == 1 { format!("1 {what}") } else { format!("{many} {what}s") }
}

fn about(loaded: &Loaded, has_keys: bool, place: &Place) -> String {
    let keys = if has_keys { "keys are needed" } else { "no key is needed" };
    let ledger = match place {
        Place::File(path) => format!("the ledger is {}", path.display()),
        Place::Postgres(_) => "the ledger is the database of `gateway.ledger`".to_owned(),
        Place::Memory => "the ledger is forgotten at the end".to_owned(),
    };
    format!("{}; {keys}; {ledger}", extent(loaded))
}

fn unbound(listen: &str, error: &std::io::Error) -> Failure {
    let problem = match error.kind() {
        ErrorKind::AddrInUse => format!(
            "{listen} is in use already, perhaps by another `rail serve`; end that one, or listen elsewhere: `--listen 127.0.0.1:0` takes \
             any port that is free"
        ),
        ErrorKind::PermissionDenied => {
            format!("{listen} needs rights that you do not have; choose a port above 1023 with `--listen`")
        }
        _ => format!(
            "{listen} can't be listened on: {error}; choose another address with `--listen`, such as 127.0.0.1:4141"
        ),
    };
    Failure::Task(anyhow!(problem))
}

/// The circuits that earlier runs left open.
fn in_force(path: &std::path::Path) -> rail_route::Health {
    let now = Now::read();
    match HealthFile::load(path) {
        Ok(file) => file.in_force(now.unix, now.instant),
        Err(problem) => {
            output::tell(&format!("warning: {problem}"));
            rail_route::Health::default()
        }
    }
}

/// Writes down how targets fare, now and then.
async fn keep_health(upstream: &Upstream, path: Option<&PathBuf>) -> std::convert::Infallible {
    loop {
        tokio::time::sleep(KEEP_HEALTH).await;
        save_health(upstream, path).await;
    }
}

async fn save_health(upstream: &Upstream, path: Option<&PathBuf>) {
    let Some(path) = path.cloned() else { return };
    let now = Now::read();
    let seen = upstream.health().snapshot(now.instant);
    if seen.is_empty() {
        return;
    }
    let saved = spawn_blocking(move || HealthFile::save(&path, &seen, now.unix)).await;
    if let Ok(Err(problem)) = saved {
        output::tell(&format!("warning: {problem}"));
    }
}
