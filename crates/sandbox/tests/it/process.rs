//! Real processes: their output, their input, and their end, with all they started.
#![expect(clippy::disallowed_methods, reason = "the tests read their own environment")]
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use rail_sandbox::{Bounds, Exit, Groups, Input, Launch, Process, Streams, WriteError};

const SOON: Duration = Duration::from_secs(2);

fn launch(script: &str) -> Launch {
    Launch {
        program: "/bin/bash".into(),
        args: ["-c", script, "bash"].map(OsString::from).to_vec(),
        env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
        cwd: std::env::temp_dir(),
        ..Launch::default()
    }
}

fn text(process: &Process) -> String {
    let text = process.since(0).text();
    assert_eq!(text.missing, 0);
    text.head
}

/// Waits until this many lines were printed: a gate, not a time.
async fn lines(process: &Process, count: usize) -> Vec<String> {
    loop {
        let (printed, seen) = (process.printed(), text(process));
        if seen.lines().count() >= count && seen.ends_with('\n') {
            return seen.lines().map(str::to_owned).collect();
        }
        assert!(process.ended().is_none(), "it ended after {seen:?}");
        process.printed_more_than(printed).await;
    }
}

/// Whether a process is there and not only waiting to be forgotten.
fn alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z') && !rest.starts_with('X'))
}

#[tokio::test(flavor = "multi_thread")]
async fn both_streams_come_in_order() {
    let groups = Groups::new();
    let process = groups.start(launch("for i in 1 2 3; do echo out $i; echo err $i >&2; done")).unwrap();
    assert!(process.wait().await.exit.success());
    assert_eq!(text(&process), "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_talk_goes_through_the_hands_of_whoever_takes_it() {
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    let groups = Groups::new();
    // Its arguments are its own: there is no file that it reports to.
    let script = "echo $# >&2; while read line; do echo you said $line; done; echo over";
    let process = groups.start(Launch { streams: Streams::Talk, ..launch(script) }).unwrap();
    let mut talk = process.talk().unwrap();
    assert!(process.talk().is_none());
    let mut output = BufReader::new(talk.output);
    for word in ["one", "two"] {
        talk.input.write_all(format!("{word}\n").as_bytes()).await.unwrap();
        let mut line = String::new();
        output.read_line(&mut line).await.unwrap();
        assert_eq!(line, format!("you said {word}\n"));
    }
    drop(talk.input);
    let mut rest = String::new();
    output.read_to_string(&mut rest).await.unwrap();
    assert_eq!(rest, "over\n");
    assert!(process.wait().await.exit.success());
    assert_eq!((process.errors().text().head, process.printed()), ("0\n".to_owned(), 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_of_errors_can_be_kept_apart() {
    let groups = Groups::new();
    let bounds = Bounds { head: 100, tail: 20, file: 0 };
    for (script, output, errors) in [
        ("echo out; echo err >&2; echo more", "out\nmore\n", "err\n"),
        ("exec 2>&-; echo out", "out\n", ""),
        // Whoever still holds it is ended, and what they said at their end is there.
        (
            "coproc { trap 'echo late >&2; exit' TERM; echo ready; sleep 99 & wait; }; read x <&${COPROC[0]}; echo $x",
            "ready\n",
            "late\n",
        ),
    ] {
        let apart = Launch { streams: Streams::Apart, bounds, ..launch(script) };
        let process = groups.start(apart).unwrap();
        process.wait().await;
        assert_eq!(
            (text(&process).as_str(), process.errors().text().head.as_str()),
            (output, errors),
            "{script}"
        );
    }
    let flood = Launch { streams: Streams::Apart, bounds, ..launch("seq 100000 >&2; echo out") };
    let process = groups.start(flood).unwrap();
    assert!(process.wait().await.exit.success());
    let errors = process.errors().text();
    assert_eq!(
        (text(&process).as_str(), errors.head.len(), errors.tail.ends_with("99999\n100000\n")),
        ("out\n", 100, true)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn ends_and_reports_are_told() {
    let groups = Groups::new();
    for (script, exit, report) in [
        ("exit 3", Exit::Code(3), ""),
        ("kill -SEGV $$", Exit::Signal(11), ""),
        ("printf there >$1", Exit::Code(0), "there"),
    ] {
        let ended = groups.start(launch(script)).unwrap().wait().await;
        assert_eq!((ended.exit, String::from_utf8_lossy(&ended.report).as_ref()), (exit, report), "{script}");
    }
    let missing = Launch { program: "/nowhere/shell".into(), ..launch("") };
    let error = groups.start(missing).unwrap_err().to_string();
    let expected =
        format!("`/nowhere/shell` can't be started in `{}`: No such file", std::env::temp_dir().display());
    assert!(error.starts_with(&expected), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_child_has_no_terminal_no_input_and_no_descriptor_of_ours() {
    let groups = Groups::new();
    let ours = tempfile::NamedTempFile::new().unwrap();
    let script = "cat; (: </dev/tty) 2>/dev/null || echo no terminal; ps -o sid= -p $$ | tr -d ' ' | grep -qx $$ && echo own session; ls -l /proc/self/fd";
    let process = groups.start(launch(script)).unwrap();
    process.wait().await;
    let said = text(&process);
    assert!(said.starts_with("no terminal\nown session\n"), "{said}");
    assert!(!said.contains(ours.path().to_str().unwrap()), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_text_is_fed() {
    let groups = Groups::new();
    let fed = vec![b'x'; 3_000_000];
    let process = groups.start(Launch { fed: Some(fed), ..launch("wc -c <$2") }).unwrap();
    process.wait().await;
    assert_eq!(text(&process).trim(), "3000000");
}

#[tokio::test(flavor = "multi_thread")]
async fn input_is_given_and_closed() {
    let groups = Groups::new();
    let reads = Launch { input: Input::Written, ..launch("read x; echo got $x; cat; echo end") };
    let process = groups.start(reads).unwrap();
    process.write(b"this\n", SOON).await.unwrap();
    assert_eq!(lines(&process, 1).await, ["got this"]);
    process.write(b"more\n", SOON).await.unwrap();
    assert_eq!(lines(&process, 2).await, ["got this", "more"]);
    process.close_input().await;
    assert!(matches!(process.write(b"x", SOON).await, Err(WriteError::Closed)));
    process.wait().await;
    assert_eq!(text(&process), "got this\nmore\nend\n");

    let over = groups.start(Launch { input: Input::Written, ..launch(":") }).unwrap();
    over.wait().await;
    assert!(matches!(over.write(b"x", SOON).await, Err(WriteError::Ended)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_left_running_is_ended_with_the_command() {
    let groups = Groups::new();
    for (script, stubborn) in [
        ("(sleep 1000 & echo $!); echo done", false),
        ("(trap '' TERM; sleep 1000 & echo $!); echo done", true),
    ] {
        let process = groups.start(launch(script)).unwrap();
        let ended = process.wait().await;
        let said = text(&process);
        let (pid, done) = said.split_once('\n').unwrap();
        assert_eq!(done, "done\n");
        assert_eq!(ended.swept.len(), 1, "{stubborn}");
        assert_eq!(
            (ended.swept[0].pid.to_string().as_str(), ended.swept[0].command.as_str()),
            (pid, "sleep 1000")
        );
        assert!(!alive(pid));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_is_left_until_its_process_is_dropped() {
    let groups = Groups::new();
    let process = groups.start(launch("setsid sleep 1000 & echo done")).unwrap();
    let ended = process.wait().await;
    assert_eq!((ended.swept.len(), ended.left.len()), (0, 1));
    let pid = ended.left[0].pid.to_string();
    assert!(alive(&pid));
    drop(process);
    assert!(!alive_after_kill(&pid));
}

/// A killed process needs a moment to be gone: it is waited for by its own handle.
fn alive_after_kill(pid: &str) -> bool {
    let Some(pid_number) = rustix::process::Pid::from_raw(pid.parse().unwrap()) else { return false };
    let Ok(handle) = rustix::process::pidfd_open(pid_number, rustix::process::PidfdFlags::empty()) else {
        return false;
    };
    let mut polled = [rustix::event::PollFd::new(&handle, rustix::event::PollFlags::IN)];
    let limit = rustix::event::Timespec { tv_sec: 5, tv_nsec: 0 };
    rustix::event::poll(&mut polled, Some(&limit)).unwrap() == 0
}

/// Scripts that start something which does not want to end, and print its number.
const STUBBORN: &[&str] = &[
    "sleep 1000 & echo $!; wait",
    "trap '' TERM; bash -c 'echo $$; while :; do read <> <(:); done'",
    "(sleep 1000 & echo $!) ; sleep 1000",
    "setsid bash -c 'echo $$; exec sleep 1000' & wait",
    "setsid bash -c 'trap \"\" TERM HUP; echo $$; sleep 1000; sleep 1000' & wait",
    "(setsid bash -c '(echo $BASHPID; exec sleep 1000) & :' &); sleep 1000",
    "set -m; sleep 1000 & echo $!; wait",
    "setsid env -i /bin/bash -c 'echo $$; sleep 1000; :' & wait",
];

#[tokio::test(flavor = "multi_thread")]
async fn all_of_it_ends_when_it_is_ended() {
    let groups = Groups::new();
    for script in STUBBORN {
        let process = groups.start(launch(script)).unwrap();
        let pid = lines(&process, 1).await.remove(0);
        assert!(alive(&pid), "{script}");
        assert!(process.end(Duration::from_millis(100)).await.is_some(), "{script}");
        assert!(!alive_after_kill(&pid), "{script}");
        assert!(!alive_after_kill(&process.id().to_string()), "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_of_it_ends_when_it_is_dropped() {
    let groups = Groups::new();
    for script in STUBBORN {
        let process = groups.start(launch(script)).unwrap();
        let pid = lines(&process, 1).await.remove(0);
        drop(process);
        assert!(!alive_after_kill(&pid), "{script}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_survives_the_session() {
    let groups = Groups::new();
    // A daemon as it should be: nobody but the session knows of it any more.
    let process =
        groups.start(launch("setsid bash -c 'exec >/dev/null 2>&1; exec sleep 1000' & echo $!")).unwrap();
    assert!(process.wait().await.swept.is_empty());
    let pid = text(&process).trim().to_owned();
    assert!(alive(&pid), "{pid}");
    drop(groups);
    assert!(!alive_after_kill(&pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_asks_first() {
    let groups = Groups::new();
    let folder = tempfile::tempdir().unwrap();
    let said = folder.path().join("said");
    let polite =
        format!("trap 'echo bye >{}; exit' TERM; echo $$; while :; do read <> <(:); done", said.display());
    let polite = groups.start(launch(&polite)).unwrap();
    let stubborn = groups.start(launch("trap '' TERM; echo $$; while :; do read <> <(:); done")).unwrap();
    let pids = [lines(&polite, 1).await.remove(0), lines(&stubborn, 1).await.remove(0)];
    groups.end(Duration::from_millis(300)).await;
    assert!(pids.iter().all(|pid| !alive_after_kill(pid)));
    assert_eq!(std::fs::read_to_string(said).unwrap(), "bye\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn long_output_goes_to_a_file_up_to_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("outputs/all.txt");
    let groups = Groups::new();
    let bounds = Bounds { head: 10, tail: 10, file: 100_000 };
    for (count, kept) in [(4, None), (2_000, Some(8_893)), (50_000, Some(100_000))] {
        let launch = Launch { bounds, file: Some(file.clone()), ..launch(&format!("seq {count}")) };
        let process = groups.start(launch).unwrap();
        process.wait().await;
        assert_eq!(process.kept().map(|kept| kept.bytes), kept, "{count}");
        let mut whole: String = (1..=count).map(|line| format!("{line}\n")).collect();
        whole.truncate(100_000);
        match kept {
            Some(_) => assert_eq!(std::fs::read_to_string(&file).unwrap(), whole),
            None => assert!(!file.exists()),
        }
    }
    let nowhere = Launch { bounds, file: Some(Path::new("/proc/nowhere/x").into()), ..launch("seq 2000") };
    let process = groups.start(nowhere).unwrap();
    process.wait().await;
    assert!(process.kept().unwrap().trouble.is_some());
}

/// The test runs itself once more in a process of its own, so that the memory is that process's own. Where the project is tested it
/// prints a gigabyte; elsewhere it does with `RAIL_TEST_OUTPUT=1G`.
#[tokio::test(flavor = "multi_thread")]
async fn output_of_any_length_takes_bounded_memory() {
    const INNER: &str = "RAIL_TEST_OUTPUT_INNER";
    if let Ok(count) = std::env::var(INNER) {
        return print_much(&count).await;
    }
    let groups = Groups::new();
    let count = std::env::var("RAIL_TEST_OUTPUT").unwrap_or_else(|_| {
        let usual = if std::env::var_os("CI").is_some() { "1G" } else { "200M" };
        usual.to_owned()
    });
    let program = std::env::current_exe().unwrap();
    let name = "process::output_of_any_length_takes_bounded_memory";
    let args = ["--exact", name, "--nocapture"].map(OsString::from).to_vec();
    let mut launch = launch("");
    launch.env.push((INNER.into(), count.into()));
    // The arguments that are added are names of tests to the harness, and there are none of that name.
    let process = groups.start(Launch { program, args, ..launch }).unwrap();
    process.wait().await;
    let said = text(&process);
    let (_, peak) = said.split_once("peak ").expect(&said);
    let kilobytes: u64 = peak.split(' ').next().unwrap().parse().unwrap();
    assert!(kilobytes < 40_000, "{said}");
}

async fn print_much(count: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = Some(folder.path().join("all"));
    let groups = Groups::new();
    let process =
        groups.start(Launch { file, ..launch(&format!("head -c {count} /dev/zero | tr '\\0' a")) }).unwrap();
    process.wait().await;
    let text = process.since(0).text();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim();
    eprintln!("{} of {}, peak {peak}", text.head.len() + text.tail.len(), process.printed());
}
