//! `kill -9` at every write to the journal, and at every moment when it is forced to the disk: `strace` ends the process as it enters
//! the call. What was shown by then is in the session that goes on, and no command runs twice.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests are about the process, and whether a missing tool fails, their environment says"
)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rail_journal::{project_key, view};
use rail_model::{Part, PartBody, Request};
use rail_testkit::{Models, Turn, call, text};
use serde_json::{Value, json};

use crate::tasks::{TaskBed, assert_valid};

const STRACE: &str = "/usr/bin/strace";
const ID: &str = "0198c5a3-5d2e-7c1f-9a44-d1b2c3e4f506";
const DONE: &str = "Both are there.";

/// Two commands, one after the other, and an answer; then whatever is asked for.
fn model() -> Models {
    let answer = |request: &Request| {
        let parts = || request.messages.iter().flat_map(|message| &message.parts);
        let goes_on = parts().filter_map(Part::as_text).any(|text| text.contains("go on"));
        let results = parts().filter(|part| matches!(part.body, PartBody::ToolResult(_))).count();
        let run = |line: &str| call("bash", json!({"command": format!("echo {line} >> ran.txt")}));
        Turn::reply(match results {
            _ if goes_on => vec![text("Gone on.")],
            0 => vec![text("I begin."), run("one")],
            1 => vec![text("And the other."), run("two")],
            _ => vec![text(DONE)],
        })
    };
    Models::answering(answer).unwrap()
}

/// Where the process ends: as it enters this call for the n-th time, for the journal or for what it prints.
struct Point<'a> {
    call: &'a str,
    time: usize,
}

/// Whether the process ended by itself.
#[derive(PartialEq, Eq, Debug)]
enum Ended {
    Killed,
    ByItself,
}

struct Scene {
    bed: TaskBed,
    protocol: &'static str,
}

impl Scene {
    fn new(protocol: &'static str) -> Self {
        Self { bed: TaskBed::on(model(), 200_000), protocol }
    }

    fn journal(&self) -> PathBuf {
        let cwd = self.bed.home.path("work").canonicalize().unwrap();
        let sessions = self.bed.home.path("").canonicalize().unwrap().join("state/switchrail/sessions");
        sessions.join(project_key(&cwd)).join(ID).join("journal.jsonl")
    }

    /// Runs the task until that point.
    fn run(&self, point: &Point<'_>) -> Ended {
        let out = self.bed.home.path("out.jsonl");
        let shown = File::create(&out).unwrap();
        let out = out.canonicalize().unwrap();
        let Point { call, time } = point;
        let status = Command::new("/usr/bin/timeout")
            .args(["-s", "KILL", "120", STRACE, "-f", "-qqq", "-o", "/dev/null", "-P"])
            .arg(self.journal())
            .arg("-P")
            .arg(out)
            .args(["-e", &format!("trace={call}"), "-e", &format!("inject={call}:signal=KILL:when={time}")])
            .args([env!("CARGO_BIN_EXE_rail"), "--yolo", "--sandbox", "workspace", "--session-id", ID])
            .args(["--output-format", "stream-json", "-m", &format!("{},m", self.protocol), "-p", "begin"])
            .env_clear()
            .envs(self.bed.home.variables())
            .current_dir(self.bed.home.path("work"))
            .stdin(Stdio::null())
            .stdout(shown)
            .stderr(Stdio::null())
            .status()
            .unwrap();
        if status.success() { Ended::ByItself } else { Ended::Killed }
    }

    /// What was shown: the texts of answers and of results, as far as lines are whole.
    fn shown(&self) -> Vec<String> {
        let out = self.bed.home.read("out.jsonl");
        let lines = out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let blocks =
            lines.flat_map(|line| line["message"]["content"].as_array().cloned().unwrap_or_default());
        let text = |block: Value| block["text"].as_str().or(block["content"].as_str()).map(str::to_owned);
        blocks.filter_map(text).collect()
    }

    /// How often each of the two commands ran.
    fn ran(&self) -> [usize; 2] {
        let ran = std::fs::read_to_string(self.bed.home.path("work/ran.txt")).unwrap_or_default();
        ["one", "two"].map(|line| ran.lines().filter(|ran| *ran == line).count())
    }

    /// Goes on with what is there, and looks at what is sent.
    fn goes_on(&self, at: &str) {
        let (shown, ran) = (self.shown(), self.ran());
        assert!(ran.iter().all(|times| *times <= 1), "{at}: {ran:?}");
        if !self.journal().parent().is_some_and(is_readable) {
            assert!(shown.is_empty() && ran == [0, 0], "{at}: {shown:?}");
            return;
        }
        let before = self.bed.requests().len();
        let model = format!("{},m", self.protocol);
        let result = self.bed.task(&["go on", "-m", &model, "-c"], "");
        assert_eq!(result["result"], "Gone on.", "{at}");
        let request = self.bed.requests()[before].clone();
        assert_valid(&request);
        let sent: Vec<String> =
            request.messages.iter().flat_map(|message| &message.parts).filter_map(said).collect();
        for text in &shown {
            assert!(
                sent.iter().any(|sent| sent.contains(text.trim_end())),
                "{at}: {text:?} is lost: {sent:#?}"
            );
        }
        assert_eq!(self.ran(), ran, "{at}: something ran again");
        assert!(self.bed.home.said(&["sessions", "verify"], "").contains("proved"), "{at}");
    }
}

/// Whether a session began at all.
fn is_readable(folder: &Path) -> bool {
    view(folder).is_ok()
}

fn said(part: &Part) -> Option<String> {
    match &part.body {
        PartBody::Text(text) => Some(text.clone()),
        PartBody::ToolResult(result) => Some(result.content.iter().filter_map(Part::as_text).collect()),
        _ => None,
    }
}

/// Ends a task at these times of a call; gives the first at which it ended by itself, and no more was to be done.
fn kills(protocol: &'static str, call: &str, times: impl Iterator<Item = usize>) -> Option<usize> {
    for time in times {
        let scene = Scene::new(protocol);
        let ended = scene.run(&Point { call, time });
        scene.goes_on(&format!("{protocol}, {call} {time}"));
        if ended == Ended::ByItself {
            assert!(scene.shown().iter().any(|text| text == DONE), "{protocol}, {call} {time}");
            assert_eq!(scene.ran(), [1, 1]);
            return Some(time);
        }
    }
    None
}

/// Whether the tool is there that ends processes.
fn can_kill() -> bool {
    let there = Path::new(STRACE).exists();
    assert!(there || std::env::var_os("CI").is_none(), "CI has no strace");
    if !there {
        eprintln!("skipped: strace is not installed");
    }
    there
}

#[test]
fn at_every_write() {
    if can_kill() {
        let all = kills("anthropic", "write", 1..100);
        assert!(all.is_some_and(|all| all > 12), "{all:?}");
    }
}

#[test]
fn at_every_sync() {
    if can_kill() {
        let all = kills("anthropic", "fdatasync", 1..100);
        assert!(all.is_some_and(|all| all > 4), "{all:?}");
    }
}

#[test]
fn at_some_writes_on_openai_chat() {
    if can_kill() {
        kills("openai-chat", "write", [3, 6, 9, 12, 15, 18].into_iter());
    }
}

#[test]
fn at_some_writes_on_openai_responses() {
    if can_kill() {
        kills("openai-responses", "write", [4, 7, 10, 13, 16, 19].into_iter());
    }
}

#[test]
fn at_some_writes_on_gemini() {
    if can_kill() {
        kills("gemini", "write", [5, 8, 11, 14, 17, 20].into_iter());
    }
}
