//! The door: connections, limits, hosts, paths, keys.
//!
//! A request passes in this order, and the first that says no answers it in the client's own protocol: its head is within limits
//! (hyper), it calls us by a name of ours ([`hosts`]), something stands at its path ([`paths`]), it may come in ([`admit`]), there is
//! a place for it, and its body is within limits ([`read`]). Only then does anybody else see it.

mod admit;
mod answer;
mod connection;
mod hosts;
mod ids;
mod keys;
mod line;
mod paths;
mod read;
mod readiness;
mod record;
mod refused;
mod room;
mod visit;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rail_ledger::LedgerError;
use rail_stdx::Reach;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::admit::HasKeys;
use self::ids::Ids;
use self::line::Begun;
use self::readiness::Readiness;
use self::record::Written;
use self::room::Rooms;
use crate::Gateway;

pub(crate) use self::room::Room;

/// The pause after a connection could not be taken: the system has no more of them for now.
const PAUSE: Duration = Duration::from_millis(100);

/// Why a gateway can't serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It would be open to others.
    #[error(
        "{0} can be reached from other machines, and there are no keys; make one with `rail key create NAME`, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    /// Whether there are keys can't be told.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The listener failed.
    #[error("the gateway can't take connections: {0}")]
    Listen(#[from] io::Error),
}

/// What all connections share.
struct Door {
    gateway: Gateway,
    reach: Reach,
    stop: CancellationToken,
    /// How many more requests may be on their way.
    places: Arc<Semaphore>,
    rooms: Rooms,
    has_keys: HasKeys,
    ids: Ids,
    written: Written,
    readiness: Readiness,
}

/// Serves until it is told to stop, then lets answers come to their end for as long as the configuration says. Meanwhile its own pages
/// answer, and requests to models are told to go elsewhere. Nothing that it began goes on after it has returned, or was dropped.
///
/// The limits on connections, requests and all bodies together are those of its start; all other settings are followed as they change.
pub async fn serve(
    gateway: Gateway,
    listener: TcpListener,
    stop: CancellationToken,
) -> Result<(), ServeError> {
    let address = listener.local_addr()?;
    let reach = Reach::of(address.ip());
    if reach == Reach::Others && !gateway.ledger().has_keys().await? {
        return Err(ServeError::Open(address));
    }
    let most =
        |limit: u32| Arc::new(Semaphore::new(usize::try_from(limit).unwrap_or(Semaphore::MAX_PERMITS)));
    let loaded = gateway.configuration();
    let limits = &loaded.settings.gateway.limits;
    let (connections, places) = (most(limits.connections), most(limits.requests));
    let rooms = Rooms::new(limits.bodies.0);
    drop(loaded);
    gateway.observe().listening(address);
    let (has_keys, ids) = (HasKeys::default(), Ids::new(fastrand::u32(..)));
    let (written, readiness) = (Written::default(), Readiness::default());
    let door = Arc::new(Door { gateway, reach, stop, places, rooms, has_keys, ids, written, readiness });
    let mut trouble = door.gateway.ledger().trouble();
    let mut open = JoinSet::new();
    loop {
        door.gateway.observe().connections(open.len() as u64);
        tokio::select! {
            biased;
            () = door.stop.cancelled() => break,
            Some(_ended) = open.join_next() => {}
            // It never closes while the gateway has its ledger.
            Ok(()) = trouble.changed() => {
                door.gateway.observe().ledger(trouble.borrow_and_update().as_deref());
            }
            (stream, place) = take(&listener, &connections) => {
                open.spawn(connection::run(Arc::clone(&door), stream, place, Begun::InTime));
            }
        }
    }
    door.gateway.observe().close_events();
    let grace = door.gateway.configuration().settings.gateway.grace.0;
    let drained = timeout(grace, async { while open.join_next().await.is_some() {} });
    let ended = tokio::select! {
        ended = drained => ended,
        never = turn_away(&door, &listener, &connections) => match never {},
    };
    drop(listener);
    if ended.is_err() {
        door.gateway.cut_off();
        open.shutdown().await;
    }
    Ok(())
}

/// Answers whoever comes while the gateway stops: that it does, so that a load balancer learns of it before the door is closed.
async fn turn_away(door: &Arc<Door>, listener: &TcpListener, connections: &Arc<Semaphore>) -> Infallible {
    let mut late = JoinSet::new();
    loop {
        tokio::select! {
            Some(_ended) = late.join_next() => {}
            (stream, place) = take(listener, connections) => {
                late.spawn(connection::run(Arc::clone(door), stream, place, Begun::Late));
            }
        }
    }
}

/// The next connection, once there is a place for it: until then clients wait in the system's own queue.
async fn take(listener: &TcpListener, connections: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        if let (Ok(place), Ok((stream, _))) =
            (Arc::clone(connections).acquire_owned().await, listener.accept().await)
        {
            return (stream, place);
        }
        sleep(PAUSE).await;
    }
}
