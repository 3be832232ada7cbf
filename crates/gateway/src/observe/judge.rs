//! The readers of those whom we tell, as judges: the Prometheus client and the OTLP messages for Python, installed once.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const REQUIREMENTS: &str = include_str!("../../tests/judges/requirements.txt");

/// The installed readers.
pub(crate) struct Judge(PathBuf);

/// The readers, or None when they can't be had here; in CI that is a failure.
pub(crate) fn judge() -> Option<Judge> {
    match install() {
        Ok(python) => Some(Judge(python)),
        Err(why) => {
            assert!(!is_set("CI"), "judges: {why}; in CI they are needed");
            println!("skipped: judges of metrics and traces ({why})");
            None
        }
    }
}

impl Judge {
    /// What the Prometheus client reads in this text.
    pub(crate) fn metrics(&self, text: &str) -> Value {
        self.read("metrics", text.as_bytes())
    }

    /// What a collector reads in this body.
    pub(crate) fn traces(&self, body: &[u8]) -> Value {
        self.read("traces", body)
    }

    fn read(&self, what: &str, bytes: &[u8]) -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges/judge.py");
        let mut child = program(&self.0);
        let child = child.arg("-B").arg(script).arg(what).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// The Python that has the readers; the error says what is missing.
fn install() -> Result<PathBuf, String> {
    let test = std::env::current_exe().map_err(|error| error.to_string())?;
    // target/debug/deps/test: below the target folder, as all that tests install.
    let target = test.ancestors().nth(3).ok_or("no target folder")?;
    let judges = target.join("judges");
    fs::create_dir_all(&judges).unwrap();
    let lock = File::create(judges.join("telemetry.lock")).unwrap();
    lock.lock().unwrap();
    let folder = judges.join(format!("telemetry-{:016x}", hash(REQUIREMENTS)));
    let python = folder.join("venv/bin/python");
    let ready = folder.join("ready");
    if ready.exists() {
        return Ok(python);
    }
    if is_set("RAIL_NO_INSTALL") {
        return Err("they are not installed; `cargo test -p rail-gateway` installs them".to_owned());
    }
    // What a broken installation left behind is of no use.
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    let list = folder.join("requirements.txt");
    fs::write(&list, REQUIREMENTS).unwrap();
    succeeds(program("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    succeeds(program(&python).args(pip).arg(&list))?;
    fs::write(&ready, "").unwrap();
    Ok(python)
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(format!("{command:?}: {last}"))
}

#[expect(clippy::disallowed_methods, reason = "the judges are foreign programs, and this is no product code")]
fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(name)
}

#[expect(
    clippy::disallowed_methods,
    reason = "CI and `cargo xtask preflight` say by variables what may be skipped"
)]
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// FNV-1a: the same on every machine and in every version.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
