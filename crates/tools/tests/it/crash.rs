//! A write that is broken off at any moment leaves the old or the new file.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::scratch::Scratch;

/// Where the child of a test writes; nothing in the test itself.
const FILE: &str = "RAIL_TEST_WRITES";
const LENGTH: usize = 400_000;

/// This test binary again, as a process that can be killed.
#[expect(clippy::disallowed_methods, reason = "the test is about a process that is killed")]
fn child(program: Option<&Path>, before: &[OsString], file: &Path) -> Command {
    let this = std::env::current_exe().unwrap();
    let mut command = match program {
        Some(program) => {
            let mut command = Command::new(program);
            command.args(before).arg(this);
            command
        }
        None => Command::new(this),
    };
    command.args(["--exact", "crash::writes_until_it_is_killed", "--nocapture"]).env(FILE, file);
    command
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is how the test tells its child what to do, and CI the test"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

#[test]
fn writes_until_it_is_killed() {
    // Without the variable it is not the child of a test below, and there is nothing to do.
    let Some(file) = variable(FILE) else { return };
    let scratch = Scratch::new();
    let mut out = std::io::stderr();
    for letter in ["b", "c"].iter().cycle() {
        let path = Path::new(&file);
        scratch.session.stamps.saw(path, &path.metadata().unwrap(), &std::fs::read(path).unwrap());
        let input = json!({"file_path": path, "content": letter.repeat(LENGTH)});
        let outcome = scratch.run("write_file", &input);
        assert!(outcome.success(), "{}", outcome.text());
        if writeln!(out, "written").is_err() {
            return;
        }
    }
}

/// Waits for so many writes.
fn wait_for(child: &mut Child, writes: usize) {
    let lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    assert_eq!(lines.map_while(Result::ok).filter(|line| line == "written").take(writes).count(), writes);
}

#[test]
fn a_process_that_is_killed_leaves_the_old_or_the_new_file() {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let file = folder.path().canonicalize().unwrap().join("a.txt");
    std::fs::write(&file, "a".repeat(LENGTH)).unwrap();
    let whole = || {
        let bytes = std::fs::read(&file).unwrap();
        assert!(bytes.len() == LENGTH && bytes.iter().all(|byte| *byte == bytes[0]), "{} bytes", bytes.len());
        bytes[0]
    };
    for round in 0..8_usize {
        let mut child = child(None, &[], &file).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for(&mut child, 1);
        // The moment is another one in each round: so many looks at the file after a new one was seen.
        let first = whole();
        while whole() == first {}
        for _ in 0..round * 11 {
            whole();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        whole();
    }
}

#[test]
fn the_new_content_is_on_the_disk_before_it_takes_the_name() {
    let strace =
        ["/usr/bin/strace", "/usr/local/bin/strace"].map(Path::new).into_iter().find(|path| path.exists());
    let Some(strace) = strace else {
        assert!(variable("CI").is_none(), "CI has no strace");
        eprintln!("skipped: there is no strace");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let (file, log) = (real.join("made/a.txt"), real.join("log"));
    std::fs::create_dir(real.join("made")).unwrap();
    std::fs::write(&file, "a").unwrap();
    let calls = "trace=write,fsync,fdatasync,rename,renameat,renameat2";
    let before: Vec<OsString> = vec![
        "-f".into(),
        "-y".into(),
        "-s0".into(),
        "-e".into(),
        calls.into(),
        "-o".into(),
        log.clone().into(),
    ];
    let mut child =
        child(Some(strace), &before, &file).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for(&mut child, 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let log = std::fs::read_to_string(log).unwrap();
    let draft = format!("{}/made/.a.txt.", real.display());
    let at = |what: &str, about: &str| {
        let found = log.lines().position(|line| line.contains(what) && line.contains(about));
        found.unwrap_or_else(|| panic!("there is no {what} of {about} in:\n{log}"))
    };
    let written = at("write(", &draft);
    let synced = at("fsync(", &draft);
    let renamed = at("rename", ".a.txt.");
    let folder_synced = at("fsync(", &format!("<{}/made>", real.display()));
    assert!(written < synced && synced < renamed && renamed < folder_synced, "{log}");
}
