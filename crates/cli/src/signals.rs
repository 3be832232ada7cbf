//! Being told to stop.

use std::io;

use tokio::signal;

/// How a process is told to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    /// By Ctrl-C.
    Interrupt,
    /// By whoever runs it.
    Terminate,
}

/// Hears of both from when it is made.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: signal::unix::Signal,
    #[cfg(unix)]
    terminate: signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        use signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    /// The next time that the process is told to stop.
    pub(crate) async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.interrupt.recv() => Told::Interrupt,
            _ = self.terminate.recv() => Told::Terminate,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The next time that the process is told to stop.
    pub(crate) async fn next(&mut self) -> Told {
        match signal::ctrl_c().await {
            Ok(()) => Told::Interrupt,
            // Nobody can tell it anything; it ends as it is ended.
            Err(_) => std::future::pending().await,
        }
    }
}
