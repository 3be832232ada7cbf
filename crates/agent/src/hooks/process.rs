//! One hook as a process: what the user set runs as the user, with a time limit, and ends with all it started.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rail_sandbox::{Bounds, Exit, Groups, Input, Launch, Process, Streams};

/// How much of what a hook prints is read: an answer is short, and whoever prints more is not answering.
const MOST: usize = 1 << 20;
/// How long a hook whose time is over has to end by itself.
const GRACE: Duration = Duration::from_millis(500);

/// A hook that is to be run.
pub(super) struct Job {
    pub(super) command: String,
    pub(super) limit: Duration,
    pub(super) input: Arc<[u8]>,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) cwd: PathBuf,
    pub(super) started: Arc<Started>,
}

/// What a session's hooks have started.
#[derive(Debug, Default)]
pub(super) struct Started {
    groups: Groups,
    // Hooks that left something running in a session of its own; it ends when the session does.
    kept: Mutex<Vec<Process>>,
}

/// How a hook ended, and what it printed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Ran {
    pub(super) command: String,
    pub(super) ending: Ending,
    pub(super) output: String,
    pub(super) errors: String,
    /// What it left running, which was ended.
    pub(super) swept: Vec<String>,
}

/// How a hook ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    /// By itself.
    Exit(Exit),
    /// Its time was over.
    Late(Duration),
    /// It did not begin.
    NotStarted(String),
    /// It printed more than this many bytes.
    Flooded(usize),
}

impl Job {
    pub(super) async fn run(self) -> Ran {
        let Self { command, limit, input, env, cwd, started } = self;
        let launch = Launch {
            program: PathBuf::from("/bin/sh"),
            // A shell is given the name of its report as an argument, which is none of the hook's.
            args: vec!["-c".into(), format!("set --; {command}").into(), "sh".into()],
            env,
            cwd,
            input: Input::Written,
            streams: Streams::Apart,
            bounds: Bounds { head: MOST, tail: 0, file: 0 },
            ..Launch::default()
        };
        let process = match started.groups.start(launch) {
            Ok(process) => process,
            Err(error) => {
                let ending = Ending::NotStarted(error.to_string());
                return Ran {
                    command,
                    ending,
                    output: String::new(),
                    errors: String::new(),
                    swept: Vec::new(),
                };
            }
        };
        let feed = async {
            // A hook that does not read what it is told needs not be told.
            let _ = process.write(&input, limit).await;
            process.close_input().await;
            std::future::pending().await
        };
        let ended = tokio::select! {
            ended = process.wait() => Some(ended),
            () = feed => None,
            () = tokio::time::sleep(limit) => None,
        };
        let ending = match &ended {
            Some(_) if process.printed() > MOST as u64 => Ending::Flooded(MOST),
            Some(ended) => Ending::Exit(ended.exit),
            None => {
                process.end(GRACE).await;
                Ending::Late(limit)
            }
        };
        let swept = ended.iter().flat_map(|ended| &ended.swept).map(|left| left.command.clone()).collect();
        let [output, errors] = [process.since(0), process.errors()]
            .map(|piece| String::from_utf8_lossy(&piece.bytes()).into_owned());
        if ended.is_some_and(|ended| !ended.left.is_empty()) {
            started.kept.lock().unwrap_or_else(PoisonError::into_inner).push(process);
        }
        Ran { command, ending, output, errors, swept }
    }
}
