//! The user's own shell commands, behind `!`.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use rail_config::Env;
use rail_sandbox::{Groups, Launch, Process};
use rail_tui::News;
use tokio::sync::mpsc;

use crate::permission::workspace;

/// How long a command has to end when it is stopped.
const GRACE: Duration = Duration::from_secs(1);

/// A command that runs. What it started ends with it.
#[derive(Clone)]
pub(super) struct Running {
    groups: Arc<Groups>,
    process: Arc<Process>,
}

impl Running {
    /// Starts a command as the user would in a shell of their own: it is not confined.
    pub(super) fn start(command: &str, env: &Env) -> Result<Self, String> {
        let cwd = workspace().map_err(|_| "the working folder is gone".to_owned())?;
        let shell = env
            .get("SHELL")
            .filter(|shell| shell.ends_with("/bash") || shell.ends_with("/zsh"))
            .unwrap_or("/bin/sh");
        let variables = env.all().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let groups = Groups::new();
        let launch = Launch {
            program: shell.into(),
            args: vec!["-c".into(), command.into()],
            env: variables.collect(),
            cwd,
            ..Launch::default()
        };
        let process = groups.start(launch).map_err(|error| error.to_string())?;
        Ok(Self { groups: Arc::new(groups), process: Arc::new(process) })
    }

    /// Tells what it prints as it comes, and then how it ended.
    pub(super) async fn told(&self, news: &mpsc::UnboundedSender<News>) {
        let mut from = 0;
        loop {
            let ended = tokio::select! {
                ended = self.process.wait() => Some(ended),
                () = self.process.printed_more_than(from) => None,
            };
            let piece = self.process.since(from);
            from = piece.next;
            if !piece.is_empty() {
                let rail_sandbox::Text { head, missing, tail } = piece.text();
                let cut = if missing > 0 { format!("\n… {missing} bytes …\n") } else { String::new() };
                let _ = news.send(News::ShellOutput(format!("{head}{cut}{tail}")));
            }
            if let Some(ended) = ended {
                let how = if ended.exit.success() { String::new() } else { ended.exit.to_string() };
                let _ = news.send(News::ShellEnded { how });
                return;
            }
        }
    }

    /// Ends it.
    pub(super) fn stop(&self) {
        let (groups, process) = (Arc::clone(&self.groups), Arc::clone(&self.process));
        tokio::spawn(async move {
            process.end(GRACE).await;
            drop(groups);
        });
    }
}
