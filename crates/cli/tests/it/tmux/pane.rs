//! A terminal of its own, with a home of its own.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rail_model::ProtocolId;
use rail_testkit::Models;

use crate::home::Home;

/// How long anything may take on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(60);

/// A pane of tmux with a shell in it.
pub(super) struct Pane {
    pub(super) home: Home,
    socket: PathBuf,
}

/// Whether there is a tmux. On a machine of CI there is.
#[expect(clippy::disallowed_methods, reason = "whether this is CI is no setting of the product")]
pub(super) fn is_there() -> bool {
    let found = tmux_command()
        .arg("-V")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    assert!(found || std::env::var_os("CI").is_none(), "tmux is missing; install the package `tmux`");
    if !found {
        eprintln!("skipped: there is no tmux");
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "tmux is the terminal")]
fn tmux_command() -> Command {
    Command::new("tmux")
}

/// A home whose one model is this one.
pub(super) fn home(models: &Models) -> Home {
    home_with(models, "")
}

/// The same with more in its configuration.
pub(super) fn home_with(models: &Models, more: &str) -> Home {
    let home = Home::with(&format!(
        "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"{}\"\nmodels = [\"m\"]\n[router]\ndefault = \"p,m\"\n{more}",
        models.base_url(ProtocolId::new("openai-chat"))
    ));
    std::fs::create_dir_all(home.path("work/.git")).unwrap();
    home
}

impl Pane {
    /// A shell in a terminal of this size, in the home's folder to work in.
    pub(super) fn open(home: Home, columns: u16, rows: u16) -> Self {
        let socket = home.path("tmux");
        let pane = Self { home, socket };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let work = pane.home.path("work");
        let mut command = pane.command();
        command
            .env_clear()
            .envs(pane.home.variables())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C.UTF-8");
        command.args(["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, "-c"]).arg(work);
        command.arg("env PS1='shell> ' bash --norc --noprofile -i");
        assert!(command.status().unwrap().success());
        pane.sees("shell>");
        pane
    }

    /// The same with the interface in it.
    pub(super) fn with_rail(home: Home, columns: u16, rows: u16) -> Self {
        let pane = Self::open(home, columns, rows);
        pane.rail("");
        pane.sees("what is to be done?");
        pane
    }

    fn command(&self) -> Command {
        let mut command = tmux_command();
        command.arg("-S").arg(&self.socket);
        command
    }

    /// What tmux says.
    pub(super) fn tmux(&self, args: &[&str]) -> String {
        let output = self.command().args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts the interface from the shell.
    pub(super) fn rail(&self, args: &str) {
        self.types(&format!("{} {args}", env!("CARGO_BIN_EXE_rail")));
        self.presses("Enter");
    }

    /// Types a text.
    pub(super) fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Presses a key.
    pub(super) fn presses(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// What is on the screen.
    pub(super) fn screen(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// All that can be copied: the screen and what was scrolled off, with lines that only the terminal broke in one piece.
    pub(super) fn copied(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-J", "-S", "-"])
    }

    /// Waits until a text is seen.
    pub(super) fn sees(&self, text: &str) {
        self.until(text, |screen| screen.contains(text));
    }

    /// Waits until the screen is as it should be.
    pub(super) fn until(&self, what: &str, is_right: impl Fn(&str) -> bool) {
        wait(|| is_right(&self.screen()), || format!("{what}:\n{}", self.screen()));
    }
}

impl Drop for Pane {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").output();
    }
}

/// Waits for something that nobody announces.
#[expect(clippy::disallowed_methods, reason = "a terminal can only be looked at; the clock bounds how long")]
pub(super) fn wait(is_so: impl Fn() -> bool, what: impl Fn() -> String) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {}", what());
        std::thread::park_timeout(Duration::from_millis(30));
    }
}
