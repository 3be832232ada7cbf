//! Installs the SDKs by name, once for each list of versions, below the target folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The language of an SDK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Python 3.
    Python,
    /// Node.js.
    Node,
}

/// An installed set of SDKs.
#[derive(Debug)]
pub struct Judge {
    language: Language,
    folder: PathBuf,
}

/// The SDKs of a language, or None when they cannot be had here; in CI that is a failure.
///
/// They are kept beside this scratch folder of the tests, `CARGO_TARGET_TMPDIR`, for all crates that need them.
pub fn judge(language: Language, scratch: &Path) -> Option<Judge> {
    match install(language, scratch) {
        Ok(folder) => Some(Judge { language, folder }),
        Err(why) => {
            assert!(!in_ci(), "judges: {why}; in CI they are needed");
            tell(&format!("skipped: judges ({why})"));
            None
        }
    }
}

impl Judge {
    /// The script that plays scenarios with one SDK, away from any account and proxy of this machine.
    pub fn script(&self, sdk: &str) -> Command {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judges");
        let mut command = match self.language {
            Language::Python => {
                let mut command = program(python_in(&self.folder));
                command.arg("-B").arg(scripts.join("python/judge.py")).arg(sdk);
                command
            }
            Language::Node => {
                let mut command = program("node");
                command.arg(scripts.join("node/judge.mjs")).arg(sdk).arg(&self.folder);
                command
            }
        };
        for (name, _) in std::env::vars_os() {
            let known = name.to_string_lossy().to_ascii_uppercase();
            let foreign = ["ANTHROPIC", "OPENAI", "GOOGLE", "GEMINI", "CLAUDE"];
            if foreign.iter().any(|prefix| known.starts_with(prefix)) || known.ends_with("_PROXY") {
                command.env_remove(&name);
            }
        }
        command.env("NO_PROXY", "*");
        command
    }
}

/// The folder of the installed SDKs; the error says what is missing.
fn install(language: Language, scratch: &Path) -> Result<PathBuf, String> {
    let (name, list, needed): (_, _, &[&str]) = match language {
        Language::Python => {
            ("python", include_str!("../../tests/judges/python/requirements.txt"), &["python3"])
        }
        Language::Node => ("node", include_str!("../../tests/judges/node/package.json"), &["node", "npm"]),
    };
    for program in needed {
        found(program)?;
    }
    let judges = scratch.with_file_name("judges");
    fs::create_dir_all(&judges).map_err(told)?;
    // Tests of the same language wait here for the first that installs.
    let lock = File::create(judges.join(format!("{name}.lock"))).map_err(told)?;
    lock.lock().map_err(told)?;
    let folder = judges.join(format!("{name}-{:016x}", hash(list)));
    let ready = folder.join("ready");
    if !ready.exists() && may_not_install() {
        return Err(format!("the {name} SDKs are not installed; `cargo test -p rail-testkit` installs them"));
    }
    if !ready.exists() {
        // What a broken installation left behind is of no use.
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(told)?;
        }
        fs::create_dir_all(&folder).map_err(told)?;
        match language {
            Language::Python => install_python(&folder, list)?,
            Language::Node => install_node(&folder, list)?,
        }
        fs::write(&ready, "").map_err(told)?;
    }
    Ok(folder)
}

fn install_python(folder: &Path, list: &str) -> Result<(), String> {
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, list).map_err(told)?;
    succeeds(program("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    succeeds(program(python_in(folder)).args(pip).arg(&requirements))
}

fn install_node(folder: &Path, list: &str) -> Result<(), String> {
    fs::write(folder.join("package.json"), list).map_err(told)?;
    let npm =
        ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"];
    succeeds(program("npm").args(npm).current_dir(folder))
}

fn python_in(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "venv/Scripts/python.exe" } else { "venv/bin/python" })
}

fn found(name: &str) -> Result<(), String> {
    let ran = program(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match ran {
        Ok(status) if status.success() => Ok(()),
        Ok(_) | Err(_) => Err(format!("{name} not found")),
    }
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

fn told(error: std::io::Error) -> String {
    error.to_string()
}

#[expect(clippy::print_stdout, reason = "a test that is skipped is told by name")]
fn tell(text: &str) {
    println!("{text}");
}

#[expect(clippy::disallowed_methods, reason = "the judges are foreign programs, and this is no product code")]
fn program(name: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(name)
}

#[expect(
    clippy::disallowed_methods,
    reason = "`cargo xtask preflight` says by this variable that nothing is installed"
)]
fn may_not_install() -> bool {
    std::env::var_os("RAIL_NO_INSTALL").is_some()
}

#[expect(clippy::disallowed_methods, reason = "CI says by this variable that nothing may be skipped")]
fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// FNV-1a: the same on every machine and in every version.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
