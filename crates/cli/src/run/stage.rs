//! A gateway in this process, and a program on it: both end together.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};
use rail_config::Env;
use rail_gateway::{Configuration, Observe};
use rail_ledger::Place;
use rail_stdx::{Access, Secret, replace};
use rail_upstream::Upstream;
use tokio::runtime::Runtime;

use super::aim::Aim;
use super::child::{self, Signals};
use super::client::{self, Client};
use super::launch::{Launch, Pointing};
use super::plain;
use crate::serve::{Start, begin, serve};
use crate::{Failure, output};

/// How long a gateway may take to end when nobody is left to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A gateway for a program.
pub(crate) struct Stage {
    /// Its configuration.
    pub(crate) configuration: Configuration,
    /// Who asks targets.
    pub(crate) upstream: Upstream,
    /// Who is told of requests.
    pub(crate) observe: Observe,
    /// Where its ledger is.
    pub(crate) ledger: Place,
    /// The user's variables.
    pub(crate) env: Env,
    /// Whom the program is aimed at.
    pub(crate) aim: Aim,
}

/// What is run.
pub(crate) enum Program<'a> {
    /// A client that is known.
    Client(&'static Client, &'a [OsString]),
    /// Any other, which is told of the gateway by the variables of the SDKs.
    Other(&'a OsStr, &'a [OsString]),
}

impl<'a> Program<'a> {
    /// A command line: the name of a known client, or any other program.
    pub(crate) fn of(command: &'a [OsString]) -> Option<Self> {
        let (program, args) = command.split_first()?;
        Some(match program.to_str().and_then(client::find) {
            Some(client) => Self::Client(client, args),
            None => Self::Other(program, args),
        })
    }
}

impl Stage {
    /// Runs a program on the gateway, both as long as the program; its exit code.
    pub(crate) fn run(self, runtime: Runtime, program: &Program<'_>) -> Result<u8, Failure> {
        let code = runtime.block_on(Box::pin(self.play(program)));
        runtime.shutdown_background();
        code
    }

    /// Serves by itself until it is told to stop.
    pub(crate) fn serve(self, runtime: Runtime, listen: String) -> Result<(), Failure> {
        serve(runtime, self.start(listen, None).0)
    }

    fn start(self, listen: String, guest: Option<Secret>) -> (Start, Env, Aim) {
        let Self { configuration, upstream, observe, ledger, env, aim } = self;
        let health = match &ledger {
            Place::Memory => None,
            Place::File(_) | Place::Postgres(_) => {
                configuration.current().places.as_ref().map(|places| places.health())
            }
        };
        let banner = String::new();
        (Start { configuration, upstream, observe, ledger, listen, health, banner, guest }, env, aim)
    }

    async fn play(self, program: &Program<'_>) -> Result<u8, Failure> {
        // Only its owner may look into the folder: what is in it tells the way in.
        let folder = tempfile::Builder::new().prefix("rail-run-").tempdir();
        let folder = folder.context("no folder for temporary files can be made")?;
        let mut signals = Signals::listen().context("signals can't be heard")?;
        let token = token()?;
        let (start, env, aim) = self.start("127.0.0.1:0".to_owned(), Some(token.clone()));
        let mut gateway = begin(start).await?;
        let url = format!("http://{}", gateway.addr);
        let pointing = Pointing { url: &url, token: &token, aim: &aim, folder: folder.path(), env: &env };
        let (path, args, launch) = match program {
            Program::Client(client, args) => (OsStr::new(client.name), *args, (client.launch)(&pointing)),
            Program::Other(path, args) => (*path, *args, plain::launch(&pointing)),
        };
        let launch = launch.past_proxies(&env);
        write(folder.path(), &launch)?;
        let mut child =
            child::start(path, &launch, args).map_err(|error| unstarted(program, path, &error))?;
        let ended = signals.wait(&mut child).await.context("the end of the program can't be seen");
        gateway.stop.cancel();
        // An answer that nobody waits for any more must not hold us up.
        match tokio::time::timeout(PATIENCE, gateway.ended()).await {
            Ok(Err(Failure::Task(problem) | Failure::Usage(problem))) => {
                output::tell(&format!("warning: {problem:#}"))
            }
            Ok(Ok(()) | Err(Failure::Interrupted | Failure::Ended(_))) | Err(_) => {}
        }
        Ok(child::code(ended?))
    }
}

/// Something that nobody can guess and that opens this gateway only.
fn token() -> Result<Secret, Failure> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("the system gives no random numbers: {error}"))?;
    let mut text = "rail-run-".to_owned();
    for byte in bytes {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(Secret::new(text))
}

#[cfg(unix)]
fn link(own: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(own, path)
}

#[cfg(windows)]
fn link(own: &Path, path: &Path) -> io::Result<()> {
    if own.is_dir() {
        std::os::windows::fs::symlink_dir(own, path)
    } else {
        std::os::windows::fs::symlink_file(own, path)
    }
}

/// Writes the files of a launch, and tells what the user should know of it.
fn write(folder: &Path, launch: &Launch) -> Result<(), Failure> {
    for (name, content) in &launch.files {
        let path = folder.join(name);
        let written = replace(&path, content.to_string().as_bytes(), Access::Owner);
        written.with_context(|| format!("{} can't be written", path.display()))?;
    }
    for (name, own) in &launch.links {
        // What can't be linked is only missing; the client says so if it matters.
        let _ = link(own, &folder.join(name));
    }
    launch.warnings.iter().for_each(|warning| output::tell(&format!("warning: {warning}")));
    Ok(())
}

fn unstarted(program: &Program<'_>, path: &OsStr, error: &io::Error) -> Failure {
    let shown = path.display();
    Failure::Usage(match program {
        Program::Client(Client { title, package, .. }, _) if error.kind() == io::ErrorKind::NotFound => {
            anyhow!(
                "{title} is not installed: there is no `{shown}` on the PATH; install it with `npm install -g {package}`"
            )
        }
        Program::Client(..) | Program::Other(..) => anyhow!("`{shown}` can't be started: {error}"),
    })
}
