//! The client's process: it has the terminal, and its end is ours.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, Command};

use super::launch::Launch;

/// Starts a program with the terminal of this one. What the launch says stands before the user's arguments.
pub(crate) fn start(program: &OsStr, launch: &Launch, args: &[OsString]) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.args(&launch.args).args(args);
    for name in &launch.unset {
        command.env_remove(name);
    }
    command.envs(launch.set.iter().map(|(name, value)| (name, value)));
    command.spawn()
}

/// The signals that come to us while a child runs. Ctrl-C and Ctrl-\ reach the child by the terminal itself, and we stay until it
/// ends; what is sent to us alone, to end, it gets from us.
#[cfg(unix)]
pub(crate) struct Signals {
    ignored: [tokio::signal::unix::Signal; 2],
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Listens from now on, which must be before the child starts.
    pub(crate) fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            ignored: [signal(SignalKind::interrupt())?, signal(SignalKind::quit())?],
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the end of a child.
    pub(crate) async fn wait(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let pass_on = |what: Signal| {
            // A child that has ended needs no signal.
            let _ = pid.map(|pid| kill_process(pid, what));
        };
        let [interrupt, quit] = &mut self.ignored;
        loop {
            tokio::select! {
                status = child.wait() => return status,
                Some(()) = interrupt.recv() => {}
                Some(()) = quit.recv() => {}
                Some(()) = self.terminate.recv() => pass_on(Signal::TERM),
                Some(()) = self.hang_up.recv() => pass_on(Signal::HUP),
            }
        }
    }
}

/// No signals: the system has others.
#[cfg(not(unix))]
pub(crate) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Listens to nothing.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the end of a child.
    pub(crate) async fn wait(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        child.wait().await
    }
}

/// The exit code that tells the same: the child's, or 128 and the number of the signal that ended it.
pub(crate) fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(signal).map_or(u8::MAX, |signal| signal.saturating_add(128));
    }
    status.code().map_or(1, |code| u8::try_from(code & 0xff).unwrap_or(1))
}
