//! Commands in the foreground: their output, their end, their folder, their environment.

use std::sync::Arc;
use std::time::Duration;

use rail_tool::{Confine, End, Session, ToolEvent};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::scratch::{Scratch, without_times};

/// Without a login shell, so that nothing but the test says what a command gets.
fn scratch() -> Scratch {
    Scratch::with(no_login)
}

pub(crate) fn no_login(session: &mut Session) {
    session.env.retain(|(name, _)| name != "SHELL");
}

fn says(scratch: &Scratch, input: &Value) -> String {
    without_times(&scratch.says("bash", input))
}

fn bash(scratch: &Scratch, command: &str) -> String {
    says(scratch, &json!({ "command": command }))
}

#[test]
fn ends_are_told() {
    let scratch = scratch();
    for (command, expected) in [
        ("echo hi", "ok: hi\n[done in {ms} ms]"),
        ("printf hi", "ok: hi\n[done in {ms} ms]"),
        ("true", "ok: [done in {ms} ms, no output]"),
        ("echo out; exit 7", "error: out\n[exit code 7 in {ms} ms]"),
        ("kill -KILL $$", "error: [killed by SIGKILL in {ms} ms, no output]"),
        (
            "exec 2>/dev/null; bash -c 'kill -SEGV $$'; exit $?",
            "error: [exit code 139 (SIGSEGV) in {ms} ms, no output]",
        ),
        (
            "nosuchprogram",
            "error: bash: line 1: nosuchprogram: command not found\n[exit code 127 in {ms} ms]",
        ),
        ("echo $#-$0", "ok: 0-bash\n[done in {ms} ms]"),
        ("set -e; false; echo no", "error: [exit code 1 in {ms} ms, no output]"),
        ("cat <<'X'\na $b\nX", "ok: a $b\n[done in {ms} ms]"),
        ("set -x; echo hi", "ok: ++ echo hi\nhi\n[done in {ms} ms]"),
        ("trap 'echo bye' EXIT; echo hi", "ok: hi\nbye\n[done in {ms} ms]"),
    ] {
        assert_eq!(bash(&scratch, command), expected, "{command}");
    }
    let refused = says(&scratch, &json!({ "command": "echo a\0b" }));
    assert_eq!(
        refused,
        "error: the command has a NUL character in it, which no shell takes; it was not run. Write such bytes with `printf`"
    );
}

#[test]
fn the_working_folder_lasts() {
    let scratch = scratch();
    scratch.write("a/b/file", "");
    for (command, expected) in [
        ("cd a", "ok: [done in {ms} ms, no output]\n[the working folder is now `{workspace}/a`]"),
        ("pwd", "ok: {workspace}/a\n[done in {ms} ms]"),
        ("(cd b); cd . | cat", "ok: [done in {ms} ms, no output]"),
        (
            "cd b; exit 3",
            "error: [exit code 3 in {ms} ms, no output]\n[the working folder is now `{workspace}/a/b`]",
        ),
        ("cd nowhere 2>/dev/null", "error: [exit code 1 in {ms} ms, no output]"),
        (
            "set -e; cd ..; false; cd ..",
            "error: [exit code 1 in {ms} ms, no output]\n[the working folder is now `{workspace}/a`]",
        ),
        (
            "trap : EXIT; cd b",
            "ok: [done in {ms} ms, no output]\n[the working folder is now `{workspace}/a/b`]",
        ),
        ("x=1; export y=2; shopt -s extglob", "ok: [done in {ms} ms, no output]"),
        ("echo [$x$y]; shopt -q extglob", "error: []\n[exit code 1 in {ms} ms]"),
        (
            "rm -r ../../a",
            "ok: [done in {ms} ms, no output]\n[the working folder `{workspace}/a/b` is gone; it is now the workspace `{workspace}`]",
        ),
        ("pwd", "ok: {workspace}\n[done in {ms} ms]"),
    ] {
        assert_eq!(bash(&scratch, command), expected, "{command}");
    }
}

#[test]
fn a_folder_that_somebody_else_removed_is_told_before_anything_runs() {
    let scratch = scratch();
    scratch.write("a/file", "");
    bash(&scratch, "cd a");
    std::fs::remove_dir_all(scratch.path("a")).unwrap();
    assert_eq!(
        bash(&scratch, "touch ran"),
        "error: the working folder `{workspace}/a` is gone, so the command was not run; the working folder is now the workspace `{workspace}`. Call again if the command fits there"
    );
    assert!(!scratch.path("ran").exists());
    assert_eq!(bash(&scratch, "pwd"), "ok: {workspace}\n[done in {ms} ms]");
}

#[test]
fn odd_folders_can_be_worked_in() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = scratch();
    let made = bash(&scratch, "mkdir $'b\\xffd' && cd $'b\\xffd' && touch here");
    assert!(made.contains("the working folder is now"), "{made}");
    assert_eq!(scratch.session.cwd().file_name().unwrap().as_bytes(), b"b\xffd");
    assert_eq!(bash(&scratch, "ls"), "ok: here\n[done in {ms} ms]");
    bash(&scratch, "cd ..; mkdir $'two\\nlines' 'a b'; cd $'two\\nlines'");
    assert_eq!(scratch.session.cwd().file_name().unwrap().as_bytes(), b"two\nlines");
    assert_eq!(
        bash(&scratch, "cd '../a b'; exit 0"),
        "ok: [done in {ms} ms, no output]\n[the working folder is now `{workspace}/a b`]"
    );
}

#[test]
fn one_command_can_have_a_folder_of_its_own() {
    let scratch = scratch();
    scratch.write("a/b/file", "");
    let said = says(&scratch, &json!({ "command": "cd b; pwd", "workdir": "a" }));
    assert_eq!(said, "ok: {workspace}/a/b\n[done in {ms} ms]");
    assert_eq!(scratch.session.cwd(), scratch.workspace());
    let said = says(&scratch, &json!({ "command": "touch ran", "workdir": "nowhere" }));
    assert_eq!(
        said,
        "error: `workdir` is no folder: `{workspace}/nowhere`; the command was not run. Give one that exists, or leave it out to run in `{workspace}`"
    );
}

#[test]
fn long_commands_are_run() {
    let scratch = scratch();
    let long = format!("cat <<'X' | wc -c\n{}\nX\ncd /; exit 5", "x".repeat(300_000));
    assert_eq!(
        bash(&scratch, &long),
        "error: 300001\n[exit code 5 in {ms} ms]\n[the working folder is now `/`]"
    );
}

#[test]
fn programs_that_want_a_terminal_do_not_hang() {
    let scratch = scratch();
    bash(
        &scratch,
        "git init -q . && git config user.email a@b && git config user.name a && touch f && git add f",
    );
    for (program, command, expected) in [
        ("cat", "cat", "[done in"),
        ("bash", "read x; echo \"got $? [$x]\"", "got 1 []"),
        ("bash", "read x </dev/tty", "No such device or address"),
        ("python3", "python3 && echo left", "left"),
        ("python3", "python3 -c 'input()'", "EOFError"),
        ("git", "git commit", "Aborting commit"),
        ("git", "git log --all --oneline", "[done in"),
        ("less", "seq 3 | less; less f", "1\n2\n3\n"),
        ("vim", "vim -c q </dev/null", "[done in"),
        (
            "vi",
            "vi f",
            "`vi` waits for keys at a terminal, which commands do not have; the command was not run.",
        ),
        ("bash", "true && vim f </dev/null", "Change files with `edit_file`"),
        ("bash", "nano f", "`nano` waits for keys"),
        ("vi", "printf ':q\\n' | vi f", "[done in"),
        ("watch", "watch ls", "Run the command itself"),
        ("script", "script", "Run the command itself"),
        ("script", "script -qec 'echo inside' /dev/null", "inside"),
        ("top", "top", "[exit code"),
        ("git", "git rebase -i --root; git add -p; echo over", "over"),
        ("vi", "$EDITOR f && echo edited", "edited"),
        ("man", "man man | head -c 3", "[done in"),
        ("ssh", "ssh -o ConnectTimeout=1 nobody@127.0.0.1 -p 1", "Connection refused"),
        ("sudo", "sudo -k; sudo true; echo over", "over"),
        ("su", "su nobody -s /bin/true; echo over", "over"),
    ] {
        if !bash(&scratch, &format!("command -v {program}")).starts_with("ok: /") {
            assert!(!scratch.session.env.iter().any(|(name, _)| name == "CI"), "`{program}` is missing");
            eprintln!("skipped: there is no `{program}`");
            continue;
        }
        let said = says(&scratch, &json!({ "command": command, "timeout": 60_000 }));
        assert!(said.contains(expected) && !said.contains("its time of"), "{command}: {said}");
    }
}

#[test]
fn the_environment_is_the_login_s_without_what_waits_for_a_terminal() {
    let scratch = Scratch::with(|session| {
        session.home = Some(session.workspace.clone());
        session.env = vec![
            ("PATH".into(), "/session/bin:/usr/bin:/bin".into()),
            ("HOME".into(), session.workspace.clone().into()),
            ("SHELL".into(), "/bin/bash".into()),
            ("BASH_ENV".into(), session.workspace.join("trap").into()),
            ("MINE".into(), "session".into()),
        ];
    });
    scratch.write(
        ".profile",
        "echo noise; export FROM_LOGIN=$((FROM_LOGIN + 1)) MINE=login PATH=/login/bin:$PATH; echo x >>logins",
    );
    scratch.write("trap", "echo trapped");
    let asked = "echo $FROM_LOGIN $MINE $TERM $PAGER; echo $PATH | tr : '\\n' | grep -c /login/bin";
    for _ in 0..2 {
        assert_eq!(bash(&scratch, asked), "ok: 1 session dumb cat\n1\n[done in {ms} ms]");
    }
    assert_eq!(scratch.read("logins"), "x\n");
}

#[test]
fn a_login_that_fails_is_done_without() {
    for shell in ["/nowhere/bash", "/usr/bin/true", "relative/bash"] {
        let scratch = Scratch::with(|session| {
            no_login(session);
            session.env.push(("SHELL".into(), shell.into()));
        });
        assert_eq!(bash(&scratch, "echo hi"), "ok: hi\n[done in {ms} ms]", "{shell}");
    }
}

#[test]
fn a_login_shell_that_never_ends_is_ended() {
    let scratch = Scratch::with(|session| {
        no_login(session);
        session.env.push(("SHELL".into(), session.workspace.join("bash").into()));
    });
    // The name is a login shell's; it tells its number and never comes back.
    let shell = scratch
        .write("bash", format!("#!/bin/sh\necho $$ >{}\nexec sleep 1000\n", scratch.path("pid").display()));
    std::fs::set_permissions(shell, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(bash(&scratch, "echo hi"), "ok: hi\n[done in {ms} ms]");
    assert!(gone(scratch.read("pid").trim()), "the login shell is still there");
}

#[test]
fn what_a_command_leaves_running_is_ended_or_told() {
    let scratch = scratch();
    let said = bash(&scratch, "(sleep 1000 &); echo done");
    assert!(said.starts_with("ok: done\n[done in {ms} ms]\n[what it left running was ended: "), "{said}");
    assert!(said.ends_with(" `sleep 1000`; use `run_in_background` for what is to go on]"), "{said}");
    // The daemon lives as long as the runtime and the session.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let cancel = CancellationToken::new();
    let outcome =
        runtime.block_on(scratch.call("bash", &json!({ "command": "setsid sleep 1000 & echo $!" }), &cancel));
    let said = outcome.text();
    let pid = said.lines().next().unwrap().to_owned();
    assert!(
        said.contains("it left something running in a session of its own, which ends with this session: "),
        "{said}"
    );
    assert!(alive(&pid), "{said}");
    drop(scratch);
    drop(runtime);
    assert!(gone(&pid));
}

pub(crate) fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z') && !rest.starts_with('X'))
}

/// Waits until a process is gone, by its own handle, at most five seconds.
pub(crate) fn gone(pid: &str) -> bool {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let Ok(handle) = pidfd_open(Pid::from_raw(pid.parse().unwrap()).unwrap(), PidfdFlags::empty()) else {
        return true;
    };
    let mut polled = [rustix::event::PollFd::new(&handle, rustix::event::PollFlags::IN)];
    let limit = rustix::event::Timespec { tv_sec: 5, tv_nsec: 0 };
    rustix::event::poll(&mut polled, Some(&limit)).unwrap() > 0
}

#[test]
fn a_command_over_its_time_is_ended_with_all_it_started() {
    let scratch = scratch();
    for command in [
        "echo $$; sleep 1000",
        "trap '' TERM; echo $$; sleep 1000 & wait; sleep 1000",
        "setsid sh -c 'echo $$; sleep 1000' & wait",
    ] {
        let said = says(&scratch, &json!({ "command": command, "timeout": 2_000 }));
        let (pid, rest) = said.strip_prefix("error: ").unwrap().split_once('\n').unwrap();
        assert_eq!(
            rest,
            "[its time of 2000 ms was over, so it was ended with all it had started; if it needs longer, call again with a larger `timeout` (at most 600 s), with `run_in_background`, or with `on_timeout: \"background\"`]",
            "{command}"
        );
        assert!(gone(pid), "{command}");
    }
}

#[test]
fn times_are_kept_within_the_session_s_limits() {
    let scratch = Scratch::with(|session| {
        no_login(session);
        session.limits.command = Duration::from_millis(300);
        session.limits.command_at_most = Duration::from_millis(400);
    });
    assert!(bash(&scratch, "sleep 1000").contains("its time of 300 ms was over"));
    let said = says(&scratch, &json!({ "command": "sleep 1000", "timeout": 900_000 }));
    assert!(said.contains("its time of 400 ms was over"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_command_ends_with_all_it_started() {
    let scratch = scratch();
    let cancel = CancellationToken::new();
    // The command tells its number and waits; the test cancels when it has read it.
    let command = "echo before; (trap '' TERM; echo $BASHPID >gate; sleep 1000; sleep 1000) & wait";
    let gate = scratch.gate("gate");
    let input = json!({ "command": command });
    let call = scratch.call("bash", &input, &cancel);
    let cancels = async {
        let pid = tokio::task::spawn_blocking(|| std::fs::read_to_string(gate).unwrap()).await.unwrap();
        cancel.cancel();
        pid
    };
    let (outcome, pid) = tokio::join!(call, cancels);
    assert_eq!(outcome.end, End::Cancelled, "{}", outcome.text());
    let said = "before\n[the command was cancelled, and all it had started was ended; what it had changed until then is not undone]";
    assert_eq!(outcome.text(), said);
    assert!(gone(pid.trim()));
}

#[test]
fn output_beyond_memory_is_kept_whole_in_a_file() {
    let scratch = scratch();
    let said = bash(&scratch, "echo first; head -c 100000000 /dev/zero | tr '\\0' a; echo; echo last");
    assert!(said.starts_with("ok: first\naaaa"), "{}", &said[..50]);
    assert!(said.ends_with("aaaa\nlast\n[done in {ms} ms]"), "{}", &said[said.len() - 50..]);
    let file = scratch.session.folder.join("outputs/command-1.txt");
    let note = format!("the whole output is in `{}`", file.display());
    assert!(said.contains(&note), "{note}");
    assert_eq!(rail_tool::kept_in(&said), file.to_str());
    assert!(said.chars().count() < 30_000);
    assert_eq!(std::fs::metadata(file).unwrap().len(), 100_000_012);
}

#[test]
fn output_beyond_the_file_says_how_much_of_it_is_kept() {
    let scratch = Scratch::with(|session| session.limits.output_file_bytes = 3 << 20);
    let said = bash(&scratch, "head -c 4000000 /dev/zero | tr '\\0' a");
    let file = scratch.session.folder.join("outputs/command-1.txt");
    let note = format!("only the first 3145728 of its 4000000 bytes are kept, in `{}`", file.display());
    assert!(said.contains(&note) && !said.contains("whole"), "{note}");
    assert_eq!(std::fs::metadata(file).unwrap().len(), 3 << 20);
    let none = Scratch::with(|session| session.limits.output_file_bytes = 0);
    let said = bash(&none, "head -c 4000000 /dev/zero | tr '\\0' a");
    assert!(said.contains("run it again with its output in a file"), "{}", &said[said.len() - 500..]);
    assert!(!none.session.folder.join("outputs").exists());
}

#[test]
fn output_that_is_no_text_is_described() {
    let scratch = scratch();
    assert_eq!(bash(&scratch, "printf 'a\\xffb\\n'"), "ok: a\u{fffd}b\n[done in {ms} ms]");
    let said = bash(&scratch, "head -c 5000 /dev/urandom; echo; echo after");
    assert!(said.contains("bytes of binary output, beginning"), "{said}");
    assert!(said.len() < 400 && said.ends_with("\nafter\n[done in {ms} ms]"), "{said}");
    assert_eq!(
        bash(&scratch, "printf '\\033[31mred\\033[0m\\n 10%%\\r 20%%\\r100%%\\n'"),
        "ok: red\n100%\n[done in {ms} ms]"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn those_who_watch_see_the_last_lines() {
    let scratch = scratch();
    let gate = scratch.gate("gate");
    let input = json!({ "command": "echo working; read x <gate; echo done" });
    let cancel = CancellationToken::new();
    let call = scratch.call("bash", &input, &cancel);
    // The command goes on when somebody was told of its line.
    let events = Arc::clone(&scratch.events);
    let opens = tokio::task::spawn_blocking(move || {
        events.wait_for(|event| matches!(event, ToolEvent::Progress { text, .. } if text == "working"));
        std::fs::write(gate, "go\n").unwrap();
    });
    let (outcome, opened) = tokio::join!(call, opens);
    opened.unwrap();
    assert_eq!(without_times(&outcome.text()), "working\ndone\n[done in {ms} ms]");
}

#[test]
fn a_command_runs_outside_the_sandbox_when_that_was_asked_for() {
    let scratch = Scratch::with(|session| {
        no_login(session);
        session.confine = Confine::Workspace;
    });
    let outside = scratch.outside().join("outside");
    let input =
        json!({ "command": format!("touch {}", outside.display()), "dangerouslyDisableSandbox": true });
    assert_eq!(says(&scratch, &input), "ok: [done in {ms} ms, no output]");
    assert!(outside.exists());
}

#[test]
fn what_the_sandbox_stopped_is_told() {
    let scratch = Scratch::with(|session| {
        no_login(session);
        session.confine = Confine::ReadOnly;
    });
    let outside = scratch.outside().join("outside");
    let said = bash(&scratch, &format!("touch {}", outside.display()));
    if said.contains("can't be confined") {
        assert!(!scratch.session.env.iter().any(|(name, _)| name == "CI"), "{said}");
        eprintln!("skipped: {said}");
        return;
    }
    assert!(!outside.exists());
    assert!(said.contains("[exit code 1 in {ms} ms]\n[it ran in a sandbox: it could write "), "{said}");
    assert!(
        said.ends_with("call again with `dangerouslyDisableSandbox: true`, which asks the user]"),
        "{said}"
    );
}
