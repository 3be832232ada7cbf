//! The user's own shell commands, behind `!`.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use rail_config::Env;
use rail_sandbox::{Bounds, Groups, Launch, Process, Text};
use rail_tui::News;
use tokio::sync::mpsc;

use crate::permission::workspace;

/// How long a command has to end when it is stopped.
const GRACE: Duration = Duration::from_secs(1);
/// How much of its output is kept: as much as anybody reads.
const BOUNDS: Bounds = Bounds { head: 64 << 10, tail: 256 << 10, file: 0 };
/// How many lines are told while it runs.
const LINES: usize = 20;
/// The least time between two times that they are told.
const PAUSE: Duration = Duration::from_millis(50);

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
            bounds: BOUNDS,
            ..Launch::default()
        };
        let process = groups.start(launch).map_err(|error| error.to_string())?;
        Ok(Self { groups: Arc::new(groups), process: Arc::new(process) })
    }

    /// Tells its last lines as they come, and at its end all that is kept and how it ended. However much it prints, little waits to be told.
    pub(super) async fn told(&self, news: &mpsc::UnboundedSender<News>) {
        let tell = |text| drop(news.send(News::ShellOutput(text)));
        let mut told = 0;
        let ended = loop {
            tokio::select! {
                ended = self.process.wait() => break ended,
                () = self.process.printed_more_than(told) => {}
            }
            told = self.process.printed();
            tell(self.process.last_lines(LINES));
            if let Ok(ended) = tokio::time::timeout(PAUSE, self.process.wait()).await {
                break ended;
            }
        };
        tell(kept(self.process.since(0).text()));
        let how = if ended.exit.success() { String::new() } else { ended.exit.to_string() };
        let _ = news.send(News::ShellEnded { how });
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

fn kept(Text { head, missing, tail }: Text) -> String {
    match missing {
        0 => head + &tail,
        missing => format!("{head}\n… {missing} bytes are left out here …\n{tail}"),
    }
}

#[cfg(test)]
mod tests {
    use rail_config::Env;

    use super::*;

    #[tokio::test]
    async fn of_much_output_the_beginning_and_the_end_are_told() {
        let (to, mut news) = mpsc::unbounded_channel();
        let running =
            Running::start("echo first; yes | head -n 2000000; echo last", &Env::default()).unwrap();
        running.told(&to).await;
        drop(to);
        let (mut last, mut before) = (String::new(), 0);
        while let Some(told) = news.recv().await {
            match told {
                News::ShellOutput(text) => before = before.max(std::mem::replace(&mut last, text).len()),
                told => assert!(matches!(&told, News::ShellEnded { how } if how.is_empty()), "{told:?}"),
            }
        }
        assert!(before <= 4_096, "{before} bytes while it runs");
        assert!(last.len() <= BOUNDS.head + BOUNDS.tail + 100, "{} bytes", last.len());
        assert!(last.starts_with("first\ny\n") && last.ends_with("y\nlast\n"));
        assert!(last.contains("bytes are left out here"));
    }
}
