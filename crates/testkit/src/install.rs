//! What tests install: programs and packages of others, each list of versions once, below the target folder.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What is installed.
#[derive(Clone, Copy, Debug)]
pub enum Packages<'a> {
    /// Python packages, as a `requirements.txt` lists them; they get a Python of their own, [`python_in`].
    Python(&'a str),
    /// Node packages, as a `package.json` lists them.
    Node(&'a str),
    /// One npm package.
    Npm {
        /// Its name.
        package: &'a str,
        /// Its version.
        version: &'a str,
        /// The script of the package that puts its binary in its place, and brings nothing more.
        finish: Option<&'a str>,
    },
}

/// What a test needs.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// What it is called when it is missing.
    pub title: &'a str,
    /// The folder below the target folder, and the beginning of the name in it.
    pub place: (&'a str, &'a str),
    /// What is installed there.
    pub packages: Packages<'a>,
    /// The crate whose tests install it.
    pub crate_name: &'a str,
}

/// The folder where it is, or None when it can't be had here, which is told; in CI that is a failure.
///
/// It is kept beside this scratch folder of the tests, `CARGO_TARGET_TMPDIR`, for all crates that need it.
pub fn installed(wanted: &Wanted<'_>, scratch: &Path) -> Option<PathBuf> {
    match install(wanted, scratch) {
        Ok(folder) => Some(folder),
        Err(why) => {
            let title = wanted.title;
            assert!(!in_ci(), "{title}: {why}; in CI it is needed");
            tell(&format!("skipped: {title} ({why})"));
            None
        }
    }
}

/// The Python of a folder with Python packages.
pub fn python_in(folder: &Path) -> PathBuf {
    folder.join(if cfg!(windows) { "venv/Scripts/python.exe" } else { "venv/bin/python" })
}

/// The commands of a folder with Node packages.
pub fn commands_in(folder: &Path) -> PathBuf {
    folder.join("node_modules/.bin")
}

/// A program of somebody else.
#[expect(
    clippy::disallowed_methods,
    reason = "what is installed are foreign programs, and this is no product code"
)]
pub fn program(name: impl AsRef<OsStr>) -> Command {
    Command::new(name)
}

fn install(wanted: &Wanted<'_>, scratch: &Path) -> Result<PathBuf, String> {
    let Wanted { title, place: (place, name), packages, crate_name } = *wanted;
    let needed: &[&str] = match packages {
        Packages::Python(_) => &["python3"],
        Packages::Node(_) | Packages::Npm { .. } => &["node", "npm"],
    };
    for needed in needed {
        succeeds(program(needed).arg("--version")).map_err(|_| format!("{needed} not found"))?;
    }
    let all = scratch.with_file_name(place);
    fs::create_dir_all(&all).map_err(told)?;
    // Tests that want the same wait here for the first that installs.
    let lock = File::create(all.join(format!("{name}.lock"))).map_err(told)?;
    lock.lock().map_err(told)?;
    let folder = all.join(format!("{name}-{}", version(packages)));
    let ready = folder.join("ready");
    if ready.exists() {
        return Ok(folder);
    }
    if may_not_install() {
        return Err(format!("{title} is not installed; `cargo test -p {crate_name}` installs it"));
    }
    // What a broken installation left behind is of no use.
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(told)?;
    }
    fs::create_dir_all(&folder).map_err(told)?;
    fill(&folder, packages)?;
    fs::write(&ready, "").map_err(told)?;
    Ok(folder)
}

/// What tells this list from any other.
fn version(packages: Packages<'_>) -> String {
    match packages {
        Packages::Python(list) | Packages::Node(list) => format!("{:016x}", hash(list)),
        Packages::Npm { version, .. } => version.to_owned(),
    }
}

const NPM: [&str; 6] =
    ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"];
const PIP: [&str; 6] = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];

fn fill(folder: &Path, packages: Packages<'_>) -> Result<(), String> {
    match packages {
        Packages::Python(list) => {
            let requirements = folder.join("requirements.txt");
            fs::write(&requirements, list).map_err(told)?;
            succeeds(program("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
            succeeds(program(python_in(folder)).args(PIP).arg(&requirements))
        }
        Packages::Node(list) => {
            fs::write(folder.join("package.json"), list).map_err(told)?;
            succeeds(program("npm").args(NPM).current_dir(folder))
        }
        Packages::Npm { package, version, finish } => {
            fs::write(folder.join("package.json"), r#"{"private": true}"#).map_err(told)?;
            succeeds(program("npm").args(NPM).arg(format!("{package}@{version}")).current_dir(folder))?;
            let Some(script) = finish else { return Ok(()) };
            let package = folder.join("node_modules").join(package);
            succeeds(program("node").arg(script).current_dir(package))
        }
    }
}

fn succeeds(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
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

/// Tells the name of a test, or of a part, that is skipped.
#[expect(clippy::print_stdout, reason = "a test that is skipped is told by name")]
pub(crate) fn tell(text: &str) {
    println!("{text}");
}

/// Whether nothing may be skipped.
#[expect(clippy::disallowed_methods, reason = "CI says by this variable that nothing may be skipped")]
pub(crate) fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

#[expect(
    clippy::disallowed_methods,
    reason = "`cargo xtask preflight` says by this variable that nothing is installed"
)]
fn may_not_install() -> bool {
    std::env::var_os("RAIL_NO_INSTALL").is_some()
}

/// FNV-1a: the same on every machine and in every version.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
