use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rail_route::Provider;

use super::{Matching, Pace, Replay};
use crate::{BoxFuture, Incoming, Outgoing, Transport, TransportError, TransportErrorKind};

/// The protocol id of providers that play a cassette.
const REPLAY: &str = "replay";

/// Sends the requests of `replay` providers to their cassettes, and all others on.
pub struct Transports<T> {
    live: T,
    matching: Matching,
    pace: Pace,
    /// Each cassette is read once, and remembers what it has played.
    replays: Mutex<BTreeMap<PathBuf, Arc<Replay>>>,
}

impl<T: Transport> Transports<T> {
    /// Before this transport, with cassettes matched and paced like this.
    pub fn new(live: T, matching: Matching, pace: Pace) -> Self {
        Self { live, matching, pace, replays: Mutex::default() }
    }

    fn replay(&self, provider: &Provider) -> Result<Arc<Replay>, TransportError> {
        let Provider { name, cassette, .. } = provider;
        let unsendable = |problem| TransportError { kind: TransportErrorKind::Unsendable, problem };
        let path = cassette.as_ref().ok_or_else(|| {
            unsendable(format!(
                "provider `{name}` plays a cassette, and none is named; set `providers.{name}.cassette`"
            ))
        })?;
        let mut replays = self.replays.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = replays.get(path) {
            return Ok(Arc::clone(known));
        }
        let opened = Replay::open(path, self.matching, self.pace)
            .map_err(|error| unsendable(format!("{error}; check `providers.{name}.cassette`")))?;
        let opened = Arc::new(opened);
        replays.insert(path.clone(), Arc::clone(&opened));
        Ok(opened)
    }
}

impl<T: Transport> Transport for Transports<T> {
    fn send<'a>(&'a self, call: Outgoing) -> BoxFuture<'a, Result<Incoming, TransportError>> {
        if call.provider.protocol.name() != REPLAY {
            return self.live.send(call);
        }
        Box::pin(async move { self.replay(&call.provider)?.send(call).await })
    }
}
