use std::fmt;
use std::process::ExitStatus;

/// How a program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// It said this; 0 is success.
    Code(i32),
    /// A signal ended it.
    Signal(i32),
}

impl Exit {
    /// Whether it ended well.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }

    pub(crate) fn of(status: ExitStatus) -> Self {
        use std::os::unix::process::ExitStatusExt;
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or(0)),
        }
    }
}

/// `exit code 2`, `exit code 139 (SIGSEGV)` as a shell says it of a program that a signal ended, `killed by SIGKILL`.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Code(code) => match signal_name(code - 128) {
                Some(name) => write!(f, "exit code {code} ({name})"),
                None => write!(f, "exit code {code}"),
            },
            Self::Signal(signal) => match signal_name(signal) {
                Some(name) => write!(f, "killed by {name}"),
                None => write!(f, "killed by signal {signal}"),
            },
        }
    }
}

fn signal_name(number: i32) -> Option<&'static str> {
    NAMES.iter().find(|(signal, _)| signal.as_raw() == number).map(|(_, name)| *name)
}

use rustix::process::Signal;

const NAMES: &[(Signal, &str)] = &[
    (Signal::HUP, "SIGHUP"),
    (Signal::INT, "SIGINT"),
    (Signal::QUIT, "SIGQUIT"),
    (Signal::ILL, "SIGILL"),
    (Signal::TRAP, "SIGTRAP"),
    (Signal::ABORT, "SIGABRT"),
    (Signal::BUS, "SIGBUS"),
    (Signal::FPE, "SIGFPE"),
    (Signal::KILL, "SIGKILL"),
    (Signal::USR1, "SIGUSR1"),
    (Signal::SEGV, "SIGSEGV"),
    (Signal::USR2, "SIGUSR2"),
    (Signal::PIPE, "SIGPIPE"),
    (Signal::ALARM, "SIGALRM"),
    (Signal::TERM, "SIGTERM"),
    (Signal::XCPU, "SIGXCPU"),
    (Signal::XFSZ, "SIGXFSZ"),
    (Signal::SYS, "SIGSYS"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_named() {
        for (exit, expected) in [
            (Exit::Code(0), "exit code 0"),
            (Exit::Code(1), "exit code 1"),
            (Exit::Code(128), "exit code 128"),
            (Exit::Code(139), "exit code 139 (SIGSEGV)"),
            (Exit::Code(143), "exit code 143 (SIGTERM)"),
            (Exit::Code(255), "exit code 255"),
            (Exit::Signal(9), "killed by SIGKILL"),
            (Exit::Signal(11), "killed by SIGSEGV"),
            (Exit::Signal(60), "killed by signal 60"),
        ] {
            assert_eq!(exit.to_string(), expected);
        }
    }
}
