use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rail_config::{Live, Loaded};
use rail_ledger::Ledger;
use rail_route::Sessions;
use rail_stdx::Secret;
use rail_upstream::Upstream;

use crate::Observe;

/// What a gateway is made of.
pub struct Parts {
    /// The configuration.
    pub configuration: Configuration,
    /// Who asks targets.
    pub upstream: Upstream,
    /// The keys and the records.
    pub ledger: Ledger,
    /// Who is told of what happens.
    pub observe: Observe,
}

/// The configuration, which may change while the gateway runs.
pub enum Configuration {
    /// It follows its files.
    Live(Live),
    /// It stays as it is.
    Fixed(Arc<Loaded>),
}

impl Configuration {
    /// The configuration in force. Keep it for as long as one request lasts.
    pub fn current(&self) -> Arc<Loaded> {
        match self {
            Self::Live(live) => live.current(),
            Self::Fixed(loaded) => Arc::clone(loaded),
        }
    }
}

/// All that requests share. Cheap to clone: all clones are the same gateway.
#[derive(Clone)]
pub struct Gateway(Arc<Inner>);

struct Inner {
    parts: Parts,
    guest: Option<Secret>,
    sessions: Mutex<Sessions>,
    /// What is on its way is cut off: the gateway was told to stop, and has waited long enough.
    cut_off: AtomicBool,
}

impl Gateway {
    /// A gateway of these parts.
    pub fn new(parts: Parts) -> Self {
        Self::made(parts, None)
    }

    /// The same for one guest, whom this secret lets in besides whoever has a key. Without it a gateway without keys lets in nobody,
    /// and with it nothing can be changed.
    pub fn for_guest(parts: Parts, secret: Secret) -> Self {
        Self::made(parts, Some(secret))
    }

    fn made(parts: Parts, guest: Option<Secret>) -> Self {
        Self(Arc::new(Inner { parts, guest, sessions: Mutex::default(), cut_off: AtomicBool::new(false) }))
    }

    /// What lets a guest in, if there is one.
    pub(crate) fn guest(&self) -> Option<&Secret> {
        self.0.guest.as_ref()
    }

    /// The configuration in force. Keep it for as long as one request lasts.
    pub fn configuration(&self) -> Arc<Loaded> {
        self.0.parts.configuration.current()
    }

    /// Who asks targets.
    pub fn upstream(&self) -> &Upstream {
        &self.0.parts.upstream
    }

    /// The keys and the records.
    pub fn ledger(&self) -> &Ledger {
        &self.0.parts.ledger
    }

    /// Who is told of what happens.
    pub fn observe(&self) -> &Observe {
        &self.0.parts.observe
    }

    /// What is on its way ends now, and it is not clients who end it.
    pub(crate) fn cut_off(&self) {
        self.0.cut_off.store(true, Ordering::Relaxed);
    }

    /// Whether what is on its way is cut off.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.0.cut_off.load(Ordering::Relaxed)
    }

    /// The conversations lately heard of.
    pub(crate) fn sessions(&self) -> &Mutex<Sessions> {
        &self.0.sessions
    }
}
