use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rail_sandbox::{Groups, Launch};
use rail_tool::Session;

/// What a command's environment is.
pub(crate) type Environment = Vec<(OsString, OsString)>;

/// How long the user's login shell may take to say what it sets.
const LOGIN: Duration = Duration::from_secs(5);

/// What no program is to wait for: there is nobody at a terminal. Python prints at once, so that its two streams stay in order.
const SET: &[(&str, &str)] = &[
    ("TERM", "dumb"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("BAT_PAGER", "cat"),
    ("AWS_PAGER", ""),
    ("EDITOR", "true"),
    ("VISUAL", "true"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_ASKPASS", "true"),
    ("GCM_INTERACTIVE", "never"),
    ("SSH_ASKPASS_REQUIRE", "never"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PIP_NO_INPUT", "1"),
    ("PYTHONUNBUFFERED", "1"),
];

/// What belongs to the shell that rail itself was started from, or would make ours run something before the command.
const LEFT_OUT: &[&str] =
    &["_", "PWD", "OLDPWD", "SHLVL", "SHELLOPTS", "BASHOPTS", "BASH_ENV", "ENV", "PROMPT_COMMAND"];

/// The environment of commands: the session's, with what a login shell adds to it, and nothing that waits for a terminal.
///
/// What the session has counts: it may come from a folder's own setting (a Python environment, a tool's version), which the login
/// shell knows nothing of. Its search path is followed by what the login shell adds to it.
pub(crate) fn merge(session: &Session, login: &[(OsString, OsString)]) -> Environment {
    let mut merged: BTreeMap<OsString, OsString> = login.iter().cloned().collect();
    let login_path = merged.get(OsStr::new("PATH")).cloned().unwrap_or_default();
    merged.extend(session.env.iter().cloned());
    if let Some(path) = merged.get_mut(OsStr::new("PATH")) {
        *path = joined(path, &login_path);
    }
    merged.retain(|name, _| {
        let left_out = LEFT_OUT.iter().any(|left_out| *name == **left_out)
            // A function of the user's shell would take the place of the program that was judged.
            || name.as_bytes().starts_with(b"BASH_FUNC_");
        !left_out && !session.withheld.contains(name)
    });
    merged.extend(SET.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    merged.into_iter().collect()
}

/// One search path of two, without places that depend on the working folder: there, `ls` could be anything.
fn joined(first: &OsStr, second: &OsStr) -> OsString {
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in std::env::split_paths(first).chain(std::env::split_paths(second)) {
        if folder.is_absolute() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    // Folders that came from a search path can be joined to one.
    std::env::join_paths(folders).unwrap_or_else(|_| first.to_owned())
}

/// What the user's login shell sets. Nothing, if it is not known, says nothing usable or takes too long.
pub(crate) async fn login(session: &Session, groups: &Groups) -> Environment {
    let variable = |name: &str| session.env.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let Some(shell) = variable("SHELL").map(Path::new).filter(|shell| takes_login(shell)) else {
        return Vec::new();
    };
    // Not in the workspace: what hooks into a shell there is not the user's login.
    let cwd = session.home.clone().unwrap_or_else(|| PathBuf::from("/"));
    let mark = format!("rail-{}", std::process::id());
    let launch = Launch {
        program: shell.to_owned(),
        args: vec!["-lc".into(), format!("printf '\\0{mark}\\0'; env -0").into()],
        env: merge(session, &[]),
        cwd,
        ..Launch::default()
    };
    let Ok(process) = groups.start(launch) else { return Vec::new() };
    if tokio::time::timeout(LOGIN, process.wait()).await.is_err() {
        process.end(Duration::from_millis(200)).await;
        return Vec::new();
    }
    parse(&process.since(0).bytes(), mark.as_bytes())
}

/// Shells whose `-lc` is a login that runs a command.
fn takes_login(shell: &Path) -> bool {
    let name = shell.file_name().and_then(OsStr::to_str).unwrap_or_default();
    shell.is_absolute() && matches!(name, "bash" | "zsh" | "sh" | "dash" | "ash" | "ksh" | "mksh" | "fish")
}

/// Reads `NAME=value` records that end with a NUL, behind a mark: start-up files may print something before.
fn parse(output: &[u8], mark: &[u8]) -> Environment {
    let mut records: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    // Behind the last NUL there is nothing, or something that is not a variable.
    records.pop();
    let Some(start) = records.iter().position(|record| *record == mark) else { return Vec::new() };
    let variables = records.iter().skip(start + 1).filter_map(|record| {
        let equals = record.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
        let (name, value) = record.split_at_checked(equals)?;
        Some((OsStr::from_bytes(name).to_owned(), OsStr::from_bytes(value.get(1..)?).to_owned()))
    });
    variables.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pairs(text: &str) -> Environment {
        let pair = |word: &str| {
            let (name, value) = word.split_once('=').unwrap();
            (name.into(), value.into())
        };
        text.split_whitespace().map(pair).collect()
    }

    #[test]
    fn a_login_adds_and_nothing_waits_for_a_terminal() {
        let mut session = Session::new("/w".into(), "/s".into());
        session.env = pairs(
            "PATH=.:/venv/bin::bin:/usr/bin HOME=/h TERM=xterm EDITOR=vim BASH_ENV=/x PWD=/w KEY=k ONE_API_KEY=s BASH_FUNC_ls%%=()",
        );
        session.withheld = ["ONE_API_KEY", "TWO_API_KEY"].into_iter().map(Into::into).collect();
        let login = pairs("PATH=/usr/bin:/login/bin HOME=/other LANG=C SHLVL=2 _=/usr/bin/env TWO_API_KEY=s");
        let merged = merge(&session, &login);
        let own: Vec<String> = merged
            .iter()
            .filter(|(name, _)| !SET.iter().any(|(set, _)| name == set))
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(own, ["HOME=/h", "KEY=k", "LANG=C", "PATH=/venv/bin:/usr/bin:/login/bin"]);
        for (name, value) in SET {
            assert!(merged.contains(&((*name).into(), (*value).into())), "{name}");
        }
    }

    #[test]
    fn a_login_is_read_behind_its_mark() {
        for (output, expected) in [
            (
                &b"hello\nA=0\0\0mark\0A=1\0B=two\nlines=\0C=\0bye\n"[..],
                &[("A", "1"), ("B", "two\nlines="), ("C", "")][..],
            ),
            (b"\0mark\0=x\0none\0A=1\0", &[("A", "1")]),
            (b"A=1\0B=2\0", &[]),
            (b"", &[]),
        ] {
            let expected: Environment =
                expected.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            assert_eq!(parse(output, b"mark"), expected, "{output:?}");
        }
    }

    proptest! {
        #[test]
        fn any_output_of_a_login_is_read(output in proptest::collection::vec(any::<u8>(), 0..80)) {
            parse(&output, b"mark");
        }

        #[test]
        fn what_a_login_says_is_read_back(pairs in proptest::collection::vec(("[A-Za-z_]{1,6}", "[^\0]{0,9}"), 0..6)) {
            let mut output = b"noise\0mark\0".to_vec();
            for (name, value) in &pairs {
                output.extend(format!("{name}={value}\0").bytes());
            }
            let expected: Environment = pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
            prop_assert_eq!(parse(&output, b"mark"), expected);
        }
    }
}
