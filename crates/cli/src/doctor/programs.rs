//! Programs of this machine, and what they say of their version.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rail_config::{Env, plain};
use rail_sandbox::{Bounds, Groups, Launch, Process, Streams};

use super::Cx;

/// How long a program has to tell its version; some start slowly.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long it has to end when it is told to.
const GRACE: Duration = Duration::from_millis(500);
/// More than a version and a few warnings is not kept.
const BOUNDS: Bounds = Bounds { head: 4 << 10, tail: 0, file: 0 };
/// So much of what a program says is shown.
const SHOWN: usize = 80;

/// Where a program is on the user's PATH. Places that depend on the working folder do not count: whoever writes there would be run.
pub(super) fn find(env: &Env, name: &str) -> Option<PathBuf> {
    let folders = std::env::split_paths(env.get("PATH").unwrap_or_default());
    let folders = folders.filter(|folder| folder.is_absolute());
    folders.map(|folder| folder.join(name)).find(|path| is_program(path))
}

#[cfg(unix)]
pub(super) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(super) fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// What a program says of its version, or why it says nothing.
pub(super) fn version(cx: &Cx, path: &Path) -> Result<String, String> {
    versions(cx, &[path.to_owned()]).pop().unwrap_or_else(|| Err("it was not started".to_owned()))
}

/// What programs say of their versions, all started at once.
pub(super) fn versions(cx: &Cx, paths: &[PathBuf]) -> Vec<Result<String, String>> {
    let groups = Groups::new();
    cx.runtime.block_on(async {
        let started: Vec<_> = paths.iter().map(|path| groups.start(launch(cx, path))).collect();
        let deadline = tokio::time::sleep(PATIENCE);
        tokio::pin!(deadline);
        let mut said = Vec::new();
        for process in started {
            said.push(match process {
                Err(error) => Err(error.to_string()),
                Ok(process) => tokio::select! {
                    ended = process.wait() => first_line(&process, ended.exit.success()),
                    () = &mut deadline, if !deadline.is_elapsed() => {
                        process.end(GRACE).await;
                        Err(format!("it did not tell its version within {} s", PATIENCE.as_secs()))
                    }
                },
            });
        }
        said
    })
}

/// A program that is asked for its version, in a folder where no project's files can change what it does.
fn launch(cx: &Cx, path: &Path) -> Launch {
    Launch {
        program: PathBuf::from("/bin/sh"),
        // What is started gets arguments of its own behind these, which the program must not see.
        args: vec!["-c".into(), "exec \"$0\" --version".into(), path.into()],
        env: cx.inputs.env.all().map(|(name, value)| (name.into(), value.into())).collect(),
        cwd: PathBuf::from("/"),
        streams: Streams::Apart,
        bounds: BOUNDS,
        ..Launch::default()
    }
}

fn first_line(process: &Process, success: bool) -> Result<String, String> {
    let line = |text: &str| {
        let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
        Some(plain(&line.chars().take(SHOWN).collect::<String>()))
    };
    let printed = line(&process.since(0).text().head);
    match (success, printed) {
        (true, Some(version)) => Ok(version),
        (true, None) => Err("it does not tell its version".to_owned()),
        (false, _) => {
            let why = line(&process.errors().text().head);
            Err(why.unwrap_or_else(|| "it failed and does not say why".to_owned()))
        }
    }
}
