//! `rail mcp login` and `rail mcp logout`.

use std::ffi::OsString;
use std::pin::Pin;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use rail_config::Env;
use rail_config::mcp::{Reach, Spec, Which, servers};
use rail_mcp::auth::{AuthError, Browser, LoggedOut, Status, Tokens};
use rail_stdx::date;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines, Stdin, Take};
use tokio::sync::Mutex;

use super::hub::{self, Logins};
use super::{tell_problems, used};
use crate::setup::{Common, runtime, wrong};
use crate::{Failure, output, state};

/// How long a person has.
const LIMIT: Duration = Duration::from_secs(300);
/// Bytes that are read of what is pasted.
const PASTED: u64 = 1 << 20;

#[derive(Args)]
pub(crate) struct Login {
    /// The server.
    name: String,
    /// Open no browser: the address is shown only.
    #[arg(long)]
    no_browser: bool,
}

#[derive(Args)]
pub(crate) struct Logout {
    /// The server.
    name: String,
}

impl Login {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let Found { opener, env, tokens } = found(common, &self.name)?;
        let runtime = runtime()?;
        let logged_in = runtime.block_on(async {
            let opener = opener.filter(|_| !self.no_browser);
            let lines = BufReader::new(tokio::io::stdin().take(PASTED)).lines();
            let person = Person { name: &self.name, opener, env, lines: Mutex::new(lines) };
            tokio::select! {
                logged_in = tokens.login(&person, LIMIT) => Ok(logged_in),
                Ok(()) = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
            }
        });
        // Somebody may still wait for a line of stdin, which can't be cancelled.
        runtime.shutdown_background();
        match logged_in? {
            Ok(_) => {
                let status = told(&tokens.status().map_err(|error| failed(&self.name, &error))?);
                output::print(&format!("`{}`: {status}\n", self.name))
            }
            Err(error @ AuthError::NotWanted { .. }) => output::print(&format!("`{}`: {error}\n", self.name)),
            Err(error) => Err(failed(&self.name, &error)),
        }
    }
}

impl Logout {
    pub(crate) fn run(self, common: &Common) -> Result<(), Failure> {
        let tokens = found(common, &self.name)?.tokens;
        let runtime = runtime()?;
        let logged_out = runtime.block_on(tokens.logout());
        // A look-up of a name can't be cancelled; nobody waits for it.
        runtime.shutdown_background();
        let name = &self.name;
        match logged_out.map_err(|error| failed(name, &error))? {
            LoggedOut::Nobody => output::print(&format!("`{name}`: nobody was logged in\n")),
            LoggedOut::Revoked => output::print(&format!("`{name}`: logged out; the token was given back\n")),
            LoggedOut::NotRevocable => output::print(&format!(
                "`{name}`: logged out; tokens are not taken back there, and this one ends by itself\n"
            )),
            LoggedOut::NotRevoked(why) => {
                output::tell(&format!(
                    "warning: the token was not taken back and is good until it ends by itself: {why}"
                ));
                output::print(&format!("`{name}`: logged out here\n"))
            }
        }
    }
}

fn failed(name: &str, error: &AuthError) -> Failure {
    Failure::Task(anyhow!("`{name}`: {error}"))
}

/// A server that one can log in to.
struct Found {
    tokens: Tokens,
    /// What opens addresses, and what it is given.
    opener: Option<&'static str>,
    env: Vec<(OsString, OsString)>,
}

fn found(common: &Common, name: &str) -> Result<Found, Failure> {
    let inputs = common.inputs()?;
    let loaded = rail_config::load(&inputs).map_err(wrong)?;
    let servers = servers(&inputs, &loaded, &[], Which::All);
    tell_problems(&servers);
    let (_, spec) = used(&servers, name)?;
    state::places(&loaded)?;
    let found = Logins::new(&loaded, &inputs.env).of(spec);
    let tokens = found.ok_or_else(|| Failure::Task(anyhow!("`{name}` {}", no_login(spec))))?;
    let tokens = tokens.map_err(|error| failed(name, &error))?;
    Ok(Found { tokens, opener: opener(&inputs.env), env: hub::environment(&loaded, &inputs.env) })
}

fn no_login(spec: &Spec) -> &'static str {
    match spec.reach {
        Reach::Stdio { .. } => {
            "is a program that is started here, and there is no login to it; what it needs, it is given by `env`"
        }
        Reach::Http { .. } | Reach::Sse { .. } => {
            "is sent the header `Authorization` that is set for it; take that out to log in"
        }
    }
}

/// How things stand, in a line.
pub(super) fn told(status: &Status) -> String {
    match status {
        Status::LoggedOut => "nobody is logged in".to_owned(),
        Status::Expired => "the login has ended".to_owned(),
        Status::NeedsScope(scope) => format!("logged in, but it wants more: `{scope}`"),
        Status::LoggedIn { issuer, scope, expires, renewable } => {
            let scope = scope.as_ref().map(|scope| format!(" for `{scope}`")).unwrap_or_default();
            let until = expires.map(|expires| format!(" until {}", moment(expires))).unwrap_or_default();
            let renewed = if *renewable { ", renewed by itself" } else { "" };
            format!("logged in at {issuer}{scope}{until}{renewed}")
        }
    }
}

/// A moment in UTC, to the minute.
fn moment(unix: u64) -> String {
    format!("{} {:02}:{:02} UTC", date(unix), unix % 86_400 / 3_600, unix % 3_600 / 60)
}

/// The program that opens addresses, where there is something to show them on.
fn opener(env: &Env) -> Option<&'static str> {
    if cfg!(target_os = "macos") {
        return env.get("SSH_CONNECTION").is_none().then_some("open");
    }
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env.get(name).is_some());
    has_display.then_some("xdg-open")
}

/// Whoever sits at the terminal.
struct Person<'a> {
    name: &'a str,
    opener: Option<&'static str>,
    env: Vec<(OsString, OsString)>,
    lines: Mutex<Lines<BufReader<Take<Stdin>>>>,
}

impl Browser for Person<'_> {
    fn open(&self, url: &str) {
        // Who can't read it can open nothing either; the login ends by itself then.
        let _ = output::print(&format!(
            "To log in to `{}`, open this address in a browser:\n\n{url}\n\nIf the browser runs on another machine, paste the address that it ends at here.\n",
            self.name
        ));
        if let Some(opener) = self.opener
            && let Err(error) = rail_sandbox::hand_over(opener, &[url], &self.env)
        {
            output::tell(&format!("no browser was opened: `{opener}`: {error}; open the address yourself"));
        }
    }

    fn pasted(&self) -> Pin<Box<dyn Future<Output = Option<String>> + Send + '_>> {
        Box::pin(async move {
            let mut lines = self.lines.lock().await;
            loop {
                // What can't be read is the end: the browser may still lead back.
                let line = lines.next_line().await.ok().flatten()?;
                if !line.trim().is_empty() {
                    return Some(line.trim().to_owned());
                }
            }
        })
    }

    fn unfit(&self, problem: &AuthError) {
        output::tell(&problem.to_string());
    }
}
