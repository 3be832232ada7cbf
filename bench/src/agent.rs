//! What the agent costs: the start, one answer, twenty steps with a command each, and how much of a request is as the one before was.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Runs of each row; the median counts.
const RUNS: usize = 7;
/// Files of the repository that it works in.
const FILES: usize = 1_000;

/// What was seen of one run.
#[derive(Clone, Copy, Default)]
pub(crate) struct Seen {
    pub(crate) wall: Duration,
    /// Of the process itself, without the commands that it ran, up to its last request.
    pub(crate) cpu: Duration,
    peak_kib: u64,
}

/// A model that wants a command run in each of its first answers.
#[derive(Default)]
pub(crate) struct Model {
    steps: usize,
    /// The command, if it is not one that says which step it is.
    pub(crate) command: Option<String>,
    /// Whether nothing is ever answered.
    pub(crate) stalls: bool,
    pub(crate) bodies: Vec<Vec<u8>>,
    pid: Option<u32>,
    seen: Seen,
}

pub(crate) type Shared = Arc<Mutex<Model>>;

/// A repository, a configuration and a model, for real processes.
pub(crate) struct Bed {
    home: tempfile::TempDir,
    pub(crate) work: PathBuf,
    config: PathBuf,
    rail: PathBuf,
    pub(crate) model: Shared,
}

impl Bed {
    /// With more to say of the model.
    pub(crate) fn new(profile: &str) -> Result<Self, String> {
        let rail = rail()?;
        let home = tempfile::tempdir().map_err(told)?;
        let work = repository(home.path())?;
        let listener = TcpListener::bind("127.0.0.1:0").map_err(told)?;
        let address = listener.local_addr().map_err(told)?;
        let config = home.path().join("config.toml");
        let text = format!(
            "[providers.p]\nprotocol = \"openai-chat\"\nbase_url = \"http://{address}/v1\"\nmodels = {{ m = {{ vision = false{profile} }} }}\n[router]\ndefault = \"p,m\"\n[permissions]\nallow = [\"Bash(echo:*)\"]\n"
        );
        fs::write(&config, text).map_err(told)?;
        let model = Shared::default();
        let serving = Arc::clone(&model);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let model = Arc::clone(&serving);
                thread::spawn(move || serve(stream, &model));
            }
        });
        Ok(Self { home, work, config, rail, model })
    }

    /// The model wants so many commands run from now on.
    pub(crate) fn script(&self, steps: usize) {
        *lock(&self.model) = Model { steps, ..Model::default() };
    }

    /// The binary with these arguments, in the repository, with nobody at its ends.
    pub(crate) fn rail(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.rail);
        command.arg("--config").arg(&self.config).args(args).current_dir(&self.work).env_clear();
        command.env("HOME", self.home.path()).env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// One task with so many commands.
    pub(crate) fn one(&self, args: &[&str], steps: usize) -> Result<Seen, String> {
        self.script(steps);
        let began = Instant::now();
        let child = self.rail(args).spawn().map_err(told)?;
        lock(&self.model).pid = Some(child.id());
        let output = child.wait_with_output().map_err(told)?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(Seen { wall: began.elapsed(), ..lock(&self.model).seen })
    }
}

pub(crate) fn run() -> Result<(), String> {
    let bed = Bed::new("")?;
    let hello = hello(bed.home.path())?;
    println!("{:<44} {:>9} {:>9} {:>9}  aim", "agent, median", "wall ms", "CPU ms", "peak MB");
    let base = row("a hello world in Rust", "", || plain(Command::new(&hello)));
    let version = row("rail --version", "1.5 × hello", || plain(version_of(&bed.rail)));
    println!("{:<44} {:>29.2}", "  ratio of CPU", ratio(version, base));
    row("one answer in text", "30 ms, 30 MB", || bed.one(&["-p", "go"], 0));
    row("20 steps with a command each, 1,000 files", "100 ms, 40 MB", || bed.one(&["-p", "go"], 20));
    let bodies = std::mem::take(&mut lock(&bed.model).bodies);
    let first = bodies.first().map(|body| body.len()).unwrap_or_default();
    let tokens = bodies.first().map(|body| tokens(body)).unwrap_or_default();
    println!("{:<44} {first:>18} bytes, about {tokens} tokens  aim 5,000", "first request");
    let share = same(&bodies);
    println!("{:<44} {:>28.2} %  aim 99 %", "of a request, what begins as the one before", share * 100.0);
    Ok(())
}

/// About how many tokens a request has, by the product's own estimate.
fn tokens(body: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(body);
    rail_route::tokens(&text)
}

pub(crate) fn row(name: &str, aim: &str, mut run: impl FnMut() -> Result<Seen, String>) -> Seen {
    let mut all: Vec<Seen> = Vec::new();
    for _ in 0..RUNS {
        match run() {
            Ok(seen) => all.push(seen),
            Err(error) => println!("{name}: {error}"),
        }
    }
    let middle = |mut values: Vec<u64>| {
        values.sort_unstable();
        values.get(values.len() / 2).copied().unwrap_or_default()
    };
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    let wall = middle(all.iter().map(|seen| micros(seen.wall)).collect());
    let cpu = middle(all.iter().map(|seen| micros(seen.cpu)).collect());
    let peak = middle(all.iter().map(|seen| seen.peak_kib).collect());
    println!(
        "{name:<44} {:>9.1} {:>9.1} {:>9.1}  {aim}",
        wall as f64 / 1e3,
        cpu as f64 / 1e3,
        peak as f64 / 1024.0
    );
    Seen { wall: Duration::from_micros(wall), cpu: Duration::from_micros(cpu), peak_kib: peak }
}

fn ratio(one: Seen, other: Seen) -> f64 {
    one.cpu.as_secs_f64() / other.cpu.as_secs_f64().max(1e-9)
}

/// A program that does one thing and ends; what it used is what all children used since.
fn plain(mut command: Command) -> Result<Seen, String> {
    let (began, before) = (Instant::now(), children());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut cpu = Duration::ZERO;
    // One start is shorter than the clock's step.
    for _ in 0..20 {
        command.status().map_err(told)?;
    }
    cpu += children().saturating_sub(before) / 20;
    Ok(Seen { wall: began.elapsed() / 20, cpu, peak_kib: 0 })
}

/// The CPU time of all children that have ended.
fn children() -> Duration {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(") ").next().unwrap_or_default().split(' ');
    let ticks: u32 = fields.skip(13).take(2).filter_map(|field| field.parse::<u32>().ok()).sum();
    Duration::from_millis(10) * ticks
}

fn version_of(rail: &Path) -> Command {
    let mut command = Command::new(rail);
    command.arg("--version");
    command
}

/// Answers requests until the client leaves.
fn serve(stream: TcpStream, model: &Shared) {
    let Ok(mut out) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    while let Some(body) = body(&mut reader) {
        let answer = answer(&body, model);
        if lock(model).stalls {
            // Until the client leaves.
            let _ = reader.read(&mut [0]);
            return;
        }
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        if out.write_all(head.as_bytes()).and_then(|()| out.write_all(answer.as_bytes())).is_err() {
            return;
        }
    }
}

fn body(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(body)
}

fn answer(body: &[u8], model: &Shared) -> String {
    let mut model = lock(model);
    model.bodies.push(body.to_vec());
    let done = model.bodies.len() > model.steps;
    if done && let Some(pid) = model.pid {
        model.seen = Seen { cpu: own_cpu(pid), peak_kib: peak(pid), ..Seen::default() };
    }
    let number = model.bodies.len();
    let (delta, finish) = if done {
        let content = if asks_for_summary(body) { SUMMARY } else { "It is done, and all is well with it." };
        (json!({"role": "assistant", "content": content}), "stop")
    } else {
        let command = model.command.clone().unwrap_or_else(|| format!("echo step {number}"));
        let arguments = json!({"command": command}).to_string();
        let call = json!({"index": 0, "id": format!("c{number}"), "type": "function", "function": {"name": "bash", "arguments": arguments}});
        (json!({"role": "assistant", "tool_calls": [call]}), "tool_calls")
    };
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110});
    chunk(&delta, None, &Value::Null) + &chunk(&json!({}), Some(finish), &usage) + "data: [DONE]\n\n"
}

const SUMMARY: &str =
    "## Task\nTo talk.\n\n## Decisions\nNone.\n\n## Files touched\n- none\n\n## Open items\nNone.\n";

/// Who asks for a summary shows no tools.
fn asks_for_summary(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|body| body.get("tools").is_none())
}

fn chunk(delta: &Value, finish: Option<&str>, usage: &Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    let chunk = json!({"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice], "usage": usage});
    format!("data: {chunk}\n\n")
}

/// The CPU time of all threads of a process, in nanoseconds by the scheduler's own count.
pub(crate) fn own_cpu(pid: u32) -> Duration {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let nanos = tasks.filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

pub(crate) fn peak(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

/// What a provider's cache sees of a request: the tools, then the messages, whatever the order of the fields is.
fn cached(body: &[u8]) -> Vec<u8> {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let messages = body.get("messages").and_then(Value::as_array).into_iter().flatten();
    let all = body.get("tools").into_iter().chain(messages);
    all.map(|value| format!("{value}\n")).collect::<String>().into_bytes()
}

/// How much of each request begins as the one before did, of the length of the one before.
fn same(bodies: &[Vec<u8>]) -> f64 {
    let bodies: Vec<Vec<u8>> = bodies.iter().map(|body| cached(body)).collect();
    let shares = bodies.windows(2).filter_map(|pair| {
        let [before, after] = pair else { return None };
        let same = before.iter().zip(after).take_while(|(one, other)| one == other).count();
        Some(same as f64 / before.len() as f64)
    });
    let shares: Vec<f64> = shares.collect();
    shares.iter().sum::<f64>() / shares.len().max(1) as f64
}

fn repository(bed: &Path) -> Result<PathBuf, String> {
    let work = bed.join("work");
    for number in 0..FILES {
        let folder = work.join(format!("mod{}", number % 40));
        fs::create_dir_all(&folder).map_err(told)?;
        let text = format!("// file {number}\n{}", "fn work() { let x = 1; }\n".repeat(40));
        fs::write(folder.join(format!("file{number}.rs")), text).map_err(told)?;
    }
    Ok(work)
}

/// A program that says hello, as small as Rust makes it.
fn hello(bed: &Path) -> Result<PathBuf, String> {
    let (source, program) = (bed.join("hello.rs"), bed.join("hello"));
    fs::write(&source, "fn main() { println!(\"hello\"); }\n").map_err(told)?;
    let made = Command::new("rustc").args(["-O", "-o"]).arg(&program).arg(&source).status().map_err(told)?;
    if made.success() { Ok(program) } else { Err("hello world does not compile".to_owned()) }
}

fn rail() -> Result<PathBuf, String> {
    let here = std::env::current_exe().map_err(told)?;
    let rail = here.with_file_name("rail");
    if rail.exists() {
        Ok(rail)
    } else {
        Err("there is no release build; run `cargo build --release` first".to_owned())
    }
}

pub(crate) fn lock(model: &Shared) -> std::sync::MutexGuard<'_, Model> {
    model.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn told(error: impl ToString) -> String {
    error.to_string()
}
